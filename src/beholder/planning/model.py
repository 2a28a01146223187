"""The plan: every list, every trial, every outcome of chance."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from beholder.methods.contract import Break, Trial, Units
from beholder.study.design import Design
from beholder.types import Role

GroupKey = tuple[tuple[str, str], ...]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Labels of the slots that are permuted; those that stay have words in small letters."""
CHECK_ROLES: frozenset[Role] = frozenset({"attention", "gold", "trap", "repeat"})
"""Roles of slots that are answered for a check, and not rated."""


def is_check(trial: Trial) -> bool:
    """Return whether nothing on a page is rated: it is there for a check alone."""
    for slot in trial.slots:  # noqa: SIM110 (a plan has very many)
        if slot.rated and slot.role not in CHECK_ROLES:
            return False
    return True


class Addition(NamedTuple):
    """Why a list was added to a plan that people had begun, when, and the plan digest of the study by then."""

    why: str
    when: str
    digest: str


@dataclass(frozen=True)
class PlannedList:
    """One sequence of trials and breaks: what a session claims. Numbered from 1."""

    number: int
    entries: tuple[Trial | Break, ...]
    group: Mapping[str, str] = field(default_factory=dict)
    """The level of each factor between participants."""
    makes_up: bool = False
    """Whether it was added for what cleaning left out, and adds nothing to what was planned."""
    added: Addition | None = None
    """None where it is of the plan as it was first made."""

    @property
    def group_key(self) -> GroupKey:
        """The group as something to look up by."""
        return tuple(sorted(self.group.items()))

    @property
    def trials(self) -> tuple[Trial, ...]:
        """What is answered, in order, pages that are there for a check among it: position 1 is the first of them."""
        return tuple(entry for entry in self.entries if isinstance(entry, Trial) and entry.purpose != "train")

    @property
    def rated(self) -> tuple[Trial, ...]:
        """What is rated, in order."""
        return tuple(trial for trial in self.trials if not is_check(trial))

    @property
    def training(self) -> tuple[Trial, ...]:
        """What people practise on before: the same in every list of a group."""
        return tuple(entry for entry in self.entries if isinstance(entry, Trial) and entry.purpose == "train")


@dataclass(frozen=True)
class Plan:
    """Every list of a study, deterministic in study, stimuli and seed."""

    plan_digest: str
    seed: int
    lists: tuple[PlannedList, ...]
    units: Units | None = field(default=None, compare=False, repr=False)
    """What was dealt; a plan that was read from its folder does not know."""
    replaced: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    """How often an attention stimulus stands in the place of each condition; known as `units` are."""
    before: tuple[frozenset[str], ...] = field(default=(), compare=False, repr=False)
    """What there was to rate each time before stimuli were added."""

    gave_way: Mapping[int, Mapping[int, str]] = field(default_factory=dict, compare=False, repr=False)
    """The stimuli in whose place they stand, by list and by place among its rated trials, from 0; known as `units`."""
    is_given: bool = field(default=False, compare=False)
    """Whether the researcher gave it: then nothing is promised of it."""
    design: Design | None = field(default=None, compare=False, repr=False)
    """The design that it was made by; known as `units` are."""
    groups: tuple[Plan, ...] = field(default=(), compare=False, repr=False)
    """The plan of each group of participants by itself, its lists numbered from 1, where there are several."""

    @property
    def is_extended(self) -> bool:
        """Whether lists were added after it was made."""
        return self.lists[-1].added is not None

    @property
    def covers(self) -> frozenset[str]:
        """The plan digests that it serves: of the study as it was, and as it was each time that lists were added."""
        return frozenset({self.plan_digest, *(planned.added.digest for planned in self.lists if planned.added)})


# --- Making very many small objects at once ---


@contextmanager
def no_collection() -> Iterator[None]:
    """Return a context in which the cycle collector rests.

    A plan is a million objects without a cycle, and looking through them again and again takes a third of the time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
