"""The page Results: what `analyse` found, under code names until unblinded, and nothing that looking early would spoil.

While people may still come, means are shown without intervals, unless the study plans its looks: then they are those
that hold at every look. P-values are shown at the end only.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from beholder.cleaning.collection import Collection, collection_of
from beholder.desk.desk_study import DeskStudy
from beholder.desk.documents.study_facts import CodeNames, StudyMoment
from beholder.desk.viewer import Viewer
from beholder.formats import plain_count
from beholder.study.markdown import plain_text
from beholder.types import Json

UNBLIND = "unblind"
"""The kind of the entry in the ledger that conditions were shown under their own names."""
_VALID_LOOKS = ("planned", "anytime")
_NUMBERS = ("n", "mean", "ci_low", "ci_high")
_PAIR_NUMBERS = ("estimate", "mean_difference", "ci_low", "ci_high", "p_holm")
_INTERVALS = ("ci_low", "ci_high")


async def document(study: DeskStudy, viewer: Viewer) -> dict[str, Json]:
    """Return the means of conditions, the pairs, who has looked and unblinded, and whether there is a report."""
    moment = await study.facts.moment()
    names = moment.code_names(is_blinded=viewer.blinded)
    folder = study.study.outputs
    notes = _notes(folder / "analyse" / "notes.json")
    collected = _collection(moment)
    is_open = collected is not None and collected.is_open
    report = folder / "report" / "index.html"
    base: dict[str, Json] = {
        "key": study.key,
        "blinded": viewer.blinded,
        "open": is_open,
        "finished": collected.finished if collected is not None else 0,
        "lists": collected.lists if collected is not None else 0,
        "unblinded": _unblinded(moment),
        "looks": [
            {"at": look.at, "participants": look.participants, "command": look.command}
            for look in (collected.looks if collected is not None else ())
        ],
        "report": False,
        "report_waits": "names" if report.is_file() and viewer.blinded else None,
    }
    if notes is None:
        return {**base, "state": "none", "words": _words_without(collected), "questions": []}
    was_open = notes["collection"] is not None and notes["collection"]["ended"] is None
    is_interim = is_open or was_open
    look = notes.get("look") or {}
    has_rule = bool(study.study.design.looks)
    shows_intervals = not is_interim or (has_rule and look.get("kind") in _VALID_LOOKS)
    return {
        **base,
        "report": report.is_file() and not viewer.blinded and shows_intervals,
        "report_waits": _report_waits(viewer, shows_intervals=shows_intervals) if report.is_file() else None,
        "state": "interim" if is_interim else "final",
        "population": notes["population"],
        "intervals": shows_intervals,
        "level": look.get("level") or notes["level"],
        "look": look.get("words") if shows_intervals and not viewer.blinded else None,
        "words": _words(is_interim=is_interim, has_rule=has_rule, shows_intervals=shows_intervals),
        "since": _since(notes, collected),
        "questions": _questions(
            folder / "analyse", notes, names, shows_intervals=shows_intervals, is_final=not is_interim
        ),
    }


def _report_waits(viewer: Viewer, *, shows_intervals: bool) -> str | None:
    """Return what the report waits for: the names of conditions, or the end; None where it opens."""
    return "names" if viewer.blinded else None if shows_intervals else "end"


def _notes(path: Path) -> dict[str, Any] | None:
    try:
        notes: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return notes


def _collection(moment: StudyMoment) -> Collection | None:
    """Return how far the run is now; None where nobody has come."""
    if moment.judging is None:
        return None
    texts = moment.judging.texts
    return collection_of(moment.study, moment.judging.facts, moment.tables["ledger"], texts, now=moment.at)


def _unblinded(moment: StudyMoment) -> list[Json]:
    """Return who has had conditions shown under their own names, when, and why."""
    return [
        {"at": one.at.isoformat(), "by": _by(one.evidence), "reason": one.reason_text}
        for one in moment.entries
        if one.kind == UNBLIND and one.event == "done"
    ]


def _by(evidence: Json) -> Json:
    return evidence.get("by") if isinstance(evidence, Mapping) else None


def _words_without(collected: Collection | None) -> str:
    if collected is None:
        return "Nobody has come yet, so there is nothing to see."
    return (
        f"{plain_count(collected.finished, 'list is', 'lists are')} finished of {collected.lists}. Nothing has been "
        "analysed: run `beholder analyse` when it is time. Each look while people still come is recorded."
    )


def _words(*, is_interim: bool, has_rule: bool, shows_intervals: bool) -> str:
    """Return what may be read from the numbers, and why."""
    if not is_interim:
        return "Everybody has come: intervals and p-values are final."
    if shows_intervals:
        return (
            "People still come. Intervals hold for all looks together, as the study plans its looks; p-values come at "
            "the end."
        )
    if has_rule:
        return "People still come, and this is not one of the planned looks: intervals and p-values come at the end."
    return (
        "People still come, and the study plans no looks: intervals and p-values come at the end, as those for a fixed "
        "number of people would be too narrow now."
    )


def _since(notes: Mapping[str, Any], collected: Collection | None) -> int:
    """Return how many lists were finished since the ratings were analysed."""
    before = (notes["collection"] or {}).get("finished")
    return max(0, collected.finished - int(before)) if collected is not None and before is not None else 0


def _questions(
    folder: Path, notes: Mapping[str, Any], names: CodeNames, *, shows_intervals: bool, is_final: bool
) -> list[Json]:
    """Return each question with the means of its conditions and its pairs."""
    conditions, pairs = _table(folder / "conditions.csv"), _table(folder / "pairs.csv")
    place = {name: number for number, name in enumerate(names.order)}
    hidden = () if shows_intervals else _INTERVALS
    found: list[Json] = []
    for question in notes["questions"]:
        own = [row for row in conditions if row["question"] == question]
        own.sort(key=lambda row: place.get(row["condition"], len(place)))
        metric = notes["metrics"].get(question, {})
        found.append(
            {
                "id": question,
                "text": plain_text(str(notes["labels"].get(question, question))),
                "metric": metric.get("name", ""),
                "conditions": [
                    {"name": names.condition(row["condition"]), **_numbers(row, _NUMBERS, hidden)} for row in own
                ],
                "pairs": [
                    _pair(row, names, place, () if is_final else ("p_holm", *hidden))
                    for row in pairs
                    if row["question"] == question
                ],
            }
        )
    return found


def _pair(row: Mapping[str, str], names: CodeNames, place: Mapping[str, int], hidden: Sequence[str]) -> dict[str, Json]:
    """Return a pair; while conditions are blinded by their code names, as the order of the study would tell them."""
    first, second = (next((row[name] for name in some if name in row), "") for some in (_FIRSTS, _SECONDS))
    numbers = _numbers(row, _PAIR_NUMBERS, hidden)
    if names.is_blinded and place.get(first, 0) > place.get(second, 0):
        first, second = second, first
        numbers = {name: _turned(numbers, name) for name in numbers}
    return {"first": names.condition(first), "second": names.condition(second), **numbers}


_FIRSTS, _SECONDS = ("condition", "condition_a", "first"), ("other_condition", "condition_b", "second")
_TURNED: Mapping[str, str] = {"ci_low": "ci_high", "ci_high": "ci_low"}


def _turned(numbers: Mapping[str, Json], name: str) -> Json:
    """Return a number of a pair that is told the other way round."""
    value = numbers.get(_TURNED.get(name, name))
    return -value if isinstance(value, int | float) and name != "p_holm" else value


def _numbers(row: Mapping[str, str], wanted: Sequence[str], hidden: Sequence[str]) -> dict[str, Json]:
    return {name: None if name in hidden else _number(row[name]) for name in wanted if name in row}


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _table(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except OSError:
        return []
