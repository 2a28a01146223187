"""What a report is made of: study, account and results, one part per question, best condition first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import combinations
from typing import Any

import pandas as pd

from beholder.analyse.result import records
from beholder.analyse.results import Results, read_results
from beholder.errors import Problem, UserError
from beholder.report.words import decimals_for
from beholder.study.model import Question, Study
from beholder.study.scale import Scale


@dataclass(frozen=True)
class Part:
    """The results of one question."""

    id: str
    text: str
    scale: Scale
    conditions: pd.DataFrame
    """As conditions.csv, best first."""
    pairs: pd.DataFrame
    contents: pd.DataFrame
    scores: pd.DataFrame
    alpha: float

    @property
    def decimals(self) -> int:
        return decimals_for(self.scale.min, self.scale.max)

    @property
    def order(self) -> list[str]:
        """The conditions, best first."""
        return list(self.conditions["condition"])

    @cached_property
    def differences(self) -> Mapping[tuple[str, str], float]:
        """Mean difference of participants, row minus column, for both directions of every pair."""
        found = {}
        for pair in records(self.pairs):
            found[pair["condition"], pair["other_condition"]] = pair["mean_difference"]
            found[pair["other_condition"], pair["condition"]] = -pair["mean_difference"]
        return found

    @cached_property
    def counts(self) -> Mapping[tuple[str, str], int]:
        """How many participants rated both conditions, for both directions of every pair."""
        found = {}
        for pair in records(self.pairs):
            found[pair["condition"], pair["other_condition"]] = int(pair["n"])
            found[pair["other_condition"], pair["condition"]] = int(pair["n"])
        return found

    @cached_property
    def clear(self) -> frozenset[tuple[str, str]]:
        """Every pair, in both directions, that differs after Holm's correction, by some amount."""
        return frozenset(pair for above in self.above for pair in (above, above[::-1]))

    @cached_property
    def above(self) -> frozenset[tuple[str, str]]:
        """Every clear pair, the higher condition first: by the sign of the tested difference, not by the means."""
        passed = _both_ways(self.pairs[self.pairs["p_holm"] < self.alpha])
        return frozenset(pair for pair in passed if round(self.differences[pair], 9) > 0)

    @property
    def reversed(self) -> list[tuple[str, str]]:
        """Every pair that `order` has the other way round than its clear difference, as `order` has it."""
        return [pair for pair in combinations(self.order, 2) if pair[::-1] in self.above]

    @cached_property
    def tested(self) -> frozenset[tuple[str, str]]:
        """Every pair, in both directions, that could be tested."""
        return _both_ways(self.pairs[self.pairs["p_holm"].notna()])


@dataclass(frozen=True)
class Material:
    """Everything that the page, the figures and the tables need."""

    study: Study
    account: Mapping[str, Any]
    results: Results
    parts: tuple[Part, ...]
    labels: Mapping[str, str]
    """Condition name to what the report calls it; no two the same."""

    @property
    def is_simulated(self) -> bool:
        return bool(self.account["population"] == "robots")

    @property
    def newest(self) -> datetime | None:
        """When the newest answer came."""
        times = self.results.ratings["answered_at"]
        return datetime.fromisoformat(max(times)) if len(times) else None

    @property
    def used(self) -> pd.DataFrame:
        """The ratings that count."""
        ratings = self.results.ratings
        return ratings[ratings["use"] & ratings["value"].notna()]


def load_material(study: Study, questions: tuple[Question, ...]) -> Material:
    """Return the material in a study's folder, or say what has to run first."""
    account = study.folder / "clean" / "account.json"
    if not account.is_file():
        raise UserError(Problem(str(account.parent), "holds no clean ratings", "", "Run `beholder clean` first."))
    results = read_results(study.folder)
    return Material(
        study=study,
        account=json.loads(account.read_text(encoding="utf-8")),
        results=results,
        parts=tuple(_part(question, results) for question in _asked(questions, results)),
        labels=_labels(study, results),
    )


def _asked(questions: tuple[Question, ...], results: Results) -> list[Question]:
    """Return the study's questions, then any that only the ratings know."""
    known = {question.id for question in questions}
    ratings = results.ratings
    found = list(questions)
    for name in results.notes["questions"]:
        if name not in known:
            rows = ratings[ratings["question"] == name]
            scale = Scale(min=float(rows["scale_min"].min()), max=float(rows["scale_max"].max()))
            found.append(Question.model_construct(id=name, text=name, scale=scale))
    return found


def _part(question: Question, results: Results) -> Part:
    def mine(table: pd.DataFrame) -> pd.DataFrame:
        return table[table["question"] == question.id].reset_index(drop=True)

    best_first = mine(results.conditions).sort_values("mean", ascending=False, kind="stable", ignore_index=True)
    return Part(
        id=question.id,
        text=question.text,
        scale=question.scale,
        conditions=best_first,
        pairs=mine(results.pairs),
        contents=mine(results.contents),
        scores=mine(results.scores),
        alpha=float(results.notes["alpha"]),
    )


def _both_ways(pairs: pd.DataFrame) -> frozenset[tuple[str, str]]:
    both = zip(pairs["condition"], pairs["other_condition"], strict=True)
    return frozenset(pair for one, other in both for pair in ((one, other), (other, one)))


def _labels(study: Study, results: Results) -> dict[str, str]:
    wanted = {condition.name: condition.label or condition.name for condition in study.conditions}
    names = list(results.notes["conditions"])
    labels = {name: wanted.get(name, name) for name in names}
    shared = {label for label in labels.values() if list(labels.values()).count(label) > 1}
    return {name: f"{label} ({name})" if label in shared else label for name, label in labels.items()}
