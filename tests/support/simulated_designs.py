"""Designs of studies and worlds they are carried out in, to count how often claims are wrong.

Independent of `beholder.simulation`: what the package assumes of people must not be what its tests are tested with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from beholder.stats.additive import AdditiveContrasts, ContrastEstimates, DirectContrasts
from beholder.stats.clustered import Cells, Codes, Floats
from beholder.stats.sequential import LookCorrection
from beholder.stats.tests import holm

ALPHA, SEED = 0.05, 20261117
BLOCK = 500
"""So many studies have the same layout; then who rates what is drawn anew, too."""


class Ratings(NamedTuple):
    """What every rating is of, numbered from 0."""

    participant: Codes
    content: Codes
    condition: Codes


@dataclass(frozen=True)
class Layout:
    """Who rates what: people, contents and conditions, and how many of them each person has."""

    people: int
    contents: int
    conditions: int
    each: int = 0
    """Stimuli of a person, one at a time; all contents with all conditions when 0."""
    on_page: int = 0
    """Conditions on a page; `each` are then pages."""
    zipf: float = 0.0
    """Exponent by which ratings are spread over people: a few have most."""
    drop_out: float = 0.0
    """Share of the people who leave anywhere on the way."""
    groups: bool = False
    """Whether each person rates one condition only."""
    own_contents: float = 1.0
    """Share of the contents that each condition has."""

    def drawn(self, rng: np.random.Generator) -> Ratings:
        """Return the ratings of one study."""
        rows = self._pages(rng) if self.on_page else self._singles(rng) if self.each else self._complete()
        if self.groups:
            rows = [row for row in rows if row[2] == row[0] % self.conditions]
        if self.own_contents < 1:
            has = rng.permuted(np.tile(np.arange(self.contents), (self.conditions, 1)), axis=1)
            has = has < self.own_contents * self.contents
            rows = [row for row in rows if has[row[2], row[1]]]
        if self.drop_out:
            lists = [[row for row in rows if row[0] == person] for person in range(self.people)]
            stays = rng.random(self.people) >= self.drop_out
            left = [len(one) if stay else 1 + rng.integers(len(one)) for one, stay in zip(lists, stays, strict=True)]
            rows = [
                one[place]
                for one, count in zip(lists, left, strict=True)
                for place in rng.permutation(len(one))[:count]
            ]
        codes = np.array(rows, np.intp).T
        return Ratings(np.unique(codes[0], return_inverse=True)[1], codes[1], codes[2])

    def _complete(self) -> list[tuple[int, int, int]]:
        return list(product(range(self.people), range(self.contents), range(self.conditions)))

    def _pages(self, rng: np.random.Generator) -> list[tuple[int, int, int]]:
        """Return pages of one content each, with as many conditions as there is room for."""
        pages = self.each or self.contents
        return [
            (person, int(content), int(condition))
            for person in range(self.people)
            for content in rng.permutation(self.contents)[:pages]
            for condition in rng.permutation(self.conditions)[: self.on_page]
        ]

    def _singles(self, rng: np.random.Generator) -> list[tuple[int, int, int]]:
        """Return single stimuli, dealt out so that all are rated about as often."""
        total = self.contents * self.conditions
        share = 1 / np.arange(1, self.people + 1) ** self.zipf
        counts = np.clip(np.round(self.people * self.each * share / share.sum()), 2, total).astype(int)
        rows, pile = [], list(rng.permutation(total))
        for person, count in enumerate(rng.permutation(counts)):
            mine: list[int] = []
            while len(mine) < count:
                place = next((place for place, one in enumerate(pile) if one not in mine), None)
                if place is None:
                    pile += list(rng.permutation(total))
                else:
                    mine.append(int(pile.pop(place)))
            rows += [(person, one // self.conditions, one % self.conditions) for one in mine]
        return rows


Noise = Literal["normal", "t3", "skewed"]


@dataclass(frozen=True)
class World:
    """Standard deviations of what makes ratings differ, in points of a scale from 1 to 5."""

    people: float = 0.4
    contents: float = 0.5
    people_by_condition: float = 0.2
    contents_by_condition: float = 0.2
    people_by_content: float = 0.15
    noise: float = 0.6
    shape: Noise = "normal"
    wild: float = 0.0
    """Contents by condition of the first condition; that of the others when 0."""
    unequal: float = 1.0
    """How many times as noisy the last condition is as the first."""
    scale: Literal["", "five points", "ceiling"] = ""
    """Votes on five points, or sliders that end at 5 where nearly everybody is."""
    middle: float = 3.0

    def ratings(
        self, rng: np.random.Generator, of: Ratings, studies: int, quality: Floats | None = None, *,
        on_these: bool = False,
    ) -> Floats:  # fmt: skip
        """Return the ratings of so many studies, each with new people and contents.

        Without `quality` of each condition all are equally good: over all contents that there may be, or, `on_these`,
        over those of the study.
        """
        size = [int(codes.max()) + 1 for codes in of]
        value = self.middle + self.people * rng.normal(size=(studies, size[0]))[:, of.participant]
        if quality is not None:
            value += quality[of.condition]
        value += (
            self.people_by_condition * rng.normal(size=(studies, size[0], size[2]))[:, of.participant, of.condition]
        )
        value += self.people_by_content * rng.normal(size=(studies, size[0], size[1]))[:, of.participant, of.content]
        by_condition = np.full(size[2], self.contents_by_condition)
        by_condition[0] = self.wild or self.contents_by_condition
        if on_these:
            # The same effects for every condition, on other contents: alike on the whole, whatever the scale does.
            same = np.repeat(rng.normal(size=(studies, 1, size[1])), size[2], axis=1)
            same -= same.mean(axis=2, keepdims=True)
            effects = rng.permuted(same, axis=2).transpose(0, 2, 1) * by_condition
        else:
            effects = rng.normal(size=(studies, size[1], size[2])) * by_condition
            value += self.contents * rng.normal(size=(studies, size[1]))[:, of.content]
        value += effects[:, of.content, of.condition]
        louder = np.linspace(1, self.unequal, size[2])[of.condition]
        return self.voted(value + self.noise * louder * self._drawn(rng, value.shape))

    def truth(self, quality: Floats) -> Floats:
        """Return the mean of each condition over all people and contents, as it is told on the scale."""
        spread = (
            self.people, self.contents, self.people_by_condition, self.contents_by_condition, self.people_by_content,
            self.noise,
        )  # fmt: skip
        felt = np.sqrt(np.square(spread).sum()) * quantiles(stats.norm(), 20_000)
        return np.asarray(self.voted(self.middle + quality[:, np.newaxis] + felt).mean(axis=1), np.float64)

    def voted(self, value: Floats) -> Floats:
        """Return what is felt as it is told on the scale."""
        if self.scale:
            value = np.clip(np.round(value) if self.scale == "five points" else value, 1, 5)
        return value

    def _drawn(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Return noise with mean 0 and standard deviation 1."""
        if self.shape == "t3":
            return np.asarray(rng.standard_t(3, shape) / np.sqrt(3), np.float64)
        return rng.exponential(size=shape) - 1 if self.shape == "skewed" else rng.normal(size=shape)

    def alike(self) -> World:
        """Return the same without any interaction."""
        return replace(self, people_by_condition=0.0, contents_by_condition=0.0, people_by_content=0.0)


@dataclass(frozen=True)
class Comparisons:
    """Votes between two conditions: each person compares some pairs on some contents."""

    people: int
    contents: int
    conditions: int
    each: int
    people_by_condition: float = 0.0
    """In logits, as the other."""
    contents_by_condition: float = 0.0
    graded: bool = False
    """From -3 to 3, else for one of the two."""

    def estimates(
        self, rng: np.random.Generator, studies: int, quality: Floats | None = None, *, on_these: bool = False
    ) -> ContrastEstimates:
        """Return the contrasts of studies; without `quality`, in logits, all conditions are equally good."""
        pairs = pairs_of(self.conditions)
        dealt = Layout(self.people, self.contents, len(pairs), self.each).drawn(rng)
        one, other = np.array(pairs)[dealt.condition].T
        own = self.people_by_condition * rng.normal(size=(studies, self.people, self.conditions))
        effects = self.contents_by_condition * rng.normal(size=(studies, self.contents, self.conditions))
        if on_these:
            # Every content has one with the opposite effects.
            half = self.contents // 2
            effects = np.concatenate([effects[:, :half], -effects[:, :half]], axis=1)
        felt = own[:, dealt.participant, one] - own[:, dealt.participant, other]
        felt += effects[:, dealt.content, one] - effects[:, dealt.content, other]
        if quality is not None:
            felt += quality[one] - quality[other]
        votes = self.voted(felt + rng.logistic(size=felt.shape))
        mine = {pair: np.flatnonzero(dealt.condition == place) for place, pair in enumerate(pairs)}
        cells = {
            pair: Cells(votes[0, rows], dealt.participant[rows], dealt.content[rows]) for pair, rows in mine.items()
        }
        design = DirectContrasts(cells, choice=None if self.graded else 1.0)
        return design.estimate({pair: votes[:, rows] for pair, rows in mine.items()})

    def voted(self, felt: Floats) -> Floats:
        """Return what is felt as it is told."""
        return np.clip(np.round(felt), -3, 3) if self.graded else np.sign(felt)

    def truth(self, quality: Floats) -> Floats:
        """Return the mean vote of every pair over all people and contents."""
        sd = np.sqrt(2 * (self.people_by_condition**2 + self.contents_by_condition**2))
        around = (sd * quantiles(stats.norm(), 400)[:, np.newaxis] + quantiles(stats.logistic(), 400)).ravel()
        return np.array([self.voted(quality[one] - quality[other] + around).mean() for one, other in
                         pairs_of(self.conditions)])  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """A design in a world."""

    layout: Layout
    world: World

    @property
    def conditions(self) -> int:
        return self.layout.conditions

    def estimates(
        self, rng: np.random.Generator, studies: int, quality: Floats | None = None, *, on_these: bool = False
    ) -> ContrastEstimates:
        """Return the contrasts of studies; without `quality` all conditions are equally good."""
        of = self.layout.drawn(rng)
        design = AdditiveContrasts(*of, pairs_of(self.conditions))
        return design.estimate(self.world.ratings(rng, of, studies, quality, on_these=on_these))

    def truth(self, quality: Floats) -> Floats:
        """Return the difference of every pair over all people and contents."""
        one, other = np.array(pairs_of(self.conditions)).T
        mean = self.world.truth(quality)
        return np.asarray(mean[one] - mean[other], np.float64)


class Rate(NamedTuple):
    """In how many of so many studies something happened; of pairs, on average over those of a study."""

    share: float
    studies: int

    def __str__(self) -> str:
        low, high = (100 * end for end in self.interval)
        return f"{100 * self.share:.1f} % ({low:.1f} to {high:.1f})"

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval, studies being the units."""
        z2 = special.ndtri(0.975) ** 2 / self.studies
        centre, half = self.share + z2 / 2, np.sqrt(z2 * (self.share * (1 - self.share) + z2 / 4))
        return max(0.0, (centre - half) / (1 + z2)), min(1.0, (centre + half) / (1 + z2))

    def is_at_most(self, bound: float, *, whole: bool) -> bool:
        """Return whether the bound is kept; by few studies it is missed where chance would do it once in 10,000."""
        return self.share <= (bound if whole else stats.binom.ppf(0.9999, self.studies, bound) / self.studies)


class FalseFindings(NamedTuple):
    """How often a difference is found where there is none: of a pair at 5 %, and of any after Holm's correction."""

    pair: Rate
    family: Rate


def false_findings(cell: Cell | Comparisons, studies: int, *, on_these: bool = False) -> FalseFindings:
    """Return how often a cell is wrong beyond its contents, or on these contents."""
    rng = np.random.default_rng(SEED)
    results = [cell.estimates(rng, count, on_these=on_these) for count in blocks(studies)]
    p = np.concatenate([(result.these if on_these else result.beyond).p for result in results])
    return FalseFindings(Rate(float((p < ALPHA).mean()), len(p)), Rate(float(found(p).any(axis=1).mean()), len(p)))


def p_at_looks(cell: Cell, studies: int, looks: Sequence[int], *, on_these: bool = False) -> dict[int, Floats]:
    """Return the p-values of studies in which nothing differs at each number of people, not corrected for looking."""
    rng, found_at = np.random.default_rng(SEED), {people: list[Floats]() for people in looks}
    for count in blocks(studies):
        of = cell.layout.drawn(rng)
        values = cell.world.ratings(rng, of, count, on_these=on_these)
        for people in looks:
            rows = np.flatnonzero(of.participant < people)
            first = Ratings(of.participant[rows], of.content[rows], of.condition[rows])
            result = AdditiveContrasts(*first, pairs_of(cell.conditions)).estimate(values[:, rows])
            found_at[people].append((result.these if on_these else result.beyond).p)
    return {people: np.concatenate(p) for people, p in found_at.items()}


def found_at_any(p_by_people: Mapping[int, Floats], correct: Callable[[int], LookCorrection]) -> Rate:
    """Return in how many studies any difference is clear at any look."""
    clear = np.any([found(correct(people).p(p)).any(axis=1) for people, p in p_by_people.items()], axis=0)
    return Rate(float(clear.mean()), len(clear))


def coverage(cell: Cell | Comparisons, studies: int, quality: Floats) -> Rate:
    """Return how often an interval beyond these contents holds the planted difference."""
    rng, truth = np.random.default_rng(SEED), cell.truth(quality)
    results = [cell.estimates(rng, count, quality).beyond for count in blocks(studies)]
    holds = np.concatenate([(result.low <= truth) & (truth <= result.high) for result in results])
    return Rate(float(holds.mean()), len(holds))


def power(cell: Cell | Comparisons, studies: int, above: float, *, corrected: bool = True) -> Rate:
    """Return how often a condition that is better by so much is found so, for each pair with it."""
    rng = np.random.default_rng(SEED)
    quality = np.zeros(cell.conditions)
    quality[0] = above
    clear = []
    for count in blocks(studies):
        result = cell.estimates(rng, count, quality)
        is_clear = found(result.beyond.p) if corrected else result.beyond.p < ALPHA
        # The pairs with the first condition come first.
        clear.append((is_clear & (result.difference > 0))[:, : cell.conditions - 1])
    return Rate(float(np.concatenate(clear).mean()), sum(map(len, clear)))


def blocks(studies: int) -> list[int]:
    """Return how many studies have one layout each."""
    return [min(BLOCK, studies - done) for done in range(0, studies, BLOCK)]


def found(p: Floats) -> NDArray[np.bool_]:
    """Return which differences are clear after Holm's correction, a study in each row."""
    return np.asarray(holm(p) < ALPHA)


def pairs_of(conditions: int) -> list[tuple[int, int]]:
    return list(combinations(range(conditions), 2))


def quantiles(distribution: Any, count: int) -> Floats:
    """Return that many values that stand for a distribution."""
    return np.asarray(distribution.ppf((np.arange(count) + 0.5) / count), np.float64)
