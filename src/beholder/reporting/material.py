"""The data of a report: the study, the account of the cleaning and the results, one part per question."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from beholder.analysis.condition_difference import claim_of
from beholder.analysis.folder import analyse_loaded
from beholder.analysis.rating_values import RatingScale, evident_scale
from beholder.analysis.ratings import LoadedRatings, is_common
from beholder.analysis.result import STALE, Results, either_condition, read_results
from beholder.analysis.result import metric as metric_of
from beholder.errors import Problem, UserError, no_answers
from beholder.files import ORIGIN, read_cells
from beholder.methods.choices import scale_of_ratings
from beholder.reporting.question_results import QuestionResults, Wording
from beholder.study.model import Stimuli, Study
from beholder.study.questions import Scale

if TYPE_CHECKING:
    from beholder.reporting.html import Markup

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
    figures: Mapping[str, Markup] = field(default_factory=dict)
    """The figures of the page as drawn, by name."""
    files: Sequence[str] = ()
    """The names of all files beside the page."""

    @property
    def table(self) -> Mapping[str, Any] | None:
        """How a table without a study was read, and what is odd in it; None of a study."""
        noted = self.results.notes.get("table")
        return noted if isinstance(noted, dict) else None

    @property
    def is_simulated(self) -> bool:
        return bool(self.account["population"] == "robots")

    @property
    def is_on_play_money(self) -> bool:
        """Whether the people were simulated, on a platform of play money."""
        try:
            origin = json.loads((self.study.folder / ORIGIN).read_text("utf-8"))
        except (OSError, ValueError):
            return False
        return isinstance(origin, dict) and origin.get("play_money") is True

    @property
    def run(self) -> int:
        """The run of the study that is reported."""
        return int(self.account.get("run", 1))

    @property
    def texts(self) -> list[Mapping[str, Any]]:
        """The study texts of the sessions that are used, in the order in which they were used; of all if none is."""
        return [text for text in self.account["texts"] if text["used_sessions"]] or list(self.account["texts"])

    @property
    def title(self) -> str:
        """The latest title of the study."""
        return str(self.texts[-1]["title"])

    @property
    def newest(self) -> datetime | None:
        """The time of the newest answer."""
        times = [time for time in self.results.ratings["answered_at"] if time]
        return datetime.fromisoformat(max(times)) if times else None

    @property
    def used(self) -> pd.DataFrame:
        """The used ratings that have a value, of stimuli that are for everybody."""
        ratings = self.results.ratings
        is_used = ratings["use"] & ratings["value"].notna()
        return ratings[is_used & is_common(ratings)]

    def clean(self, name: str) -> pd.DataFrame:
        """Return a table of clean/ as text, `sessions` for sessions.csv; without rows where it is not there."""
        path = self.study.outputs / "clean" / f"{name}.csv"
        if not path.is_file():
            return pd.DataFrame()
        return read_cells(path)


def load_material(study: Study) -> Material:
    """Return the material in a study's folder; raise UserError if clean or analyse has to run first."""
    path = study.outputs / "clean" / "account.json"
    if not path.is_file():
        store = study.folder / "store"
        if not store.is_dir():
            raise UserError(no_answers(str(store), ", or name a store with `beholder clean --store`"))
        raise UserError(Problem(str(path.parent), "holds no clean ratings", "", "Run `beholder clean` first."))
    account = json.loads(path.read_text(encoding="utf-8"))
    results = read_results(study.outputs)
    # Ratings of nobody are the same for people and robots.
    if results.notes["population"] != account["population"]:
        raise UserError(STALE)
    plain = _labels(study, results)
    bare = Material(study, account, results, (), _labels_with_roles(plain, _roles(study, account)), plain)
    names = enumerate(_scales(bare).items(), 1)
    return replace(bare, parts=tuple(_part(name, scale, bare, place) for place, (name, scale) in names))


def table_material(loaded: LoadedRatings, folder: Path, progress: Callable[[int, int], None] | None = None) -> Material:
    """Return the material of a table without a study, analysed; its report is written to `folder`.

    Sections that need more than ratings find nothing there: a study without a method, and an account of no sessions.
    """
    results = analyse_loaded(loaded, progress)
    scales = {name: _table_scale(results, loaded, name) for name in results.notes["questions"]}
    ratings = results.ratings.assign(digest="")
    if not {"scale_min", "scale_max"} <= set(ratings):
        ratings["scale_min"] = ratings["question"].map({name: one.min for name, one in scales.items()})
        ratings["scale_max"] = ratings["question"].map({name: one.max for name, one in scales.items()})
    results = replace(results, ratings=ratings)
    methods = set(ratings["method"]) - {""}
    # No study is valid without a method, and a table may not say how people were asked.
    study = Study.model_construct(
        beholder=1, name="table", title=loaded.path.stem, stimuli=Stimuli(folder="stimuli"),
        method=methods.pop() if len(methods) == 1 else "",
    )  # fmt: skip
    study._folder = folder
    asked = [{"id": name, "text": name, "scale": one.model_dump(mode="json")} for name, one in scales.items()]
    account = {
        "population": loaded.population or "people",
        "counts": {"used_participants": int(results.participants["participant"].nunique())},
        "texts": [{"title": loaded.path.stem, "digest": "", "questions": asked, "used_sessions": 1}],
        "roles": dict(ratings[ratings["role"].isin(("reference", "anchor"))][["condition", "role"]].to_numpy()),
        "verdicts": {}, "lost": [], "digests": [], "finished": {"people": 0},
    }  # fmt: skip
    plain = _labels(study, results)
    bare = Material(study, account, results, (), _labels_with_roles(plain, _roles(study, account)), plain)
    names = enumerate(_scales(bare).items(), 1)
    return replace(bare, parts=tuple(_part(name, scale, bare, place) for place, (name, scale) in names))


def _table_scale(results: Results, loaded: LoadedRatings, question: str) -> Scale:
    """Return the scale of a question of a table: as it says or as is evident; grades and choices are around zero."""
    known = None if loaded.own is None else loaded.own.scales.get(question)
    kind = results.notes["kinds"].get(question, "score")
    values = results.ratings.loc[results.ratings["question"] == question, "value"].dropna()
    if kind == "diff":
        reach = max(1.0, float(values.abs().max()))
        return RatingScale(-reach, reach).model
    return RatingScale(-1, 1).model if kind == "choice" else (known or evident_scale(values)).model


def _scales(material: Material) -> dict[str, Scale]:
    """Return the scale of every question of the study texts, then of questions that only the ratings have.

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
        elif kind == "diff":
            scales[name] = scale_of_ratings(scales[name], metric_of(material.study.method, kind).words.sides)
    turned = material.results.notes.get("turned", ())
    return {name: _turned_scale(scale) if name in turned else scale for name, scale in scales.items()}


def _turned_scale(scale: Scale) -> Scale:
    """Return the scale of scores that are turned round: each word stands where its answers are."""
    labels = tuple((scale.min + scale.max - place, word) for place, word in reversed(scale.labels))
    return scale.model_copy(update={"labels": labels})


def _is_graded(scale: Scale, kind: str) -> bool:
    """Return whether grades of one against another mean the same as their words on the page did."""
    return kind == "diff" and scale.min == -scale.max


def _wordings(question: str, material: Material) -> tuple[Wording, ...]:
    """Return every text of a question with how many participants read it."""
    digests: dict[str, list[str]] = {}
    for text in material.texts:
        for one in text["questions"]:
            if one["id"] == question or any(f"{one['id']}: {tick}" == question for tick in one.get("ticks") or ()):
                digests.setdefault(one["text"] + question[len(one["id"]) + 1 :], []).append(text["digest"])
    names = material.used["question"]
    named = names + ": " + material.used["unit"]
    used = material.used[(names == question) | (named == question)]
    entries = [
        Wording(text, used[used["digest"].isin(among)]["participant"].nunique()) for text, among in digests.items()
    ]
    return tuple(one for one in entries if one.people) or tuple(entries) or (Wording(question, 0),)


def _part(question: str, scale: Scale, material: Material, place: int) -> QuestionResults:
    results = material.results
    metric = results.notes.get("metrics", {}).get(question, {"name": "Score", "meaning": ""})
    texts = (one for text in material.texts for one in text["questions"] if one["id"] == question)
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
        claim=claim_of(results),
        tests=mine(results.also["tests"]) if "tests" in results.also else pd.DataFrame(),
        kind=kind,
        metric=metric["name"],
        meaning=metric["meaning"],
        words=metric_of(material.study.method, kind).words,
        keyed=next((str(one.get("keyed") or "+") for one in texts), "+"),
        label=_label(question, material),
        is_turned=question in results.notes.get("turned", ()),
        reference=_reference_of(results, question) if kind == "diff" else None,
        place=place,
        roles=_roles(material.study, material.account),
    )


def _label(question: str, material: Material) -> str:
    """Return what the study, as it is now, calls the scores of a question; empty where it has no label for it."""
    from beholder.methods import find
    from beholder.methods.contract import all_questions

    if material.table is not None:
        return ""
    is_turned = question in material.results.notes.get("turned", ())
    asked = (one for one in all_questions(material.study, find(material.study.method)) if one.id == question)
    return next((one.name_of_scores(is_turned=is_turned) for one in asked), "")


def _reference_of(results: Results, question: str) -> str | None:
    """Return the one condition that was compared with all others and has no mean."""
    rated = set(results.conditions[results.conditions["question"] == question]["condition"])
    pairs = results.pairs[results.pairs["question"] == question]
    unrated = {*pairs["condition"], *pairs["other_condition"]} - rated
    return unrated.pop() if len(unrated) == 1 else None


def _roles(study: Study, account: Mapping[str, Any]) -> dict[str, str]:
    """Return the role of every condition that is not under test."""
    roles = {condition.name: condition.role for condition in study.conditions} | dict(account.get("roles", {}))
    return {name: str(role) for name, role in roles.items() if role in ("reference", "anchor")}


def _labels_with_roles(labels: Mapping[str, str], roles: Mapping[str, str]) -> dict[str, str]:
    """Return the labels followed by the role, unless they contain it."""
    return {
        name: f"{label} ({roles[name]})" if name in roles and roles[name] not in label.casefold() else label
        for name, label in labels.items()
    }


def _labels(study: Study, results: Results) -> dict[str, str]:
    texts = {condition.name: condition.label or condition.name for condition in study.conditions}
    names = list(results.notes["conditions"])
    labels = {name: texts.get(name, name) for name in names}
    if results.is_identification:
        labels = {name: either_condition(name, results.ratings, texts) for name in names}
    shared = {label for label in labels.values() if list(labels.values()).count(label) > 1}
    return {name: f"{label} ({name})" if label in shared else label for name, label in labels.items()}
