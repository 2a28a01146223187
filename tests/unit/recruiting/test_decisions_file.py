"""decide/decisions.csv: edits are kept or reported as problems, and the file names no platform ids."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import RecruitError
from beholder.recruiting.contract import DecisionRow
from beholder.recruiting.decisions import decide_study
from beholder.store.contract import LedgerEntry
from support.decision_store import CARELESS, FILE, DecisionSetup, decide, edit, handed_in, read, run


def test_no_id_of_a_person_is_in_the_file_or_in_the_ledger(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> list[LedgerEntry]:
        await setup.come("a", person="pid-a")
        looked = await decide_study(setup.context, submissions=tmp_path / "list.csv")
        assert looked.words[1] == (
            "pay/by_hand.csv has the ids of 1 person to reject, ask back or look at on the platform. "
            "Keep it to yourself."
        )
        await decide_study(setup.context, submissions=tmp_path / "list.csv", sign="Ada")
        return list(await setup.store.ledger.entries())

    (tmp_path / "list.csv").write_text("participant,code\npid-a,K7QM\npid-stranger,K7QM\n", "utf-8")
    recruit = {"mode": "panel", "id_parameter": "id", "reward": "2.00 GBP"}
    entries = run(tmp_path, work, listed=False, recruit=recruit)
    assert "pid-" not in (tmp_path / FILE).read_text("utf-8")
    assert "pid-" not in str([asdict(entry) for entry in entries])
    lines = read(tmp_path)
    assert [line["pay"] for line in lines] == ["approve", "return"]
    assert lines[0]["submission"] == lines[0]["participant"]
    by_hand = tmp_path / "pay" / "by_hand.csv"
    (line,) = csv.DictReader(io.StringIO(by_hand.read_text("utf-8"), newline=""))
    assert (line["id"], line["submission"], line["pay"]) == ("pid-stranger", lines[1]["submission"], "return")
    assert line["message"] == lines[1]["message"]
    if os.name != "nt":
        assert by_hand.stat().st_mode & 0o777 == 0o600


LONG = (
    "On two pages the video itself asked for an answer, and another one was given on both of them. Please write to "
    "name@example.org if you think that this is a mistake."
)


def test_what_a_person_has_changed_stays_and_the_proposal_beside_it_follows_the_platform(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> list[dict[str, DecisionRow]]:
        setup.platform.listed = [handed_in("a", setup.code), handed_in("b", setup.code)]
        await setup.come("a", None, submission="a", trials=3)
        await setup.come("b", submission="b", code=setup.code)
        result = [await decide(setup)]
        edit(tmp_path, "a", pay="approve")
        edit(tmp_path, "b", use="FALSE")
        result.append(await decide(setup))
        setup.platform.listed[0] = handed_in("a", setup.code, "returned")
        edit(tmp_path, "a", pay="bonus")
        result.append(await decide(setup))
        setup.platform.listed[0] = handed_in("a", setup.code, "approved")
        return [*result, await decide(setup)]

    first, second, third, last = run(tmp_path, work)
    assert [(row["a"].proposed, row["a"].pay) for row in (first, second, third, last)] == [
        ("look", "look"),
        ("look", "approve"),
        ("nothing", "bonus"),
        ("nothing", "nothing"),
    ]
    assert [(row["b"].use, row["b"].is_use_changed) for row in (first, second, third)] == [
        (True, False),
        (False, True),
        (False, True),
    ]


def test_a_spreadsheet_that_writes_semicolons_and_capitals_is_read(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> dict[str, DecisionRow]:
        setup.platform.listed = [handed_in("a", setup.code)]
        await setup.come("a", submission="a", code=setup.code)
        await decide(setup)
        path = tmp_path / FILE
        text = path.read_text("utf-8").replace(",", ";").replace(";true;true;", ";TRUE;FALSE;")
        path.write_text("\ufeff" + text.replace("\n", "\r\n"), "utf-8")
        return await decide(setup)

    assert not run(tmp_path, work)["a"].use


def faults(folder: Path, *cells: dict[str, str], sign: str | None = None, **keys: Any) -> list[str]:
    """Return the problems of edits of the submissions a, b, c and so on."""

    async def work(setup: DecisionSetup) -> str:
        setup.platform.listed = [
            handed_in("a", setup.code),
            handed_in("b", setup.code),
            handed_in("c"),
            handed_in("d", status="returned"),
        ]
        await setup.come("a", submission="a", gold=1)
        await setup.come("b", submission="b", obeys=CARELESS)
        await setup.come("c", "screened_out", submission="c")
        await setup.come("d", submission="d")
        await setup.come("e")
        await decide(setup)
        for cell in cells:
            edit(folder, **cell)
        before = (folder / FILE).read_bytes()
        with pytest.raises(RecruitError) as messages:
            await decide(setup, sign=sign)
        assert (folder / FILE).read_bytes() == before
        assert not await setup.entries("decisions")
        return str(messages.value)

    return str(run(folder, work, **keys)).split("\n")


def test_every_bad_edit_is_told_at_once_with_its_line(tmp_path: Path) -> None:
    assert faults(
        tmp_path,
        {"submission": "a", "pay": "aprove", "use": "perhaps"},
        {"submission": "b", "message": "Too careless.", "category": ""},
        {"submission": "c", "pay": "reject"},
        {"submission": "d", "pay": "approve"},
        {"submission": "e", "pay": "bonus"},
    ) == [
        "decide/decisions.csv:2  use is neither true nor false. Allowed: true, false.",
        "decide/decisions.csv:2  pay is aprove. Allowed: approve, screen_out, bonus, reject, return, wait, look, "
        "nothing. Did you mean approve?",
        "decide/decisions.csv:3  a rejection needs a category. Allowed: FAILED_CHECK.",
        "decide/decisions.csv:3  the message has 13 characters, and 87 more are needed. Allowed: 100 or more. Say what "
        "was asked, what was done instead, and whom to write to; never pad it.",
        "decide/decisions.csv:4  pay is reject, and this person was turned away by us. Allowed: screen_out, return, "
        "look, nothing.",
        "decide/decisions.csv:5  pay is approve, and on the platform it is returned. Allowed: bonus, look, nothing. "
        "What is over there is paid as a bonus.",
        "decide/decisions.csv:6  pay is bonus, and no submission of this study belongs to it. Allowed: nothing. Who "
        "came from elsewhere is settled there.",
    ]


def test_gold_and_the_other_rules_about_data_are_no_ground_for_a_rejection(tmp_path: Path) -> None:
    edited = {"submission": "a", "pay": "reject", "category": "LOW_EFFORT", "message": LONG}
    assert faults(tmp_path, edited) == [
        "decide/decisions.csv:2  pay is reject, and there is no ground for it: a stimulus that says itself what to "
        "answer has to be answered otherwise, and often enough. Gold, agreement, speed and playback may cost the use, "
        "and never the pay. Allowed: approve, look.",
    ]


def test_a_category_that_the_verdict_does_not_bear_out_is_refused(tmp_path: Path) -> None:
    assert faults(tmp_path, {"submission": "b", "category": "MALINGERING"}, sign="Ada") == [
        "decide/decisions.csv:3  category is MALINGERING. Allowed: FAILED_CHECK."
    ]


def test_what_is_over_can_be_neither_rejected_nor_asked_back(tmp_path: Path) -> None:
    assert faults(tmp_path, {"submission": "d", "pay": "reject"}) == [
        "decide/decisions.csv:5  pay is reject, and on the platform it is returned. "
        "Only what awaits review can be rejected."
    ]
    assert faults(tmp_path / "2", {"submission": "d", "pay": "return"}) == [
        "decide/decisions.csv:5  pay is return, and on the platform it is returned. "
        "Only what awaits review can be asked back."
    ]


def test_an_amount_that_the_study_does_not_have_is_told(tmp_path: Path) -> None:
    recruit = {"mode": "prolific", "reward": "2.00 GBP"}
    assert faults(tmp_path, {"submission": "c", "pay": "screen_out"}, recruit=recruit) == [
        "decide/decisions.csv:4  pay is screen_out, and the study has no recruit.screen_out. Set it, or put return."
    ]


def test_an_id_that_a_spreadsheet_has_changed_and_a_line_that_is_there_twice_are_told(tmp_path: Path) -> None:
    path = tmp_path / FILE

    async def work(setup: DecisionSetup) -> str:
        setup.platform.listed = [handed_in("5e10abcd", setup.code)]
        await setup.come("s", submission="5e10abcd")
        await decide(setup)
        edit(tmp_path, "5e10abcd", pay="look")
        path.write_text(path.read_text("utf-8").replace("5e10abcd", "5E+10"), "utf-8")
        with pytest.raises(RecruitError) as messages:
            await decide(setup)
        path.write_text(path.read_text("utf-8") + path.read_text("utf-8").partition("\n")[2], "utf-8")
        with pytest.raises(RecruitError) as twice:
            await decide(setup)
        return f"{messages.value}\n{twice.value}"

    assert run(tmp_path, work).split("\n") == [
        "decide/decisions.csv:2  submission is 5E+10, and there is none of that id. A spreadsheet may have changed it; "
        "delete the line.",
        "decide/decisions.csv:3  submission is 5E+10, as in line 2. Allowed: every submission once. Keep the line that "
        "counts.",
    ]
