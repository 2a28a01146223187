"""Simulated people: percepts, habits and random draws.

All random numbers of a person depend on the name, never on the order of calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from beholder.checks.known_answers import Say
from beholder.simulation.raters import (
    GUESSING,
    UNIFORM_KINDS,
    Number,
    Percepts,
    RaterTraits,
    draw_noise,
    draw_traits,
    perceived_strength,
)
from beholder.simulation.rating_sheet import Bools, Ints, RatingSheet
from beholder.simulation.truth import Population, Truth, keyed_rng

Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]


def robot_name(seed: int, number: int, run: int = 1) -> str:
    """Return the name of the robot with this number, from 1. Each run has its own robots."""
    return f"{seed}-{number}" if run == 1 else f"{seed}-{number}-run-{run}"


class PerceptNoise(NamedTuple):
    """The random part of one percept, or of each of many."""

    waver: Number
    shift: Number = 0.0
    """The person's taste."""
    lapse: Number = 1.0
    guess: Number = 0.0


def percept_of(
    person: RaterTraits,
    people: Population,
    quality: Number,
    noise: PerceptNoise,
    *,
    carried: Number = 0.0,
    progress: Number = 0.0,
) -> Percepts:
    """Return the percept of a quality; `carried` is the carry-over from the previous trial."""
    strength = perceived_strength(person, quality, noise.waver, shift=noise.shift + carried, progress=progress)
    strength = np.where(noise.lapse < person.lapses, noise.guess, strength)
    return np.asarray(np.clip(strength, people.ends, 1 - people.ends), dtype=np.float64)


class SimulatedPerson:
    """One simulated person."""

    def __init__(self, kind: str, name: str, truth: Truth, people: Population, seed: int) -> None:
        self.kind, self.name, self.people = kind, name, people
        self._truth, self._seed = truth, seed
        self.person = draw_traits(kind, people, self._rng("rater"))

    def noise_at(self, rows: int | Ints, columns: int | Ints, *, is_repeat: bool = False) -> PerceptNoise:
        """Return the random part of percepts of these stimuli for these questions, at first sight or at a repeat."""
        noise = (self._again if is_repeat else self._once)[rows, columns]
        shift = self._shift[rows] if self.people.taste else 0.0
        if not self.people.lapse:
            return PerceptNoise(noise, shift)
        lapse, guess = self._lapses
        return PerceptNoise(noise, shift, lapse[rows, columns], guess[rows, columns])

    def answers(self, trials: int) -> int:
        """Return how many trials the person answers before leaving."""
        return trials_answered(self.people.leaving, trials, self._rng("leaves")) if self.people.leaving else trials

    def _rng(self, what: str) -> Generator:
        return keyed_rng(self._seed, what, self.name)

    @cached_property
    def _once(self) -> Percepts:
        return draw_noise(self.kind, self._rng("once"), self._truth.quality.shape)

    @cached_property
    def _again(self) -> Percepts:
        return draw_noise(self.kind, self._rng("again"), self._truth.quality.shape)

    @cached_property
    def _shift(self) -> Percepts:
        rng = self._rng("tastes")
        places = {name: place for place, name in enumerate(self._truth.conditions)}
        tastes = np.append(rng.normal(0, self.people.taste, len(places)), 0.0)
        return tastes[[places.get(name, -1) for name in self._truth.condition_of]]

    @cached_property
    def _lapses(self) -> Percepts:
        return self._rng("lapses").random((2, *self._truth.quality.shape))


def trials_answered(leaving: float, trials: int, rng: Generator) -> int:
    """Return how many trials are answered if the person may leave before each with this probability."""
    return min(trials, int(rng.geometric(leaving)) - 1) if leaving else trials


def answer_rng(seed: int, name: str, trial: str) -> Generator:
    """Return the generator for a person's answer to a trial."""
    return keyed_rng(seed, "answer", name, trial)


# Habits


_BOTH_MESSAGES: frozenset[Say] = frozenset({"text", "voice"})


@dataclass(frozen=True)
class Habits:
    """How a person follows messages, and response times. The numbers are assumptions.

    Papers that use such checks report exclusions, never how often honest participants missed a message.
    """

    follows: frozenset[Say] = _BOTH_MESSAGES
    """The kinds of messages that are followed; `text` alone means that the sound is off."""
    slip: float = 0.01
    """How often a message is missed or a statement misread."""
    motor: float = 0.01
    """Standard deviation of a slider around its target, as a share of the scale."""
    recognises: float = 0.97
    """How often the hidden reference is recognised and gets the best score."""
    click_s: float = 2.5
    slider_s: float = 5.0
    """Median seconds of a judgement after the stimulus has played. HEMVIP: 22 s for a clip of 10 s, in all."""
    spread: float = 0.5
    """Standard deviation of the logarithm of those seconds."""
    stall: float = 0.003
    """How often playback stalls once, for up to a second."""
    leaves: float = 0.0
    """On how many pages the person looks elsewhere during playback and misses the message."""
    hurries: bool = False
    """Answers as soon as the page allows it, by a program."""

    @property
    def is_mute(self) -> bool:
        """Whether the sound is off."""
        return self.follows == {"text"}


_BLIND = Habits(follows=frozenset(), recognises=0.0, click_s=0.9, slider_s=1.2)
_HABITS: Mapping[str, Habits] = {
    "sharp": Habits(slip=0.002, motor=0.005, recognises=0.99),
    "sloppy": Habits(slip=0.03, motor=0.015, recognises=0.93, click_s=1.2, slider_s=2.0),
    "careless": _BLIND,
    "straight": _BLIND,
    "middle": _BLIND,
    "copies": _BLIND,
    "forges": Habits(follows=frozenset(), recognises=0.0),
    "visible": Habits(follows=frozenset({"text"})),
    "fast": Habits(hurries=True),
    "away": Habits(leaves=0.6),
}
"""Habits of the kinds that differ from `honest`."""


def habits_of(kind: str) -> Habits:
    """Return the habits of a kind of rater."""
    return _HABITS.get(kind, Habits())


# Random draws for all answers of a sheet: by name as over HTTP, or from one stream


_PROGRESS_EVERY = 100


class ChanceDraws(NamedTuple):
    """All random draws that the answers of a sheet depend on."""

    person: RaterTraits
    """The traits of the rater of each entry."""
    judged: PerceptNoise
    other: PerceptNoise | None
    """Of the other stimulus of a comparison."""
    doubt: Floats
    """Noise of comparisons."""
    is_recognised: Bools
    """Whether a hidden reference is recognised."""
    trials: Ints
    """The number of trials that each person answers."""


def draw_from_stream(sheet: RatingSheet, people: Population, kinds: Sequence[str], rng: Generator) -> ChanceDraws:
    """Return draws from one stream. A stimulus that is seen twice is perceived equally, as over HTTP."""
    persons = [draw_traits(kind, people, rng) for kind in kinds]
    judged, other = sheet.looks
    count = 1 + max(int(judged.max(initial=-1)), int(other.max(initial=-1)))
    of, condition = np.zeros((2, count), dtype=np.int64)
    of[other], condition[other] = sheet.list, sheet.other_condition
    of[judged], condition[judged] = sheet.list, sheet.condition
    waver, shift = rng.standard_normal(count), np.zeros(count)
    is_uniform = np.array([kind in UNIFORM_KINDS for kind in kinds], dtype=np.bool_)
    if is_uniform.any():
        waver = np.where(is_uniform[of], rng.random(count), waver)
    if people.taste:
        shift = rng.normal(0, people.taste, (len(kinds), len(sheet.conditions)))[of, condition]
    lapse, guess = rng.random((2, count)) if people.lapse else np.ones((2, count))
    recognised = sheet.is_hidden & ~_muted_entries(sheet, kinds)
    if recognised.any():
        recognises = np.array([habits_of(kind).recognises for kind in kinds])
        recognised &= rng.random(count)[judged] < recognises[sheet.list]
    return ChanceDraws(
        person=_traits_by_entry(persons, sheet, kinds),
        judged=PerceptNoise(waver[judged], shift[judged], lapse[judged], guess[judged]),
        other=PerceptNoise(waver[other], shift[other], lapse[other], guess[other]) if sheet.is_compared else None,
        doubt=rng.standard_normal(len(sheet) if sheet.is_compared else 0),
        is_recognised=recognised,
        trials=np.array(
            [trials_answered(people.leaving, trials, rng) for trials in sheet.trials.tolist()], dtype=np.int64
        ),
    )


def draw_by_name(
    sheet: RatingSheet,
    truth: Truth,
    people: Population,
    kinds: Sequence[str],
    seed: int,
    run: int = 1,
    progress: Progress | None = None,
) -> ChanceDraws:
    """Return draws that depend only on the names of people and stimuli: those of robots over HTTP."""
    persons, trials = [], []
    judged, other = (np.zeros((len(PerceptNoise._fields), len(sheet))) for _ in range(2))
    doubt, recognised = np.zeros(len(sheet)), sheet.is_hidden & ~_muted_entries(sheet, kinds)
    looks = [(sheet.stimulus, judged), *([(sheet.other, other)] if sheet.is_compared else [])]
    for number, kind in enumerate(kinds):
        one = SimulatedPerson(kind, robot_name(seed, number + 1, run), truth, people, seed)
        mine = slice(*sheet.starts[number : number + 2].tolist())
        for rows, into in looks:
            for part, chance in enumerate(one.noise_at(rows[mine], sheet.question[mine])):
                into[part, mine] = chance
        if sheet.is_compared and sheet.differences is None:
            doubt[mine] = _comparison_noise(sheet.position[mine], one.name, seed)
        elif sheet.is_hidden[mine].any():
            recognised[mine] &= _recognised_references(sheet, mine, one.name, seed, habits_of(kind).recognises)
        persons.append(one.person)
        trials.append(one.answers(int(sheet.trials[number])))
        if progress is not None and ((number + 1) % _PROGRESS_EVERY == 0 or number + 1 == len(kinds)):
            progress(number + 1, len(kinds))
    return ChanceDraws(
        person=_traits_by_entry(persons, sheet, kinds),
        judged=PerceptNoise(*judged),
        other=PerceptNoise(*other) if sheet.is_compared else None,
        doubt=doubt,
        is_recognised=recognised,
        trials=np.array(trials, dtype=np.int64),
    )


def _comparison_noise(positions: Ints, name: str, seed: int) -> Floats:
    """Return the noise of one person's comparisons, by trial and question."""
    trials, many = np.unique(positions, return_counts=True)
    noise = [
        answer_rng(seed, name, f"trial:{trial}").standard_normal(count)
        for trial, count in zip(trials.tolist(), many.tolist(), strict=True)
    ]
    return np.concatenate([np.zeros(0), *noise])


def _recognised_references(sheet: RatingSheet, mine: slice, name: str, seed: int, recognises: float) -> Bools:
    """Return which hidden references one person recognises: by slot, for all questions."""
    position, slot, hidden = sheet.position[mine], sheet.slot[mine], sheet.is_hidden[mine]
    recognised = np.zeros(len(position), dtype=np.bool_)
    for trial in np.unique(position[hidden]).tolist():
        rng = answer_rng(seed, name, f"trial:{trial}")
        here = position == trial
        for place in np.unique(slot[here & hidden]).tolist():
            recognised[here & (slot == place)] = rng.random() < recognises
    return recognised


def _muted_entries(sheet: RatingSheet, kinds: Sequence[str]) -> Bools:
    """Return the entries of audio stimuli by people whose sound is off."""
    mute = np.array([habits_of(kind).is_mute for kind in kinds], dtype=np.bool_)
    return np.asarray(mute[sheet.list] & sheet.is_sound)


def _traits_by_entry(persons: Sequence[RaterTraits], sheet: RatingSheet, kinds: Sequence[str]) -> RaterTraits:
    """Return the traits of the rater of each entry; audio that is not heard is guessed."""
    table = np.array(persons, dtype=np.float64).reshape(-1, len(RaterTraits._fields)).T[:, sheet.list]
    unheard = _muted_entries(sheet, kinds)
    if unheard.any():
        table = np.where(unheard, np.array(GUESSING, dtype=np.float64)[:, None], table)
    return RaterTraits(*table)
