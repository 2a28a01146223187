"""Checks of what several servers share beside the facts: who leads, what each tells of itself, and the clock."""

from __future__ import annotations

from datetime import timedelta

from beholder.store.rules import InUseError
from beholder.testing.stores.facts import StoreOpener

_LONG = timedelta(hours=1)


async def one_server_leads_a_task_and_the_next_one_when_it_goes(open_: StoreOpener) -> None:
    async with open_("one") as last:
        assert await last.lead("serving")
        assert await last.lead("serving"), "who leads goes on leading"
        await last.resign()
        try:
            async with open_("one") as first:
                assert await first.lead("serving")
                assert not await last.lead("serving")
                assert await last.lead("running"), "each task has its leader"
                assert not await first.lead("running")
                await first.resign()
                assert await last.lead("serving")
                await last.resign()
                assert await first.lead("running")
                assert await first.lead("serving")
        except InUseError:
            pass  # of which one server has it all
        assert await last.lead("serving"), "nobody leads who has closed the store"
        assert await last.lead("running")


async def what_servers_tell_of_themselves_is_known_until_they_go(open_: StoreOpener) -> None:
    async with open_("one") as store:
        assert await store.servers(_LONG) == {}
        has_clock = await store.clock() is not None
        await store.announce("here:1", {"version": "1", "clock_off_ms": 3})
        await store.announce("here:1", {"version": "2", "clock_off_ms": None})
        await store.announce("there:1", {"version": "1"})
        told = await store.servers(_LONG)
        if not has_clock:  # of which one server has it all
            assert told == {}
            return
        assert [(name, one["version"]) for name, one in told.items()] == [("here:1", "2"), ("there:1", "1")]
        assert await store.servers(timedelta(0)) == {}
        await store.announce("here:1", None)
        assert [*await store.servers(_LONG)] == ["there:1"]
