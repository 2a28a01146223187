"""`beholder deploy`: put a study online, look at it, bring the answers home, and take it down."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from beholder.cli.command import CommandResult, StageGroup, is_quiet
from beholder.cli.completion import StudyPath
from beholder.cli.printing import STUDY, Bar
from beholder.errors import Problem, UserError


@click.group(cls=StageGroup, stage="run")
def deploy() -> None:
    """Put a study online, bring the answers home, take it down."""


@deploy.command()
@STUDY
@click.option("--to", metavar="PLACE", help="user@host, a name from your ssh configuration, here, or ec2:REGION.")
@click.option("--address", metavar="URL", help="What participants open, such as https://study.example.org.")
@click.option(
    "--tls",
    type=click.Choice(["public", "internal", "proxy", "tunnel"]),
    help="Who vouches for it: a public authority (when left out), the machine's own, a proxy there, or a tunnel.",
)
@click.option("--tunnel", type=click.Choice(["cloudflared", "tailscale", "ngrok"]), help="Come in through its program.")
@click.option("--via", metavar="PLACE", help="user@host of yours, whose proxy passes people on through ssh.")
@click.option("--hourly", metavar="AMOUNT", help='What a machine that is made may cost an hour, such as "0.05 USD".')
@click.option(
    "--offline/--online", default=None, help="Fetch packages here and send them: the machine reaches no index. Kept."
)
@click.option("--service", type=click.Choice(["systemd-user", "systemd-system", "cron"]), help="What restarts it.")
@click.option("--volatile", is_flag=True, default=None, help="Take a disk that loses everything with a reboot.")
@click.option(
    "--store", metavar="URL", help="A PostgreSQL database that the machine reaches; PGPASSWORD is sent along."
)
@click.option("--acme", metavar="URL", help="The directory of your own certificate authority, in place of public ones.")
@click.option("--acme-root", type=click.Path(path_type=Path), help="A file with the roots of that authority.")
@click.option("--ssh-config", type=click.Path(path_type=Path), help="A file for ssh, in place of your own.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done, what it costs and what is public.")
@click.option("--desk", "has_desk", is_flag=True, hidden=True)
def up(study: Path, has_desk: bool, **options: Any) -> object:
    """Put the study online, or bring it up to date.

    Where it was broken off, it goes on. What is written under `deploy` in the study need not be given.
    """
    import beholder

    if has_desk:
        fix = f"Deploy without it, then run `{_desk_command(study, options.get('to'))}` here: it comes through ssh."
        raise UserError(Problem("--desk", "has no address of its own on a machine where people take part", fix=fix))
    with Bar("Stimuli") as progress:
        made = beholder.deploy(study, **options, tell=_tell, progress=progress)
    deployed = made.deployed
    assert deployed is not None
    for warning in deployed.warnings:
        click.echo(f"Warning: {warning}", err=True)
    for line in deployed.words:
        click.echo(line)
    return deployed


def _desk_command(study: Path, to: str | None) -> str:
    """Return what opens the desk of a deployed study."""
    from beholder.methods import load_study

    settings = load_study(study).deploy
    place = to or (settings.to if settings is not None else None) or "USER@HOST"
    if place == "here":
        return shlex.join(["beholder", "desk", str(study)])
    machine = "USER@HOST" if place.startswith("ec2:") else place
    return shlex.join(["beholder", "desk", "--to", machine, str(study)])


@deploy.command()
@STUDY
def status(study: Path) -> CommandResult:
    """Say whether it is reached, who is inside, and what was pulled.

    The exit code is 3 where people cannot take part.
    """
    from beholder.deployment import Deployment

    found = Deployment(study).status()
    for name, words in found.rows:
        click.echo(f"{name:<12} {words}")
    return CommandResult(found, code=0 if found.is_well else 3)


@deploy.command()
@STUDY
@click.option("--lines", "-n", default=100, show_default=True, type=click.IntRange(1), help="How many of the last.")
@click.option("--follow", "-f", is_flag=True, help="Go on with what it prints, until Ctrl-C.")
def logs(study: Path, lines: int, follow: bool) -> object:
    """Print what the server has printed."""
    from beholder.deployment import Deployment

    if follow:
        for more in Deployment(study).follow_logs(lines):
            for line in more:
                click.echo(line)
    found = Deployment(study).logs(lines)
    for line in found:
        click.echo(line)
    return {"lines": found}


@deploy.command()
@STUDY
@click.option("--every", metavar="SPAN", help='Keep pulling, such as every "10 min", until Ctrl-C.')
def pull(study: Path, every: str | None) -> object:
    """Bring a verified copy of all answers home.

    It may be repeated while people take part. The copy is in store/, for clean, analyse and report.
    """
    from beholder.deployment import Deployment

    if every is not None:
        for copy in Deployment(study).keep_pulling(_seconds(every), _tell):
            click.echo(copy.words)
    copy = Deployment(study).pull()
    click.echo(copy.words)
    return copy


@deploy.command("exec", context_settings={"allow_interspersed_args": False})
@click.option("--study", default="study.yaml", type=StudyPath(), help="The study; study.yaml.")
@click.argument("arguments", nargs=-1, required=True, type=click.UNPROCESSED, metavar="VERB [OPTIONS]...")
def exec_(study: Path, arguments: tuple[str, ...]) -> CommandResult:
    """Run a verb there, as `beholder deploy exec launch`.

    While a study is deployed, its decisions and payments are made where its answers are.
    """
    from beholder.deployment import Deployment

    ran = Deployment(study).exec(*arguments)
    click.echo(ran["out"], nl=False)
    click.echo(ran["err"], nl=False, err=True)
    return CommandResult(dict(ran), code=int(ran["code"]))


@deploy.command()
@STUDY
@click.option("--wait", metavar="SPAN", help='For those inside, such as "30 min"; as long as a session may take.')
@click.option("--anyway", metavar="WORDS", help="Why it goes down although something is owed; kept in the journal.")
@click.option("--lost", metavar="WORDS", help="That the machine is gone for good, and why: forget it here only.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done, and what is owed.")
def down(study: Path, wait: str | None, anyway: str | None, lost: str | None, dry_run: bool) -> object:
    """Stop arrivals, bring the answers home, and remove everything.

    Refused while anything is owed to anybody, or a copy is not verified.
    """
    from beholder.deployment import Deployment

    if wait is not None:
        _seconds(wait)
    gone = Deployment(study).down(wait=wait, anyway=anyway, lost=lost, dry_run=dry_run, tell=_tell)
    for line in gone.words:
        click.echo(line)
    return gone


@deploy.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--study", default="study.yaml", type=StudyPath(), help="The study; study.yaml.")
@click.option("--address", metavar="URL", help="What participants open, such as https://study.example.org.")
@click.option(
    "--tls", type=click.Choice(["public", "proxy"]), default="public", show_default=True,
    help="Caddy beside it gets a certificate, or a proxy is there.",
)  # fmt: skip
@click.option("--postgresql", is_flag=True, help="Keep answers in PostgreSQL, in a container of its own.")
@click.option("--start", is_flag=True, help="Build and start it with the engine here.")
def container(folder: Path | None, study: Path, address: str | None, tls: Any, postgresql: bool, start: bool) -> object:
    """Write the study as a container, with a compose file.

    Into FOLDER, or container/ beside the study. Says so where it was never built, as no engine answers here.
    """
    from beholder.deployment.container import write_container
    from beholder.methods import load_study

    file = "study.yaml" if study.is_dir() else study.name
    with Bar("Stimuli") as progress:
        written = write_container(
            load_study(study), file, folder, address=address, tls=tls, has_postgresql=postgresql, is_started=start,
            progress=progress,
        )  # fmt: skip
    for line in written.words:
        click.echo(line)
    return written


@deploy.command("cloud-init")
@click.option("--key", type=click.Path(path_type=Path), help="A file of public keys; those in ~/.ssh when left out.")
@click.option("--no-firewall", is_flag=True, help="The provider lets ports 22, 80 and 443 through, and no others.")
def cloud_init(key: Path | None, no_firewall: bool) -> object:
    """Print user data for a fresh machine of any provider.

    Paste it where a machine is made. After its first boot, `beholder deploy up --to beholder@ADDRESS` works.
    """
    from beholder.deployment.cloud_init import own_keys, user_data

    printed = user_data(own_keys(key), has_firewall=not no_firewall)
    click.echo(printed, nl=False)
    return {"user_data": printed}


def _seconds(span: str) -> float:
    """Return the seconds of a time such as `10 min`."""
    import re

    from beholder.study.parts import SPAN, duration

    spelled = re.sub(r"m$", "min", span.strip())
    if not re.match(SPAN, spelled):
        raise UserError(Problem("--every, --wait", f"is {span}", "a time such as 30 s, 10 min or 2 h"))
    return duration(spelled).total_seconds()


def _tell(line: str) -> None:
    """Print a step when it is done."""
    if not is_quiet():
        click.echo(line, file=sys.stderr)
