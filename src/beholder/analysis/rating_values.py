"""Values of ratings: numbers with points or commas, words of a scale, missing codes, and the scale that is evident.

No value outside its scale is averaged: a usual code for a missing answer is taken as missing and told, anything else
is refused with its place.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from beholder.analysis.spreadsheets import MISSING_WORDS, leading_number
from beholder.errors import Problem, UserError, did_you_mean
from beholder.formats import listed, plain_count
from beholder.study.questions import SCALES, Scale

CODES = (-999.0, -99.0, -9.0, -8.0, -1.0, 77.0, 88.0, 98.0, 99.0, 888.0, 998.0, 999.0, 9999.0)
"""Numbers by which a missing answer is usually written, where they are outside the scale."""
_USUAL = ((1.0, 5.0), (1.0, 7.0), (1.0, 9.0), (0.0, 10.0), (0.0, 100.0))
_SIGNED = ((-1.0, 1.0), (-2.0, 2.0), (-3.0, 3.0), (-4.0, 4.0), (-50.0, 50.0), (-100.0, 100.0))
_FAR, _NEAR = 0.8, 0.95
"""The share of the values on a scale from which one far outside, or just outside, is a mistake."""
_MAX_PROBLEMS = 20
_RANGE = re.compile(r"\s*([-+]?\d+(?:\.\d+)?)\s*(?:\.\.|-|–|:|to)\s*([-+]?\d+(?:\.\d+)?)\s*")


class RatingScale(NamedTuple):
    """The ends of a scale, what it is called, and whether the researcher said so."""

    low: float
    high: float
    name: str = ""
    is_declared: bool = False

    @property
    def words(self) -> str:
        """The ends, with the name where there is one."""
        return f"{self.low:g} to {self.high:g}" + (f" ({self.name})" if self.name else "")

    @property
    def is_usual(self) -> bool:
        """Whether people are usually asked to answer on it."""
        return (self.low, self.high) in (*_USUAL, *_SIGNED[:4])

    @property
    def model(self) -> Scale:
        """The scale with its words, as figures take it."""
        if self.name in SCALES:
            return SCALES[self.name]
        step = 1.0 if (self.high - self.low) % 1 == 0 else (self.high - self.low) / 100
        return Scale(min=self.low, max=self.high, step=step)


class ReadValues(NamedTuple):
    """Numbers, with the scale of each question and what was found out."""

    numbers: pd.Series
    scales: Mapping[str, RatingScale]
    notes: tuple[str, ...]


def parse_scale(text: str | Sequence[float] | None) -> RatingScale | None:
    """Return the scale that is named (`acr5`) or written (`1..5`), or raise UserError."""
    if text is None:
        return None
    if not isinstance(text, str):
        text = "..".join(f"{end:g}" for end in text)
    if text in SCALES:
        return RatingScale(SCALES[text].min, SCALES[text].max, text, is_declared=True)
    match = _RANGE.fullmatch(text)
    if match is None or float(match[1]) >= float(match[2]):
        allowed = f"two ends such as 1..5, or {listed(list(SCALES))}"
        raise UserError(Problem("--scale", f"is {text}", allowed, did_you_mean(text, list(SCALES))))
    return RatingScale(float(match[1]), float(match[2]), is_declared=True)


def parse_missing(missing: str | Sequence[str | float] | None) -> tuple[str, ...]:
    """Return the cells that stand for no answer: words and numbers, with commas between."""
    parts: Iterable[str | float] = missing.split(",") if isinstance(missing, str) else missing or ()
    return tuple(f"{one:g}" if isinstance(one, int | float) else one.strip().casefold() for one in parts)


def read_values(
    cells: pd.Series,
    questions: pd.Series,
    place: Callable[[int], str],
    *,
    column: str = "value",
    scale: RatingScale | None = None,
    declared: Mapping[str, RatingScale] | None = None,
    missing: Sequence[str] = (),
) -> ReadValues:
    """Return the numbers of all cells, or raise UserError with every value that is none or outside its scale.

    `place` says where a row is. A `scale` is that of all questions; `declared` are those that the table names.
    """
    text = cells.astype(str).str.strip()
    folded = text.str.casefold()
    notes: list[str] = []
    is_missing = folded.isin(MISSING_WORDS) | folded.isin(missing)
    worded = Counter(text[is_missing & (text != "")])
    if worded:
        notes.append(f"{_counted(worded)} taken as missing")
    numbers = read_numbers(text).where(~is_missing)
    is_word = numbers.isna() & ~is_missing
    scales: dict[str, RatingScale] = {}
    problems: list[Problem] = []
    if is_word.any():
        words = _words_of(scale, text[is_word])
        named = text.map(lambda one: one.casefold())
        found = named[is_word].map(words.values)
        for row in found.index[found.isna()][:_MAX_PROBLEMS]:
            problems.append(_no_value(place(int(row)), column, text[row], words))
        if not problems:
            numbers = numbers.where(~is_word, found)
            notes.append(words.note)
            scales = dict.fromkeys(questions[is_word].unique(), words.scale)
    if (commas := text[~is_missing].str.contains(r"^[-+]?\d*,\d+$").sum()) > 0:
        notes.append(f"decimal commas in {plain_count(int(commas), 'cell')}")
    for question, mine in numbers.groupby(questions, sort=False):
        told = scale or (declared or {}).get(str(question)) or scales.get(str(question))
        known = told or evident_scale(mine.dropna())
        checked, coded, wrong = _on_scale(mine, known, place, column)
        numbers.loc[mine.index] = checked
        scales[str(question)] = known
        notes += coded
        problems += wrong
    if problems:
        raise UserError(problems)
    return ReadValues(numbers.astype(float), scales, tuple(notes))


def turn_ranks(
    read: ReadValues, questions: pd.Series, place: Callable[[int], str], column: str
) -> tuple[ReadValues, list[Problem]]:
    """Return ranks, of which 1 is the best, as values of which the highest is; and the problems of what is no rank."""
    known = read.numbers.dropna()
    problems = [
        Problem(place(int(str(row))), f"{column} is {rank:g}", "ranks from 1, the best; half ones where two share them")
        for row, rank in known[(known < 1) | (known % 0.5 != 0)].head(_MAX_PROBLEMS).items()
    ]
    numbers, scales, notes = read.numbers.copy(), dict(read.scales), list(read.notes)
    for question, ranks in read.numbers.groupby(questions, sort=False):
        told = read.scales[str(question)]
        last = told.high if told.is_declared else max(2.0, math.ceil(ranks.max())) if ranks.notna().any() else 2.0
        numbers.loc[ranks.index] = 1 + last - ranks
        scales[str(question)] = RatingScale(1.0, last, is_declared=True)
        if ranks.isna().all():
            continue
        of_what = f" of {question}" if len(scales) > 1 else ""
        notes.append(f"ranks{of_what} are turned round, so that 1, the best, counts {last:g} and {last:g} counts 1")
    return ReadValues(numbers, scales, tuple(notes)), problems


def _counted(cells: Mapping[str, int]) -> str:
    """Return `3 cells with NA`, for each text."""
    return " and ".join(f"{plain_count(n, 'cell')} with {text}" for text, n in cells.items())


def read_numbers(text: pd.Series) -> pd.Series:
    """Return the numbers of cells, with a point or a comma, alone or before a word."""
    plain = text.str.replace(",", ".", regex=False).where(text.str.count(",") == 1, text)
    numbers = pd.to_numeric(plain, errors="coerce").astype(float)
    before = text[numbers.isna()].map(leading_number)
    led = pd.to_numeric(before.str.replace(",", ".", regex=False), errors="coerce") if len(before) else before
    return numbers.fillna(led.astype(float)).replace([np.inf, -np.inf], np.nan)


_MILLISECONDS = 1e11
"""Seconds since 1970 are fewer for the next thousand years."""


def read_times(text: pd.Series) -> pd.Series:
    """Return cells as times in UTC: ISO 8601, or seconds or milliseconds since 1970; NaT where one is none."""
    seconds = pd.to_numeric(text, errors="coerce")
    seconds = seconds.where(seconds.abs() < _MILLISECONDS, seconds / 1000)
    counted = pd.to_datetime(seconds, unit="s", utc=True, errors="coerce").astype("datetime64[us, UTC]")
    written = text.where(seconds.isna() & (text != ""))
    dated = pd.to_datetime(written, utc=True, errors="coerce", format="ISO8601").astype("datetime64[us, UTC]")
    return counted.fillna(dated)


# Words of a scale


class _WordScale(NamedTuple):
    values: Mapping[str, float]
    scale: RatingScale
    note: str


def _words_of(scale: RatingScale | None, text: pd.Series) -> _WordScale:
    """Return the scale whose words most of the cells are: the one that is named, or the shortest that has them."""
    given = set(text.str.casefold())
    known = SCALES if scale is None else {name: one for name, one in SCALES.items() if name == scale.name}
    best: tuple[int, str] = (0, "")
    for name, one in known.items():
        here = len(given & {word.casefold() for _, word in one.plain.labels})
        if here > best[0]:
            best = (here, name)
    if not best[1]:
        return _WordScale({}, scale or RatingScale(1, 5), "")
    labels = SCALES[best[1]].plain.labels
    ends = ", ".join(f"{word} = {value:g}" for value, word in (labels[0], labels[-1]))
    note = f"words of the scale {best[1]} ({ends})"
    found = RatingScale(SCALES[best[1]].min, SCALES[best[1]].max, best[1], is_declared=scale is not None)
    return _WordScale({word.casefold(): value for value, word in labels}, found, note)


def _no_value(where: str, column: str, text: str, words: _WordScale) -> Problem:
    what = f"{column} is {text!r}"
    if words.values:
        known = [word.capitalize() for word in words.values]
        return Problem(where, what, f"a number, or {listed(known)}", did_you_mean(text, known))
    fix = "Name its scale, such as --scale acr5, or write --missing with it where it stands for no answer."
    return Problem(where, what, "a number, a word of a scale, or an empty cell", fix)


# The scale that is evident, and what is outside


def evident_scale(values: pd.Series) -> RatingScale:
    """Return the shortest usual scale on which nearly all values are; their own ends where there is none."""
    core = values[~values.isin(CODES)]
    # Of grades around zero -1 is an answer, of grades from 1 it is none.
    is_graded = core.isin((0, 1, 2, 3)).all() and ((core == 0).any() or values.isin((-1, 1)).all())
    is_signed = bool((core < 0).any() or ((values == -1).any() and is_graded))
    core = pd.concat([core, values[values == -1]]) if is_signed else values if core.empty else core
    if core.empty:
        return RatingScale(1, 5)
    for low, high in _SIGNED if is_signed else _USUAL:
        outside = core[~core.between(low, high)]
        if outside.empty:
            return RatingScale(low, high)
        share, distance = 1 - len(outside) / len(core), float(np.maximum(low - outside, outside - high).min())
        if share >= _FAR and distance > 2 * (high - low):
            return RatingScale(low, high)
        # A gap: of 1 to 5 with a few 7s nobody chose 6. A few zeros below 1 are no part of a scale either.
        between = max(0.0, outside.max() - high) + max(0.0, low - outside.min())
        if share >= _NEAR and (core % 1 == 0).all() and (outside.nunique() < between or set(outside) == {0.0}):
            return RatingScale(low, high)
    low, high = float(core.min()), float(core.max())
    if not is_signed and core.between(0, 100).mean() >= _NEAR and float(core.median()) > 10:
        return RatingScale(0, 100)
    return RatingScale(low, high) if low < high else RatingScale(low - 1, high + 1)


def _on_scale(
    values: pd.Series, scale: RatingScale, place: Callable[[int], str], column: str
) -> tuple[pd.Series, list[str], list[Problem]]:
    """Return the values on the scale, which codes were taken as missing, and the problems of all others outside."""
    is_outside = values.notna() & ~values.between(scale.low, scale.high)
    is_code = is_outside & values.isin(CODES)
    codes = Counter(f"{value:g}" for value in values[is_code])
    notes = [f"{_counted(codes)} taken as missing, as the scale is {scale.words}"] if codes else []
    problems = []
    for row, value in values[is_outside & ~is_code].head(_MAX_PROBLEMS).items():
        others = "the scale is" if scale.is_declared else "the others are"
        what = f"{column} is {value:g}, and {others} {scale.words}"
        fix = f"Correct it, or write --missing {value:g} if it is no answer, or --scale if the scale is another."
        problems.append(Problem(place(int(str(row))), what, scale.words, fix))
    return values.where(~is_code), notes, problems
