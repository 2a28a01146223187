"""Suspicious votes: honest people of any taste are spared, and what is planted is found, at stated rates."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.stats.ballots import Ballots, copies, favours, side_pattern, unanimous
from beholder.stats.tests import benjamini_hochberg

_SHARE, _CONTENTS, _TIES = 0.05, 30, 0.1


class Arena(NamedTuple):
    """How votes are simulated: people, conditions, votes of each, how many get each list, and how tastes differ."""

    people: int
    conditions: int
    each: int
    per_list: int
    taste: float


def simulated(arena: Arena, seed: int, *, friends: int = 0, copied: int = 0) -> Ballots:
    """Return votes; the first `friends` always prefer condition 0, the first `copied` lists hold a copied ballot."""
    rng = np.random.default_rng(seed)
    people, conditions, each = arena[:3]
    shape = (people // arena.per_list, each)
    one = rng.integers(0, conditions, shape)
    other, content = (one + rng.integers(1, conditions, shape)) % conditions, rng.integers(0, _CONTENTS, shape)
    first, second = np.minimum(one, other), np.maximum(one, other)
    of = np.arange(people) // arena.per_list
    strength, taste = rng.normal(0, 1, conditions), rng.normal(0, arena.taste, (people, conditions))
    with_content = rng.normal(0, 0.4, (conditions, _CONTENTS))
    a, b, c = first[of], second[of], content[of]
    row = np.arange(people)[:, None]
    logit = strength[a] - strength[b] + taste[row, a] - taste[row, b] + with_content[a, c] - with_content[b, c]
    won = (rng.random((people, each)) < 1 / (1 + np.exp(-logit))).astype(float)
    won[rng.random(won.shape) < _TIES] = 0.5
    won[:friends][a[:friends] == 0] = 1
    for place in range(copied):
        won[place * arena.per_list + 1] = won[place * arena.per_list]
    voter = np.repeat(np.arange(people), each)
    task = (a * conditions + b) * _CONTENTS + c
    return Ballots(voter, a.ravel(), b.ravel(), task.ravel(), won.ravel(), people, conditions)


ARENAS = [
    pytest.param(Arena(400, 8, 60, 1, 0.5), id="taste of half a logit"),
    pytest.param(Arena(400, 8, 60, 1, 0.0), id="no taste", marks=pytest.mark.variant),
    pytest.param(Arena(400, 8, 60, 1, 1.0), id="taste of a logit", marks=pytest.mark.variant),
    pytest.param(Arena(400, 20, 200, 1, 0.5), id="twenty conditions", marks=pytest.mark.variant),
]


@pytest.mark.long
@pytest.mark.parametrize("arena", ARENAS)
def test_friends_of_a_condition_are_found_and_honest_people_are_spared(arena: Arena, whole: bool) -> None:
    """In 400 people with 20 friends among them, of 60 votes each: shares of friends found, and of the honest."""
    rounds = 100 if whole else 6
    friends, honest, groups, alarms = 0, 0, 0, 0
    for seed in range(rounds):
        found = favours(simulated(arena, seed, friends=20), 8, _SHARE)
        flagged = list(found.q.min(axis=1) <= _SHARE)
        friends, honest = friends + sum(flagged[:20]), honest + sum(flagged[20:])
        groups += unanimous(found).p[0] < 0.01
        nobody = favours(simulated(arena, seed), 8, _SHARE)
        alarms += bool((nobody.q <= _SHARE).any() or (unanimous(nobody).p < 0.01).any())
    assert honest <= 0.001 * 380 * rounds, "at most one honest person in a thousand"
    assert alarms <= (0.1 * rounds if whole else 1), "where everybody is honest, nobody is found in most studies"
    assert groups >= 0.6 * rounds, "all friends together are seen, although each has few votes"
    if arena.taste < 1:
        assert friends >= 0.1 * 20 * rounds


def test_friends_are_not_made_honest_by_being_many() -> None:
    found = favours(simulated(Arena(400, 8, 60, 1, 0.5), 3, friends=80), 8, _SHARE)
    flagged = list(found.q.min(axis=1) <= _SHARE)
    assert sum(flagged[80:]) <= 2
    assert unanimous(found).p[0] < 1e-6


@pytest.mark.long
@pytest.mark.parametrize(
    "arena",
    [
        pytest.param(Arena(400, 20, 30, 2, 0.5), id="each list given twice"),
        pytest.param(Arena(400, 8, 30, 4, 1.0), id="each list given four times", marks=pytest.mark.variant),
        pytest.param(Arena(200, 8, 40, 200, 0.5), id="everybody votes on the same", marks=pytest.mark.variant),
    ],
)
def test_copied_ballots_are_found_and_people_who_agree_are_not(arena: Arena, whole: bool) -> None:
    rounds, planted = (100 if whole else 10), (1 if arena.per_list == arena.people else 5)
    hits, false = 0, 0
    for seed in range(rounds):
        found = copies(simulated(arena, seed, copied=planted), 12)
        pairs = {(int(a), int(b)) for a, b, q in zip(found.one, found.other, found.q, strict=True) if q <= _SHARE}
        copied = {(place * arena.per_list, place * arena.per_list + 1) for place in range(planted)}
        hits, false = hits + len(pairs & copied), false + len(pairs - copied)
    assert hits >= 0.95 * planted * rounds
    assert false <= 0.2 * rounds, "one honest pair in five studies at most"


PATTERNS: dict[str, Callable[[int], NDArray[np.int_]]] = {
    "left, right": lambda n: np.arange(n) % 2,
    "in pairs": lambda n: (np.arange(n) // 2) % 2,
    "every third": lambda n: (np.arange(n) % 3 > 0).astype(int),
    "left": lambda n: np.zeros(n, int),
}


@pytest.mark.parametrize("choices", [24, 40])
def test_choices_by_a_pattern_of_sides_are_found(choices: int) -> None:
    rng = np.random.default_rng(5)
    leaning = 1 / (1 + np.exp(-rng.normal(0.2, 0.4, 195)))
    honest = [(rng.random(choices) > share).astype(int) for share in leaning]
    sides = [*(make(choices) for make in PATTERNS.values()), *honest]
    usual = float(np.mean(np.concatenate(honest) == 0))
    q = benjamini_hochberg([side_pattern([one], usual).p for one in sides])
    found = dict(zip(PATTERNS, q[: len(PATTERNS)] <= _SHARE, strict=True))
    assert found == {"left, right": True, "in pairs": True, "every third": True, "left": choices == 40}
    assert (q[len(PATTERNS) :] <= _SHARE).sum() <= 1


def test_who_made_no_choice_has_no_pattern() -> None:
    assert side_pattern([], 0.5) == (0, 0.0, 0, 1.0)


def test_where_no_two_people_share_enough_comparisons_nobody_is_a_copy() -> None:
    lonely = Ballots(np.arange(3), np.zeros(3, int), np.ones(3, int), np.arange(3), np.ones(3), 3, 2)
    assert len(copies(lonely, 2).shared) == 0
