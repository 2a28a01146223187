"""A study goes online on a machine behind a real sshd, people take part through Caddy, and everything comes home."""

from __future__ import annotations

import asyncio
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import psutil
import pytest
from click.testing import CliRunner

import beholder
from beholder.buckets.connection import Bucket
from beholder.cli import cli
from beholder.clock import utc_now
from beholder.deployment.access import open_deployment
from beholder.deployment.journal import Journal
from beholder.deployment.machine.supervisor import read_secrets
from beholder.deployment.program import MachineProgram
from beholder.deployment.removal import take_down
from beholder.deployment.ssh import SshTarget
from beholder.errors import DeployError
from beholder.methods import load_study
from beholder.simulation.robot import Robot
from beholder.store.open import open_store
from beholder.testing import write_study
from beholder.testing.stores.facts import answer, arrive
from support.bare_machine import BareMachine
from support.deployed_study import DeployedStudy, die_at_entries, kill_at_step, stored_answers
from support.s3_server import SECRET, S3Server
from support.ssh_machine import SshMachine, ssh_machine
from support.variants import variant

TOKEN = "a-token-that-nobody-may-read"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[SshMachine]:
    with ssh_machine(tmp_path / "machine") as made:
        yield made


def only_process(machine: SshMachine | BareMachine, words: str) -> psutil.Process:
    """Return the one process with these words.

    One that was killed may be about to be started again, and one that is just started looks like its parent at first.
    """
    assert isinstance(machine, SshMachine)
    ends = time.monotonic() + 60
    while True:
        found = [one for one in machine.processes() if words in " ".join(command_line(one))]
        if len(found) == 1 or time.monotonic() > ends:
            (one,) = found
            return psutil.Process(one)


def command_line(process: int) -> list[str]:
    try:
        return psutil.Process(process).cmdline()
    except psutil.Error:  # it has just ended
        return []


async def test_a_study_goes_online_and_its_answers_come_home(tmp_path: Path, tiny: Path, machine: SshMachine) -> None:
    design = {"participants": 40, "trials": 3, "seed": 3}
    study = write_study(tmp_path / "study", tiny, design=design)
    online = DeployedStudy(study, machine)
    announced = await asyncio.to_thread(online.up, dry_run=True)
    assert not machine.root.exists(), "a dry run writes nothing there"
    assert announced.words[-2:] == (
        f"Public: {online.address}, through Caddy, on machine, with a certificate of the machine's own authority. "
        "Nothing else listens to other machines.",
        "Cost: nothing extra.",
    )
    assert online.journal.entries() == []

    deployed = await asyncio.to_thread(online.up)
    assert deployed.is_reached
    assert deployed.link == f"{online.address}/s/tiny"
    await it_is_private(online)

    # People take part while copies are made.
    sent: list[Robot] = []
    sending = asyncio.create_task(online.send(10, sent=sent))
    while not any(len(robot.acknowledged) > 2 for robot in sent):
        await asyncio.sleep(0.01)
    acknowledged = {(one.session, one.key): one.answer for robot in sent for one in robot.acknowledged}
    copy = await asyncio.to_thread(online.deployment.pull)
    pulled = await stored_answers(study.parent / "store")
    assert acknowledged.items() <= pulled.items(), "an acknowledged answer is missing in a copy that was made later"
    assert copy.answers == len(pulled)

    await answers_of_this_machine_stay(online)

    # The server is killed, and Caddy; then the power goes.
    only_process(machine, "-m beholder serve").kill()
    only_process(machine, "caddy run").kill()
    await sending
    # Somebody kills the supervisor: its server goes along, so that a second one can have the store.
    server = only_process(machine, "-m beholder serve")
    only_process(machine, f"supervise {online.there}").kill()
    assert psutil.wait_procs([server], 30)[1] == []
    machine.kill_all()
    told = CliRunner().invoke(cli, ["deploy", "status", str(study)])
    assert told.exit_code == 3, told.output
    assert len(machine.crontab.read_text("utf-8").splitlines()) == 4, "at boot and each minute, server and Caddy"
    machine.run_cron("@reboot")
    machine.run_cron("* * * * *")  # finds them running
    robots = [*sent, *await online.send(4, seed=2)]
    status = online.deployment.status()
    assert status.is_well
    assert status.inside == 0
    assert len(await stored_answers(online.there / "store")) == sum(len(robot.acknowledged) for robot in robots)
    assert status.is_current

    # Other texts are served without losing anybody's place; another plan is refused, and the old one is served on.
    person = await online.come()
    await updates(online)
    back = await online.come(person["token"])
    assert back["step"]["key"] == person["step"]["key"] != "consent"

    # It is taken down, not before those inside are done or somebody says why; every acknowledged answer is here.
    with pytest.raises(DeployError) as refused:
        online.deployment.down(wait="1 s")
    assert str(refused.value) == (
        "machine  has 1 person inside after 1 s of waiting. Run it again to wait longer; with --anyway WORDS they are "
        "cut off; their answers so far are kept."
    )
    with pytest.raises(DeployError, match=r"--anyway  is 'why'. Allowed: why, in three words or more; they are kept."):
        online.deployment.down(anyway="why")
    gone = await asyncio.to_thread(online.deployment.down, wait="1 s", anyway="the machine is needed")
    assert gone.is_gone
    assert not machine.root.exists()
    assert not machine.crontab.exists()
    assert machine.processes() == []
    answers = await stored_answers(study.parent / "store")
    acknowledged = {(one.session, one.key): one.answer for robot in robots for one in robot.acknowledged}
    assert acknowledged.items() <= answers.items()
    assert gone.answers == len(answers) == len(acknowledged) + 1, "the person's consent is there too"
    assert beholder.clean(study, robots=True).counts["sessions"] == 14
    with pytest.raises(DeployError, match="knows no deployment of tiny"):
        online.deployment.status()


async def it_is_private(online: DeployedStudy) -> None:
    """Check who may read what is there, and which ports other machines reach."""
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in online.machine.root.iterdir()}
    modes |= {path: stat.S_IMODE(path.lstat().st_mode) for path in (online.there / "store").iterdir()}
    assert not [path for path, mode in modes.items() if mode & 0o077]
    server = only_process(online.machine, "-m beholder serve")
    assert {one.laddr.ip for one in server.net_connections() if one.status == "LISTEN"} == {"127.0.0.1"}
    caddy = only_process(online.machine, "caddy run")
    assert {one.laddr.port for one in caddy.net_connections("inet") if one.status == "LISTEN"} == {online.port}


async def answers_of_this_machine_stay(online: DeployedStudy) -> None:
    """Check that a copy never takes the place of answers that it does not hold, however often it is tried."""
    home = online.study.parent / "store"
    async with open_store(home) as store:
        current = await store.current()
        assert current is not None
        own = await arrive(store, "ann", digest=current.digest)
        await store.append([answer(own)])
    for _ in range(2):
        with pytest.raises(DeployError, match="holds 1 session of this machine, where copies of the deployment would"):
            await asyncio.to_thread(online.deployment.pull)
    assert (own, answer(own).key) in await stored_answers(home)
    shutil.rmtree(home)


async def updates(online: DeployedStudy) -> None:
    text = online.study.read_text("utf-8")
    before = only_process(online.machine, "-m beholder serve").pid
    again = await asyncio.to_thread(online.up)
    assert "0 files of the study were sent" in again.steps[2]
    assert only_process(online.machine, "-m beholder serve").pid == before, "nothing has changed, and it started anew"
    online.study.write_text(text.replace("trials: 3", "trials: 2"), "utf-8")
    with pytest.raises(
        DeployError, match="1 person has already claimed lists of the plan before this change"
    ) as refused:
        await asyncio.to_thread(online.up)
    assert "The version before is served again. Nobody has lost anything." in str(refused.value)
    online.study.write_text(text.replace("A tiny study", "Another title"), "utf-8")
    assert not online.deployment.status().is_current
    changed = await asyncio.to_thread(online.up)
    assert changed.is_reached
    assert "2 files of the study were sent" in changed.steps[2], "the study file, and the plan that names its digest"
    assert online.deployment.status().is_current


@pytest.mark.variant
def test_two_studies_on_one_machine_share_caddy(tmp_path: Path, tiny: Path, machine: SshMachine) -> None:
    first = DeployedStudy(write_study(tmp_path / "first", tiny, name="first"), machine)
    second = DeployedStudy(write_study(tmp_path / "second", tiny, name="second"), machine)
    assert first.up().is_reached
    assert second.up().is_reached
    taken = DeployedStudy(write_study(tmp_path / "third", tiny, name="third"), machine, second.port)
    with pytest.raises(DeployError, match=f"machine  serves the study second at {second.address}"):
        taken.up()
    elsewhere = DeployedStudy(write_study(tmp_path / "elsewhere", tiny, name="second"), machine)
    with pytest.raises(DeployError, match="machine  holds a study second already, which was deployed from elsewhere"):
        elsewhere.up()
    second.deployment.down()
    assert not second.there.exists()
    assert first.deployment.status().is_well
    first.deployment.down()
    assert not machine.root.exists()


def test_a_first_try_that_fails_is_told_and_undone(tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ssh_machine(
        tmp_path / "machine", UV_CACHE_DIR=str(tmp_path / "empty"), UV_OFFLINE="0", UV_HTTP_RETRIES="0",
        UV_DEFAULT_INDEX="http://127.0.0.1:1/simple",
    ) as machine:  # fmt: skip
        recruit = {"mode": "prolific", "reward": "1.20 GBP"}
        online = DeployedStudy(write_study(tmp_path / "study", tiny, recruit=recruit), machine)
        monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
        with pytest.raises(DeployError) as refused:
            online.up()
        assert "machine: packages  cannot be fetched there, as no package index answers (" in str(refused.value)
        assert str(refused.value).endswith(
            "Deploy with --offline: then your machine fetches the packages and sends them along."
        )
        assert not machine.root.exists(), "something was left"
        assert online.journal.current() is None
        with pytest.raises(DeployError, match="machine  has a clock that is 60 min behind the one here"):
            online.up(now=lambda: utc_now() + timedelta(hours=1))
        taken = pytest.raises(DeployError, match=f"machine  has something else that listens on port {online.port}")
        with socket.create_server(("0.0.0.0", online.port)), taken:
            online.up()
        assert not machine.root.exists()
        assert TOKEN not in online.journal.path.read_text("utf-8")


def test_secrets_are_in_a_file_of_the_owner_and_nowhere_else(tmp_path: Path, machine: SshMachine) -> None:
    python = sys.executable
    with SshTarget(machine.to, str(machine.config)).connect() as connected:
        program = MachineProgram(connected, python, str(machine.root), "tiny")
        program.send()
        assert program.call("secrets", values={"PROLIFIC_TOKEN": TOKEN}) == {"names": ["PROLIFIC_TOKEN"]}
        program.call("secrets", values={"OTHER": 'with "quotes" and $signs'})
    file = machine.root / "tiny" / "secrets.env"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert read_secrets(str(file)) == {"PROLIFIC_TOKEN": TOKEN, "OTHER": 'with "quotes" and $signs'}
    holders = [path for path in machine.folder.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    assert holders == [file]


@pytest.mark.variant
@pytest.mark.long
@pytest.mark.parametrize("writes_last", [True, variant(False)], ids=["after the entry", "before the entry"])
def test_whoever_dies_at_any_step_goes_on_by_the_same_command(
    writes_last: bool, tmp_path: Path, tiny: Path, machine: SshMachine, whole: bool
) -> None:
    online = DeployedStudy(write_study(tmp_path / "study", tiny), machine)
    folder = online.study.parent
    died = die_at_entries(lambda journal: online.up(journal=journal), folder, writes_last=writes_last, is_whole=whole)
    assert ("serve", "planned") in died
    if whole:
        assert {step for step, _ in died} == {
            "begin", "claim", "environment", "study", "serve", "site", "reached"
        }  # fmt: skip
    assert [path.name for path in sorted(machine.root.iterdir()) if path.is_dir()] == ["caddy", "tiny"]
    assert len({entry.deployment for entry in online.journal.entries()}) == 1
    only_process(machine, "-m beholder serve")
    asyncio.run(online.send(1))
    answers = asyncio.run(stored_answers(online.there / "store"))

    def down(journal: Journal) -> None:
        if journal.current() is None:
            return  # it died after its last entry, when all was done
        with open_deployment(load_study(online.study), journal) as deployment:
            take_down(deployment)

    died = die_at_entries(down, folder, writes_last=writes_last, is_whole=whole)
    assert {step for step, _ in died} == ({"arrivals", "stop", "pull", "remove", "end"} if whole else {"remove"})
    assert not machine.root.exists()
    assert machine.processes() == []
    assert asyncio.run(stored_answers(folder / "store")) == answers
    assert online.journal.current() is None


UP = ("claim", "environment", "study", "serve", "site")
DOWN = ("arrivals", "stop", "pull", "remove")


@pytest.mark.variant
@pytest.mark.parametrize("delay_s", [0.0, 0.3])
def test_a_command_that_is_killed_within_any_step_is_given_again(
    delay_s: float, tmp_path: Path, tiny: Path, machine: SshMachine
) -> None:
    online = DeployedStudy(write_study(tmp_path / "study", tiny), machine)
    killed = [step for step in UP if kill_at_step(online, "up", step, delay_s)]
    assert killed == list(UP)
    deployed = online.up()
    assert deployed.is_reached
    assert len({entry.deployment for entry in online.journal.entries()}) == 1
    only_process(machine, "-m beholder serve")
    only_process(machine, "caddy run")
    robots = asyncio.run(online.send(2))
    acknowledged = {(one.session, one.key): one.answer for robot in robots for one in robot.acknowledged}
    killed = [step for step in DOWN if kill_at_step(online, "down", step, delay_s)]
    assert killed[0] == DOWN[0]
    if online.journal.current() is not None:
        online.deployment.down()
    assert asyncio.run(stored_answers(online.study.parent / "store")) == acknowledged
    assert not machine.root.exists()
    assert machine.processes() == []
    assert online.journal.current() is None


@pytest.mark.variant
def test_whoever_presses_ctrl_c_within_any_step_goes_on_in_a_folder_of_any_name(
    tmp_path: Path, tiny: Path, machine: SshMachine
) -> None:
    online = DeployedStudy(write_study(tmp_path / "Größe & 'Klang' $HOME", tiny, title="Prüfung"), machine)
    assert [step for step in UP if kill_at_step(online, "up", step, 0.2, signal.SIGINT)] == list(UP)
    assert online.up().is_reached
    assert len({entry.deployment for entry in online.journal.entries()}) == 1
    robots = asyncio.run(online.send(2))
    acknowledged = {(one.session, one.key): one.answer for robot in robots for one in robot.acknowledged}
    assert kill_at_step(online, "pull", "pull", 0.2, signal.SIGINT)
    assert online.deployment.pull().answers == len(acknowledged)
    assert not list(online.study.parent.glob(".pull-*")), "what was broken off is removed"
    assert kill_at_step(online, "down", "arrivals", 0.2, signal.SIGINT)
    online.deployment.down()
    assert asyncio.run(stored_answers(online.study.parent / "store")) == acknowledged
    assert not machine.root.exists()
    assert machine.processes() == []
    again = CliRunner().invoke(cli, ["deploy", "down", str(online.study)])
    assert (again.exit_code, again.output.startswith("tiny is down since 20")) == (0, True), again.output


@pytest.mark.variant
def test_a_disk_that_fills_up_on_the_way_is_told_and_everything_is_removed(tmp_path: Path, tiny: Path) -> None:
    # uv that needs more room than there is; it says so as the system does.
    fill = '#!/bin/sh\nexec dd if=/dev/zero of="$HOME/.beholder/tiny/fill" bs=1M\n'
    with ssh_machine(tmp_path / "machine", {"uv": fill}) as machine:
        mount = ["mount", "-t", "tmpfs", "-o", "size=2200m", "tmpfs", str(machine.home)]
        if subprocess.run(mount, capture_output=True).returncode:
            pytest.skip("no disk of a size can be made: needs root")
        try:
            online = DeployedStudy(write_study(tmp_path / "study", tiny), machine)
            with pytest.raises(DeployError) as refused:
                online.up()
            assert str(refused.value) == (
                "machine: disk  is full there. Make room, and run it again: what was served is as it was."
            )
            assert not machine.root.exists(), "something was left"
            assert online.journal.current() is None
        finally:
            subprocess.run(["umount", "-l", str(machine.home)], check=True)


@pytest.mark.variant
async def test_answers_in_a_database_come_home_as_files(
    tmp_path: Path, tiny: Path, machine: SshMachine, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", TOKEN)
    database = postgresql_url.replace("postgres:@", "postgres@")
    online = DeployedStudy(write_study(tmp_path / "study", tiny), machine, database=database)
    assert (await asyncio.to_thread(online.up)).is_reached
    robots = await online.send(2)
    sending = asyncio.create_task(online.send(2, seed=2))
    copy = await asyncio.to_thread(online.deployment.pull)
    assert copy.sessions >= 2
    robots += await sending
    status = await asyncio.to_thread(online.deployment.status)
    assert status.is_well
    assert status.database.startswith("postgresql://")
    assert not (online.there / "store" / "facts.sqlite").exists()
    assert not [one for one in machine.processes() if TOKEN in " ".join(command_line(one))]
    gone = await asyncio.to_thread(online.deployment.down)
    assert f"The database {status.database} stays, with all answers" in gone.words[0]
    acknowledged = {(one.session, one.key): one.answer for robot in robots for one in robot.acknowledged}
    assert await stored_answers(online.study.parent / "store") == acknowledged == await stored_answers(postgresql_url)
    assert not machine.root.exists()
    assert TOKEN not in online.journal.path.read_text("utf-8")


@pytest.mark.variant
async def test_media_are_uploaded_from_here_and_signed_for_there(
    tmp_path: Path, tiny: Path, machine: SshMachine, s3: S3Server
) -> None:
    to = s3.new_folder()
    study = write_study(tmp_path / "study", tiny, media={"to": to, "copies": 4})
    deployed = DeployedStudy(study, machine)
    s3.allow("*")
    told: list[str] = []
    await asyncio.to_thread(deployed.up, tell=told.append)
    assert f"{to}: the media are compared, and uploaded where they are missing." in told
    assert len(Bucket(to).held()) == 65
    arrival = await deployed.come()
    (media, *_) = arrival["step"]["prefetch"]
    async with httpx.AsyncClient() as client:
        fetched = await client.get(media["signed"])
    assert (fetched.status_code, len(fetched.content)) == (200, media["bytes"])
    assert all(SECRET not in path.read_text("utf-8", "replace") for path in deployed.there.rglob("*.log"))
