"""Simulated ratings of a study whose contents and conditions are crossed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from beholder.methods import find
from beholder.planning.builder import make_plan
from beholder.simulation.memory import SimulatedAnswers, simulate_sheet
from beholder.simulation.rating_sheet import RatingSheet, sheet_of
from beholder.simulation.truth import IDEAL, Population, Truth, truth_of
from support.method_studies import catalogue_of, make_study


class SimulatedStudy:
    """A plan of one method with its sheet, and the answers of a population."""

    def __init__(self, method: str = "acr", people: int = 200, scale: str = "cont100", **keys: Any) -> None:
        questions = [{"id": "quality", "text": "?", **({"scale": scale} if method == "acr" else {})}]
        design = {"participants": people, "trials": 12, "seed": 1, "contents": "free"}
        self.study = make_study(method, list("abc"), questions=questions, design=design, **keys)
        self.method = find(method)
        self.catalogue = catalogue_of(self.study, contents=[f"content{n}" for n in range(6)])
        self.plan = make_plan(self.study, self.catalogue, self.method)

    def truth(self, people: Population) -> Truth:
        return truth_of(self.study, self.catalogue, self.method, people=people)

    def answers(self, **effects: float) -> tuple[RatingSheet, SimulatedAnswers]:
        people = replace(IDEAL, **effects)
        truth = self.truth(people)
        sheet = sheet_of(self.plan, self.study, self.catalogue, self.method, truth)
        assert sheet is not None
        return sheet, simulate_sheet(sheet, truth, people, repetition=1)


@pytest.fixture(scope="session")
def acr() -> SimulatedStudy:
    return SimulatedStudy()
