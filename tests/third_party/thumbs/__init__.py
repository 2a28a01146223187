"""thumbs: one stimulus, thumb up or down. A stranger's method, as small as one can be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from beholder.methods.contract import (
    Asked,
    Catalogue,
    Generator,
    Json,
    Judgement,
    Percept,
    Problem,
    Question,
    Slot,
    Study,
    StudyPart,
    Trial,
    Unit,
    Units,
)  # fmt: skip
from beholder.methods.scores import read_scores, score_judgements, score_response


class Thumbs:
    """One stimulus at a time; up is 1, down is 0."""

    name = "thumbs"
    media = frozenset({"video"})
    scales = ("acr5",)
    Options = StudyPart
    analyses = ("scores",)
    defaults: ClassVar[dict[str, Json]] = {}

    def questions(self, study: Study) -> tuple[Question, ...]:
        return study.questions

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        return ()

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        items = tuple(Unit(stimulus.content, (stimulus.id,)) for stimulus in catalogue.by_cell.values())
        return Units(kind="stimulus", items=items, per_trial=1, shuffle="none")

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        slots = (Slot("s1", unit.stimuli[0], "test", None, True, None),)
        asked = tuple(Asked(f"q{n}", q.id, "ask", q.text, q.scale) for n, q in enumerate(study.questions, 1))
        return Trial(unit.stimuli[0], unit.content, "rate", slots, asked)

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        return {}

    def read(self, trial: Trial, answer: Json) -> Json:
        return read_scores(trial, answer)

    def judgements(self, trial: Trial, answer: Json) -> tuple[Judgement, ...]:
        return score_judgements(trial, answer)

    def respond(self, trial: Trial, percept: Percept, rng: Generator) -> Json:
        return score_response(trial, {where: float(rng.random() < strength) for where, strength in percept.items()})

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        return catalogue.by_id[trial.slots[0].stimulus].probe.duration_ms / 1000 + 3


thumbs = Thumbs()
