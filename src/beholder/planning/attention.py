"""Attention stimuli in trials with several stimuli: which trials of a list, and which stimulus each one replaces."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from numpy.random import Generator

from beholder.checks.known_answers import Attention, MessageRule
from beholder.methods.contract import Slot, Trial
from beholder.planning.check_trials import EvenDraw, message_targets
from beholder.stimuli.catalogue import Catalogue, Stimulus

_TRIES, _MOST_DRAWS = 200, 40_000
"""How often trials are drawn for a small plan, and the largest number of drawn trials."""


class Replacement(NamedTuple):
    """Lists with attention stimuli, and how often each condition was replaced."""

    lists: list[list[Trial]]
    conditions: Mapping[str, int]
    stimuli: Mapping[int, Mapping[int, str]]
    """The replaced stimulus, by list and trial, both from 0."""


class Replacer:
    """Places attention stimuli into the lists of one plan, at most one per trial.

    Trials are chosen equally often over all lists. Conditions are replaced equally often, within one, if the trials
    allow it, and those that are rated once more than others are replaced first; the slots were drawn before.
    """

    def __init__(self, catalogue: Catalogue, kept: frozenset[str], rule: MessageRule.Options, rng: Generator) -> None:
        self._stimuli, self._kept, self._rule, self._rng = catalogue.by_id, kept, rule, rng
        self._used: Counter[str] = Counter()
        self._clips: Mapping[str, list[Stimulus]] = defaultdict(list)
        for clip in catalogue.of_role(Attention.role):
            self._clips[clip.content].append(clip)

    def open_pages(self, trials: Sequence[Trial]) -> list[int]:
        """Return which trials of a list can hold an attention stimulus."""
        return [place for place, trial in enumerate(trials) if self._clips.get(trial.content) and self._free(trial)]

    def put(self, lists: Sequence[Sequence[Trial]], count: int) -> Replacement:
        """Return lists with `count` attention stimuli in each, or as many as a list has trials for."""
        free = [self.open_pages(trials) for trials in lists]
        totals: Counter[str] = Counter()
        for trials in lists:
            for trial in trials:
                totals.update(self._free(trial).keys())
        number = sum(min(count, len(pages)) for pages in free)
        # A few trials may not hold what should be replaced: then others are drawn.
        best: tuple[list[tuple[int, int]], EvenAssignment] | None = None
        for _ in range(max(1, min(_TRIES, _MOST_DRAWS // max(1, number)))):
            chosen, quota = (
                self._choose(free, max(len(trials) for trials in lists), count),
                replacement_quotas(number, totals, self._rng),
            )
            assignment = assign_evenly([list(self._free(lists[one][page])) for one, page in chosen], quota, self._rng)
            if best is None or assignment.over < best[1].over:
                best = chosen, assignment
            if not assignment.over:
                break
        assert best is not None
        result = [list(trials) for trials in lists]
        stimuli: dict[int, dict[int, str]] = {}
        for (one, page), condition in zip(best[0], best[1].taken, strict=True):
            stimuli.setdefault(one, {})[page] = self._free(result[one][page])[condition].stimulus
            result[one][page] = self._with(result[one][page], self._free(result[one][page])[condition])
        return Replacement(result, {condition: best[1].taken.count(condition) for condition in totals}, stimuli)

    def _choose(self, free: Sequence[Sequence[int]], pages: int, count: int) -> list[tuple[int, int]]:
        """Return list and trial of each attention stimulus; all trials equally often."""
        draws, chosen = EvenDraw(range(pages), self._rng), []
        for number, open_pages in enumerate(free):
            remaining = set(open_pages)
            for _ in range(min(count, len(remaining))):
                page = _draw_page(draws, remaining)
                remaining.remove(page)
                chosen.append((number, page))
        return chosen

    def _free(self, trial: Trial) -> dict[str, Slot]:
        """Return the slots of a trial that can be replaced, by condition."""
        rated = ((self._stimuli[slot.stimulus].condition, slot) for slot in trial.slots if slot.rated)
        return {condition: slot for condition, slot in rated if condition not in self._kept}

    def _with(self, trial: Trial, out: Slot) -> Trial:
        clip = self._clip(trial, out)
        self._used[clip.id] += 1
        put = out._replace(stimulus=clip.id, role=Attention.role)
        slots = tuple(put if slot is out else slot for slot in trial.slots)
        return replace(trial, slots=slots, targets={**trial.targets, **message_targets(trial, put, clip, self._rule)})

    def _clip(self, trial: Trial, out: Slot) -> Stimulus:
        """Return the attention stimulus to use: made of the replaced one, else of one that is not in the trial."""
        clips = self._clips[trial.content]
        shown = {slot.stimulus for slot in trial.slots}
        for fits in (
            [clip for clip in clips if clip.derived_from == out.stimulus],
            [clip for clip in clips if clip.derived_from not in shown],
        ):
            if fits:
                return self._least_used(fits)
        return self._least_used(clips)

    def _least_used(self, clips: Sequence[Stimulus]) -> Stimulus:
        least = min(self._used[clip.id] for clip in clips)
        fewest = [clip for clip in clips if self._used[clip.id] == least]
        return fewest[int(self._rng.integers(len(fewest)))]


def _draw_page(pages: EvenDraw[int], free: Collection[int]) -> int:
    page = pages.draw(lambda place: 0 if place in free else None)
    assert page is not None, "one of them is free"
    return page


# Even choices


class EvenAssignment(NamedTuple):
    """The name that each choice took, and how far the counts are above the quotas."""

    taken: list[str]
    over: int


def replacement_quotas(number: int, totals: Mapping[str, int], rng: Generator) -> dict[str, int]:
    """Return how often each name is to be taken, `number` in all: equally often within one.

    Names with a larger total are taken once more than the others, so that the remaining totals are as even.
    """
    each, more = divmod(number, max(1, len(totals)))
    keys = rng.random(len(totals))
    first = sorted(zip(totals, keys, strict=True), key=lambda one: (-totals[one[0]], one[1]))[:more]
    return dict.fromkeys(totals, each) | {name: each + 1 for name, _ in first}


def assign_evenly(options: Sequence[Sequence[str]], quota: Mapping[str, int], rng: Generator) -> EvenAssignment:
    """Return one of the options of each choice, every name as often as its quota says if the options allow it."""
    taken: list[str] = []
    excess = Counter({name: -number for name, number in quota.items()})
    for names in options:
        keys = rng.random(len(names))
        name = min(zip(names, keys, strict=True), key=lambda one: (excess[one[0]], one[1]))[0]
        excess[name] += 1
        taken.append(name)
    while path := _path(options, taken, excess):
        for place, name in path:
            excess[taken[place]] -= 1
            excess[name] += 1
            taken[place] = name
    return EvenAssignment(taken, sum(number for number in excess.values() if number > 0))


def _path(options: Sequence[Sequence[str]], taken: Sequence[str], excess: Mapping[str, int]) -> list[tuple[int, str]]:
    """Return changes after which a name taken too often is taken less, and one taken too rarely more."""
    if not any(over > 0 for over in excess.values()):
        return []
    holders: Mapping[str, list[int]] = defaultdict(list)
    for place, name in enumerate(taken):
        holders[name].append(place)
    for high in (name for name, over in excess.items() if over > 0):
        previous: dict[str, tuple[str, int]] = {}
        queue = [high]
        for node in queue:
            if excess[node] < 0:
                path = []
                while node != high:
                    before, place = previous[node]
                    path.append((place, node))
                    node = before
                return path
            for place in holders[node]:
                for neighbour in options[place]:
                    if neighbour != high and neighbour not in previous:
                        previous[neighbour] = (node, place)
                        queue.append(neighbour)
    return []
