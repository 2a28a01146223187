"""The service of a study: withdrawing, and erasure by receipt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beholder.errors import Refused
from beholder.server.entrances import shared_codes
from beholder.server.requests import SubmittedAnswer
from support.clock_service import Person
from support.platform_visitors import PROLIFIC, come, door, launch, prolific
from support.qualified_sessions import HostedStudy


async def test_withdrawing_in_the_middle_of_a_check_erases_what_was_posed_and_told(room: HostedStudy) -> None:
    host, clock, store = room
    ann = await Person(host, clock).come()
    await ann.until("check:")
    ann.fails = frozenset(["brightness"])
    await ann.answer()
    await host.events(ann.token, SubmittedAnswer(None, [(0, "shown", None, {})]), "check:brightness:2")
    url = ann.step["media"]["matrix"]["url"]
    end = await host.withdraw(ann.token)
    assert end["outcome"] == "withdrawn"
    for table in ("posed", "told", "answers", "events"):
        assert [row async for row in store.rows(table)] == [], table
    with pytest.raises(Refused):
        await host.media(url.removeprefix("/media/"))


TWICE = {"design": {"participants": 6, "trials": 2, "sessions_per_participant": 2, "seed": 3}}


async def test_who_is_forgotten_while_a_further_session_is_open_reads_so_and_stays_unknown(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC, **TWICE) as (host, clock):
        await launch(host)
        ann = await come(host, clock, **prolific())
        await ann.until("end")
        second = await come(host, clock, again=ann.token)
        await second.until("trial:1")
        await host.forget(ann.step["receipt"])
        codes = shared_codes(host.served.study, host.store.secret)
        for step in (
            await host.step(second.token),
            (await come(host, clock, second, **prolific(visit="s2"))).step,
        ):
            assert (step["kind"], step["outcome"], step["receipt"]) == ("end", "withdrawn", None)
            assert step["code"] == codes["no_consent"]
            assert codes["completed"] not in json.dumps(step)
        with pytest.raises(Refused) as refusal:
            await second.answer()
        assert refusal.value.status == 409  # which is answered with the page above
        assert (await host.store.platform_identities(), await host.store.platform_visits()) == ([], [])


async def test_a_token_that_was_valid_is_refused_once_all_tokens_are_invalid(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC) as (host, clock):
        await launch(host)
        ann = await come(host, clock, **prolific())
        assert host.session_of(ann.token) == ann.session
        await host.store.purge_identity()
        with pytest.raises(Refused) as refused:
            host.session_of(ann.token)
        assert refused.value.code == "unknown_token"
