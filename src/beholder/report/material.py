"""What a report is made of: study, account and results, one part per question."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import pandas as pd

from beholder.analyse.result import records
from beholder.analyse.results import STALE, Results, read_results
from beholder.errors import Problem, UserError
from beholder.report.words import decimals_for
from beholder.study.model import Study
from beholder.study.scale import Scale


class Wording(NamedTuple):
    """A question, or a title, as people read it, and how many of those who count did."""

    text: str
    people: int


@dataclass(frozen=True)
class Part:
    """The results of one question."""

    id: str
    wordings: tuple[Wording, ...]
    """In the order in which they were used."""
    scale: Scale
    conditions: pd.DataFrame
    """As conditions.csv, in the order of the study."""
    pairs: pd.DataFrame
    contents: pd.DataFrame
    scores: pd.DataFrame
    alpha: float

    @property
    def decimals(self) -> int:
        return decimals_for(self.scale.min, self.scale.max)

    @property
    def name(self) -> str:
        """What the question is called: its text, or its id where not everybody read the same text."""
        return self.wordings[0].text if len(self.wordings) == 1 else self.id

    @cached_property
    def best_first(self) -> pd.DataFrame:
        """The conditions from the highest mean to the lowest."""
        return self.conditions.sort_values("mean", ascending=False, kind="stable", ignore_index=True)

    @property
    def order(self) -> list[str]:
        """The names of the conditions, best first."""
        return list(self.best_first["condition"])

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
    def texts(self) -> list[Mapping[str, Any]]:
        """The study texts of the sessions that are used, in the order in which they were used; of all if none is."""
        return [text for text in self.account["texts"] if text["used_sessions"]] or list(self.account["texts"])

    @property
    def title(self) -> str:
        """What stood at the top of the pages, at last."""
        return str(self.texts[-1]["title"])

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


def load_material(study: Study) -> Material:
    """Return the material in a study's folder, or say what has to run first."""
    path = study.folder / "clean" / "account.json"
    if not path.is_file():
        raise UserError(Problem(str(path.parent), "holds no clean ratings", "", "Run `beholder clean` first."))
    account = json.loads(path.read_text(encoding="utf-8"))
    results = read_results(study.folder)
    # Ratings of nobody are the same for people and robots.
    if results.notes["population"] != account["population"]:
        raise UserError(STALE)
    bare = Material(study, account, results, (), _labels(study, results))
    return replace(bare, parts=tuple(_part(name, scale, bare) for name, scale in _scales(bare).items()))


def _scales(material: Material) -> dict[str, Scale]:
    """Return the scale of every question that was asked, then of any that only the ratings know."""
    asked = [question for text in material.texts for question in text["questions"]]
    scales = {str(question["id"]): Scale.model_validate(question["scale"]) for question in asked}
    ratings = material.results.ratings
    for name in material.results.notes["questions"]:
        if name not in scales:
            rows = ratings[ratings["question"] == name]
            scales[name] = Scale(min=float(rows["scale_min"].min()), max=float(rows["scale_max"].max()))
    return scales


def _wordings(question: str, material: Material) -> tuple[Wording, ...]:
    """Return every text of a question with those who read it, by the study text that their session began with."""
    digests: dict[str, list[str]] = {}
    for text in material.texts:
        for one in text["questions"]:
            if one["id"] == question:
                digests.setdefault(one["text"], []).append(text["digest"])
    used = material.used[material.used["question"] == question]
    found = [
        Wording(text, used[used["digest"].isin(among)]["participant"].nunique()) for text, among in digests.items()
    ]
    return tuple(one for one in found if one.people) or tuple(found) or (Wording(question, 0),)


def _part(question: str, scale: Scale, material: Material) -> Part:
    results = material.results

    def mine(table: pd.DataFrame) -> pd.DataFrame:
        return table[table["question"] == question].reset_index(drop=True)

    return Part(
        id=question,
        wordings=_wordings(question, material),
        scale=scale,
        conditions=mine(results.conditions),
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
