"""Whoever has begun goes on with the texts with which they began, whichever server they meet."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import Refused
from beholder.methods import load_study
from beholder.planning.serialization import lists_to_json
from beholder.server.process import load_served
from beholder.server.service import StudyService
from beholder.server.tokens import session_token
from beholder.store.contract import Session, Store, StudyRecord
from beholder.store.open import open_store
from beholder.store.rules import record_of
from beholder.testing import write_study
from support.clock_service import Clock, Person

OLD = {
    "texts": {"instructions": "Old words."},
    "questions": [{"id": "quality", "text": "How good was it?"}],
    "during": [{"id": "tired", "text": "Were you tired?", "type": "text", "every": "trial", "required": False}],
    "after": [{"id": "age", "text": "How old were you?", "type": "number", "required": False}],
}
NEW = {
    "texts": {"instructions": "New words."},
    "questions": [{"id": "quality", "text": "How good is it now?"}],
    "during": [{"id": "tired", "text": "Are you tired now?", "type": "text", "every": "trial", "required": False}],
    "after": [{"id": "age", "text": "How old are you now?", "type": "number", "required": False}],
}


async def begin(folder: Path, tiny: Path, store: Store, clock: Clock, **keys: Any) -> tuple[StudyService, StudyRecord]:
    """Return a server of a study as it is in a folder of its own, on a store that others share."""
    served, plan = load_served(load_study(write_study(folder, tiny, **keys)), "http://here")
    record = record_of(served.study, served.catalogue, plan.plan_digest, list(lists_to_json(plan)), clock())
    await store.begin(record)
    return StudyService(served, store, clock), record


@pytest.fixture
async def shared(tmp_path: Path) -> AsyncIterator[tuple[Store, Clock]]:
    async with open_store(tmp_path / "store") as store:
        yield store, Clock()


async def test_people_who_meet_old_and_new_servers_in_turn_read_what_they_began_with(
    tmp_path: Path, tiny: Path, shared: tuple[Store, Clock]
) -> None:
    store, clock = shared
    old, _ = await begin(tmp_path / "old", tiny, store, clock, **OLD)
    new, _ = await begin(tmp_path / "new", tiny, store, clock, **NEW)
    for name, first, words in (
        ("ada", old, ("Old words", "was it", "Were you tired")),
        ("bob", new, ("New", "now", "tired now")),
    ):
        person = await Person(first, clock, name).come()
        read: list[str] = []
        while person.step["kind"] != "end":
            read.append(str(person.step))
            person.host = new if person.host is old else old
            assert await person.host.step(person.token) == person.step, "both servers show the same page"
            await person.answer()
        assert await old.step(person.token) == await new.step(person.token)
        pages = ["".join(page for page in read if kind in page) for kind in ("'text:", "'trial:", "'questions:")]
        assert [word in page for word, page in zip(words, pages, strict=True)] == [True, True, True]
    other = {"Old words", "was it", "were you", "Were you"}
    assert not [word for word in other if any(word in page for page in read)], "nobody reads both"


async def test_what_is_not_shown_is_as_it_is_now(tmp_path: Path, tiny: Path, shared: tuple[Store, Clock]) -> None:
    store, clock = shared
    old, _ = await begin(tmp_path / "old", tiny, store, clock, **OLD)
    ada = await Person(old, clock, "ada").come()
    new, _ = await begin(tmp_path / "new", tiny, store, clock, **NEW, recruit={"closes": "2026-05-04 12:30Z"})
    clock.wait(hours=1)
    ada.host = new
    await ada.until("text:")
    assert "Old words" in str(ada.step), "who has begun goes on"
    with pytest.raises(Refused) as refused:
        await Person(new, clock, "bob").come()
    assert refused.value.code == "closed"


async def test_a_text_that_only_a_newer_server_can_read_is_left_to_it_and_an_older_one_is_replaced(
    tmp_path: Path, tiny: Path, shared: tuple[Store, Clock], caplog: pytest.LogCaptureFixture
) -> None:
    store, clock = shared
    host, own = await begin(tmp_path / "old", tiny, store, clock, **OLD)
    await store.begin(replace(own, digest="newer", yaml=f"{own.yaml}\nfuture: true\n"))
    await store.arrive(Session("s-eve", "p-eve", "newer", 1, "link", 1, {}, clock()))
    token = session_token(store.secret, "tiny", "s-eve")
    for _ in range(2):
        with pytest.raises(Refused) as refused:
            await host.step(token)
        assert (refused.value.code, refused.value.status) == ("server_behind", 503)
    await store.begin(own)  # the newer servers were taken away again
    clock.wait(seconds=6)
    with caplog.at_level(logging.WARNING):
        assert (await host.step(token))["key"] == "consent"
    assert [one.message for one in caplog.records] == [
        "sessions that began with other texts (newer) go on with these: those cannot be shown"
    ]


async def test_another_plan_is_no_text_of_this_one(tmp_path: Path, tiny: Path, shared: tuple[Store, Clock]) -> None:
    store, clock = shared
    old, _ = await begin(tmp_path / "old", tiny, store, clock, **OLD)
    ada = await Person(old, clock, "ada").come()
    ada.host, _ = await begin(
        tmp_path / "new", tiny, store, clock, **NEW, design={"participants": 6, "trials": 3, "seed": 4}
    )
    with pytest.raises(Refused) as refused:
        await ada.answer()
    assert (refused.value.code, refused.value.status) == ("ended", 410)
