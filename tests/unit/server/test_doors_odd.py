"""What comes to the door that should not: placeholders, other runs, lists of all encodings, links passed on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from beholder.errors import Refused
from beholder.server.endings import shared_codes
from beholder.store.contract import LedgerEntry
from support.clock_service import NOON, Person
from support.platform_visitors import PANEL, POSTING, PROLIFIC, come, count, door, launch, prolific, refused

TWICE = {"design": {"participants": 6, "trials": 2, "sessions_per_participant": 2, "seed": 3}}


@pytest.mark.parametrize(
    "text", ["{{id}}", "{{%PROLIFIC_PID%}}", "{{id", "%SURVEY_CODE%", "${ID}", "{id}", "[ID]", "<id>"]
)
async def test_an_address_that_nobody_filled_in_is_told_from_an_odd_id(tmp_path: Path, text: str) -> None:
    async with door(tmp_path, {**PANEL, "visit_parameter": "visit"}) as (host, clock):
        told = await refused(host, clock, pid=text)
        assert (told.code, told.what) == ("placeholder", host.words["placeholder"])
        assert (await refused(host, clock, pid="ann", visit=text)).code == "placeholder"
        assert (await refused(host, clock, pid="50%")).code == "odd_id"
        assert await count(host) == 0


async def test_a_placeholder_in_an_open_link_does_not_make_everybody_one_person(tmp_path: Path) -> None:
    async with door(tmp_path, {"mode": "link"}) as (host, clock):
        assert (await refused(host, clock, participant="{{id}}")).code == "placeholder"
        assert (await refused(host, clock, PROLIFIC_PID="{{%PROLIFIC_PID%}}")).code == "placeholder"
        await come(host, clock, participant="Größe 2 {ann} <a@b.example>")


async def test_a_posting_of_another_run_is_not_of_this_one(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC) as (host, clock):
        for posting, run in ((POSTING, 1), ("earlier", 7)):
            await host.store.ledger.append(
                [LedgerEntry("draft", "done", NOON, provider_ref=posting, evidence={"run": run})]
            )  # fmt: skip
        assert (await refused(host, clock, **prolific(posting="earlier"))).code == "other_posting"
        await come(host, clock, **prolific())


async def test_a_block_list_from_a_spreadsheet_blocks_its_first_line_too(tmp_path: Path) -> None:
    (tmp_path / "blocked.txt").write_text("ann\nbea\n", "utf-8-sig")
    async with door(tmp_path, {**PANEL, "block": "blocked.txt"}) as (host, clock):
        for name in ("ann", "bea"):
            assert (await refused(host, clock, pid=name)).code == "blocked"


async def test_a_block_list_that_is_deleted_or_broken_while_people_come_still_blocks(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    listed = tmp_path / "blocked.txt"
    listed.write_text("ann\n", "utf-8")
    async with door(tmp_path, {**PANEL, "block": "blocked.txt"}) as (host, clock):
        listed.unlink()
        assert (await refused(host, clock, pid="ann")).code == "blocked"
        await come(host, clock, pid="bea")
        assert "recruit.block: blocked.txt cannot be read, so it stays as it was" in caplog.text
        listed.write_bytes(b"\xff\xfe\x00")
        assert (await refused(host, clock, pid="ann")).code == "blocked"
        listed.write_text("bea\n", "utf-8")
        assert (await refused(host, clock, pid="bea")).code == "blocked"
        await come(host, clock, pid="ann")


async def test_of_two_people_who_come_by_one_visit_at_the_same_moment_one_begins(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC) as (host, clock):
        await launch(host)
        both = await asyncio.gather(
            *(come(host, clock, **prolific(name)) for name in ("ann", "bea")), return_exceptions=True
        )
        (told,) = [one for one in both if isinstance(one, Refused)]
        assert told.code == "other_posting"
        assert len(await host.store.platform_visits()) == 1
        first = next(one for one in both if isinstance(one, Person))
        other = "bea" if first.params["PROLIFIC_PID"] == "ann" else "ann"
        await come(host, clock, **prolific(other, "s2"))  # by a visit of their own
        assert (await count(host), len(await host.store.platform_visits())) == (2, 2)


async def test_who_is_forgotten_while_a_further_session_is_open_reads_so_and_stays_unknown(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC, **TWICE) as (host, clock):
        await launch(host)
        ann = await come(host, clock, **prolific())
        await ann.until("end")
        second = await come(host, clock, again=ann.token)
        await second.until("trial:1")
        await host.forget(ann.step["receipt"])
        codes = shared_codes(host.served.study, host.store.secret)
        for step in (await host.step(second.token), (await come(host, clock, **prolific(visit="s2"))).step):
            assert (step["kind"], step["outcome"], step["receipt"]) == ("end", "withdrawn", None)
            assert step["code"] == codes["no_consent"]
            assert codes["completed"] not in json.dumps(step)
        with pytest.raises(Refused) as told:
            await second.answer()
        assert told.value.status == 409  # which is answered with the page above
        assert (await host.store.platform_identities(), await host.store.platform_visits()) == ([], [])
