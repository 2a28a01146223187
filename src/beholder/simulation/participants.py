"""Casting chance for all answers at once: by the names of people, as over HTTP, or as one stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from beholder.simulate.filling import Bools, Ints
from beholder.simulate.habits import habits_of
from beholder.simulate.people import Look, Someone, answering, robot_name, stays
from beholder.simulate.population import Population
from beholder.simulate.raters import ANYWHERE, MADE_UP, Person, person_of
from beholder.simulate.sheet import Sheet
from beholder.simulate.truth import Truth

Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]
_TOLD_AFTER = 100


class Chance(NamedTuple):
    """Every outcome of chance that answers depend on, for all entries of a sheet."""

    person: Person
    """Who judges, entry by entry."""
    judged: Look
    other: Look | None
    """Where two are compared."""
    doubt: Floats
    """Two that are compared are not compared the same way each time."""
    is_recognised: Bools
    """Whether a hidden reference is known for what it is."""
    trials: Ints
    """How many trials each person answers."""


def quick_chance(sheet: Sheet, people: Population, kinds: Sequence[str], rng: Generator) -> Chance:
    """Return chance as one stream. Who sees a stimulus twice perceives the same, as over HTTP."""
    persons = [person_of(kind, people, rng) for kind in kinds]
    judged, other = sheet.looks
    count = 1 + max(int(judged.max(initial=-1)), int(other.max(initial=-1)))
    of, condition = np.zeros((2, count), dtype=np.int64)
    of[other], condition[other] = sheet.list, sheet.other_condition
    of[judged], condition[judged] = sheet.list, sheet.condition
    waver, shift = rng.standard_normal(count), np.zeros(count)
    anywhere = np.array([kind in ANYWHERE for kind in kinds], dtype=np.bool_)
    if anywhere.any():
        waver = np.where(anywhere[of], rng.random(count), waver)
    if people.taste:
        shift = rng.normal(0, people.taste, (len(kinds), len(sheet.conditions)))[of, condition]
    lapse, guess = rng.random((2, count)) if people.lapse else np.ones((2, count))
    found = sheet.is_hidden & ~_unheard(sheet, kinds)
    if found.any():
        recognises = np.array([habits_of(kind).recognises for kind in kinds])
        found &= rng.random(count)[judged] < recognises[sheet.list]
    return Chance(
        person=_together(persons, sheet, kinds),
        judged=Look(waver[judged], shift[judged], lapse[judged], guess[judged]),
        other=Look(waver[other], shift[other], lapse[other], guess[other]) if sheet.is_compared else None,
        doubt=rng.standard_normal(len(sheet) if sheet.is_compared else 0),
        is_recognised=found,
        trials=np.array([stays(people.leaving, trials, rng) for trials in sheet.trials.tolist()], dtype=np.int64),
    )


def named_chance(
    sheet: Sheet,
    truth: Truth,
    people: Population,
    kinds: Sequence[str],
    seed: int,
    run: int = 1,
    progress: Progress | None = None,
) -> Chance:
    """Return chance that hangs on the names of people and stimuli alone: that of robots over HTTP."""
    persons, trials = [], []
    judged, other = (np.zeros((len(Look._fields), len(sheet))) for _ in range(2))
    doubt, found = np.zeros(len(sheet)), sheet.is_hidden & ~_unheard(sheet, kinds)
    looks = [(sheet.stimulus, judged), *([(sheet.other, other)] if sheet.is_compared else [])]
    for number, kind in enumerate(kinds):
        one = Someone(kind, robot_name(seed, number + 1, run), truth, people, seed)
        mine = slice(*sheet.starts[number : number + 2].tolist())
        for rows, into in looks:
            for part, chance in enumerate(one.look(rows[mine], sheet.question[mine])):
                into[part, mine] = chance
        if sheet.is_compared:
            doubt[mine] = _doubts(sheet.position[mine], one.name, seed)
        elif sheet.is_hidden[mine].any():
            found[mine] &= _recognised(sheet, mine, one.name, seed, habits_of(kind).recognises)
        persons.append(one.person)
        trials.append(one.answers(int(sheet.trials[number])))
        if progress is not None and ((number + 1) % _TOLD_AFTER == 0 or number + 1 == len(kinds)):
            progress(number + 1, len(kinds))
    return Chance(
        person=_together(persons, sheet, kinds),
        judged=Look(*judged),
        other=Look(*other) if sheet.is_compared else None,
        doubt=doubt,
        is_recognised=found,
        trials=np.array(trials, dtype=np.int64),
    )


def _doubts(positions: Ints, name: str, seed: int) -> Floats:
    """Return what one person's comparisons waver by, question by question of each trial."""
    trials, many = np.unique(positions, return_counts=True)
    found = [
        answering(seed, name, f"trial:{trial}").standard_normal(count)
        for trial, count in zip(trials.tolist(), many.tolist(), strict=True)
    ]
    return np.concatenate([np.zeros(0), *found])


def _recognised(sheet: Sheet, mine: slice, name: str, seed: int, recognises: float) -> Bools:
    """Return which hidden references one person knows for what they are: slot by slot, for all questions."""
    position, slot, hidden = sheet.position[mine], sheet.slot[mine], sheet.is_hidden[mine]
    found = np.zeros(len(position), dtype=np.bool_)
    for trial in np.unique(position[hidden]).tolist():
        rng = answering(seed, name, f"trial:{trial}")
        here = position == trial
        for place in np.unique(slot[here & hidden]).tolist():
            found[here & (slot == place)] = rng.random() < recognises
    return found


def _unheard(sheet: Sheet, kinds: Sequence[str]) -> Bools:
    """Return of which entries nothing is heard, by who has no sound on."""
    mute = np.array([habits_of(kind).is_mute for kind in kinds], dtype=np.bool_)
    return np.asarray(mute[sheet.list] & sheet.is_sound)


def _together(persons: Sequence[Person], sheet: Sheet, kinds: Sequence[str]) -> Person:
    """Return people as one, with a number for each entry; who hears nothing makes it up."""
    table = np.array(persons, dtype=np.float64).reshape(-1, len(Person._fields)).T[:, sheet.list]
    unheard = _unheard(sheet, kinds)
    if unheard.any():
        table = np.where(unheard, np.array(MADE_UP, dtype=np.float64)[:, None], table)
    return Person(*table)
