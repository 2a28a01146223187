"""The board of an arena finds nothing where nothing differs, however often one looks, and stops early where it does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import special, stats

from beholder.leaderboard.fit import fit
from beholder.leaderboard.ranks import MINIMUM_PEOPLE, normal_z, standings
from beholder.leaderboard.votes import Votes
from beholder.stats.clustered import Floats
from beholder.stats.expected_information import draw_pairs, sampling_of
from beholder.stats.sequential import ALPHA, accumulated, sequence_log_e
from support.arena_votes import Pair, arena, signs, votes_from

EACH = 10
"""Votes of a person."""
Tell = Callable[[str], None]


def at_most(count: int, total: int, rate: float = ALPHA) -> bool:
    """Return whether so many can come of a rate that is not above this one; once in a thousand times it would not."""
    return bool(count <= stats.binom.ppf(0.999, total, rate))


def wins_of(rng: np.random.Generator, arenas: int, difference: float, taste: float) -> Floats:
    """Return how often one person of each arena prefers the first of two."""
    p = special.expit(difference + taste * rng.normal(size=arenas))
    return np.asarray(rng.binomial(EACH, p), np.float64)


def log_e(pair: Pair) -> Floats:
    """Return the evidence against no difference at this look."""
    difference, se, df = pair.look()
    return np.asarray(sequence_log_e(normal_z(difference / se, df), accumulated(se)), np.float64)


def test_many_arenas_at_once_are_looked_at_as_one_is() -> None:
    rng = np.random.default_rng(5)
    votes = arena(rng, [0.0, 0.4], people=60, each=EACH, contents=1, taste=0.5)
    votes = votes._replace(order=np.zeros(votes.size))
    wins = np.bincount(votes.person, votes.sign * np.where(votes.one == 0, 1, -1) > 0)
    pair = Pair(1, EACH)
    for people in range(1, 61):
        pair.add(wins[[people - 1]].astype(float))
        if people >= MINIMUM_PEOPLE and people % 10 == 0:
            stand = standings(fit(votes.of_first(people), start=2), claim="beyond", founders=2)
            assert stand.differences.difference[0, 1] == pytest.approx(pair.look()[0][0], abs=1e-7)
            assert stand.differences.log_e[0, 1] == pytest.approx(log_e(pair)[0], abs=1e-6)


NAMES = ("board", "one look", "independent votes")


@pytest.mark.long
def test_where_nothing_differs_hardly_any_arena_ever_finds_something(whole: bool, tell_rate: Tell) -> None:
    """4,000 arenas of 400 people, a look after each.

    Found at any look where taste varies by 0, 0.5 and 1.0 logits: see docs/arena.md. By intervals of a fixed number of
    people, and by votes taken as independent, far more.
    """
    arenas, people = (4000, 400) if whole else (400, 150)
    for taste in (0.0, 0.5, 1.0):
        rng = np.random.default_rng([7, int(10 * taste)])
        pair = Pair(arenas, EACH)
        found, fixed, naive = np.zeros((3, arenas), bool)
        for _ in range(people):
            pair.add(wins_of(rng, arenas, 0.0, taste))
            if pair.people >= MINIMUM_PEOPLE:
                difference, se, df = pair.look()
                found |= log_e(pair) >= -np.log(ALPHA)
                fixed |= np.abs(difference) > special.stdtrit(df, 1 - ALPHA / 2) * se
                p = pair.wins / (pair.people * EACH)
                naive |= np.abs(difference) > 1.96 / np.sqrt(pair.people * EACH * p * (1 - p))
        rates = ", ".join(f"{name} {each.mean():.4f}" for name, each in zip(NAMES, (found, fixed, naive), strict=True))
        tell_rate(f"{arenas:,} arenas of {people} people ever finding a difference, taste {taste}: {rates}")
        assert found.mean() <= ALPHA, f"taste {taste}: {found.sum()} of {arenas:,} arenas"
        assert fixed.mean() > 3 * ALPHA
        assert naive.sum() >= fixed.sum()


def people_of_fixed_test(difference: float, taste: float) -> int:
    """Return how many people a test at their end needs to find this difference in 80 % of studies, by simulation."""
    rng, arenas = np.random.default_rng(3), 2000
    pair = Pair(arenas, EACH)
    while True:
        pair.add(wins_of(rng, arenas, difference, taste))
        if pair.people >= 5:
            there, se, df = pair.look()
            clear = np.nan_to_num(np.abs(there) / se) > special.stdtrit(df, 1 - ALPHA / 2)
            if clear.mean() >= 0.8:
                return pair.people


@pytest.mark.long
def test_the_sequence_stops_with_no_more_than_1_6_times_the_people_of_a_fixed_test(
    whole: bool, tell_rate: Tell
) -> None:
    """At the median; looks begin with the least number of people. Taste varies by half a logit."""
    arenas = 2000 if whole else 300
    for difference in (0.2, 0.3, 0.5) if whole else (0.3,):
        rng = np.random.default_rng([11, int(10 * difference)])
        pair, stopped = Pair(arenas, EACH), np.full(arenas, np.inf)
        while np.isinf(stopped).mean() > 0.4:
            pair.add(wins_of(rng, arenas, difference, 0.5))
            if pair.people >= MINIMUM_PEOPLE:
                stopped = np.where(np.isinf(stopped) & (log_e(pair) >= -np.log(ALPHA)), pair.people, stopped)
        needed = people_of_fixed_test(difference, 0.5)
        tell_rate(f"people until {difference} logits are found, median: {np.median(stopped):.0f}; fixed test {needed}")
        assert np.median(stopped) <= 1.6 * needed


LOOKS = (20, 25, 30, 40, 50, 65, 80, 100, 125, 150, 200)


def wrong_ever(seed: int, *, taste: float, content_sd: float, contents: int) -> tuple[bool, bool]:
    """Return whether e-BH finds anything, and a set of ranks leaves out a true one, at any look at six equal ones."""
    rng = np.random.default_rng([13, seed])
    votes = arena(
        rng, [0.0] * 6, people=LOOKS[-1], taste=taste, content_sd=content_sd, contents=contents, ties=0.1, position=0.2
    )
    found, missed, near = False, False, None
    for people in LOOKS:
        near = fit(votes.of_first(people), start=6, near=near)
        stand = standings(near, claim="beyond", founders=6)
        found |= bool(stand.differences.is_found.any())
        missed |= bool((stand.ranks.best[stand.is_ranked] > 1).any())
    return found, missed


@pytest.mark.long
def test_pairs_and_sets_of_ranks_hold_beyond_these_people_and_contents(whole: bool, tell_rate: Tell) -> None:
    """Six equal conditions with ties and a position effect: 500 arenas of people who differ, and of contents too.

    In 3, 3 and 3 of them e-BH ever found something, in 0, 0 and 1 a set left out a true rank.
    """
    arenas = 500 if whole else 6
    for taste, content_sd, contents in ((0.5, 0.0, 40), (0.5, 0.4, 20), (1.0, 0.5, 8)):
        some = [wrong_ever(seed, taste=taste, content_sd=content_sd, contents=contents) for seed in range(arenas)]
        found, missed = (sum(one[place] for one in some) for place in (0, 1))
        tell_rate(f"{arenas} arenas of six, {taste=} {content_sd=}: {found} ever found a pair, {missed} missed a rank")
        assert at_most(found, arenas), f"{found} of {arenas} found something"
        assert at_most(missed, arenas), f"{missed} of {arenas} left out a true rank"


SESSIONS = (40, 60, 80, 120, 160, 200)


def dealt_arena(seed: int, *, new: float) -> tuple[Votes, list[int]]:
    """Return votes on six equal conditions whose pairs are active, and how many there were at each look.

    A session is that of somebody new with this probability, else of one who came before, some far more often than
    others: so what people compare hangs on what they themselves voted earlier. Tastes vary by a logit.
    """
    rng, size = np.random.default_rng([19, seed]), 6
    allowed, wins = ~np.eye(size, dtype=bool), np.zeros((size, size))
    felt, activity = np.zeros((0, size)), np.zeros(0)
    rows: list[tuple[int, int, int, float]] = []
    pool: list[tuple[int, ...]] = []
    for session in range(SESSIONS[-1]):
        if session < MINIMUM_PEOPLE or rng.random() < new:
            person = len(felt)
            felt = np.vstack([felt, rng.normal(size=size)])
            activity = np.append(activity, np.exp(rng.normal()))
        else:
            person = int(rng.choice(len(felt), p=activity / activity.sum()))
        if not pool:
            drawn = draw_pairs(sampling_of(wins, allowed, 0.2), 2 * EACH, rng)
            pool = [drawn[place].conditions for place in rng.permutation(len(drawn))]
        for one, other in pool[:EACH]:
            sign = signs(rng, felt[person, [one]] - felt[person, [other]])[0]
            wins[(one, other) if sign > 0 else (other, one)] += 1
            rows.append((person, one, other, sign))
        pool = pool[EACH:]
    people, first, second = (np.array([row[place] for row in rows], np.intp) for place in range(3))
    given, order = np.array([row[3] for row in rows]), rng.choice([-1.0, 1.0], len(rows))
    votes = votes_from(size, first, second, order, given, people, rng.integers(0, 30, len(rows)))
    return votes, [EACH * sessions for sessions in SESSIONS]


@pytest.mark.long
def test_pairs_that_hang_on_what_people_voted_before_find_nothing_either(whole: bool, tell_rate: Tell) -> None:
    arenas = 300 if whole else 2
    for new in (0.15, 1.0):
        found = missed = 0
        for seed in range(arenas):
            votes, looks = dealt_arena(seed, new=new)
            stands = [standings(fit(votes.rows(np.arange(look)), start=6), claim="these", founders=6) for look in looks]
            found += any(stand.differences.is_found.any() for stand in stands)
            missed += any((stand.ranks.best[stand.is_ranked] > 1).any() for stand in stands)
        tell_rate(f"{arenas} arenas of active pairs, {new=}: {found} ever found a pair, {missed} missed a rank")
        assert at_most(found, arenas), f"{found} of {arenas} found something"
        assert at_most(missed, arenas), f"{missed} of {arenas} left out a true rank"


@pytest.mark.long
def test_a_strong_condition_that_joins_moves_the_others_within_their_intervals(whole: bool, tell_rate: Tell) -> None:
    """Five conditions, and one that is 1.5 logits better from the middle on: the others' intervals at every look."""
    arenas, quality = 300 if whole else 12, np.array([0.4, 0.2, 0.0, -0.2, -0.4, 1.5])
    missed = np.zeros((arenas, 5), bool)
    moved, joiner = np.zeros(arenas), np.zeros(arenas, bool)
    for seed in range(arenas):
        rng = np.random.default_rng([17, seed])
        votes = arena(rng, quality.tolist(), people=200, taste=0.0, joins=(0, 0, 0, 0, 0, 100))
        before: Floats | None = None
        for people in (40, 70, 100, 125, 150, 200):
            stand = standings(fit(votes.of_first(people), start=5), claim="these", founders=5)
            truth = quality - quality[:5].mean()
            known = ~np.isnan(stand.low)
            inside = (stand.low <= truth) & (truth <= stand.high)
            missed[seed] |= (~inside & known)[:5]
            joiner[seed] |= bool(known[5] and not inside[5])
            if people == 100:
                before = stand.fit.strength[:5]
        assert before is not None
        moved[seed] = np.abs(stand.fit.strength[:5] - before).mean()
    rates = f"{missed.mean():.4f} of the others', {joiner.mean():.4f} of the joiner's"
    tell_rate(f"{arenas} arenas with a join: intervals that ever miss: {rates}; mean move {moved.mean():.3f} logits")
    assert at_most(int(missed.sum()), missed.size)
    assert at_most(int(joiner.sum()), arenas)
    assert moved.mean() < 0.15
