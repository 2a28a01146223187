"""A server that has enough answers: nobody begins any more, whoever is inside finishes, and last pages stay a while."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from beholder.clock import utc_now
from beholder.errors import Refused
from beholder.server.presence import Presence, close_server
from beholder.server.process import RunningServer
from beholder.server.requests import SubmittedAnswer
from beholder.server.service import StudyService
from support.clock_service import Clock, Person, hosted
from support.platform_visitors import PROLIFIC, come, door, launch, prolific, refused


class Closing:
    """A server that is closing, and what it says meanwhile."""

    def __init__(self, host: StudyService, clock: Clock) -> None:
        self.host, self.clock = host, clock
        self._words: asyncio.Queue[str] = asyncio.Queue()
        server = RunningServer(host, host.store, "http://here")
        self._done = asyncio.create_task(close_server(server, self._words.put_nowait))

    async def words(self) -> str:
        return await asyncio.wait_for(self._words.get(), 30)

    async def end(self) -> list[str]:
        """Wait for its end; return what was said since."""
        await asyncio.wait_for(self._done, 30)
        return [self._words.get_nowait() for _ in range(self._words.qsize())]


@asynccontextmanager
async def study(
    folder: Path, tiny: Path
) -> AsyncIterator[tuple[Clock, Callable[[str], Person], Callable[[], Closing]]]:
    """Yield a clock, who makes a person, and what begins to close the study."""
    async with hosted(folder, tiny, design={"participants": 4, "trials": 1}) as (host, clock, _):
        yield clock, lambda name: Person(host, clock, name), lambda: Closing(host, clock)


async def test_where_nobody_is_inside_a_server_stops_at_once_and_without_a_word(tmp_path: Path, tiny: Path) -> None:
    async with study(tmp_path, tiny) as (_, person, close):
        ann = await person("ann").come()
        await ann.until("end")
        assert await close().end() == []
        assert (await ann.host.step(ann.token))["receipt"], "who has finished sees the last page again"


async def test_whoever_is_inside_finishes_and_nobody_else_begins(tmp_path: Path, tiny: Path) -> None:
    async with study(tmp_path, tiny) as (_, person, close):
        ann, bob, reader = [await person(name).come() for name in ("ann", "bob", "reader")]
        for one in (ann, bob):
            await one.until("trial")
        closing = close()
        words = await closing.words()
        assert words.startswith("Enough have finished: nobody else can begin. 2 people are inside and can finish,")
        assert words.endswith(" at the latest. Ctrl-C ends it now, twice at once.")
        for begins in (person("cy").come(), reader.answer()):
            with pytest.raises(Refused) as refusal:
                await begins
            assert (refusal.value.code, refusal.value.status) == ("enough", 403)
            assert str(refusal.value).startswith("Thank you for coming. This study has all the answers that it needs,")
        await ann.until("end")
        assert "1 person is inside" in await closing.words()
        await (await bob.come()).until("end")
        assert await closing.end() == []
        assert ann.step["code"]
        assert bob.step["code"]


async def test_the_time_limit_of_a_session_bounds_the_waiting(tmp_path: Path, tiny: Path) -> None:
    async with study(tmp_path, tiny) as (clock, person, close):
        ann = await person("ann").come()
        await ann.until("trial")
        closing = close()
        await closing.words()
        clock.wait(minutes=50)
        await ann.host.events(ann.token, SubmittedAnswer(None, [(0, "shown", None, {})]), ann.key)
        clock.wait(minutes=15)  # an hour after the beginning, and ann has just been there
        (words,) = await closing.end()
        assert words == (
            "It ends while 1 person was inside. Their answers so far are stored; they can go on when it is served "
            "again."
        )


async def test_who_closed_the_page_is_waited_for_two_minutes_and_can_go_on_later(tmp_path: Path, tiny: Path) -> None:
    async with study(tmp_path, tiny) as (clock, person, close):
        ann, bob = [await person(name).come() for name in ("ann", "bob")]
        for one in (ann, bob):
            await one.until("trial")
            one.host.hear(one.token, "tab", is_open=True)
        ann.host.hear(ann.token, "tab", is_open=False)
        clock.wait(minutes=1)
        bob.host.hear(bob.token, "tab", is_open=True)
        closing = close()
        assert "2 people are inside" in await closing.words()
        clock.wait(minutes=1, seconds=1)
        assert "1 person is inside" in await closing.words()
        await bob.until("end")
        bob.host.hear(bob.token, "tab", is_open=False)
        clock.wait(minutes=1)
        (words,) = [words for words in await closing.end() if "page open" not in words]
        assert words.startswith("It ends while 1 person was inside.")
        await (await ann.come()).until("end")
        assert ann.step["code"], "the same link goes on where they were"


async def test_an_open_page_is_served_until_it_is_left_or_for_five_minutes(tmp_path: Path, tiny: Path) -> None:
    async with study(tmp_path, tiny) as (clock, person, close):
        ann = await person("ann").come()
        await ann.until("end")
        ann.host.hear(ann.token, "tab", is_open=True)
        closing = close()
        words = await closing.words()
        assert words.startswith("1 person still has a page open, such as the last one with code, receipt and erasure")
        ann.host.hear(ann.token, "tab", is_open=False)
        assert (await ann.host.step(ann.token))["receipt"], "a reload leaves the page for a moment"
        clock.wait(seconds=6)
        assert await closing.end() == []
        ann.host.hear(ann.token, "tab", is_open=True)
        closing = close()
        await closing.words()
        for _ in range(6):
            clock.wait(minutes=1)
            ann.host.hear(ann.token, "tab", is_open=True)
        assert await closing.end() == []


async def test_the_first_interrupt_ends_the_waiting_and_the_second_is_as_before(tmp_path: Path, tiny: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    async with study(tmp_path, tiny) as (_, person, close):
        await (await person("ann").come()).until("trial")
        closing = close()
        await closing.words()
        signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is before
        assert (await closing.end())[0].startswith("It ends while 1 person was inside.")
    assert signal.getsignal(signal.SIGINT) is before


async def test_a_visit_that_a_platform_sends_too_late_is_recorded_and_shown_the_way_back(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC) as (host, clock):
        await launch(host)
        await (await come(host, clock, **prolific())).until("end")
        host.context.presence.close()
        refusal = await refused(host, clock, **prolific("bob", "s2"))
        assert refusal.code == "enough"
        assert refusal.more["return_url"].startswith("https://app.prolific.com/submissions/complete?cc=")
        assert {visit.submission for visit in await host.store.platform_visits()} == {"s1", "s2"}


def test_made_up_tabs_of_one_session_hide_no_other_page() -> None:
    presence, now = Presence(), utc_now()
    presence.hear("ann", "tab", now, is_open=True)
    for number in range(50_000):
        presence.hear("mallory", str(number), now, is_open=True)
    assert presence.open_pages(now) == 2
    assert presence.open_pages(now + timedelta(minutes=5)) == 0
