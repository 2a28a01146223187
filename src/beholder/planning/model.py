"""The plan: every list with its trials, and everything that was drawn at random."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from beholder.formats import count
from beholder.methods.contract import Break, Trial, Units
from beholder.result_view import ResultView, ShownResult
from beholder.study.design import Design
from beholder.types import CHECK_ROLES

GroupKey = tuple[tuple[str, str], ...]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Labels of the slots that are permuted; slots with a fixed place have lower-case words as labels."""


def is_check(trial: Trial) -> bool:
    """Return whether nothing in a trial is rated: it is only there for a check."""
    for slot in trial.slots:  # noqa: SIM110 (a plan has very many)
        if slot.rated and slot.role not in CHECK_ROLES:
            return False
    return True


class Addition(NamedTuple):
    """Why and when lists were added to a plan in use, and the plan digest of the study at that time."""

    why: str
    when: str
    digest: str


class DealtBatch(NamedTuple):
    """Lists that were dealt together after the answers so far: which batch, for whom, and after what."""

    number: int
    """From 1 for the lists that were planned before anybody answered."""
    population: str
    """Whose answers it follows and who gets it: people or robot; empty for the first one, which both get."""
    votes: int
    """How many comparisons were known."""
    votes_digest: str
    """The SHA-256 of how often each condition had won over each other one."""


@dataclass(frozen=True)
class PlannedList:
    """One sequence of trials and breaks, which a session claims. Lists are numbered from 1."""

    number: int
    entries: tuple[Trial | Break, ...]
    group: Mapping[str, str] = field(default_factory=dict)
    """The level of each factor between participants."""
    makes_up: bool = False
    """Whether it replaces ratings that cleaning excluded, and adds nothing to the planned numbers."""
    added: Addition | None = None
    """None for a list of the original plan."""
    batch: DealtBatch | None = None
    """With which lists it was dealt, where the answers so far decide; None in a fixed plan."""
    person: int = 0
    """For which of the people with stimuli of their own it is, from 1, and for nobody else; 0: for whoever comes."""
    relations: Mapping[str, str] = field(default_factory=dict)
    """What each stimulus is to that person of those that are theirs."""

    @property
    def group_key(self) -> GroupKey:
        """The group as a key for look-ups."""
        return tuple(sorted(self.group.items()))

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The trials after the training, in order, check trials included: position 1 is the first."""
        return tuple(entry for entry in self.entries if isinstance(entry, Trial) and entry.purpose != "train")

    @property
    def rated(self) -> tuple[Trial, ...]:
        """The trials that are rated, in order."""
        return tuple(trial for trial in self.trials if not is_check(trial))

    @property
    def common(self) -> PlannedList:
        """The same list without the trials of stimuli that are for its person alone."""
        if not self.person:
            return self
        kept = [one for one in self.entries if isinstance(one, Break) or not self.is_own(one)]
        return replace(self, entries=tuple(kept), person=0, relations={})

    def is_own(self, trial: Trial) -> bool:
        """Return whether a trial shows stimuli that are for the person of this list."""
        return any(slot.stimulus in self.relations for slot in trial.slots)

    @property
    def training(self) -> tuple[Trial, ...]:
        """The training trials: those of a group, their questions in the order of this list."""
        return tuple(entry for entry in self.entries if isinstance(entry, Trial) and entry.purpose == "train")


@dataclass(frozen=True, repr=False)
class Plan(ShownResult):
    """Every list of a study, determined by study, stimuli and seed."""

    plan_digest: str
    seed: int
    lists: tuple[PlannedList, ...]
    units: Units | None = field(default=None, compare=False, repr=False)
    """What was allocated; None in a plan that was read from its folder."""
    replaced: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    """How often an attention stimulus replaces each condition; known when `units` are."""
    earlier_stimuli: tuple[frozenset[str], ...] = field(default=(), compare=False, repr=False)
    """The rated stimuli before each addition of stimuli."""

    replaced_stimuli: Mapping[int, Mapping[int, str]] = field(default_factory=dict, compare=False, repr=False)
    """The replaced stimuli, by list and by index among its rated trials; known when `units` are."""
    is_given: bool = field(default=False, compare=False)
    """Whether the researcher wrote it: then no balance is promised."""
    design: Design | None = field(default=None, compare=False, repr=False)
    """The design of the study; known when `units` are."""
    groups: tuple[Plan, ...] = field(default=(), compare=False, repr=False)
    """The plan of each group of participants, with its lists numbered from 1, if there are several groups."""

    def _view(self) -> ResultView:
        lengths = [len(planned.trials) for planned in self.lists]
        low, high = min(lengths, default=0), max(lengths, default=0)
        each = count(low, "trial") if low == high else f"{low} to {high} trials"
        groups = f" in {len(self.groups)} groups" if self.groups else ""
        words = f"A plan of {count(len(self.lists), 'list')}{groups}, {each} each; seed {self.seed}."
        given = ["Written by the researcher: no balance is promised."] if self.is_given else []
        return ResultView([words, *given])

    @property
    def is_bound(self) -> bool:
        """Whether some lists are for some people, with stimuli of their own."""
        return any(planned.person for planned in self.lists)

    @property
    def is_whole(self) -> bool:
        """Whether no list lacks trials of what its person sees as their own, though it is for everybody."""
        lengths = {len(planned.common.trials) for planned in self.lists} if self.is_bound else set()
        return len(lengths) < 2

    @property
    def common(self) -> Plan:
        """The same plan without the trials of stimuli that are for one person: what is balanced over all."""
        if not self.is_bound:
            return self
        return replace(self, lists=tuple(planned.common for planned in self.lists))

    @property
    def is_extended(self) -> bool:
        """Whether lists were added after the plan was made."""
        return self.lists[-1].added is not None

    @property
    def covers(self) -> frozenset[str]:
        """The plan digests that the plan serves: the original one, and one for each addition of lists."""
        return frozenset({self.plan_digest, *(planned.added.digest for planned in self.lists if planned.added)})


@contextmanager
def no_collection() -> Iterator[None]:
    """Return a context in which the cyclic garbage collector is off.

    A plan is a million objects without a cycle, and scanning them repeatedly takes a third of the time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
