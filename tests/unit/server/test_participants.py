"""Identities: platform ids, placeholders, personal links, block lists and seats."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.server import tokens
from beholder.server.participants import read_seat_token, seat_token
from beholder.workflow.check import check
from support.message_studies import write_asking
from support.platform_visitors import PANEL, PROLIFIC, come, count, door, launch, prolific, refused


@pytest.mark.parametrize(
    "text", ["{{id}}", "{{%PROLIFIC_PID%}}", "{{id", "%SURVEY_CODE%", "${ID}", "{id}", "[ID]", "<id>"]
)
async def test_an_address_that_nobody_filled_in_is_told_from_an_odd_id(tmp_path: Path, text: str) -> None:
    async with door(tmp_path, {**PANEL, "visit_parameter": "visit"}) as (host, clock):
        refusal = await refused(host, clock, pid=text)
        assert (refusal.code, refusal.what) == ("placeholder", host.words["placeholder"])
        assert (await refused(host, clock, pid="ann", visit=text)).code == "placeholder"
        assert (await refused(host, clock, pid="50%")).code == "odd_id"
        assert await count(host) == 0


async def test_a_placeholder_in_an_open_link_does_not_make_everybody_one_person(tmp_path: Path) -> None:
    async with door(tmp_path, {"mode": "link"}) as (host, clock):
        assert (await refused(host, clock, participant="{{id}}")).code == "placeholder"
        assert (await refused(host, clock, PROLIFIC_PID="{{%PROLIFIC_PID%}}")).code == "placeholder"
        await come(host, clock, participant="Größe 2 {ann} <a@b.example>")


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


async def test_an_invitation_is_for_the_person_it_was_written_for(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id\nann@example.org\nGröße 2\n", "utf-8")
    recruit = {"mode": "panel", "people": "people.csv", "single_use": True}
    async with door(tmp_path, recruit) as (host, clock):
        for name in ("ann@example.org", "Größe 2"):
            invited = tokens.invitation(host.store.secret, name)
            first = await come(host, clock, invited=invited)
            await first.until("trial:2")
            assert (await come(host, clock, invited=f" {invited} ")).session == first.session
            assert (await host.store.platform_identities())[-1].platform_id == name
        forged = tokens.invitation(b"another secret", "ann@example.org")
        for text in (forged, "ann@example.org", ".", "", "ann@example.org."):
            assert (await refused(host, clock, invited=text)).code == "no_id"


async def test_where_links_are_personal_the_open_address_opens_nothing(tmp_path: Path) -> None:
    async with door(tmp_path, {"mode": "link", "single_use": True}) as (host, clock):
        assert (await refused(host, clock)).code == "no_id"
        assert (await refused(host, clock, participant="ann")).code == "no_id"
        ann = await come(host, clock, invited=tokens.invitation(host.store.secret, "1"))
        await ann.until("end")
        assert (await come(host, clock, resume=ann.token)).step["kind"] == "end"


async def test_a_block_list_counts_for_every_way_of_coming(tmp_path: Path) -> None:
    (tmp_path / "blocked.txt").write_text("ann\n", "utf-8")
    async with door(tmp_path, {**PROLIFIC, "block": "blocked.txt"}) as (host, clock):
        await launch(host)
        assert (await refused(host, clock, **prolific())).code == "blocked"
        await come(host, clock, **prolific("bea"))


async def test_numbers_of_another_study_are_other_people(tmp_path: Path) -> None:
    single = {"mode": "link", "single_use": True}
    async with door(tmp_path / "first", single) as (host, clock):
        ann = await come(host, clock, invited=tokens.invitation(host.store.secret, "1"))
        await ann.answer()
    async with door(tmp_path / "second", {**single, "exclude": ["../first"]}) as (host, clock):
        await come(host, clock, invited=tokens.invitation(host.store.secret, "1"))
    (tmp_path / "third").mkdir()
    (tmp_path / "third" / "people.csv").write_text("id\n1\n", "utf-8")
    listed = {"mode": "link", "people": "people.csv", "exclude": ["../first"]}
    async with door(tmp_path / "third", listed) as (host, clock):
        await come(host, clock, invited=tokens.invitation(host.store.secret, "1"))


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        (
            "lab",
            "recruit.exclude leaves nobody out: in a laboratory people are numbers, and each study has its own. "
            "Ask whoever comes whether they took part before.",
        ),
        (
            "link",
            "recruit.exclude leaves out only those whose link holds their id, as ?participant=ID; a plain link does "
            "not. Name people in recruit.people, or give them such links, in both studies.",
        ),
    ],
)
def test_whom_nobody_can_know_again_is_told(tmp_path: Path, mode: str, told: str) -> None:
    (tmp_path / "first").mkdir()
    study = write_asking(tmp_path, checks={}, recruit={"mode": mode, "exclude": ["first"]})
    assert [str(one).partition("  ")[2] for one in check(study).warnings] == [told]


@given(st.integers(1, 10**9 - 1), st.binary(min_size=16, max_size=16))
def test_only_a_seat_of_ours_is_read(number: int, secret: bytes) -> None:
    assert read_seat_token(secret, seat_token(secret, number)) == number
    assert read_seat_token(secret, f"{number + 1}.{seat_token(secret, number).partition('.')[2]}") is None
    assert read_seat_token(secret + b"x", seat_token(secret, number)) is None


@pytest.mark.parametrize("text", ["", ".", "1", "-1.x", "²." + "x", "1" * 12 + ".x", "1.\ud800"])
def test_what_is_no_seat_is_none(text: str) -> None:
    assert read_seat_token(b"secret", text.encode("utf-8", "replace").decode()) is None
