"""A complete unattended run on a platform: a real process and a real server, killed on the way."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from beholder.analysis.result import read_results
from beholder.errors import RecruitError
from beholder.methods import load_study
from beholder.recruiting.collection import LookOutcome, RunProgress, retry_while_away
from beholder.recruiting.context import recruiter_of
from beholder.recruiting.contract import PlatformAway, PlatformRefused, PlatformUnsure, Recruiter, platform_errors
from beholder.recruiting.fake import FakeProlific, serve_fake
from beholder.recruiting.fake.http import FakeCall, Refusal
from beholder.recruiting.fake.rehearsal import Behaviour, visit_study
from beholder.recruiting.fake.state import FakeClock
from beholder.recruiting.unattended_run import run_on_platform
from beholder.server.process import load_served
from beholder.server.script import ServedStudy
from beholder.simulation.crowd import SimulatedVisitors
from beholder.store.contract import LedgerEntry, Store
from beholder.store.open import open_store, read_rows
from beholder.study.model import Study
from beholder.study.recruitment import Recruit
from beholder.testing import write_study
from support.server_process import free_port
from support.variants import variant

PEOPLE: tuple[Behaviour, ...] = ("finish", "no_code", "return", "finish", "wrong_code", "decline", "finish", "finish")
"""The behaviour of arriving participants, in order; later ones finish."""


class PlatformParticipants:
    """Participants of the fake platform, and the study that they visit."""

    def __init__(self, study: Path, fake: FakeProlific, people: tuple[Behaviour, ...] = PEOPLE) -> None:
        self.study, self.fake, self.people = study, fake, people
        self.arrivals = 0
        self._served: ServedStudy | None = None

    async def send(self, people: int) -> None:
        """Send this number of people, each as soon as there is a place and the server answers."""
        for _ in range(people):
            behaviour = self.people[self.arrivals] if self.arrivals < len(self.people) else "finish"
            await self._one(behaviour)
            self.arrivals += 1

    async def _one(self, behaviour: Behaviour) -> None:
        while not self.posting:
            await asyncio.sleep(0.05)
        if self._served is None:
            self._served, _ = load_served(load_study(self.study), "http://127.0.0.1")
        async with open_store(self.study.parent / "store", write=False) as store:
            visitors = SimulatedVisitors(self._served, store, waits=False)
            while True:
                try:
                    await visit_study(self.fake, visitors, self.posting, behaviour)
                    return
                except Refusal:
                    await asyncio.sleep(0.05)

    @property
    def posting(self) -> str:
        self.fake.advance()
        return next((one.id for one in self.fake.studies.all.values() if one.status == "ACTIVE"), "")


@contextlib.asynccontextmanager
async def process(study: Path, port: int, url: str, *more: str) -> AsyncIterator[asyncio.subprocess.Process]:
    environment = os.environ | {"PROLIFIC_TOKEN": "rehearsal", "BEHOLDER_PROLIFIC_URL": url}
    started = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "beholder", "run", str(study), "--port", str(port), "--every", "0.3", *more,
        env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        yield started
    finally:
        if started.returncode is None:
            started.send_signal(signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
            await started.wait()


async def wait_for_output(started: asyncio.subprocess.Process, words: str) -> None:
    """Wait until a process prints these words."""
    assert started.stdout is not None
    output = b""
    while line := await started.stdout.readline():
        output += line
        if words.encode() in line:
            return
    raise AssertionError(f"{words!r} was never said:\n{output.decode()}")


async def wait_while_running(running: asyncio.Task[Any], work: Coroutine[Any, Any, None]) -> None:
    """Wait for work that is done during a run; raise AssertionError if the run ends first."""
    task = asyncio.create_task(work)
    await asyncio.wait([running, task], return_when=asyncio.FIRST_COMPLETED)
    if not task.done():
        task.cancel()
        raise AssertionError(f"the run ended too soon: {running.result()}")
    await task


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0.05)


def ending(started: asyncio.subprocess.Process) -> asyncio.Task[int]:
    return asyncio.create_task(started.wait())


def on_prolific(folder: Path, tiny: Path, design: dict[str, object] | None = None, **recruit: object) -> Path:
    return write_study(
        folder,
        tiny,
        recruit={"mode": "prolific", "reward": "2.00 GBP", "minutes": 10, **recruit},
        playback={"watch": "none"},
        design={"trials": 2, "seed": 3, **(design or {"participants": 6})},
        texts={"consent": "We keep what you answer for two years. Do you agree?"},
        contact="lab@example.org",
        clean={"bonus": {"quantity": {"sessions": 1, "each": "0.10 GBP"}}},
    )


def quick_platform() -> FakeProlific:
    return FakeProlific(clock=FakeClock(runs=True), approving_takes=timedelta(0), paying_takes=timedelta(0))


async def test_without_leave_to_spend_a_run_waits_for_a_person_and_approves_only_what_has_waited(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, fake = on_prolific(tmp_path / "study", tiny, approve_after="1 s"), quick_platform()
    participants = PlatformParticipants(study, fake)
    reports: list[RunProgress] = []
    monkeypatch.setenv("PROLIFIC_TOKEN", fake.token)
    async with serve_fake(fake) as url:
        monkeypatch.setenv("BEHOLDER_PROLIFIC_URL", url)
        running = asyncio.create_task(
            run_on_platform(load_study(study), publish=False, every=0.1, news=reports.append, port=free_port())
        )
        await wait_while_running(running, until(lambda: any("Nobody can see" in news.words for news in reports)))
        (posting,) = fake.studies.all
        fake.studies.move(FakeCall((posting,), {}, {"action": "PUBLISH"}))
        await wait_while_running(running, participants.send(7))
        fake.studies.move(FakeCall((posting,), {}, {"action": "PAUSE"}))
        paused = "0 at work, 1 of 6 places free; paused on the platform: `beholder launch --resume` goes on"
        await wait_while_running(running, until(lambda: any(news.words.endswith(paused) for news in reports)))
        fake.studies.move(FakeCall((posting,), {}, {"action": "START"}))
        await wait_while_running(
            running, until(lambda: any(one.status == "APPROVED" for one in fake.submissions.all.values()))
        )
        await wait_while_running(running, participants.send(1))
        waiting = await running
    assert waiting == ("Decide and pay: `beholder decide`, then `beholder pay`, then `beholder close`.",)
    assert any(news.words.endswith("approved in time") for news in reports)
    assert not any(one.is_stopped for one in fake.studies.all.values())
    assert {one.kind for one in fake.payments} == {"reward"}
    handed_in = {one.id: one.completed_at or fake.now for one in fake.submissions.all.values()}
    assert min(one.at - handed_in[one.submission] for one in fake.payments) >= timedelta(seconds=0.99)


async def test_a_run_waits_for_a_platform_that_is_away_and_says_so_once() -> None:
    reports: list[RunProgress] = []
    answers: list[Exception | None] = [PlatformAway("no route"), PlatformAway("no route"), PlatformUnsure("cut"), None]

    async def work() -> str:
        with platform_errors(Study.model_construct(recruit=Recruit(mode="prolific"))):
            if (error := answers.pop(0)) is not None:
                raise error
        return "done"

    async def wait(seconds: float = 0) -> None:
        await asyncio.sleep(0)

    assert await retry_while_away(work, "close", reports.append, wait) == "done"
    assert [news.words for news in reports] == [
        "Prolific  cannot be reached: no route. Nothing has happened. Try again later.",
        "Prolific  did not say whether it was done: cut. Run the same command again: it looks first.",
    ]
    answers.append(PlatformRefused("not yours"))
    with pytest.raises(RecruitError, match="said no: not yours"):
        await retry_while_away(work, "close", reports.append, wait)


@pytest.mark.variant
@pytest.mark.parametrize("has_room", [True, variant(False)])
async def test_what_was_left_out_is_asked_again_as_far_as_the_budget_goes(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch, has_room: bool
) -> None:
    study, fake = on_prolific(tmp_path / "study", tiny), quick_platform()
    participants = PlatformParticipants(study, fake)
    budget, caps = 40 if has_room else 18, list[str | None]()

    async def recruiting(study: Study, store: Store) -> Recruiter:
        caps.append(study.budget)
        return await recruiter_of(study, store)

    monkeypatch.setenv("PROLIFIC_TOKEN", fake.token)
    async with serve_fake(fake) as url:
        monkeypatch.setenv("BEHOLDER_PROLIFIC_URL", url)
        running = asyncio.create_task(
            run_on_platform(
                load_study(study), publish=True, budget=budget, every=0.1, port=free_port(), open_recruiter=recruiting
            )
        )
        await wait_while_running(running, participants.send(1))
        async with open_store(study.parent / "store", write=False) as store:
            (row,) = await read_rows(store, "sessions")
            act = LedgerEntry("leave_out", "done", fake.now, session=row["session"], reason_text="a test of ours")
            await store.ledger.append([act])
        await wait_while_running(running, participants.send(8 if has_room else 7))
        waiting = await running
    assert caps == [f"{budget:.2f} GBP"], "what the platform may take goes by it too"
    (posting,) = fake.studies.all.values()
    assert posting.places == (7 if has_room else 6)
    reason = (
        "8 votes were left out, and 1 more person cannot be asked. study.yaml:1  budget is 18.00 GBP, and 7 people "
    )
    assert [words.startswith(reason) for words in waiting] == ([] if has_room else [True])
    assert sum(one.status == "APPROVED" for one in fake.submissions.all.values()) == posting.places
    assert sum(one.kind == "bonus" for one in fake.payments) == posting.places


@pytest.mark.variant
async def test_people_are_asked_up_to_the_next_look_and_no_further_than_the_money_goes(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = {"budget": "12 GBP"}
    study, fake = on_prolific(tmp_path / "study", tiny, {"looks": [2, 4, 6], "stop": stop}), quick_platform()
    participants = PlatformParticipants(study, fake, ("finish", "return", "finish"))
    reports: list[RunProgress] = []
    outcomes = [LookOutcome(False, "It goes on."), LookOutcome(False, "It would go on.")]
    monkeypatch.setenv("PROLIFIC_TOKEN", fake.token)
    async with serve_fake(fake) as url:
        monkeypatch.setenv("BEHOLDER_PROLIFIC_URL", url)
        running = asyncio.create_task(
            run_on_platform(
                load_study(study), publish=True, budget=40, every=0.1, port=free_port(), news=reports.append,
                take_look=lambda: outcomes.pop(0),
            )
        )  # fmt: skip
        await wait_while_running(running, participants.send(5))
        assert await running == ()
    looks = [news.words for news in reports if news.stage == "look"]
    too_much = "It stops, as 6 people may cost 17.59 GBP, above design.stop.budget 12 GBP."
    assert looks == ["It goes on.", "It would go on.", too_much]
    assert any(news.words == "the next look is at 4 people: 2 more people, 4 in all" for news in reports)
    (posting,) = fake.studies.all.values()
    assert (posting.places, posting.is_stopped) == (4, True)
    assert sum(one.status == "APPROVED" for one in fake.submissions.all.values()) == 4


@pytest.mark.variant
@pytest.mark.long
async def test_a_run_that_is_killed_again_and_again_pays_everybody_once_and_ends(
    tmp_path: Path, tiny: Path, whole: bool
) -> None:
    study, fake = on_prolific(tmp_path / "study", tiny), quick_platform()
    participants, port = PlatformParticipants(study, fake, ("gives_up", *PEOPLE)), free_port()
    unattended = ("--publish", "--budget", "120 GBP")
    async with serve_fake(fake) as url:
        if whole:
            async with process(study, port, url, *unattended) as first:
                await wait_for_output(first, "Published")
            async with process(study, port, url, *unattended) as second:
                await wait_for_output(second, "lists finished")
                await wait_while_running(ending(second), participants.send(4))
        fake.faults.next("POST /api/v1/bulk-bonus-payments/{id}/pay/", "cut_after")
        async with process(study, port, url, *unattended) as third:
            await wait_for_output(third, "lists finished")
            await wait_while_running(ending(third), participants.send(9 - participants.arrivals))
            await wait_for_output(third, "decide")
        async with process(study, port, url, *unattended) as last:
            out, _ = await last.communicate()
            assert last.returncode == 0, out.decode()
    statuses = Counter(one.status for one in fake.submissions.all.values())
    assert statuses == {"APPROVED": 6, "RETURNED": 2, "AWAITING REVIEW": 1}
    assert len(fake.studies.all) == 1
    paid = Counter((one.submission, one.amount) for one in fake.payments if one.kind == "bonus")
    assert set(paid.values()) == {1}, out.decode()
    assert len(paid) == 6
    results = read_results(study.parent)
    assert results.notes["population"] == "people"
    assert "Closed." in out.decode(), out.decode()
    (asked,) = (one for one in fake.submissions.all.values() if one.status == "AWAITING REVIEW")
    assert asked.return_requested is not None
    assert f"{asked.id} was asked to return it, and has not yet: Prolific approves" in out.decode()
    assert "Waiting:" not in out.decode()
    async with open_store(study.parent / "store", write=False) as store:
        rows = await read_rows(store, "ends")
    assert Counter(row["outcome"] for row in rows) == {"completed": 6, "no_consent": 1}
