"""The tidy rating row: one row per judgement, for every method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from beholder import files
from beholder.cleaning import columns as c
from beholder.cleaning.facts import AnswerRecord, SessionRecord, ShownStimulus
from beholder.cleaning.languages import spoken_group
from beholder.columns import Column, Kind, columns_of, names_of
from beholder.errors import Problem, UserError
from beholder.files import csv_blocks
from beholder.methods.contract import Judgement, Slot, Trial
from beholder.methods.views import FACTOR, view_level
from beholder.stimuli.relations import COMMON
from beholder.study.model import Study
from beholder.types import UNRATED_ROLES

if TYPE_CHECKING:
    from pandas import DataFrame


class Rating(NamedTuple):
    """One row of ratings.csv; the fields are its columns, in order. `factors` become `factor_<name>` columns.

    `draw_probability` is a column of studies that choose pairs while answers come in, and of no other.
    """

    study: Annotated[str, "Name of the study."]
    digest: Annotated[str, c.DIGEST]
    run: Annotated[int, c.RUN]
    participant: Annotated[str, c.PARTICIPANT]
    session: Annotated[str, c.SESSION]
    mode: Annotated[str, c.MODE]
    trial: Annotated[str, c.TRIAL]
    position: Annotated[int, c.POSITION]
    repetition: Annotated[int, "How often this person has now rated this stimulus."]
    method: Annotated[str, "How it was asked: the rating method."]
    question: Annotated[str, c.QUESTION]
    kind: Annotated[
        str,
        "What the value is: a score, a signed grade (diff), a choice, a right or wrong answer, a tick (pick).",
        ("score", "diff", "choice", "correct", "pick"),
    ]
    content: Annotated[str, c.CONTENT]
    condition: Annotated[str, c.CONDITION]
    stimulus: Annotated[str, c.STIMULUS]
    role: Annotated[str, c.ROLE]
    other_condition: Annotated[str | None, "The condition that it was compared with, or rated beside."]
    other_stimulus: Annotated[str | None, "The stimulus that it was compared with, or rated beside."]
    unit: Annotated[str | None, "Of a tick: its text; of a word of a transcript: its place, from 1."]
    word: Annotated[str | None, "Of a word of a transcript: the word."]
    said: Annotated[str | None, "Of a text that was typed: the words that were said, as they were compared."]
    heard: Annotated[
        str | None, "The words that were typed, as they were compared; empty where nothing was understood."
    ]
    value: Annotated[float | None, "The value that is analysed; of a comparison, above zero favours `condition`."]
    raw_value: Annotated[float | None, "The value as it was on the screen."]
    keyed: Annotated[float | None, "The value turned round for a question that asks for the opposite."]
    scale_min: Annotated[float, "The lowest possible value."]
    scale_max: Annotated[float, "The highest possible value."]
    missing: Annotated[
        str | None,
        "Why there is no value: it would not play, or the person could not tell.",
        ("media_error", "skipped"),
    ]
    slot: Annotated[str, c.SLOT]
    colour: Annotated[str | None, "Its colour on the page."]
    plays: Annotated[int | None, "How often it was begun from the start."]
    watched_ms: Annotated[float | None, "How long it was played in all."]
    coverage: Annotated[float | None, "Share of it that was played at least once, 0 to 1."]
    response_ms: Annotated[float, "Time on the page."]
    input: Annotated[str, c.INPUT]
    answered_at: Annotated[datetime, "When the answer was stored."]
    use: Annotated[bool, c.USE]
    reasons: Annotated[str, "Why it is not analysed: check:reason, with `; ` between."]
    factors: Mapping[str, str]
    draw_probability: float | None = None
    relation: str = ""
    """What the stimulus is to the person, as the column `relation`; empty where no stimulus is for some people."""

    origin: str = ""
    """Where an imported rating stands, as `mushra.csv:12`; empty of our own."""
    uncertain: str = ""
    """What is doubtful about an imported rating."""
    unknown: frozenset[str] = frozenset()
    """What nobody knows of the session of an imported rating."""

    @property
    def known(self) -> Mapping[str, Any]:
        """The columns without what nobody knows of an imported session: where it was shown, when, and for how long."""
        row = self._asdict()
        for part in self.unknown:
            row.update(dict.fromkeys(_TOLD_BY[part]))
        return row

    @property
    def is_own(self) -> bool:
        """Whether it is about a stimulus that is for this person, and not about one for everybody."""
        return self.relation not in ("", COMMON)

    @property
    def is_counted(self) -> bool:
        """Whether it counts as a rating where they are counted: all words of a transcript are one."""
        return self.word is None or self.unit == "1"


_TOLD_BY: Mapping[str, Sequence[str]] = {
    "order": ("position", "slot"), "slots": ("slot",), "time": ("response_ms",), "date": ("answered_at",),
    "playback": (),
}  # fmt: skip
"""The columns that an imported session leaves empty where its source does not tell so much."""
COLUMNS = columns_of(Rating)
_FIXED = len(COLUMNS)
ORIGIN = Column("origin", "text", "Of an imported rating: where it stands in its source, as `mushra.csv:12`.")
UNCERTAIN = Column("uncertain", "text", "Of an imported rating: what is doubtful about it, with `; ` between.")
RELATION = Column(
    "relation",
    "text",
    f"What the stimulus is to the person: `{COMMON}` where it is for everybody, else as the column for of the manifest "
    "says. Only where some stimuli are for some people.",
)
DRAW_PROBABILITY = Column(
    "draw_probability",
    "number",
    "With active pairs: with which probability these conditions were drawn, given all answers until then.",
)


def draw_columns(ratings: Iterable[Rating]) -> tuple[Column, ...]:
    """Return the column of draw probabilities, where anything was drawn while answers came in; else nothing."""
    return (DRAW_PROBABILITY,) if any(rating.draw_probability is not None for rating in ratings) else ()


def import_columns(ratings: Iterable[Rating]) -> tuple[Column, ...]:
    """Return the columns of imported ratings, where there are any; else nothing."""
    return (ORIGIN, UNCERTAIN) if any(rating.origin for rating in ratings) else ()


def rating_rows(
    study: Study,
    visit: SessionRecord,
    position: int,
    given: AnswerRecord,
    judgements: Iterable[Judgement],
    stimuli: Mapping[tuple[str, str], ShownStimulus],
) -> list[Rating]:
    """Return the ratings in one answer: every judgement that is neither training nor a check."""
    trial = visit.trials[position - 1]
    if trial.purpose != "rate":
        return []
    slots, asked = trial.slot_by_id, trial.rated_questions
    rows = []
    for judgement in judgements:
        slot = slots[judgement.slot]
        if slot.role in UNRATED_ROLES or judgement.question not in asked:
            continue
        other = slots[judgement.other_slot] if judgement.other_slot else None
        if other is not None and other.role in UNRATED_ROLES:
            continue
        rows.append(_row(study, visit, trial, position, given, judgement, slot, other, stimuli))
    return rows


def _row(
    study: Study,
    visit: SessionRecord,
    trial: Trial,
    position: int,
    given: AnswerRecord,
    judgement: Judgement,
    slot: Slot,
    other: Slot | None,
    stimuli: Mapping[tuple[str, str], ShownStimulus],
) -> Rating:
    shown = stimuli[visit.digest, slot.stimulus]
    played = given.playback.get(slot.id) or {}
    # A condition beside itself with a foreign companion is compared with no other condition.
    compared = other if other is not None and other.role != "mismatched" else None
    other_condition = stimuli[visit.digest, compared.stimulus].condition if compared else None
    return Rating(
        # By place, as keywords would take half of the time, and there can be a million.
        study.name, visit.digest, visit.run, visit.participant, visit.session, visit.mode, trial.id, position, 1,
        study.method, judgement.question, judgement.kind, shown.content, shown.condition, slot.stimulus, slot.role,
        other_condition, other.stimulus if other else None, judgement.unit, judgement.word, judgement.said,
        judgement.heard, judgement.value, judgement.raw_value, judgement.keyed, judgement.scale_min,
        judgement.scale_max, judgement.missing, slot.id, slot.colour, played.get("plays"), played.get("watched_ms"),
        played.get("coverage"), given.sent_ms - given.shown_ms, given.input, given.at, True, "",
        _factors(shown.factors, spoken_group(visit), view_level(trial)), trial.draw_probability,
        "" if visit.relations is None else visit.relations.get(slot.stimulus, COMMON),
        *(_origin(visit, trial, given, judgement) if given.origin else ()),
    )  # fmt: skip


def _origin(
    visit: SessionRecord, trial: Trial, given: AnswerRecord, judgement: Judgement
) -> tuple[str, str, frozenset[str]]:
    """Return where an imported rating stands in its source, what is doubtful about it, and what nobody knows."""
    asked = next((one.id for one in trial.asked if one.question == judgement.question), "")
    places = (f"{asked}.{judgement.slot}", asked, "")
    lines, doubts = given.origin.get("lines", {}), given.origin.get("uncertain", {})
    line = next((lines[place] for place in places if place in lines), None)
    file = str(given.origin.get("file", ""))
    words = dict.fromkeys((*(str(doubts[place]) for place in places if place in doubts), visit.uncertain))
    return f"{file}:{line}" if line else file, "; ".join(filter(None, words)), visit.unknown


def _factors(stimulus: Mapping[str, str], group: Mapping[str, str], view: str | None) -> Mapping[str, str]:
    """Return the factors of a rating: of its stimulus, of the group, and of the page."""
    if not group and view is None:
        return stimulus
    return {**stimulus, **group, **({} if view is None else {FACTOR: view})}


def number_repetitions(ratings: Iterable[Rating]) -> list[Rating]:
    """Return the ratings with `repetition` counted per participant, stimulus, other stimulus, unit and question."""
    seen: dict[tuple[str | None, ...], int] = {}
    numbered = []
    for rating in ratings:
        key = (rating.participant, rating.stimulus, rating.other_stimulus, rating.unit, rating.question)
        seen[key] = times = seen.get(key, 0) + 1
        numbered.append(rating if times == 1 else rating._replace(repetition=times))
    return numbered


def rating_blocks(
    ratings: Sequence[Rating], stimuli: Mapping[tuple[str, str], ShownStimulus] | None = None
) -> Iterator[bytes]:
    """Return ratings.csv in parts, with a column for each factor of the stimuli and of the participants.

    Where `stimuli` are known and two are compared, the factors of the other one have columns too.
    """
    factors = sorted({name for rating in ratings for name in rating.factors})
    has_others = any(rating.other_stimulus for rating in ratings)
    known = stimuli if stimuli is not None and has_others else {}
    others = sorted({name for shown in known.values() for name in shown.factors})
    related = (RELATION.name,) if any(rating.relation for rating in ratings) else ()
    more = (*related, *(f"factor_{name}" for name in factors), *(f"other_factor_{name}" for name in others))

    def beside(rating: Rating) -> Iterable[str | None]:
        shown = known.get((rating.digest, rating.other_stimulus or ""))
        return [shown.factors.get(name) if shown else None for name in others]

    drawn = draw_columns(ratings)
    imported = import_columns(ratings)
    lines = (
        (
            *(tuple(rating.known.values()) if rating.unknown else rating)[:_FIXED],
            *([rating.draw_probability] if drawn else ()),
            *([rating.origin, rating.uncertain] if imported else ()),
            *[rating.relation for _ in related],
            *map(rating.factors.get, factors),
            *beside(rating),
        )
        for rating in ratings
    )
    return csv_blocks((*names_of((*COLUMNS, *drawn, *imported)), *more), lines)


def read_ratings(path: str | Path) -> DataFrame:
    """Return a table of ratings in which names are text as written: `no`, `01` and `NA` stay themselves.

    Only the columns of numbers become numbers and `use` becomes true or false; an empty cell is missing.
    """
    path = Path(path)
    table = read_cells(path, "Run `beholder clean` first, or give another file.")
    problems: list[Problem] = []
    for column in (*COLUMNS, DRAW_PROBABILITY):
        if column.name in table and (read := _READ.get(column.kind)):
            table[column.name] = read(table[column.name], path, problems)
    if problems:
        raise UserError(problems)
    return table


def read_cells(path: Path, fix: str = "") -> DataFrame:
    """Return a CSV in which all cells are text as written; `fix` is what to do where there is none."""
    import pandas as pd

    try:
        table = files.read_cells(path)
    except FileNotFoundError:
        raise UserError(Problem(str(path), "is not there", "", fix)) from None
    except (OSError, ValueError, pd.errors.ParserError) as error:
        reason = str(error).strip().splitlines()[-1] if str(error).strip() else "it is not a table"
        raise UserError(
            Problem(str(path), f"cannot be read as a table: {reason}", "CSV, UTF-8, with a header line")
        ) from None
    if problem := _misread(table, path):
        raise UserError(problem)
    return table


_MOST_PROBLEMS = 20
TOO_LARGE = 1e15
"""From here on neighbouring whole numbers are the same float, and squares soon overflow."""


def _misread(table: DataFrame, path: Path) -> Problem | None:
    """Return what is wrong where cells are not under the names that they belong to."""
    import pandas as pd

    if not isinstance(table.index, pd.RangeIndex):
        return Problem(str(path), "has rows with more cells than the header has names", "as many cells as names")
    for sign, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(table.columns) == 1 and sign in str(table.columns[0]):
            return Problem(str(path), f"has {name} between its cells", "commas", "Save it as CSV with commas.")
    return None


def _numbers(cells: Any, path: Path, problems: list[Problem]) -> Any:
    import numpy as np
    import pandas as pd

    numbers = pd.to_numeric(cells.str.strip(), errors="coerce").astype(float)
    texts, values = cells.to_numpy(dtype=object), numbers.to_numpy()
    odd = np.flatnonzero(~(np.abs(values) < TOO_LARGE) & (texts != ""))
    wrong = [line for line in odd if not np.isnan(values[line]) or texts[line].strip().lower() not in ("", "nan")]
    for line in wrong[:_MOST_PROBLEMS]:
        is_large = np.isfinite(values[line])
        allowed = f"a number{f' below {TOO_LARGE:g}' if is_large else ''}, or an empty cell when missing"
        problems.append(Problem(f"{path}:{line + 2}", f"{cells.name} is {texts[line]!r}", allowed))
    return numbers


def _truth(cells: Any, path: Path, problems: list[Problem]) -> Any:
    lower = cells.str.strip().str.lower()
    wrong = ~lower.isin(("true", "false", ""))
    for line, text in cells[wrong].head(_MOST_PROBLEMS).items():
        problems.append(
            Problem(f"{path}:{int(line) + 2}", f"{cells.name} is {text!r}", "true, false, or an empty cell")
        )
    return lower != "false"


_READ: Mapping[Kind, Callable[[Any, Path, list[Problem]], Any]] = {
    "integer": _numbers,
    "number": _numbers,
    "boolean": _truth,
}
"""How the cells of a column are read, by its kind; texts and times stay as written."""
