"""Looks at data that are still coming: boundaries, corrected levels and p-values, and how often they are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from beholder.stats.sequential import (
    LookCorrection,
    anytime_look,
    conditional_power,
    fixed_look,
    planned_look,
    spending_levels,
    spent,
)

SCHEDULES = {
    "two": (50, 100),
    "three": (20, 40, 60),
    "five": (20, 40, 60, 80, 100),
    "ten": tuple(range(10, 101, 10)),
    "uneven": (8, 10, 60, 61, 100),
    "late": (90, 95, 100),
}


@pytest.mark.parametrize(
    ("fractions", "bounds"),
    [
        # ldbounds and gsDesign, two-sided 5 %, spending function of O'Brien and Fleming
        ((0.2, 0.4, 0.6, 0.8, 1.0), (4.8769, 3.3569, 2.6803, 2.2898, 2.0310)),
        ((1 / 3, 2 / 3, 1.0), (3.7103, 2.5114, 1.9930)),
        ((0.5, 1.0), (2.9626, 1.9686)),
    ],
)
def test_boundaries_are_those_of_programs_for_trials(fractions: tuple[float, ...], bounds: tuple[float, ...]) -> None:
    assert -special.ndtri(spending_levels(fractions) / 2) == pytest.approx(bounds, abs=2e-4)


def test_all_of_the_error_rate_is_spent_at_the_end() -> None:
    assert spent(0.05, 1.0) == pytest.approx(0.05)
    # gsDesign: sfLDOF(0.025, 0.5) and sfLDOF(0.005, 0.5), on both sides
    assert spent([0.05, 0.01], 0.5) == pytest.approx([0.003051, 0.000144], abs=1e-6)
    assert spent(0.05, 0.0) == pytest.approx(0.0)


def test_one_look_at_the_end_changes_nothing() -> None:
    look = planned_look(60, [60])
    assert (look.level, look.is_last, look.number, look.looks) == (0.95, True, 1, 1)
    assert look.p([0.3, 0.001]).tolist() == [0.3, 0.001]


def test_looks_are_counted_and_those_that_were_not_planned_cost_something() -> None:
    look = planned_look(40, [20, 40, 60])
    assert (look.number, look.looks, look.is_last, look.participants, look.planned) == (2, 3, False, 40, 60)
    between = planned_look(60, [20, 40, 60], taken=[20, 30, 40, 50])
    assert (between.number, between.looks, between.is_last) == (5, 5, True)
    assert between.level > planned_look(60, [20, 40, 60]).level > 0.95


@pytest.mark.parametrize(
    ("participants", "number", "is_last"), [(12, 1, False), (19, 1, False), (24, 1, False), (45, 2, False),
                                            (57, 3, True), (60, 3, True), (63, 3, True)],
)  # fmt: skip
def test_a_look_may_have_a_few_people_more_or_fewer_than_planned(participants: int, number: int, is_last: bool) -> None:
    look = planned_look(participants, [20, 40, 60])
    assert (look.number, look.is_last) == (number, is_last)
    assert look.shares[-1] == min(1.0, participants / 60)


def test_looks_at_fewer_people_than_planned_are_those_of_the_plan() -> None:
    """Where cleaning leaves out every fourth, and where somebody looked once more."""
    plan = (20, 40, 60)
    fewer = [planned_look(15, plan, []), planned_look(30, plan, [15]), planned_look(45, plan, [15, 30], is_over=True)]
    assert [(one.number, one.looks, one.is_last) for one in fewer] == [(1, 3, False), (2, 3, False), (3, 3, True)]
    more = [planned_look(n, plan, [m for m in (12, 20, 40) if m < n]) for n in (12, 20, 40, 60)]
    assert [(one.number, one.looks) for one in more] == [(1, 3), (2, 3), (3, 4), (4, 4)]
    assert [one.is_last for one in more] == [False, False, False, True]


def test_what_is_left_is_spent_where_fewer_came_than_planned() -> None:
    """Fewer came for reasons that nobody saw in the results: the last look has all that is left."""
    planned, fewer = planned_look(60, [20, 40, 60]), planned_look(45, [20, 40, 60], taken=[15, 30], is_over=True)
    assert (fewer.number, fewer.looks, fewer.is_last) == (3, 3, True)
    assert fewer.shares == pytest.approx((1 / 3, 2 / 3, 1.0))
    assert fewer.spent_at == pytest.approx((0.25, 0.5, 1.0))
    assert 0.95 < fewer.level < planned.level
    assert planned_look(45, [20, 40, 60], taken=[15, 30]).level > planned.level
    assert planned_look(45, [60], is_over=True).level == 0.95
    levels = spending_levels(fewer.shares, spent_at=fewer.spent_at)
    assert spending_levels((0.25, 0.5, 1.0))[:1] == pytest.approx(levels[:1])


def test_intervals_at_two_people_of_thousands_have_ends() -> None:
    assert planned_look(2, [5000, 10_000]).level < 1
    assert anytime_look(2, 1_000_000).level < 1


@given(
    st.lists(st.integers(2, 200), min_size=1, max_size=5, unique=True).map(sorted),
    st.integers(2, 220),
    st.floats(1e-9, 1, exclude_min=True),
    st.sampled_from(["planned", "anytime", "fixed"]),
)
@settings(max_examples=15, deadline=None)
def test_an_interval_leaves_out_zero_where_p_is_below_five_percent(
    looks: list[int], participants: int, p: float, kind: str
) -> None:
    look = {
        "planned": lambda: planned_look(participants, looks),
        "anytime": lambda: anytime_look(participants, looks[-1]),
        "fixed": lambda: fixed_look(participants),
    }[kind]()
    assert look.level >= 0.95 - 1e-12
    if abs(p - (1 - look.level)) > 1e-9:
        assert (float(look.p(p)) < 0.05) == (p < 1 - look.level)
    assert float(look.p(p)) >= p
    smaller, larger = look.p([p / 2, p])
    assert smaller <= larger


def test_without_a_p_there_is_no_corrected_one() -> None:
    for look in (planned_look(20, [20, 40]), anytime_look(20, 40), fixed_look(20)):
        assert np.isnan(look.p(np.nan))
        assert look.citation


def test_the_sequence_has_the_published_width() -> None:
    """Waudby-Smith et al. (2024), equation for the half width with variance one, at a fifth of the error rate."""
    n, n_opt, alpha = 50, 100, 0.01
    a = -2 * np.log(alpha)
    rho2 = (a + np.log(a + 1)) / n_opt
    half = np.sqrt((n * rho2 + 1) / (n**2 * rho2) * np.log((n * rho2 + 1) / alpha**2))
    z = -special.ndtri((1 - anytime_look(n, n_opt).level) / 2)
    assert z / np.sqrt(n) == pytest.approx(half)


def test_the_test_at_the_planned_number_and_all_looks_around_it_share_one_error_rate() -> None:
    look = fixed_look(40)
    assert look.level == pytest.approx(0.96)
    assert look.p([0.01, 0.04, 0.9]).tolist() == pytest.approx([0.0125, 0.05, 1.0])
    assert look.note == (
        " Results were looked at before without a plan: 20 % of the error rate are for that, and intervals are those "
        "of 96 %."
    )


def false_findings(looks: tuple[int, ...], corrections: list[LookCorrection], studies: int, shared: float) -> float:
    """Return how often any look finds a difference that is not there; contents may share an error over all looks."""
    rng = np.random.default_rng(len(looks))
    own = rng.standard_t(5, (studies, looks[-1])) / np.sqrt(5 / 3)
    total, squares = own.cumsum(axis=1), (own**2).cumsum(axis=1)
    stays = np.sqrt(shared) * rng.normal(size=studies)
    found = np.zeros(studies, bool)
    for n, look in zip(looks, corrections, strict=True):
        mean = total[:, n - 1] / n
        variance = (squares[:, n - 1] - n * mean**2) / (n - 1)
        t = (mean + stays) / np.sqrt(variance / n + shared)
        found |= 2 * stats.t.sf(np.abs(t), n - 1) < 1 - look.level
    return float(found.mean())


@pytest.mark.long
@pytest.mark.parametrize("shared", [0.0, 0.02])
@pytest.mark.parametrize("name", SCHEDULES)
def test_planned_looks_find_too_much_in_at_most_five_percent_of_studies(name: str, shared: float, whole: bool) -> None:
    looks, studies = SCHEDULES[name], 40_000 if whole else 4_000
    rate = false_findings(looks, [planned_look(n, looks) for n in looks], studies, shared)
    assert rate <= 0.055, f"{100 * rate:.2f} % of {studies:,} studies"


@pytest.mark.long
def test_fewer_people_than_planned_do_not_find_more_by_chance(whole: bool) -> None:
    looks, studies = (15, 30, 45), 40_000 if whole else 4_000
    corrections = [planned_look(n, (20, 40, 60), looks[:at], is_over=n == 45) for at, n in enumerate(looks)]
    rate = false_findings(looks, corrections, studies, 0.0)
    assert 0.03 < rate <= 0.055, f"{100 * rate:.2f} % of {studies:,} studies"


@pytest.mark.long
def test_a_look_after_every_person_finds_too_much_in_at_most_five_percent(whole: bool) -> None:
    looks, studies = tuple(range(5, 201)), 10_000 if whole else 1_000
    rate = false_findings(looks, [anytime_look(n, 100) for n in looks], studies, 0.0)
    assert rate <= 0.055, f"{100 * rate:.2f} % of {studies:,} studies"
    both = [fixed_look(n) if n == 100 else anytime_look(n, 100) for n in looks]
    rate = false_findings(looks, both, studies, 0.0)
    assert rate <= 0.055, f"with the test at the planned number {100 * rate:.2f} % of {studies:,} studies"


def test_conditional_power_is_the_share_of_studies_that_find_it_in_the_end() -> None:
    rng = np.random.default_rng(1)
    now, share, shared = 1.5, 0.4, 0.3
    more = now + np.sqrt((1 - shared) * share / (1 - share)) * rng.normal(size=200_000)
    final, error = share * now + (1 - share) * more, np.sqrt(shared + (1 - shared) * share)
    assert float(conditional_power(now, 1.0, share, shared=shared)) == pytest.approx(
        np.mean(final > 1.96 * error), abs=0.005
    )


def test_conditional_power_is_certain_where_nothing_can_change() -> None:
    assert conditional_power([3.0, 1.0], 1.0, 1.0).tolist() == [1.0, 0.0]
    assert float(conditional_power(1.9, 1.0, 0.5, shared=1.0)) == 0.0
    assert float(conditional_power(0.1, 1.0, 0.5)) < 0.02
