"""The sides of a comparison: every problem at once, unique names, matched questions, stimuli and conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from beholder.analysis.means import scale_ends
from beholder.analysis.ratings import open_ratings
from beholder.analysis.ratings_table import NO_COLUMNS, TableOptions
from beholder.analysis.score_tables import DIFFERENTIAL, is_differential, is_score_table
from beholder.analysis.sides import (
    Side,
    condition_means,
    read_side,
    runs_of_table,
    split_run,
    with_condition_means,
    with_differential_scores,
    with_unique_names,
)
from beholder.analysis.spreadsheets import is_table
from beholder.errors import Problem, UserError, did_you_mean, name_given
from beholder.formats import first_names, plain_count
from beholder.study.markdown import plain_text
from beholder.study.model import Study

Source: TypeAlias = "str | Path | Study | Side"
_SHOWN = 3
"""Names that a message gives as examples."""
_WHERE = "compare"


class ComparedSides(NamedTuple):
    """What is compared."""

    sides: tuple[Side, ...]
    questions: tuple[str, ...]
    """Those that two sides have at least."""
    notes: tuple[str, ...]
    """What a reader has to know about how they were brought together."""


def open_sides(
    sources: Sequence[Source], asked: Sequence[str] = (), options: TableOptions | None = None
) -> ComparedSides:
    """Return the sides, or raise UserError with every problem of all of them.

    `options` are what the researcher says of the tables among them.
    """
    options = options or TableOptions()
    if not any(map(_is_table, sources)):
        options.refuse_for("every side")
    every = [one for source in sources for one in _each_run(source)] if len(sources) > 1 else None
    wanted = _runs(sources[0], options) if every is None else every
    read: list[Side] = []
    problems: list[Problem] = []
    unfit: list[UserError] = []
    is_fit = False
    for source in wanted:
        try:
            read.append(_read(source, options))
            is_fit |= _is_table(source) and (read[-1].ratings is not None or options.columns != NO_COLUMNS)
        except UserError as error:
            # What is said of the columns of one table need not hold for another.
            if any(problem.where not in ("--columns", "--reference") for problem in error.problems):
                problems += error.problems
                continue
            unfit.append(error)
            try:
                read.append(_read(source, replace(options, columns=NO_COLUMNS, reference=None)))
            except UserError as other:
                problems += other.problems
    if unfit and not is_fit:
        problems = [*unfit[0].problems]
    problems += [Problem(side.name, "has no score that can be used") for side in read if not side.questions]
    if problems:
        raise UserError(problems)
    sides, renamed = _one_question(with_unique_names(read))
    sides = _with_references(_filled(sides))
    questions = _questions(sides, asked)
    sides = [_only(side, questions) for side in sides]
    if problems := [*_sharing_nothing(sides)]:
        raise UserError(problems)
    told = (f"{side.name}: {note}" for side in sides for note in side.notes)
    return ComparedSides(tuple(sides), questions, (
        *told, *renamed, *_other_words(sides, questions), *_other_scales(sides, questions), *_same_people(sides),
    ))  # fmt: skip


_EVERY_RUN = "@all"


def _each_run(source: Source) -> list[Source]:
    """Return the runs of a side that stands for all of them (`study.yaml@all`), else the side."""
    if isinstance(source, Side | Study) or not str(source).endswith(_EVERY_RUN):
        return [source]
    name, place = named_source(source)
    called = f"{name} " if name else ""
    return [f"{called}{run}" for run in _runs(str(place).removesuffix(_EVERY_RUN), fewest=1)]


def _runs(source: Source, options: TableOptions | None = None, fewest: int = 2) -> list[Source]:
    """Return the runs of the only side there is, as sides."""
    if not isinstance(source, Side | Study):
        source = str(source).removesuffix(_EVERY_RUN)
    place, run = (source, 1) if isinstance(source, Side) else split_run(named_source(source)[1])
    runs: tuple[int, ...] = ()
    if run is not None:
        pass
    elif isinstance(place, Path) and is_table(place):
        is_scores = is_score_table(place, options)
        runs = () if is_scores else runs_of_table(open_ratings(place, options).table)
    elif isinstance(place, Study | Path):
        from beholder.analysis.sides import runs_of
        from beholder.methods import load_study

        study = place if isinstance(place, Study) else load_study(place)
        runs, place = runs_of(study), study.folder
    if len(runs) < fewest:
        fix = "Give another study, a run of it as study.yaml@2, or a table."
        raise UserError(Problem(_WHERE, "has one side only", "two or more", fix))
    return [f"run {run}={place}@{run}" for run in runs]


def _is_table(source: Source) -> bool:
    """Return whether a side is a table, whatever name is before it and run behind it."""
    if isinstance(source, Side | Study):
        return False
    return is_table(str(split_run(named_source(source)[1])[0]).removesuffix(_EVERY_RUN))


def _read(source: Source, options: TableOptions | None = None) -> Side:
    if not isinstance(source, Side):
        name, place = named_source(source)
        source = read_side(place, name, options=options)
    return with_differential_scores(source)


def named_source(source: str | Path | Study) -> tuple[str | None, str | Path | Study]:
    """Return the name that stands before the sign, and the source; a folder may have the sign in its own name."""
    if isinstance(source, Study):
        return None, source
    name, sign, path = str(source).partition("=")
    place, _ = split_run(source)
    is_there = isinstance(place, Path) and place.exists()
    return (name, path) if sign and name and path and not is_there else (None, source)


def _one_question(sides: list[Side]) -> tuple[list[Side], list[str]]:
    """Return the sides with the question of the first where each has one only, and what was renamed."""
    asked = [_asked(side) for side in sides]
    if any(len(questions) != 1 for questions in asked) or len(set(asked)) == 1:
        return sides, []
    first = asked[0][0]
    names = ", ".join(f"{questions[0]!r} ({side.name})" for questions, side in zip(asked, sides, strict=True))
    note = f"Each side has one question, and they are taken as the same although their names differ: {names}."
    return [_renamed(side, one, first) for (one,), side in zip(asked, sides, strict=True)], [note]


def _asked(side: Side) -> tuple[str, ...]:
    """Return the questions of a side, its scores against a reference not apart, unless it has these only."""
    return tuple(question for question in side.questions if not is_differential(question)) or side.questions


def _renamed(side: Side, old_question: str, question: str) -> Side:
    ratings = side.ratings
    if ratings is not None:
        old = ratings.questions[0]
        tables = {
            name: getattr(ratings, name).assign(question=question) for name in ("table", "votes", "used")
        }  # fmt: skip
        ratings = replace(
            ratings, **tables, questions=(question,), kinds={question: ratings.kinds[old]},
            methods={question: ratings.methods[old]},
        )  # fmt: skip
    names = {old_question: question, old_question + DIFFERENTIAL: question + DIFFERENTIAL}
    frames = [one.assign(question=one["question"].replace(names)) for one in (side.stimuli, side.conditions)]
    return replace(side, stimuli=frames[0], conditions=frames[1], ratings=ratings)


def _questions(sides: Sequence[Side], asked: Sequence[str]) -> tuple[str, ...]:
    """Return the questions that are compared: those that two sides have at least, or those of them that are asked."""
    every = [question for side in sides for question in side.questions]
    shared = [question for question in dict.fromkeys(every) if every.count(question) > 1]
    called = [pair for side in sides for pair in side.question_labels.items()]
    labels = {question: dict(reversed(called)).get(question, question) for question in shared}
    found = {given: name_given(given, labels) for given in asked}
    problems = []
    for given, name in found.items():
        if name is None:
            known = ", ".join(shared) or "none is shared"
            near = did_you_mean(given, list(dict.fromkeys([*shared, *labels.values()])))
            problems.append(Problem("--question", f"{given!r} is no question of two sides", known, near))
    for side in sides:
        if not set(side.questions) & set(shared):
            others = dict.fromkeys(question for other in sides if other is not side for question in other.questions)
            what = f"has no question of another side: {_distinct(side.questions)}"
            fix = "Give both the same names, or one question each."
            problems.append(Problem(side.name, what, _distinct(others), fix))
    if problems:
        raise UserError(problems)
    return tuple(question for question in shared if not asked or question in found.values())


def _only(side: Side, questions: Sequence[str]) -> Side:
    stimuli, conditions = (one[one["question"].isin(questions)] for one in (side.stimuli, side.conditions))
    return replace(side, stimuli=stimuli, conditions=conditions)


def _filled(sides: Sequence[Side]) -> list[Side]:
    """Return the sides with the condition and content of each stimulus, where one side knows what another does not."""
    whole = pd.concat([side.stimuli[["stimulus", "condition", "content"]] for side in sides])
    known: dict[str, dict[str, str]] = {
        column: dict(
            whole[whole[column] != ""].drop_duplicates("stimulus")[["stimulus", column]].itertuples(index=False)
        )
        for column in ("condition", "content")
    }
    completed = []
    for side in sides:
        stimuli = side.stimuli
        if side.ratings is None and len(stimuli):
            for column, names in known.items():
                filled_in = [names.get(name, "") for name in stimuli["stimulus"]]
                stimuli = stimuli.assign(**{column: stimuli[column].where(stimuli[column] != "", filled_in)})
            # What the table itself says of conditions has a number of ratings, or an interval.
            told = side.conditions[side.conditions[["n", "ci_low"]].notna().any(axis=1)]
            side = replace(side, stimuli=stimuli, conditions=with_condition_means(stimuli, told))
        completed.append(side)
    return completed


def _with_references(sides: Sequence[Side]) -> list[Side]:
    """Return the sides with scores against the reference where another side has them and they can be computed.

    Of a table of scores such a score is the mean of a stimulus minus that of the reference of its content, plus the
    highest vote of the other side's scale: what the mean over people is where all of them rated both.
    """
    known = [side for side in sides if side.ratings and any(map(is_differential, side.questions))]
    if not known:
        return list(sides)
    model = known[0].ratings
    assert model is not None
    original = model.order.settings.dmos
    references = model.references if original is None else frozenset({original})
    completed = []
    for side in sides:
        if any(map(is_differential, side.questions)):
            completed.append(side)
        elif side.ratings is not None:
            completed.append(with_differential_scores(side, original or (min(references) if references else None)))
        else:
            tops = {name: scale_ends(model, name).high for name in model.questions}
            completed.append(_with_score_differences(side, references, tops))
    return completed


def _with_score_differences(side: Side, references: frozenset[str], tops: dict[str, float]) -> Side:
    table = side.stimuli[(side.stimuli["content"] != "") & side.stimuli["question"].isin(tops)]
    is_reference = table["condition"].isin(references)
    keys = ["question", "content"]
    of_reference = table[is_reference].groupby(keys, sort=False)["mean"].mean().rename("reference")
    tests = table[~is_reference].join(of_reference, on=keys, how="inner")
    if tests.empty:
        return side
    mean = tests["mean"] - tests["reference"] + tests["question"].map(tops)
    own = tests.assign(mean=mean, sd=np.nan, question=tests["question"] + DIFFERENTIAL)[list(side.stimuli)]
    return replace(
        side,
        stimuli=pd.concat([side.stimuli, own], ignore_index=True),
        conditions=pd.concat([side.conditions, condition_means(own)], ignore_index=True),
    )


def _sharing_nothing(sides: Sequence[Side]) -> Iterator[Problem]:
    for side in sides:
        others = [other for other in sides if other is not side]
        if any(_keys(side, level) & _keys(other, level) for other in others for level in ("stimulus", "condition")):
            continue
        level = "stimulus" if len(side.stimuli) and any(len(other.stimuli) for other in others) else "condition"
        mine, theirs = ([name for one in some for _, name in sorted(_keys(one, level))] for some in ([side], others))
        what = f"shares no stimulus and no condition with another side: {_distinct(mine)}"
        yield Problem(side.name, what, f"names as the others have them: {_distinct(theirs)}")


def _other_scales(sides: Sequence[Side], questions: Sequence[str]) -> Iterator[str]:
    """Yield the questions that sides answered on different scales, as far as they say on which."""
    for question in questions:
        rated = [(side.name, side.ratings) for side in sides if side.ratings and question in side.ratings.questions]
        ends = {name: scale_ends(ratings, question) for name, ratings in rated}
        scales_by_side = {name: f"{one.low:g} to {one.high:g}" for name, one in ends.items() if one.is_declared}
        if len(set(scales_by_side.values())) > 1:
            scales = ", ".join(f"{scale} ({name})" for name, scale in scales_by_side.items())
            yield (
                f"{question} was answered on different scales: {scales}. Correlations, errors after mapping and the "
                "agreement on contrasts hold; differences, plain RMSE and equivalence say nothing."
            )


def _other_words(sides: Sequence[Side], questions: Sequence[str]) -> Iterator[str]:
    """Yield the questions that sides asked in other words, as far as they say in which."""
    differing: dict[str, str] = {}
    for question in questions:
        texts = {side.name: side.wordings[question] for side in sides if question in side.wordings}
        if len({frozenset(map(_letters, words)) for words in texts.values()}) > 1:
            label = next((side.question_labels.get(question, question) for side in sides), question)
            quoted = {name: " or ".join(f"“{plain_text(text)}”" for text in words) for name, words in texts.items()}
            differing[label] = ", ".join(f"{words} ({name})" for name, words in quoted.items())
    why = "Answers to other words are not interchangeable: what differs between the sides may be the words."
    if 0 < len(differing) <= _SHOWN:
        yield " ".join([*(f"{label} was asked in other words: {told}." for label, told in differing.items()), why])
    elif differing:
        label, told = next(iter(differing.items()))
        yield f"{len(differing)} questions were asked in other words, such as {label}: {told}. {why}"


def _letters(text: str) -> str:
    """Return the letters and digits of a text: spaces, signs and marks do not make other words."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _same_people(sides: Sequence[Side]) -> Iterator[str]:
    """Yield which sides of one study have people in common, whom tests between sides take for different ones."""
    for one, other in combinations(sides, 2):
        if one.ratings is None or other.ratings is None or not one.study or one.study != other.study:
            continue
        both = len(set(one.ratings.table["participant"]) & set(other.ratings.table["participant"]))
        if both:
            yield (
                f"{one.name} and {other.name} have {plain_count(both, 'participant')} in common. Welch's test takes "
                "both sides as different people, which is cautious here."
            )


def _keys(side: Side, level: str) -> set[tuple[str, str]]:
    table = side.stimuli if level == "stimulus" else side.conditions
    return set(zip(table["question"], table[level], strict=True))


def _distinct(names: Sequence[str] | dict[str, None]) -> str:
    return first_names(list(dict.fromkeys(names)), _SHOWN)


# Scores that two sides share


Level: TypeAlias = Literal["stimulus", "condition"]
LEVELS: tuple[Level, ...] = ("stimulus", "condition")
_SCORED = ["name", "n", "mean", "se", "df"]


class MatchedScores(NamedTuple):
    """The scores that two sides have of the same things."""

    level: Level
    question: str
    side: str
    other_side: str
    table: pd.DataFrame
    """name, content, condition; n, mean, se and df of the side; the same with `other_` of the other."""


def every_two(sides: Sequence[Side], questions: Sequence[str]) -> Iterator[MatchedScores]:
    """Yield every two sides in every question that both have, by stimulus and by condition, where they share any."""
    for question in questions:
        for level in LEVELS:
            scored = [scores_of(side, question, level) for side in sides]
            for one, other in combinations(range(len(sides)), 2):
                table = _beside(scored[one], scored[other])
                if len(table):
                    yield MatchedScores(level, question, sides[one].name, sides[other].name, table)


def scores_of(side: Side, question: str, level: Level) -> pd.DataFrame:
    """Return name, content, condition, n, mean, se and df of everything that a side has scored in a question."""
    if level == "condition":
        table = side.conditions[side.conditions["question"] == question]
        return table.assign(name=table["condition"], content="")[["content", "condition", *_SCORED]]
    table = side.stimuli[side.stimuli["question"] == question]
    n, sd = (table[column].to_numpy(float) for column in ("n", "sd"))
    has_error = (n > 1) & ~np.isnan(sd)
    # One vote has no error, and its sd says nothing.
    errors = np.where(has_error, sd / np.sqrt(np.where(has_error, n, 1.0)), np.nan)
    free = np.where(has_error, n - 1, np.nan)
    return table.assign(name=table["stimulus"], se=errors, df=free)[["content", "condition", *_SCORED]]


def _beside(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    renamed = {column: f"other_{column}" for column in _SCORED if column != "name"}
    table = one.merge(other[_SCORED].rename(columns=renamed), on="name", how="inner", sort=False)
    numbers = [column for column in table if column not in ("name", "content", "condition")]
    return table.astype(dict.fromkeys(numbers, float))
