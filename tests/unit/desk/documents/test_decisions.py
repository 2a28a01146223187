"""The page Decide and pay: the table of `decide` with its evidence, what is signed, and what is owed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from beholder.desk.documents.decisions import document
from beholder.recruiting.decisions import decide_study
from support.decision_store import CARELESS, DecisionSetup, edit, handed_in, run
from support.desk_studies import BLINDED, desk_study

PAID_BY_HAND = {"mode": "link", "reward": "2.00 GBP"}


async def _come(setup: DecisionSetup) -> None:
    await setup.come("good", mode="link")
    await setup.come("careless", mode="link", obeys=CARELESS)
    await setup.come("open", None, mode="link", trials=3)


def test_it_is_the_table_of_decide_with_the_evidence(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> tuple[Any, Any]:
        await _come(setup)
        decided = await decide_study(setup.context, dry_run=True)
        return decided, await document(desk_study(setup.context), BLINDED)

    decided, told = run(tmp_path, work, listed=False, recruit=PAID_BY_HAND)
    by_id = {row["submission"]: row for row in told["rows"]}
    assert {row.submission: (row.pay, row.use) for row in decided.rows} == {
        name: (row["pay"], row["use"]) for name, row in by_id.items()
    }
    assert (told["all"], told["total"], told["reward"], told["by_hand"]) == (3, 3, "2.00 GBP", True)
    assert by_id["good"]["evidence"] == [one for one in by_id["good"]["evidence"] if one["verdict"] == "unknown"]
    careless = by_id["careless"]
    assert told["rows"][0]["pay"] in ("look", "reject"), "those for a person come first"
    assert careless["grounds"] == ["FAILED_CHECK"]
    assert by_id["good"]["grounds"] == []
    assert any(one["verdict"] == "fail" for one in careless["evidence"])
    assert careless["unsigned"]
    assert not by_id["open"]["unsigned"]
    assert not (tmp_path / "decide").exists(), "looking writes nothing"


def test_decisions_are_searched_and_filtered(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> list[Any]:
        await _come(setup)
        study = desk_study(setup.context)
        queries: list[dict[str, str]] = [{"search": "careless"}, {"state": "wait"}, {"limit": "1", "offset": "2"}]
        return [await document(study, BLINDED, **query) for query in queries]

    found, waiting, last = run(tmp_path, work, listed=False, recruit=PAID_BY_HAND)
    assert [row["submission"] for row in found["rows"]] == ["careless"]
    assert [row["submission"] for row in waiting["rows"]] == ["open"]
    assert (len(last["rows"]), last["total"], last["offset"]) == (1, 3, 2)


def test_what_was_changed_and_signed_is_told_with_what_is_owed(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> tuple[Any, Any]:
        await _come(setup)
        await decide_study(setup.context)
        edit(tmp_path, "good", use="false")
        study = desk_study(setup.context)
        before = await document(study, BLINDED)
        await decide_study(setup.context, sign="Ada", only={"good"})
        return before, await document(study, BLINDED)

    before, after = run(tmp_path, work, listed=False, recruit=PAID_BY_HAND)
    changed, signed = (next(row for row in told["rows"] if row["submission"] == "good") for told in (before, after))
    assert (changed["changed"], changed["use"], changed["signed"], changed["unsigned"]) == (True, False, None, True)
    assert (signed["signed"]["by"], signed["unsigned"]) == ("Ada", False)
    assert (before["payment"]["owed"], after["payment"]["owed"]) == (None, "2.00 GBP")
    assert [(line["what"], line["amount"], line["status"]) for line in after["payment"]["lines"]] == [
        ("the reward", "2.00 GBP", "owed")
    ]


def test_where_the_platform_cannot_be_asked_that_is_told(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> Any:
        await setup.come("a", submission="a", code=setup.code)
        setup.platform.listed = [handed_in("a", setup.code)]
        (tmp_path / "decide").mkdir()
        (tmp_path / "decide" / "decisions.csv").write_text("no,such,columns\n", "utf-8")
        return await document(desk_study(setup.context), BLINDED)

    told = run(tmp_path, work)
    assert told["rows"] == []
    assert told["payment"] is None
    assert any("decisions.csv" in problem for problem in told["problems"])


def test_nobody_has_come(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> Any:
        return await document(desk_study(setup.context), BLINDED)

    told = run(tmp_path, work, listed=False, recruit=PAID_BY_HAND)
    assert (told["all"], told["rows"]) == (0, [])
    assert told["words"][0] == "Nobody has come yet, so there is nothing to decide."
