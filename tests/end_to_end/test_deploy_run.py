"""`beholder run --to`: a study goes to a machine, is run there to its end, and its report is made at home."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.deployment.unattended import FinishedRun, run_on_machine
from beholder.methods import load_study
from beholder.recruiting.collection import RunProgress
from beholder.recruiting.fake.http import serve_fake
from beholder.recruiting.fake.platform import FakeProlific
from beholder.recruiting.fake.rehearsal import rehearse
from beholder.recruiting.fake.state import FakeClock
from beholder.server.lab import own_address
from beholder.store.open import read_tables
from beholder.testing import write_study
from support.deployed_study import DeployedStudy
from support.server_process import free_port
from support.ssh_machine import SshMachine, ssh_machine

QUICK = {"playback": {"watch": "none"}, "design": {"participants": 2, "trials": 2, "seed": 3}}


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[SshMachine]:
    with ssh_machine(tmp_path / "machine") as made:
        yield made


async def run_there(online: DeployedStudy, *options: str, news: list[RunProgress]) -> FinishedRun:
    study = load_study(online.study)
    return await asyncio.to_thread(
        run_on_machine, study, online.study.name, online.settings, ["run", "--every", "0.5", *options],
        news=news.append,
    )  # fmt: skip


def own_port() -> dict[str, str]:
    """Return settings with an address of this machine that others could reach, as a launch asks for."""
    if own_address().startswith("127."):
        pytest.skip("this machine has no address but its own")
    return {"address": f"https://{own_address()}:{free_port()}"}


async def until_run(online: DeployedStudy, running: asyncio.Task[Any]) -> None:
    """Wait until the run has taken the place of the server; whatever goes wrong before is raised."""
    while ("run", "done") not in {(entry.step, entry.event) for entry in online.journal.entries()}:
        if running.done():
            await running
        await asyncio.sleep(0.1)


def run_verb(online: DeployedStudy, *arguments: str) -> None:
    ran = online.deployment.exec(*arguments)
    assert ran["code"] == 0, ran


def decide(online: DeployedStudy) -> None:
    """Propose decisions there, and sign them, as a person does."""
    run_verb(online, "decide")
    assert (online.study.parent / "decide" / "decisions.csv").is_file(), "it is to be looked at here"
    run_verb(online, "decide", "--sign", "Ada Lovelace")


def pay_by_hand(online: DeployedStudy) -> None:
    """Write the list of payments there, and say that it was paid."""
    run_verb(online, "pay", "--send")
    listed = (online.there / "study" / "pay" / "payments.csv").read_text("utf-8")
    assert listed.count("1.20,GBP") == 2
    run_verb(online, "pay", "--paid")


async def key_of_panel(news: list[RunProgress], running: asyncio.Task[Any]) -> str:
    """Return the key in the link that the run has printed there, once it is launched."""
    while not (found := re.findall(r"People begin here: \S+[?&](key=[^&\s]+)", "\n".join(one.words for one in news))):
        if running.done():
            await running
        await asyncio.sleep(0.1)
    return str(found[0])


@pytest.mark.variant
async def test_people_at_a_link_finish_and_the_report_is_made_at_home(
    tmp_path: Path, tiny: Path, machine: SshMachine
) -> None:
    online = DeployedStudy(write_study(tmp_path / "study", tiny, **QUICK), machine)
    await asyncio.to_thread(online.up)
    news: list[RunProgress] = []
    running = asyncio.create_task(
        asyncio.to_thread(beholder.run, online.study, to="machine", draw=False, news=news.append)
    )
    await until_run(online, running)
    assert await online.visit("a=1", "a=2") == ["completed", "completed"]
    results = await running
    assert results.waiting == ()
    assert results.notes["population"] == "people"
    assert not machine.root.exists()
    assert machine.processes() == []
    assert online.journal.current() is None
    assert {one.stage for one in news} == {"deploy", "there", "pull", "down"}
    ends = read_tables(online.study.parent / "store", ["ends"])["ends"]
    assert [one["outcome"] for one in ends] == ["completed", "completed"]


@pytest.mark.variant
async def test_what_is_owed_to_a_panel_keeps_the_study_there_and_the_same_command_goes_on(
    tmp_path: Path, tiny: Path, machine: SshMachine
) -> None:
    recruit = {"mode": "panel", "id_parameter": "id", "reward": "1.20 GBP"}
    online = DeployedStudy(write_study(tmp_path / "study", tiny, recruit=recruit, **QUICK), machine, given=own_port())
    news: list[RunProgress] = []
    running = asyncio.create_task(run_there(online, news=news))
    await until_run(online, running)
    key = await key_of_panel(news, running)
    assert await online.visit(f"id=ann&{key}", f"id=bob&{key}") == ["completed", "completed"]
    finished = await running
    assert [words for words in finished.waiting if "nobody has signed it" in words]
    assert machine.root.exists()
    assert len(read_tables(online.study.parent / "store", ["ends"])["ends"]) == 2, "the answers are at home already"
    decide(online)
    again = await run_there(online, news=news)
    assert [words for words in again.waiting if "`beholder pay" in words], "decided, and not paid yet"
    assert machine.root.exists()
    pay_by_hand(online)
    assert (await run_there(online, news=news)).waiting == ()
    assert not machine.root.exists()
    assert machine.processes() == []
    rows = read_tables(online.study.parent / "store", ["ends", "ledger"])
    assert [one["outcome"] for one in rows["ends"]] == ["completed", "completed"]
    paid = [one for one in rows["ledger"] if (one["kind"], one["event"]) == ("approve", "confirmed")]
    assert len(paid) == 2, "what was paid by hand is known at home"


@pytest.mark.variant
async def test_a_platform_is_paid_there_and_everything_comes_home(
    tmp_path: Path, tiny: Path, machine: SshMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    recruit = {"mode": "prolific", "reward": "1.20 GBP", "minutes": 5}
    study = write_study(tmp_path / "study", tiny, recruit=recruit, budget="50 GBP", **QUICK)
    online = DeployedStudy(study, machine, given=own_port())
    fake = FakeProlific(
        clock=FakeClock(runs=True), approving_takes=timedelta(seconds=1), paying_takes=timedelta(seconds=1)
    )
    news: list[RunProgress] = []
    async with serve_fake(fake) as url:
        monkeypatch.setenv("BEHOLDER_PROLIFIC_URL", url)
        monkeypatch.setenv("PROLIFIC_TOKEN", fake.token)
        running = asyncio.create_task(run_there(online, "--publish", news=news))
        await until_run(online, running)
        monkeypatch.setenv("SSL_CERT_FILE", str(online.journal.folder / "root.crt"))
        people = asyncio.create_task(
            rehearse(fake, study.parent, online.store, repeat("finish"), lambda _: None, 0.2, skips_time=True)
        )
        finished = await running
        people.cancel()
        await asyncio.gather(people, return_exceptions=True)
    assert finished.waiting == ()
    assert not machine.root.exists()
    rows = read_tables(study.parent / "store", ["ends", "ledger"])
    assert [one["outcome"] for one in rows["ends"]] == ["completed", "completed"]
    assert {one["kind"] for one in rows["ledger"]} >= {"publish", "approve", "close"}
    assert sum(one.kind == "reward" for one in fake.payments) == 2
    assert fake.token not in online.journal.path.read_text("utf-8")
    assert beholder.clean(study).counts["sessions"] == 2
    beholder.analyse(study)
    assert beholder.report(study).is_file()
