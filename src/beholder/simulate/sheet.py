"""A sheet: every judgement that a plan asks for, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from beholder.methods.choices import ChoiceMethod
from beholder.methods.contract import Method, Scale
from beholder.methods.scores import ScoreMethod
from beholder.plan.model import Plan, PlannedList
from beholder.simulate.filling import Bools, Filling, Ints, is_usual
from beholder.simulate.truth import Truth
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from beholder.types import Role

Kind = Literal["score", "diff", "choice"]


@dataclass(frozen=True)
class Sheet:
    """Every judgement that is rated, one entry each, sorted by list and position; checks and training are left out."""

    kind: Kind
    contents: tuple[str, ...]
    conditions: tuple[str, ...]
    scales: tuple[Scale, ...]
    roles: tuple[Role, ...]
    starts: Ints
    """The first entry of each list, and the end."""
    trials: Ints
    """How many pages each list has, checks among them."""
    list: Ints
    """From 0."""
    position: Ints
    """From 1."""
    trial: Ints
    """Unique over the plan, in its order."""
    slot: Ints
    """The place of the judged stimulus on its page, from 1."""
    stimulus: Ints
    """A row of `Truth.quality`; of a comparison, the one that a value above zero speaks for."""
    other: Ints
    """What it is compared with, or rated against; -1 where there is none."""
    other_slot: Ints
    question: Ints
    """A column of `Truth.quality`."""
    content: Ints
    """A place in `contents`."""
    condition: Ints
    """A place in `conditions`."""
    other_condition: Ints
    role: Ints
    """What the judged stimulus is there for, as a place in `roles`."""
    scale: Ints
    """A place in `scales`."""
    is_reversed: Bools
    """Whether the question is keyed `-`."""
    is_hidden: Bools
    """Whether it is a hidden reference beside the one that is shown under its name."""
    is_sound: Bools
    """Whether the stimulus can only be heard."""

    def __len__(self) -> int:
        return len(self.stimulus)

    @property
    def lists(self) -> int:
        return len(self.trials)

    @property
    def is_compared(self) -> bool:
        """Whether one judgement is about two stimuli."""
        return self.kind != "score"

    @cached_property
    def looks(self) -> tuple[Ints, Ints]:
        """The looks at the judged and at the other stimulus: the same number for the same list, stimulus, question."""
        if not self.is_compared:
            places = np.arange(len(self))
            return places, places
        rows = np.concatenate([self.stimulus, self.other])
        keys = (np.tile(self.list, 2) * (int(rows.max(initial=0)) + 1) + rows) * (int(self.question.max(initial=0)) + 1)
        numbers = np.unique(keys + np.tile(self.question, 2), return_inverse=True)[1]
        return numbers[: len(self)], numbers[len(self) :]

    def dealt(self, participants: int) -> Sheet:
        """Return the sheet of so many people, who take the lists in turn: the first list is that of the first."""
        if participants == self.lists:
            return self
        taken = np.arange(participants) % self.lists
        return self.picked(_ranges(self.starts[taken], self.starts[taken + 1]), taken)

    def picked(self, entries: Ints, taken: Ints) -> Sheet:
        """Return these entries, sorted by the lists that were taken, as a sheet in which those are the lists."""
        counts = (self.starts[1:] - self.starts[:-1])[taken]
        lists = np.repeat(np.arange(len(taken)), counts)
        trials = self.trial[entries] + lists * (int(self.trial[-1]) + 1 if len(self) else 1)
        parts = {name: getattr(self, name)[entries] for name in _BY_ENTRY}
        return replace(
            self,
            **parts
            | {
                "starts": np.concatenate([[0], np.cumsum(counts)]),
                "trials": self.trials[taken],
                "list": lists,
                "trial": np.unique(trials, return_inverse=True)[1],
            },
        )


_BY_ENTRY = (
    "position", "slot", "stimulus", "other", "other_slot", "question", "content", "condition", "other_condition",
    "role", "scale", "is_reversed", "is_hidden", "is_sound",
)  # fmt: skip


def sheet_of(
    plan: Plan | Sequence[PlannedList], study: Study, catalogue: Catalogue, method: Method, truth: Truth
) -> Sheet | None:
    """Return the sheet of a plan; None where answers of this method have to be made one by one.

    That is so where an answer is more than a number for each question, or chance decides more than one thing at once.
    """
    family = _family(method)
    if family is None or any(question.ticks for question in method.questions(study)):
        return None
    lists = plan.lists if isinstance(plan, Plan) else plan
    assert isinstance(method, ScoreMethod | ChoiceMethod)
    filling = Filling(method, truth)
    for number, planned in enumerate(lists):
        if not filling.add(number, planned.trials):
            return None
    return Sheet(kind=family, **filling.columns(catalogue))


def _family(method: Method) -> Kind | None:
    """Return what a judgement of a method is, if its robots answer as all of its family do."""
    if isinstance(method, ScoreMethod):
        return "score" if is_usual(method, ScoreMethod, "respond") else None
    if isinstance(method, ChoiceMethod):
        return method.kind if is_usual(method, ChoiceMethod, "respond", "judgement") else None
    return None


def _ranges(begins: Ints, ends: Ints) -> Ints:
    """Return all numbers of some ranges, one range after the other."""
    counts = ends - begins
    first = np.cumsum(counts) - counts
    return np.repeat(begins - first, counts) + np.arange(int(counts.sum()))
