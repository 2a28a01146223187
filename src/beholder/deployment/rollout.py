"""Putting a study online: look at everything, then one step after the other, each written down before it is done."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from beholder.buckets.upload import upload_copies
from beholder.clock import utc_now
from beholder.deployment.bundle import StudyBundle, brings_caddy, bundle_of, environment_bundle
from beholder.deployment.contract import DeployTarget, Machine, MachineUnreachable
from beholder.deployment.inspection import (
    gigabytes,
    has_redirects,
    machine_problems,
    machine_warnings,
    tunnel_program,
)
from beholder.deployment.journal import END, DeploymentRecord, Journal, one_at_a_time
from beholder.deployment.program import MachineProgram, find_python, look_at
from beholder.deployment.publication import ROOT_FILE, OutsideLook, look_from_outside, proxy_lines, site_of
from beholder.deployment.settings import HERE, DeploySettings, check_cost, secrets_of, settings_of, with_service
from beholder.deployment.store_copy import check_home_store
from beholder.errors import DeployError, Problem
from beholder.formats import plain_count
from beholder.result_view import ResultView, ShownResult
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from beholder.study.recruitment import Sum

Tell = Callable[[str], None]


@dataclass(frozen=True, repr=False)
class Deployed(ShownResult):
    """A study that is online, or what would be done to put it there."""

    study: str
    to: str
    link: str
    """What participants open."""
    is_reached: bool
    """Whether it was seen through its public address; False in a dry run."""
    steps: tuple[str, ...]
    """What was done, or would be, in order."""
    warnings: tuple[Problem, ...]
    hourly: Sum | None
    words: tuple[str, ...]

    def _view(self) -> ResultView:
        return ResultView([*self.words, *(f"Warning: {problem}" for problem in self.warnings)])


@dataclass(frozen=True)
class Rollout:
    """Everything that the steps of a deployment work with."""

    study: Study
    file: str
    """The name of the study file in its folder."""
    settings: DeploySettings
    target: DeployTarget
    journal: Journal
    tell: Tell
    now: Callable[[], datetime]
    arguments: tuple[str, ...] = ()
    """What runs there in place of a server: `run` and its options; empty for what ran there before."""


def roll_out(
    study: Study,
    file: str,
    given: Mapping[str, Any],
    *,
    dry_run: bool = False,
    arguments: Sequence[str] = (),
    tell: Tell = lambda _: None,
    progress: Callable[[int, int], None] | None = None,
    journal: Journal | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Deployed:
    """Put a study online, or go on where that was broken off; where it is online, bring it up to date.

    `arguments` are of a verb that runs there in place of `serve`, such as `run`, until it comes to its end.
    """
    journal = journal or Journal(study.folder, now)
    with one_at_a_time(journal):
        return _roll_out(
            study, file, given, journal, dry_run=dry_run, arguments=tuple(arguments), tell=tell, progress=progress,
            now=now,
        )  # fmt: skip


def _roll_out(
    study: Study,
    file: str,
    given: Mapping[str, Any],
    journal: Journal,
    *,
    dry_run: bool,
    arguments: tuple[str, ...],
    tell: Tell,
    progress: Callable[[int, int], None] | None,
    now: Callable[[], datetime],
) -> Deployed:
    record = journal.current()
    settings = settings_of(study, given, record.settings if record is not None and record.is_claimed else None)
    if record is None or not record.is_served:
        check_home_store(study)
    catalogue = prepare_study(study, progress)
    target = settings.target()
    if problems := target.problems():
        raise DeployError(problems)
    rollout = Rollout(study, file, settings, target, journal, tell, now, arguments)
    if target.is_made and not dry_run:
        check_cost(settings, target.hourly)
        rollout = _make_machine(rollout)
        settings, record = rollout.settings, journal.current()
    bundle = bundle_of(study)
    with contextlib.ExitStack() as stack:
        if target.is_made and dry_run:
            return _announce(rollout, bundle, [], None)
        machine = stack.enter_context(target.connect())
        python = find_python(machine)
        facts = look_at(machine, python, settings.ports)
        settings = with_service(settings, facts["service"])
        rollout = Rollout(study, file, settings, target, journal, tell, now, arguments)
        is_installed = record is not None and "environment" in record.done
        problems = list(
            machine_problems(
                facts, settings, study=study.name, deployment=record.id if record is not None else None,
                study_bytes=bundle.size, is_installed=is_installed, has_backup=study.backup is not None, now=now(),
            )
        )  # fmt: skip
        if problems:
            raise DeployError(problems)
        warnings = list(machine_warnings(facts, settings, now()))
        if dry_run:
            return _announce(rollout, bundle, warnings, record, facts)
        if study.media is not None and study.media.is_bucket:
            tell(f"{study.media.to}: the media are compared, and uploaded where they are missing.")
            upload_copies(study, catalogue, progress)
        record = journal.begin(settings.facts)
        return _deploy(rollout, record, machine, python, facts, bundle, warnings)


def _make_machine(rollout: Rollout) -> Rollout:
    """Get the machine, and return the rollout with its address; a first try that fails is undone."""
    settings, target, journal = rollout.settings, rollout.target, rollout.journal
    record = journal.begin(settings.facts)
    try:
        with journal.step(record.id, "machine", {"name": settings.machine}):
            target.create()
    except MachineUnreachable:
        raise  # the same command goes on
    except DeployError:
        if not record.is_served:
            with contextlib.suppress(DeployError):
                target.destroy()
                journal.write(record.id, END, "done", {"why": "the machine could not be made"})
        raise
    rollout.tell(f"{settings.place}: {target.description}.")
    if settings.address:
        return rollout
    settings = replace(settings, address=target.address or "")
    journal.begin(settings.facts)
    return replace(rollout, settings=settings)


def prepare_study(study: Study, progress: Callable[[int, int], None] | None) -> Catalogue:
    """Make plan and media here, as a server would, so that all faults of a study are told before anything is sent."""
    from beholder.server.process import load_served

    served, _ = load_served(study, "https://127.0.0.1", progress)
    return served.catalogue


# Steps


def _deploy(
    rollout: Rollout,
    record: DeploymentRecord,
    machine: Machine,
    python: str,
    facts: Mapping[str, Any],
    bundle: StudyBundle,
    warnings: list[Problem],
) -> Deployed:
    program = MachineProgram(machine, python, facts["root"], rollout.study.name)
    done: list[str] = []

    def tell(words: str) -> None:
        done.append(words)
        rollout.tell(words)

    try:
        port = _claim(rollout, record, program, facts)
        tell(f"{rollout.settings.place}: {program.root}/{rollout.study.name} is ours.")
        rollout = _tunnel(rollout, record, program, facts, tell)
        for words in _steps(rollout, record, program, facts, bundle, port):
            tell(words)
    except MachineUnreachable:
        raise  # what the machine did is not known: the same command goes on
    except DeployError:
        current = rollout.journal.current()
        if current is not None and not _may_have_people(current):
            _undo(rollout, record, program)
        raise
    look = _look(rollout)
    if look.is_reached:
        rollout.journal.write(record.id, "reached", "done", {"address": rollout.settings.address})
    if rollout.arguments:
        _begin_run(rollout, record, program, bundle, look)
    current = rollout.journal.current()
    assert current is not None
    return _deployed(rollout, current, done, look, warnings)


def _claim(rollout: Rollout, record: DeploymentRecord, program: MachineProgram, facts: Mapping[str, Any]) -> int:
    """Send the program, let the name of the study be ours there, and return the port of its server."""
    journal, settings, study = rollout.journal, rollout.settings, rollout.study
    with journal.step(record.id, "claim", {"root": program.root, "python": facts["python"]}) as known:
        program.send()
        since = record.began.isoformat(timespec="seconds")
        claimed = program.call(
            "claim", id=record.id, study=study.name, since=since, address=settings.address, tls=settings.tls,
            service=settings.service, store=settings.store, is_temporary=settings.is_temporary,
        )  # fmt: skip
        known["port"] = claimed["port"]
    return int(claimed["port"])


def _tunnel(
    rollout: Rollout, record: DeploymentRecord, program: MachineProgram, facts: Mapping[str, Any], tell: Tell
) -> Rollout:
    """Let a tunnel lead to the server, and return the rollout with the address that it gives."""
    settings, journal = rollout.settings, rollout.journal
    is_through_ssh = settings.via is not None
    if not is_through_ssh and settings.tls != "tunnel":
        if "tunnel" in record.done:
            program.call("tunnel", kind="")
        return rollout
    path = str(facts["tools"]["ssh"]) if is_through_ssh else tunnel_program(facts, settings)
    kind, before = PurePosixPath(path).name, record.done.get("tunnel", {})
    # An address that the program gave last time need not be had again.
    is_asked = settings.address != before.get("address", "") or bool(before.get("is_asked"))
    with journal.step(record.id, "tunnel", {"kind": kind, "is_asked": is_asked}) as known:
        answer = program.call(
            "tunnel", kind=kind, program=path, via=settings.via, address=settings.address, is_asked=is_asked,
            ssh_config=settings.ssh_config if settings.to == HERE else None,
        )  # fmt: skip
        known.update(answer)
    if is_through_ssh:
        tell(f"ssh holds a connection to {settings.via}, whose port {answer['port']} leads to the study.")
        return rollout
    tell(f"{kind} leads people from {answer['address']} to the study.")
    settings = replace(settings, address=str(answer["address"]))
    journal.begin(settings.facts)
    return replace(rollout, settings=settings)


def _steps(
    rollout: Rollout,
    record: DeploymentRecord,
    program: MachineProgram,
    facts: Mapping[str, Any],
    bundle: StudyBundle,
    port: int,
) -> Iterator[str]:
    """Do every further step, and yield what was done; each may be done twice."""
    journal, settings, study = rollout.journal, rollout.settings, rollout.study
    here = program.call("inventory")
    with tempfile.TemporaryDirectory(prefix="beholder-", ignore_cleanup_errors=True) as folder:
        made = environment_bundle(
            Path(folder), study, facts, has_caddy=settings.has_caddy and brings_caddy(facts),
            is_offline=settings.is_offline, held=here["environments"],
        )  # fmt: skip
        with journal.step(record.id, "environment", {"version": made.version}):
            is_there = made.version in here["environments"]
            program.call(
                "environment", () if is_there else made.tar(), version=made.version, uv=facts["tools"]["uv"],
                is_offline=made.is_offline, wheels=made.wheels,
            )  # fmt: skip
    yield "The environment is there, with every package as in the lock."
    if values := secrets_of(study, settings):
        with journal.step(record.id, "secrets", {"names": sorted(values)}):
            program.call("secrets", values=values)
        yield f"{', '.join(sorted(values))} went into a file that only the server reads."
    missing = bundle.missing(here["held"])
    with journal.step(record.id, "study", {"version": bundle.version}):
        program.call("study", bundle.tar(missing), version=bundle.version, files=[vars(one) for one in bundle.files])
    sent = sum(one.size for one in missing)
    yield f"{plain_count(len(missing), 'file')} of the study were sent ({sent / 1e6:.1f} MB), the others were there."
    with journal.step(record.id, "serve", {"version": bundle.version, "run": study.run}):
        program.call("serve", version=bundle.version, file=rollout.file, run=study.run)
    yield f"The server runs, and is started again by {_SERVICES[settings.service or 'cron']}."
    if settings.has_caddy:
        with journal.step(record.id, "site", {"address": settings.address}):
            is_internal = settings.tls == "internal"
            answer = program.call(
                "site", site=site_of(settings, port, program.root), has_redirects=has_redirects(facts),
                is_internal=is_internal,
                roots=Path(settings.acme_root).read_text("utf-8") if settings.acme_root else "",
            )  # fmt: skip
            if is_internal and answer["root"]:
                (journal.folder / ROOT_FILE).write_text(answer["root"], "utf-8")
        yield f"Caddy serves {settings.address}."
    elif "site" in record.done:
        with journal.step(record.id, "site", {"address": ""}):
            program.call("site", site="")
        yield "Caddy serves it no more."


def _begin_run(
    rollout: Rollout, record: DeploymentRecord, program: MachineProgram, bundle: StudyBundle, look: OutsideLook
) -> None:
    """Let a run take the place of the server, now that its address is reached: it leads people there at once."""
    settings = rollout.settings
    if not look.is_reached:
        current = rollout.journal.current()
        port = int(current.done["claim"]["port"]) if current is not None else 0
        more = f"\n{proxy_lines(settings, port)}" if settings.tls == "proxy" else ""
        fix = f"Nobody was asked to come yet. See that it leads to the machine, and give the command again.{more}"
        raise DeployError(Problem(settings.address, look.words, "an address that people reach", fix))
    with rollout.journal.step(record.id, "run", {"arguments": list(rollout.arguments)}):
        program.call(
            "serve", version=bundle.version, file=rollout.file, run=rollout.study.run, arguments=list(rollout.arguments)
        )
    rollout.tell(f"`beholder {' '.join(rollout.arguments)}` runs there.")


_SERVICES = {
    "systemd-user": "systemd of its user", "systemd-system": "systemd", "cron": "cron, also after a reboot",
}  # fmt: skip


def _may_have_people(record: DeploymentRecord) -> bool:
    """Return whether anybody can have come: once people are led to a server that runs."""
    return "serve" in record.done and (record.settings["tls"] == "proxy" or "site" in record.done)


def _undo(rollout: Rollout, record: DeploymentRecord, program: MachineProgram) -> None:
    """Remove what a first try has left; a store with anybody in it stays, whatever the journal says."""
    with contextlib.suppress(DeployError):
        program.call("remove", id=record.id, only_unused=True)
        if rollout.target.is_made:
            rollout.target.destroy()
        rollout.journal.write(record.id, END, "done", {"why": "the first try failed, and was undone"})


def _look(rollout: Rollout) -> OutsideLook:
    """Look at the study from outside until it is seen; a certificate takes a few seconds."""
    import time

    ends = time.monotonic() + (_PATIENCE_S if rollout.settings.tls != "proxy" else 0.0)
    while True:
        look = look_from_outside(rollout.settings, rollout.study.name, roots_of(rollout.settings, rollout.journal))
        if look.is_reached or time.monotonic() >= ends:
            return look
        time.sleep(0.2)


_PATIENCE_S = 60.0


def roots_of(settings: DeploySettings, journal: Journal) -> list[Path]:
    """Return the roots of an authority that browsers may not know: the machine's own, or the one that is named."""
    own = [journal.folder / ROOT_FILE] if settings.tls == "internal" else []
    named = [Path(settings.acme_root)] if settings.acme_root else []
    return [path for path in (*own, *named) if path.is_file()]


# In words


def _deployed(
    rollout: Rollout, record: DeploymentRecord, done: list[str], look: OutsideLook, warnings: list[Problem]
) -> Deployed:
    settings, name = rollout.settings, rollout.study.name
    link = f"{settings.address}/s/{name}"
    words = [f"Participants: {link}"]
    if settings.tls == "proxy":
        port = int(record.done["tunnel" if settings.via else "claim"]["port"])
        where = f" on {settings.via}" if settings.via else ""
        if not look.is_reached:
            words += ["", f"Let the proxy{where} pass people on. Paste one of these:", "", proxy_lines(settings, port)]
    if look.is_reached:
        until = f", with a certificate until {look.certificate_ends:%Y-%m-%d}" if look.certificate_ends else ""
        words.append(f"It was seen from here through {settings.address}{until}.")
    else:
        words.append(f"From here {settings.address} {look.words}. `beholder deploy status` looks again.")
    if settings.tls == "internal":
        words.append(f"Its authority is the machine's own: give {ROOT_FILE} in deploy/ to the browsers that come.")
    if "arrivals" in record.done:
        when = f"{record.at['arrivals']:%Y-%m-%d %H:%M} UTC"
        words.append(f"`down` stopped arrivals on {when}: `beholder deploy exec launch --resume` lets people begin.")
    words.append("`beholder deploy pull` brings the answers home, `beholder deploy down` ends it.")
    return Deployed(
        name, settings.to, link, look.is_reached, tuple(done), tuple(warnings), rollout.target.hourly, tuple(words)
    )


TUNNEL_WORDS = {
    "cloudflared": "cloudflared; Cloudflare ends TLS, so that its machines see what passes",
    "tailscale": "Tailscale's funnel, which passes everything on as it is: TLS ends on this side",
    "ngrok": "ngrok, whose machines end TLS and see what passes",
}


def _announce(
    rollout: Rollout,
    bundle: StudyBundle,
    warnings: list[Problem],
    record: DeploymentRecord | None,
    facts: Mapping[str, Any] | None = None,
) -> Deployed:
    settings, target, name = rollout.settings, rollout.target, rollout.study.name
    tunnel = PurePosixPath(tunnel_program(facts or {"tools": {}}, settings)).name if settings.tls == "tunnel" else ""
    cost = f"at most {target.hourly} an hour, until `beholder deploy down`" if target.hourly else "nothing extra"
    exposed = {
        "public": f"Caddy, on {settings.place}, with a certificate that browsers know",
        "internal": f"Caddy, on {settings.place}, with a certificate of the machine's own authority",
        "proxy": f"the proxy {f'on {settings.via}' if settings.via else 'that is there'}; the server itself is reached "
        "from its own machine only",
        "tunnel": TUNNEL_WORDS.get(tunnel, ""),
    }[settings.tls]
    address = settings.address or "an address that is told then"
    names = ", ".join(sorted(secrets_of(rollout.study, settings)))
    steps = [
        *([f"Get {target.description}"] if target.description else []),
        f"{'Bring up to date' if record and record.is_served else 'Make'} ~/.beholder/{name} on {settings.place}",
        *(
            [f"Let ssh hold a connection to {settings.via}, on whose loopback a port leads here"]
            if settings.via
            else []
        ),
        *([f"Let {tunnel} lead people from an address that it gives"] if tunnel else []),
        "Make an environment with every package as in the lock",
        *([f"Put {names} into a file that only the server reads"] if names else []),
        f"Send {plain_count(len(bundle.files), 'file')} of the study ({gigabytes(bundle.size)}), where missing",
        f"Serve it on 127.0.0.1, started again by {_SERVICES[settings.service or 'cron']}",
        *([f"Let Caddy serve {settings.address}"] if settings.has_caddy else []),
        *(["Print the lines for the proxy"] if settings.tls == "proxy" else []),
    ]
    words = [
        "Nothing was done. This would be, in order:",
        *(f"{number}. {step}." for number, step in enumerate(steps, 1)),
        f"Public: {address}, through {exposed}. Nothing else listens to other machines.",
        f"Cost: {cost}.",
    ]
    link = f"{address}/s/{name}"
    return Deployed(name, settings.to, link, False, tuple(steps), tuple(warnings), target.hourly, tuple(words))
