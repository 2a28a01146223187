"""Studies of many methods, rehearsed in memory."""

from __future__ import annotations

from functools import cache
from typing import Any

from beholder.methods import find
from beholder.methods.contract import Method
from beholder.planning.builder import make_plan
from beholder.planning.model import Plan
from beholder.simulation.memory import MemoryRehearsal, rehearse
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from support.method_studies import ODD, catalogue_of, make_study
from support.plans import with_clips

REFERENCE = [{"name": "original", "role": "reference"}, "b", "c", "d"]


DESIGN = {"participants": 7, "trials": 3, "seed": 2}


ITEMS = [
    {"id": f"item{n}", "text": f"Statement {n}.", "scale": "agree5", "keyed": "-" if n % 2 else "+"} for n in range(6)
]


STUDIES: dict[str, tuple[str, dict[str, Any]]] = {
    "parallel": ("parallel", {"design": {**DESIGN, "per_trial": 3}}),
    "parallel, attention": ("parallel", {"checks": {"attention": {"per_session": 2, "targets": [5, 95]}}}),
    "parallel, a shown and a hidden reference": (
        "parallel", {"conditions": REFERENCE, "options": {"reference": "both"}},
    ),
    "acr, attention and repeats": (
        "acr",
        {"checks": {"attention": {"per_session": 1}, "repeat": {"per_session": 1}}, "design": {**DESIGN, "trials": 6}},
    ),
    "acr-hr": ("acr-hr", {"conditions": REFERENCE, "design": {**DESIGN, "trials": 6}}),
    "dcr": ("dcr", {"conditions": REFERENCE}),
    "mushra": ("mushra", {"conditions": REFERENCE}),
    "bs1116": ("bs1116", {"conditions": REFERENCE, "checks": {"attention": {"per_session": 1}}}),
    "dscqs, two questions, one of them reversed": (
        "dscqs",
        {"conditions": REFERENCE, "design": {**DESIGN, "trials": 6}, "checks": {"repeat": {"per_session": 1}},
         "questions": [
            {"id": "good", "text": "How good is each?"}, {"id": "bad", "text": "How bad is each?", "keyed": "-"},
        ]},
    ),
    "likert": ("likert", {"questions": ITEMS, "checks": {"trap_item": {"per_trial": 1}}}),
    "likert, repeated": ("likert", {"questions": ITEMS, "checks": {"repeat": {"items_per_trial": 1}}}),
    "likert, one by one": (
        "likert",
        {
            "questions": ITEMS, "options": {"layout": "random"}, "design": {**DESIGN, "trials": 2},
            "checks": {"trap_item": {"per_trial": 1}, "repeat": {"items_per_trial": 1}},
        },
    ),
    "pair": ("pair", {"checks": {"attention": {"per_session": 1}}}),
    "pair, tie": ("pair", {"options": {"tie": True}, "design": {**DESIGN, "trials": 6}}),
    "rank": ("rank", {"design": {**DESIGN, "per_trial": 3}}),
    "rank, ties and a reversed question": (
        "rank", {"options": {"ties": True}, "questions": [
            {"id": "best", "text": "Which is best?"}, {"id": "worst", "text": "Which is worst?", "keyed": "-"},
        ]},
    ),
    "best-worst": ("best-worst", {}),
    "ab": ("ab", {"conditions": ["no", "01"]}),
    "ccr": ("ccr", {"conditions": REFERENCE}),
    "ccr, even": ("ccr", {"questions": [{"id": "quality", "text": "?", "scale": "ccr5"}]}),
}  # fmt: skip


ONE_BY_ONE: dict[str, tuple[str, dict[str, Any]]] = {
    "rank, attention": ("rank", {"checks": {"attention": {"per_session": 1}}}),
    "abx": ("abx", {"conditions": ["a", "b"], "options": {"mode": "identify"}}),
    "abx, closest": ("abx", {"conditions": REFERENCE[:3], "options": {"mode": "closest"}}),
    "likert, ticks": ("likert", {"options": {"items": "problem-token"}, "questions": None}),
}


def study_of(name: str) -> Study:
    method, keys = {**STUDIES, **ONE_BY_ONE}[name]
    return make_study(method, **{"conditions": list(ODD[:4]), "design": DESIGN, **keys})


@cache
def planned_study(name: str) -> tuple[Study, Catalogue, Method, Plan]:
    study = study_of(name)
    method = find(study.method)
    catalogue = with_clips(study, catalogue_of(study), method)
    return study, catalogue, method, make_plan(study, catalogue, method)


def rehearsed(name: str, **keys: Any) -> MemoryRehearsal:
    return rehearse(*planned_study(name), **{"participants": 9, **keys})


KEYS = ["participant", "trial", "question", "slot", "unit"]


def rows(rehearsal: MemoryRehearsal) -> Any:
    table = rehearsal.ratings.astype(object).sort_values(KEYS).reset_index(drop=True)
    table = table.astype(dict.fromkeys(("value", "raw_value", "keyed", "position"), float)).astype(object)
    return table.where(table.notna(), None)
