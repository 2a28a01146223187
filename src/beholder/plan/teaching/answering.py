"""What a method makes of an answer: which questions and slots get which kind of judgement."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beholder.methods.contract import Method, Trial


class Judged(NamedTuple):
    """A place that gets a judgement of its own."""

    question: str
    slot: str
    kind: str


def judged_places(method: Method, trial: Trial) -> frozenset[Judged]:
    """Return every place of a trial that is judged, found out by answering once."""
    percept = {f"{asked.id}.{slot.id}": 0.5 for asked in trial.asked for slot in trial.slots}
    answer = method.read(trial, method.respond(trial, percept, np.random.default_rng(0)))
    return frozenset(Judged(one.question, one.slot, one.kind) for one in method.judgements(trial, answer))


def judged_kinds(method: Method, trial: Trial) -> frozenset[str]:
    """Return the kinds of judgements on a trial, but for what is ticked."""
    return frozenset(one.kind for one in judged_places(method, trial)) - {"pick"}
