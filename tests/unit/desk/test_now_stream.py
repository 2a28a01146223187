"""The live page: one snapshot for all who watch, and none while nobody does."""

from __future__ import annotations

from contextlib import aclosing

from beholder.desk.desk_study import study_places
from beholder.desk.now_stream import NowStream
from beholder.methods import load_study
from beholder.server.process import run_server
from support.link_visitors import take_as_a_person
from support.taken_study import TakenStudy


async def test_all_who_watch_see_what_changes_and_nothing_is_taken_for_nobody(taken: TakenStudy) -> None:
    folder, _ = taken
    (place,) = study_places([folder])
    stream = NowStream(place)
    async with aclosing(stream.snapshots(60)) as one, aclosing(stream.snapshots(60)) as other:
        first, same = await anext(one), await anext(other)
        assert first is same
        assert first is not None
        assert (first.population, first.completed) == ("people", 2)
        async with run_server(load_study(folder), port=0) as server:
            await take_as_a_person(server.link, "dee")
            changed = await anext(one)
            while changed is None or changed.completed < 3:
                changed = await anext(one)
        assert stream.watchers == 2
    assert stream.watchers == 0
