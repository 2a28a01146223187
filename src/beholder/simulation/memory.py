"""A rehearsal in memory: the answers of robots without a server, as a table of ratings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.clean.facts import Given, Shown, Visit
from beholder.clean.ratings import Rating, rating_rows
from beholder.methods.contract import Method
from beholder.plan.model import Plan
from beholder.serve.served import Served
from beholder.simulate.answers import simulate_sheet
from beholder.simulate.oracle import Oracle
from beholder.simulate.people import robot_name
from beholder.simulate.population import Population
from beholder.simulate.raters import assign_kinds, read_mixture
from beholder.simulate.sheet import sheet_of
from beholder.simulate.table import answers_table, whole_table
from beholder.simulate.truth import Truth, truth_of
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study

if TYPE_CHECKING:
    from pandas import DataFrame

Progress = Callable[[int, int], None]
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Rehearsal:
    """What came of a rehearsal in memory: the truth, the kinds of the robots, and their ratings."""

    truth: Truth
    kinds: Sequence[str]
    ratings: DataFrame
    """As ratings.csv has them. Nothing is judged: all are used but for those of robots that left."""
    path: Path | None = None
    """Where they were written."""


def rehearse(
    study: Study,
    catalogue: Catalogue,
    method: Method,
    plan: Plan,
    *,
    participants: int,
    raters: str = "honest",
    seed: int = 1,
    people: Population | None = None,
    means: Mapping[str, float] | None = None,
    digest: str = "",
    at_once: bool = True,
    progress: Progress | None = None,
) -> Rehearsal:
    """Return the ratings of so many robots: those that they give over HTTP with the same seed.

    They are made all at once where the method allows it, else trial by trial; without `at_once` always the latter.
    """
    people = people or Population()
    truth = truth_of(study, catalogue, method, seed, people, means)
    kinds = assign_kinds(read_mixture(raters), participants, seed, study.run)
    names = [robot_name(seed, number, study.run) for number in range(1, participants + 1)]
    sheet = sheet_of(plan, study, catalogue, method, truth) if at_once else None
    if sheet is not None:
        answers = simulate_sheet(sheet, truth, people, kinds, seed, run=study.run, progress=progress)
        table = answers_table(answers, catalogue, list(truth.questions), names)
    else:
        groups = [planned.group for planned in plan.lists] if study.design.between else []
        served = Served(study, digest, catalogue, method, [planned.entries for planned in plan.lists], "", groups)
        table = _one_by_one(Oracle(served, b"", truth, seed, people), names, kinds, progress)
    return Rehearsal(truth, kinds, whole_table(table, study, catalogue, plan.lists, digest))


def _one_by_one(oracle: Oracle, names: Sequence[str], kinds: Sequence[str], progress: Progress | None) -> DataFrame:
    """Return the answers of robots that take one trial after the other, as rows; `list` is their number, from 0."""
    import pandas as pd

    served, rows = oracle.served, []
    oracle.claims |= {name: number % len(served.lists) + 1 for number, name in enumerate(names)}
    stimuli = {
        (served.digest, one.id): Shown(one.content, one.condition, None, {}, one.role, one.medium)
        for one in served.catalogue.stimuli
    }
    for number, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        for rating in _ratings(oracle, name, kind, stimuli):
            rows.append((number, *rating))
        if progress is not None:
            progress(number + 1, len(names))
    return pd.DataFrame(rows, columns=["list", *Rating._fields])


def _ratings(oracle: Oracle, name: str, kind: str, stimuli: Mapping[tuple[str, str], Shown]) -> Iterator[Rating]:
    """Yield what one robot rates."""
    served, method = oracle.served, oracle.method
    mind, trials = oracle.mind(kind, name), oracle.trials(name)
    answered = mind.answers(name)
    visit = Visit(
        session=name, participant=name, digest=served.digest, run=served.study.run, mode="robot", visit=1, at=_NEVER,
        outcome=None, ended_at=None, is_erased=False, trials=trials, answers={},
    )  # fmt: skip
    for position, trial in enumerate(trials[:answered], 1):
        read: Any = method.read(trial, mind.answer(name, f"trial:{position}"))
        given = Given(f"trial:{position}", read, {}, 0.0, 0.0, "robot", _NEVER)
        for rating in rating_rows(served.study, visit, position, given, method.judgements(trial, read), stimuli):
            yield rating._replace(use=answered == len(trials))
