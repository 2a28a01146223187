"""The page Now: the document of `monitor --json`, and how full the plan is."""

from __future__ import annotations

from typing import Any

from beholder.desk.desk_study import DeskStudy
from beholder.desk.documents.now import document, snapshot_document
from beholder.recruiting.monitoring import take_snapshot
from support.desk_studies import BLINDED, UNBLINDED, on_desk
from support.taken_study import LABEL, TakenStudy


def test_it_is_what_monitor_says(taken: TakenStudy) -> None:
    async def work(on: DeskStudy) -> tuple[Any, Any]:
        snapshot = await take_snapshot(on.context)
        return snapshot.to_json(), await snapshot_document(on, UNBLINDED, snapshot)

    monitor, shown = on_desk(taken[0], work)
    own = shown["monitor"]
    apart = ("stimuli", "conditions")
    assert {k: v for k, v in own.items() if k not in apart} == {k: v for k, v in monitor.items() if k not in apart}
    assert [one["name"] for one in own["conditions"]] == [LABEL, "smooth", "jerky", "frozen"]
    assert [one["finished"] for one in own["conditions"]] == [one["finished"] for one in monitor["conditions"]]
    assert (shown["blinded"], shown["key"]) == (False, "tiny")


def test_the_plan_fills_by_condition_and_content(taken: TakenStudy) -> None:
    shown = on_desk(taken[0], lambda on: document(on, UNBLINDED))
    fill = shown["fill"]
    assert fill["conditions"] == [one["name"] for one in shown["monitor"]["conditions"]]
    for row, condition in zip(fill["cells"], shown["monitor"]["conditions"], strict=True):
        for count in ("finished", "coming", "planned"):
            assert sum(cell[count] for cell in row if cell is not None) == condition[count]
        assert len(row) == len(fill["contents"])


def test_blinded_conditions_are_letters_in_their_order(taken: TakenStudy) -> None:
    shown = on_desk(taken[0], lambda on: document(on, BLINDED))
    letters = [f"Condition {letter}" for letter in "ABCD"]
    assert shown["fill"]["conditions"] == [one["name"] for one in shown["monitor"]["conditions"]] == letters
