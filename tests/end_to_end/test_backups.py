"""Backups of a served study: to a real S3 server and sshd, under load, with kills, and while the place is away."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from beholder.backups.backup_settings import backup_settings
from beholder.backups.cycle import make_backup
from beholder.backups.destinations import open_destination
from beholder.backups.history import read_history
from beholder.backups.seal import SEAL_VARIABLE, seal_keys_of, seal_text
from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.store.open import open_store, read_rows
from beholder.testing import write_study
from beholder.workflow.restore import restore
from support.backed_up_store import answered_in, fill, key_in, settings_to
from support.commands import command
from support.deployed_study import DeployedStudy
from support.link_visitors import arrived, take_as_a_person
from support.s3_server import SECRET, S3Server, s3_server
from support.server_process import Service, free_port
from support.ssh_machine import ssh_machine
from support.variants import cases


@pytest.fixture(autouse=True)
def _seals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let servers seal with the key of the test, as `deploy up` does."""
    monkeypatch.setenv(SEAL_VARIABLE, seal_text(seal_keys_of(key_in(tmp_path).file)))


async def _until(found: Callable[[], Awaitable[Any]]) -> Any:
    """Wait until something is found, and return it."""
    async with asyncio.timeout(120):
        while not (one := await found()):
            await asyncio.sleep(0.05)
    return one


async def _health(address: str) -> dict[str, Any]:
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        return dict((await client.get("/healthz")).json())


def _study(folder: Path, tiny: Path, to: str, **backup: object) -> Path:
    settings = {"to": to, "key": key_in(folder).public, "every": "1 s", **backup}
    return write_study(folder / "study", tiny, design={"participants": 4, "trials": 1, "seed": 3}, backup=settings)


def test_answers_of_people_are_in_the_bucket_while_they_take_part_and_who_withdraws_does_not_come_back(
    tmp_path: Path, tiny: Path, s3: S3Server
) -> None:
    """The whole way: served, answered under load, backed up, erased by the participant's own page, restored at home."""
    to = "s3://backups/whole"
    study = _study(tmp_path, tiny, to)

    async def work() -> str:
        loaded = load_study(study)
        async with run_server(loaded, port=0, backup=backup_settings(loaded)) as server:
            await asyncio.gather(*(take_as_a_person(server.link, name) for name in ("ada", "bob")))

            async def made() -> object:
                told = (await _health(server.address)).get("backup", {})
                return told.get("at") and len(await asyncio.to_thread(read_history, open_destination(to))) >= 1

            await _until(made)
            async with arrived(server.link, "cy") as person:
                await person.answer({"agree": True})
                session = next(
                    str(row["session"]) for row in await read_rows(server.store, "sessions") if row["visit"] == 1
                )
            ends = {row["session"]: str(row["receipt"]) for row in await read_rows(server.store, "ends")}
            async with httpx.AsyncClient(base_url=server.address, timeout=60) as client:
                assert (await client.post("/api/forget", json={"receipt": ends[session]})).status_code == 200

            async def listed() -> object:
                return [name for name in await asyncio.to_thread(open_destination(to).names) if ".erasures." in name]

            await _until(listed)
            assert (await _health(server.address))["backup"]["failing_since"] is None
            return session

    erased = asyncio.run(work())
    history = read_history(open_destination(to))
    assert history[-1].erasures == 1
    before = next(note for note in history if note.sessions >= 2)
    there = answered_in(study.parent / "store")
    assert erased not in there
    done = restore(to, tmp_path / "home", identity=tmp_path / "backup.key", at=before.at)
    assert erased not in answered_in(tmp_path / "home" / "store")
    restore(to, tmp_path / "last", identity=tmp_path / "backup.key")
    assert answered_in(tmp_path / "last" / "store") == there
    assert done.study == load_study(study).name


@pytest.mark.variant
def test_a_server_goes_on_while_the_place_is_away_and_catches_up(tmp_path: Path, tiny: Path) -> None:
    disk = tmp_path / "disk"
    study = _study(tmp_path, tiny, str(disk / "to"))

    async def work() -> None:
        loaded = load_study(study)
        async with run_server(loaded, port=0, backup=backup_settings(loaded)) as server:

            async def failing() -> object:
                return (await _health(server.address)).get("backup", {}).get("failing_since")

            await _until(failing)
            await take_as_a_person(server.link, "ada")  # nobody who answers notices
            monitored = await asyncio.to_thread(command, "monitor", "--json", cwd=study.parent)
            alarms = json.loads(monitored.stdout)["alarms"]
            assert any(alarm.startswith("Backups fail since ") and str(disk) in alarm for alarm in alarms)
            disk.mkdir()

            async def well() -> object:
                told = (await _health(server.address))["backup"]
                return told["failing_since"] is None and told["at"]

            await _until(well)

    asyncio.run(work())
    assert read_history(open_destination(str(disk / "to")))[-1].sessions == 1


@pytest.mark.variant
def test_a_bucket_that_goes_away_under_a_server_is_told_and_gets_everything_when_it_is_back(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s3").mkdir()
    with s3_server(tmp_path / "s3") as s3:
        for name, value in s3.variables.items():
            monkeypatch.setenv(name, value)
        to = "s3://backups/away"
        study = _study(tmp_path, tiny, to)

        async def work() -> None:
            loaded = load_study(study)
            async with run_server(loaded, port=0, backup=backup_settings(loaded)) as server:

                async def told() -> dict[str, Any]:
                    return dict((await _health(server.address))["backup"])

                async def first() -> object:
                    return (await told())["at"]

                before = await _until(first)
                s3.stop()
                await take_as_a_person(server.link, "ada")  # nobody who answers waits for it

                async def failing() -> object:
                    return (await told())["failing_since"]

                await _until(failing)
                assert (await told())["at"] == before, "the one before is still known"
                s3.start()

                async def well() -> object:
                    now = await told()
                    return now["failing_since"] is None and now["at"] != before

                await _until(well)

        asyncio.run(work())
        assert read_history(open_destination(to))[-1].sessions == 1
        restore(to, tmp_path / "home", identity=tmp_path / "backup.key")
    assert answered_in(tmp_path / "home" / "store") == answered_in(study.parent / "store") != []


def test_of_several_servers_on_one_database_exactly_one_makes_each_backup(
    tmp_path: Path, tiny: Path, postgresql_url: str
) -> None:
    to = tmp_path / "to"
    study = _study(tmp_path, tiny, str(to))

    async def work() -> None:
        loaded = load_study(study)
        async with contextlib.AsyncExitStack() as stack:
            servers = [
                await stack.enter_async_context(
                    run_server(loaded, store=postgresql_url, port=0, backup=backup_settings(loaded))
                )
                for _ in range(3)
            ]
            for number, server in enumerate(servers, 1):
                await take_as_a_person(server.link, f"person {number}")

                async def held(number: int = number) -> object:
                    there = await asyncio.to_thread(read_history, open_destination(str(to)))
                    return there and there[-1].sessions == number

                await _until(held)
                assert (await _health(server.address))["backup"]["at"], "each of them knows of it"

    asyncio.run(work())
    notes = read_history(open_destination(str(to)))
    held = [(one.sessions, one.answers) for one in notes]
    assert held == sorted(held)
    assert notes[-1].sessions == 3
    # One who looks while nothing is new makes none, so that as many at once would show as the same content twice.
    digests = [one.at for one in notes]
    assert len(set(digests)) == len(digests)
    assert len(notes) <= 1 + 3 * _LOOKS_WITHIN_A_VISIT, held


_LOOKS_WITHIN_A_VISIT = 4


@pytest.mark.variant
async def test_a_deployed_server_makes_backups_that_come_back_at_home(tmp_path: Path, tiny: Path) -> None:
    with ssh_machine(tmp_path / "machine") as machine:
        to = machine.folder / "backups"
        online = DeployedStudy(_study(tmp_path, tiny, str(to)), machine)
        await asyncio.to_thread(online.up)
        secret = (online.there / "secrets.env").read_text("utf-8")
        assert SEAL_VARIABLE in secret
        assert "AGE-SECRET-KEY" not in secret
        await online.come()

        async def made() -> object:
            there = await asyncio.to_thread(read_history, open_destination(str(to)))
            return there and there[-1].sessions == 1 and there[-1].answers

        await _until(made)
        status = await asyncio.to_thread(online.deployment.status)
        assert "ago" in status.backup
        key = secret.partition(f"{SEAL_VARIABLE}=")[2].splitlines()[0].strip('"').rpartition(":")[2]
        assert key not in " ".join(word for one in machine.processes() for word in psutil.Process(one).cmdline())
        assert key not in online.journal.path.read_text("utf-8")
        assert key not in (online.there / "logs" / "server.log").read_text("utf-8")
        gone = await asyncio.to_thread(online.deployment.down, wait="1 s", anyway="the test is over")
        assert gone.is_gone
        assert not machine.root.exists()
    await asyncio.to_thread(restore, str(to), tmp_path / "home", identity=tmp_path / "backup.key")
    home = await asyncio.to_thread(answered_in, tmp_path / "home" / "store")
    assert home == await asyncio.to_thread(answered_in, online.study.parent / "store") != []


_MAKE = """
import os
import sys
from datetime import timedelta
from pathlib import Path
from beholder.backups.backup_settings import BackupSettings
from beholder.backups.cycle import make_backup
from beholder.backups.seal import known_seal_keys
store, to, key = sys.argv[1:]
seals = known_seal_keys(os.environ)
settings = BackupSettings("walk", to, Path(store), timedelta(minutes=10), timedelta(days=30), (key,), seals)
print("ready", flush=True)
sys.stdin.readline()
make_backup(settings, store, is_forced=True)
"""


def _kill_while_it_is_made(tmp_path: Path, to: Path, trace: str) -> None:
    """Begin a backup, and kill it when a file appears."""
    command_line = [sys.executable, "-c", _MAKE, str(tmp_path / "store"), str(to), key_in(tmp_path).public]
    process = subprocess.Popen(command_line, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.readline()
    process.stdin.write(b"\n")
    process.stdin.flush()
    while process.poll() is None and not any(tmp_path.glob(trace)):
        time.sleep(0.0005)
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


@pytest.mark.parametrize(
    "trace",
    cases(
        ["store/.backup-*", "store/.backup-*/backup.tar.gz", "store/.backup-*/backup.age", "to/.partial-*", "to/*.age"],
        kept=["store/.backup-*", "to/*.age"],
    ),
)
def test_a_backup_that_is_killed_leaves_nothing_that_is_taken_for_one(tmp_path: Path, trace: str) -> None:
    fill(tmp_path / "store", *(f"p{number}" for number in range(6)))
    settings = settings_to(tmp_path / "to", tmp_path)
    _kill_while_it_is_made(tmp_path, tmp_path / "to", trace)
    for note in read_history(settings.destination()):  # where it was faster than the kill, it is whole
        restore(settings.to, tmp_path / note.file, identity=tmp_path / "backup.key", at=note.at)
    made = make_backup(settings, tmp_path / "store", is_forced=True).note
    assert made is not None
    assert not list((tmp_path / "store").glob(".backup-*"))
    assert not list((tmp_path / "to").glob(".partial-*"))
    restore(settings.to, tmp_path / "home", identity=tmp_path / "backup.key", at=made.at)
    assert answered_in(tmp_path / "home" / "store") == answered_in(tmp_path / "store")


def test_a_copy_under_load_holds_everything_that_was_acknowledged_before_it_began(tmp_path: Path) -> None:
    from beholder.testing.stores.facts import answer

    settings = settings_to(tmp_path / "to", tmp_path)
    (session,) = fill(tmp_path / "store", "ann")

    async def work() -> list[int]:
        acknowledged = 0
        is_done = asyncio.Event()
        async with open_store(tmp_path / "store") as store:

            async def write() -> None:
                nonlocal acknowledged
                while not is_done.is_set():
                    keys = [f"load:{acknowledged + number}" for number in range(20)]
                    await asyncio.gather(*(store.append([answer(session, key)]) for key in keys))
                    acknowledged += len(keys)

            before: list[int] = []
            writing = asyncio.create_task(write())
            for _ in range(3):
                while acknowledged <= (before[-1] if before else 0):
                    await asyncio.sleep(0)
                before.append(acknowledged)
                await asyncio.to_thread(make_backup, settings, tmp_path / "store")
            is_done.set()
            await writing
        return before

    before = asyncio.run(work())
    history = read_history(settings.destination())
    assert len(history) == 3
    for count, note in zip(before, history, strict=True):
        assert note.answers >= count + 3  # whole, by its manifest, and with the three that were there
        restore(settings.to, tmp_path / f"at-{count}", identity=tmp_path / "backup.key", at=note.at)


@pytest.mark.variant
def test_a_server_by_sftp_shows_no_secret_to_other_processes_in_its_log_or_in_its_state(
    tmp_path: Path, tiny: Path
) -> None:
    with ssh_machine(tmp_path / "machine") as machine:
        to = f"sftp://machine{machine.home}/backups"
        study = _study(tmp_path, tiny, to)
        environment = {"BEHOLDER_SSH_CONFIG": str(machine.config), "AWS_SECRET_ACCESS_KEY": SECRET}
        log = tmp_path / "log"
        store = str(study.parent / "store")
        with log.open("wb") as stderr, pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            service = Service(study, store, free_port(), stderr=stderr)
            lines: set[str] = set()

            async def made() -> object:
                for process in psutil.process_iter(["cmdline"]):
                    lines.add(" ".join(process.info["cmdline"] or ()))
                return (await _health(service.address)).get("backup", {}).get("at")

            async def work() -> None:
                await service.until_ready()
                await _until(made)

            try:
                asyncio.run(work())
            finally:
                service.process.terminate()
                service.process.wait()
            (note, *_) = read_history(open_destination(to))
        secrets = [SECRET, (tmp_path / "backup.key").read_text("utf-8").splitlines()[-1]]
        with_secrets = [SECRET, secrets[1], _store_secret(Path(store))]
        seen = "\n".join([*lines, log.read_text("utf-8"), (Path(store) / "backup.json").read_text("utf-8")])
        files = b"".join(path.read_bytes() for path in (machine.home / "backups").iterdir())
        for secret in with_secrets:
            assert secret not in seen
            assert secret.encode() not in files
        assert note.keys == (key_in(tmp_path).public,)
        assert {oct(path.stat().st_mode & 0o777) for path in (machine.home / "backups").iterdir()} == {"0o600"}


def _store_secret(store: Path) -> str:
    async def read() -> str:
        async with open_store(store, write=False) as opened:
            return opened.secret.hex()

    return asyncio.run(read())


def test_forget_tells_the_backups_or_says_that_it_could_not(tmp_path: Path, tiny: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    study = _study(tmp_path, tiny, str(disk / "to"))

    async def work() -> list[str]:
        async with run_server(load_study(study), port=0) as server:
            for name in ("ada", "bob"):
                await take_as_a_person(server.link, name)
            return [str(row["receipt"]) for row in await read_rows(server.store, "ends")]

    ada, bob = asyncio.run(work())
    assert command("backup", "now", cwd=study.parent).returncode == 0
    told = command("forget", ada, cwd=study.parent).stdout
    assert f"The list of erasures at {disk / 'to'} names it: no restore brings it back." in told
    assert "Encrypted backups from before hold it for 30 days at most." in told
    disk.rename(tmp_path / "unplugged")
    untold = command("forget", bob, cwd=study.parent).stdout
    assert "The backups do not know of it yet: " in untold
    assert "It is told with the next backup" in untold
    alarms = command("monitor", cwd=study.parent).stdout
    assert "1 erasure could not be told to" in " ".join(alarms.split())
    (tmp_path / "unplugged").rename(disk)
    assert command("backup", "now", cwd=study.parent).returncode == 0
    done = restore(str(disk / "to"), tmp_path / "home", identity=tmp_path / "backup.key")
    assert answered_in(tmp_path / "home" / "store") == []
    assert done.backups[-1].erasures == 2
