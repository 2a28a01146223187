"""What a report is made of: study, account and results, one part per question."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pandas as pd

from beholder.analysis.result import STALE, Results, either_condition, read_results
from beholder.errors import Problem, UserError
from beholder.reporting.question_results import QuestionResults, Wording
from beholder.study.model import Study
from beholder.study.questions import Scale

_SHARE_SCALE = Scale(min=0, max=1, step=0.01)


@dataclass(frozen=True)
class Material:
    """Everything that the page, the figures and the tables need."""

    study: Study
    account: Mapping[str, Any]
    results: Results
    parts: tuple[QuestionResults, ...]
    labels: Mapping[str, str]
    """Condition name to what the report calls it, with its role where it is not under test; no two the same."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The same without the roles, for sentences."""

    @property
    def is_simulated(self) -> bool:
        return bool(self.account["population"] == "robots")

    @property
    def run(self) -> int:
        """Which run of the study is told of."""
        return int(self.account.get("run", 1))

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

    def clean(self, name: str) -> pd.DataFrame:
        """Return a table of clean/ as text, `sessions` for sessions.csv; without rows where it is not there."""
        path = self.study.folder / "clean" / f"{name}.csv"
        if not path.is_file():
            return pd.DataFrame()
        return pd.read_csv(path, dtype=str, keep_default_na=False, na_filter=False, encoding="utf-8")


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
    plain = _labels(study, results)
    bare = Material(study, account, results, (), _labels_with_roles(plain, _roles(study, account)), plain)
    names = enumerate(_scales(bare).items(), 1)
    return replace(bare, parts=tuple(_part(name, scale, bare, place) for place, (name, scale) in names))


def _scales(material: Material) -> dict[str, Scale]:
    """Return the scale of every question that was asked, then of any that only the ratings know.

    What can be ticked is a question for each tick. Where means are not on the scale that people saw, the scale is that
    of the means, without its words.
    """
    scales: dict[str, Scale] = {}
    for question in (question for text in material.texts for question in text["questions"]):
        ticks = question.get("ticks") or ()
        scales |= {f"{question['id']}: {tick}": _SHARE_SCALE for tick in ticks}
        if not ticks:
            scales[str(question["id"])] = Scale.model_validate(question["scale"])
    ratings, kinds = material.results.ratings, material.results.notes.get("kinds", {})
    for name in material.results.notes["questions"]:
        kind = kinds.get(name, "score")
        if kind in ("pick", "correct"):
            scales[name] = _SHARE_SCALE
        elif name not in scales or (kind != "score" and not _is_graded(scales[name], kind)):
            rows = ratings[ratings["question"] == name]
            scales[name] = Scale(min=float(rows["scale_min"].min()), max=float(rows["scale_max"].max()))
    return scales


def _is_graded(scale: Scale, kind: str) -> bool:
    """Return whether grades of one against another mean the same as their words on the page did."""
    return kind == "diff" and scale.min == -scale.max


def _wordings(question: str, material: Material) -> tuple[Wording, ...]:
    """Return every text of a question with those who read it, by the study text that their session began with."""
    digests: dict[str, list[str]] = {}
    for text in material.texts:
        for one in text["questions"]:
            if one["id"] == question or any(f"{one['id']}: {tick}" == question for tick in one.get("ticks") or ()):
                digests.setdefault(one["text"] + question[len(one["id"]) + 1 :], []).append(text["digest"])
    names = material.used["question"]
    named = names + ": " + material.used["unit"]
    used = material.used[(names == question) | (named == question)]
    found = [
        Wording(text, used[used["digest"].isin(among)]["participant"].nunique()) for text, among in digests.items()
    ]
    return tuple(one for one in found if one.people) or tuple(found) or (Wording(question, 0),)


def _part(question: str, scale: Scale, material: Material, place: int) -> QuestionResults:
    results = material.results
    named = results.notes.get("metrics", {}).get(question, {"name": "Score", "meaning": ""})
    asked = (one for text in material.texts for one in text["questions"] if one["id"] == question)
    kind = results.notes.get("kinds", {}).get(question, "score")

    def mine(table: pd.DataFrame) -> pd.DataFrame:
        return table[table["question"] == question].reset_index(drop=True)

    return QuestionResults(
        id=question,
        wordings=_wordings(question, material),
        scale=scale,
        conditions=mine(results.conditions),
        pairs=mine(results.pairs),
        contents=mine(results.contents),
        scores=mine(results.scores),
        alpha=float(results.notes["alpha"]),
        kind=kind,
        metric=named["name"],
        meaning=named["meaning"],
        keyed=next((str(one.get("keyed") or "+") for one in asked), "+"),
        reference=_reference_of(results, question) if kind == "diff" else None,
        place=place,
        roles=_roles(material.study, material.account),
    )


def _reference_of(results: Results, question: str) -> str | None:
    """Return the one condition that was compared with others and has no mean."""
    rated = set(results.conditions[results.conditions["question"] == question]["condition"])
    pairs = results.pairs[results.pairs["question"] == question]
    beside = {*pairs["condition"], *pairs["other_condition"]} - rated
    return beside.pop() if len(beside) == 1 else None


def _roles(study: Study, account: Mapping[str, Any]) -> dict[str, str]:
    """Return the role of every condition that is not under test."""
    said = {condition.name: condition.role for condition in study.conditions} | dict(account.get("roles", {}))
    return {name: str(role) for name, role in said.items() if role in ("reference", "anchor")}


def _labels_with_roles(labels: Mapping[str, str], roles: Mapping[str, str]) -> dict[str, str]:
    """Return the labels with the role behind them, unless they say it themselves."""
    return {
        name: f"{label} ({roles[name]})" if name in roles and roles[name] not in label.casefold() else label
        for name, label in labels.items()
    }


def _labels(study: Study, results: Results) -> dict[str, str]:
    wanted = {condition.name: condition.label or condition.name for condition in study.conditions}
    names = list(results.notes["conditions"])
    labels = {name: wanted.get(name, name) for name in names}
    if results.is_identification:
        labels = {name: either_condition(name, results.ratings, wanted) for name in names}
    shared = {label for label in labels.values() if list(labels.values()).count(label) > 1}
    return {name: f"{label} ({name})" if label in shared else label for name, label in labels.items()}
