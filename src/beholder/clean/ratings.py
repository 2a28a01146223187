"""The tidy rating row: one row per judgement, for every method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.checks.trust import CHECK_ROLES
from beholder.clean.facts import Given, Shown, Visit
from beholder.errors import Problem, UserError
from beholder.methods.contract import Judgement, Slot, Trial
from beholder.study.model import Study

if TYPE_CHECKING:
    from pandas import DataFrame

NUMBERS = (
    "run", "position", "repetition", "value", "raw_value", "keyed", "scale_min", "scale_max", "plays", "watched_ms",
    "coverage", "response_ms",
)  # fmt: skip
"""The columns of a rating table that hold numbers; everything else is text, but for `use`."""


@dataclass(frozen=True)
class Rating:
    """One row of ratings.csv; the fields are its columns, in order. `factors` become `factor_<name>` columns."""

    study: str
    digest: str
    run: int
    participant: str
    session: str
    mode: str
    trial: str
    position: int
    repetition: int
    method: str
    question: str
    kind: str
    content: str
    condition: str
    stimulus: str
    role: str
    other_condition: str | None
    other_stimulus: str | None
    unit: str | None
    value: float | None
    raw_value: float | None
    keyed: float | None
    scale_min: float
    scale_max: float
    missing: str | None
    slot: str
    colour: str | None
    plays: int | None
    watched_ms: float | None
    coverage: float | None
    response_ms: float
    input: str
    answered_at: datetime
    use: bool
    reasons: str
    factors: Mapping[str, str] = field(default_factory=dict)


COLUMNS = tuple(f.name for f in fields(Rating) if f.name != "factors")


def rating_rows(
    study: Study,
    visit: Visit,
    position: int,
    given: Given,
    judgements: Iterable[Judgement],
    stimuli: Mapping[tuple[str, str], Shown],
) -> list[Rating]:
    """Return the ratings in one answer: every judgement that is neither training nor a check."""
    trial = visit.trials[position - 1]
    if trial.purpose != "rate":
        return []
    slots = {slot.id: slot for slot in trial.slots}
    asked = {asked.question for asked in trial.asked if asked.purpose == "ask"}
    rows = []
    for judgement in judgements:
        slot = slots[judgement.slot]
        if slot.role in CHECK_ROLES or judgement.question not in asked:
            continue
        other = slots[judgement.other_slot] if judgement.other_slot else None
        if other is not None and other.role in CHECK_ROLES:
            continue
        rows.append(_row(study, visit, trial, position, given, judgement, slot, other, stimuli))
    return rows


def _row(
    study: Study,
    visit: Visit,
    trial: Trial,
    position: int,
    given: Given,
    judgement: Judgement,
    slot: Slot,
    other: Slot | None,
    stimuli: Mapping[tuple[str, str], Shown],
) -> Rating:
    shown = stimuli[visit.digest, slot.stimulus]
    played = given.playback.get(slot.id) or {}
    return Rating(
        study=study.name,
        digest=visit.digest,
        run=visit.run,
        participant=visit.participant,
        session=visit.session,
        mode=visit.mode,
        trial=trial.id,
        position=position,
        repetition=1,
        method=study.method,
        question=judgement.question,
        kind=judgement.kind,
        content=shown.content,
        condition=shown.condition,
        stimulus=slot.stimulus,
        role=slot.role,
        other_condition=stimuli[visit.digest, other.stimulus].condition if other else None,
        other_stimulus=other.stimulus if other else None,
        unit=judgement.unit,
        value=judgement.value,
        raw_value=judgement.raw_value,
        keyed=judgement.keyed,
        scale_min=judgement.scale_min,
        scale_max=judgement.scale_max,
        missing=judgement.missing,
        slot=slot.id,
        colour=slot.colour,
        plays=played.get("plays"),
        watched_ms=played.get("watched_ms"),
        coverage=played.get("coverage"),
        response_ms=given.sent_ms - given.shown_ms,
        input=given.input,
        answered_at=given.at,
        use=True,
        reasons="",
        factors=shown.factors,
    )


def number_repetitions(ratings: Iterable[Rating]) -> list[Rating]:
    """Return the ratings with `repetition` counted per participant, stimulus, other stimulus, unit and question."""
    seen: dict[tuple[str | None, ...], int] = {}
    numbered = []
    for rating in ratings:
        key = (rating.participant, rating.stimulus, rating.other_stimulus, rating.unit, rating.question)
        seen[key] = seen.get(key, 0) + 1
        numbered.append(rating if seen[key] == 1 else replace(rating, repetition=seen[key]))
    return numbered


def as_record(rating: Rating) -> dict[str, Any]:
    """Return a rating as a row of the table, factors spread out."""
    record = {column: getattr(rating, column) for column in COLUMNS}
    record.update({f"factor_{name}": value for name, value in rating.factors.items()})
    return record


def read_ratings(path: str | Path) -> DataFrame:
    """Return a table of ratings in which names are text as written: `no`, `01` and `NA` stay themselves.

    Only the known number columns become numbers and `use` becomes true or false; an empty cell is missing.
    """
    import pandas as pd

    path = Path(path)
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, na_filter=False, encoding="utf-8-sig")
    except FileNotFoundError:
        raise UserError(
            Problem(str(path), "is not there", "", "Run `beholder clean` first, or give another file.")
        ) from None
    except (ValueError, pd.errors.ParserError) as error:
        reason = str(error).strip().splitlines()[-1] if str(error).strip() else "it is not a table"
        raise UserError(
            Problem(str(path), f"cannot be read as a table: {reason}", "CSV, UTF-8, with a header line")
        ) from None
    problems: list[Problem] = []
    for column in NUMBERS:
        if column in table:
            table[column] = _numbers(table[column], path, problems)
    if "use" in table:
        table["use"] = _truth(table["use"], path, problems)
    if problems:
        raise UserError(problems)
    return table


_MOST_PROBLEMS = 20


def _numbers(cells: Any, path: Path, problems: list[Problem]) -> Any:
    import numpy as np
    import pandas as pd

    stripped = cells.str.strip()
    numbers = pd.to_numeric(stripped, errors="coerce")
    is_blank = stripped.str.lower().isin(("", "nan"))
    wrong = (numbers.isna() & ~is_blank) | np.isinf(numbers)
    for line, text in cells[wrong].head(_MOST_PROBLEMS).items():
        problems.append(
            Problem(f"{path}:{int(line) + 2}", f"{cells.name} is {text!r}", "a number, or an empty cell when missing")
        )
    return numbers.astype(float)


def _truth(cells: Any, path: Path, problems: list[Problem]) -> Any:
    lower = cells.str.strip().str.lower()
    wrong = ~lower.isin(("true", "false", ""))
    for line, text in cells[wrong].head(_MOST_PROBLEMS).items():
        problems.append(Problem(f"{path}:{int(line) + 2}", f"use is {text!r}", "true, false, or an empty cell"))
    return lower != "false"
