"""Contrasts on all ratings: against least squares with all columns written out, and by what must hold of any data."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.stats.additive import (
    NO_SHARED_CONTENT,
    ONE_CONTENT_COUNTS,
    ONE_PERSON,
    AdditiveContrasts,
    ContrastEstimates,
    DirectContrasts,
)
from beholder.stats.clustered import Cells, Codes, Floats
from support.simulated_designs import Comparisons, false_findings


def _crossed(people: int, contents: int, conditions: int) -> tuple[Codes, Codes, Codes]:
    participant, content, condition = np.indices((people, contents, conditions)).reshape(3, -1)
    return participant, content, condition


def _incomplete(seed: int = 1) -> tuple[Codes, Codes, Codes, Floats]:
    """Return 12 people, 5 contents and 4 conditions, of which each person rated about half."""
    rng = np.random.default_rng(seed)
    codes = np.array(_crossed(12, 5, 4))[:, rng.random(240) < 0.5]
    return codes[0], codes[1], codes[2], np.asarray(rng.normal(size=codes.shape[1]), np.float64)


def _all_pairs(conditions: int) -> list[tuple[int, int]]:
    return list(combinations(range(conditions), 2))


def _votes(values: Floats, people: int, contents: int) -> ContrastEstimates:
    participant, content = np.indices((people, contents)).reshape(2, -1)
    pages = {(0, 1): Cells(values, participant, content)}
    return DirectContrasts(pages, choice=1.0).estimate({(0, 1): values[np.newaxis]})


def test_differences_are_those_of_least_squares_with_every_column_written_out() -> None:
    participant, content, condition, value = _incomplete()
    columns = np.concatenate([np.eye(12)[participant], np.eye(5)[content], np.eye(4)[condition]], axis=1)
    effect = np.linalg.lstsq(columns, value, rcond=None)[0][-4:]
    result = AdditiveContrasts(participant, content, condition, _all_pairs(4)).estimate(value[np.newaxis])
    expected = [effect[one] - effect[other] for one, other in _all_pairs(4)]
    np.testing.assert_allclose(result.difference[0], expected, atol=1e-12)


def test_with_these_contents_a_complete_pair_is_the_paired_t_over_people() -> None:
    participant, content, condition = _crossed(15, 4, 2)
    rng = np.random.default_rng(3)
    value = rng.normal(size=120) + rng.normal(size=(15, 2))[participant, condition]
    result = AdditiveContrasts(participant, content, condition, [(0, 1)]).estimate(value[np.newaxis])
    own = value.reshape(15, 4, 2).mean(axis=1) @ [1, -1]
    expected = stats.ttest_1samp(own, 0)
    assert result.these.p[0, 0] == pytest.approx(expected.pvalue)
    assert result.these.df[0, 0] == pytest.approx(14)


def test_of_different_people_it_is_the_t_of_two_groups() -> None:
    value = np.random.default_rng(4).normal(size=40)
    condition = np.repeat([0, 1], 20)
    design = AdditiveContrasts(np.arange(40), np.zeros(40, np.intp), condition, [(0, 1)])
    result = design.estimate(value[np.newaxis])
    expected = stats.ttest_ind(value[:20], value[20:], equal_var=False)
    assert result.these.statistic[0, 0] == pytest.approx(expected.statistic)
    assert design.refused == ("",)


def test_other_contents_are_never_more_certain_than_these_and_these_never_more_than_single_pages() -> None:
    rng = np.random.default_rng(5)
    codes = np.array(_crossed(20, 6, 5))[:, rng.random(600) < 0.4]
    values = rng.normal(size=(50, codes.shape[1]))
    result = AdditiveContrasts(codes[0], codes[1], codes[2], _all_pairs(5)).estimate(values)
    assert (result.beyond.se >= result.these.se).all()


def test_nothing_depends_on_numbers_of_people_or_the_place_of_rows() -> None:
    participant, content, condition, value = _incomplete()
    rng = np.random.default_rng(6)
    order, names = rng.permutation(len(value)), rng.permutation(12)
    one = AdditiveContrasts(participant, content, condition, _all_pairs(4)).estimate(value[np.newaxis])
    turned = names[participant][order], content[order], condition[order]
    other = AdditiveContrasts(*turned, _all_pairs(4)).estimate(value[order][np.newaxis])
    np.testing.assert_allclose(one.beyond.p, other.beyond.p, rtol=1e-9)
    np.testing.assert_allclose(one.these.se, other.these.se, rtol=1e-9)


@settings(max_examples=10)
@given(factor=st.floats(0.1, 100), shift=st.floats(-50, 50))
def test_another_unit_of_the_scale_changes_no_p_value(factor: float, shift: float) -> None:
    participant, content, condition, value = _incomplete()
    design = AdditiveContrasts(participant, content, condition, _all_pairs(4))
    result = design.estimate(np.stack([value, shift + factor * value]))
    np.testing.assert_allclose(result.beyond.p[0], result.beyond.p[1], rtol=1e-6)
    np.testing.assert_allclose(result.these.p[0], result.these.p[1], rtol=1e-6)


def test_conditions_without_a_common_content_are_not_tested() -> None:
    participant, content, condition = _crossed(10, 8, 2)
    kept = (content < 4) == (condition == 0)
    design = AdditiveContrasts(participant[kept], content[kept], condition[kept], [(0, 1)])
    result = design.estimate(np.random.default_rng(7).normal(size=(1, int(kept.sum()))))
    assert design.refused == (NO_SHARED_CONTENT,)
    assert np.isnan([result.beyond.p, result.these.p, result.beyond.low]).all()


def test_what_rests_on_one_content_says_nothing_of_others() -> None:
    participant, content, condition = _crossed(10, 4, 2)
    kept = (condition == 1) | (content == 0)
    design = AdditiveContrasts(participant[kept], content[kept], condition[kept], [(0, 1)])
    result = design.estimate(np.random.default_rng(8).normal(size=(1, int(kept.sum()))))
    assert design.refused == (ONE_CONTENT_COUNTS,)
    assert np.isnan(result.beyond.p).all()
    assert np.isfinite(result.these.p).all()


def test_one_person_on_a_side_is_no_test() -> None:
    participant, content, condition = _crossed(6, 3, 2)
    kept = (condition == 0) | (participant == 0)
    design = AdditiveContrasts(participant[kept], content[kept], condition[kept], [(0, 1)])
    assert design.refused == (ONE_PERSON,)


def test_with_one_content_errors_are_over_people() -> None:
    participant, content, condition = _crossed(12, 1, 3)
    values = np.random.default_rng(9).normal(size=(1, 36))
    result = AdditiveContrasts(participant, content, condition, _all_pairs(3)).estimate(values)
    np.testing.assert_array_equal(result.beyond.p, result.these.p)


def test_a_unanimous_vote_is_never_weaker_than_one_with_a_dissenter() -> None:
    everybody = _votes(np.ones(48), 12, 4)
    for place in range(48):
        votes = np.ones(48)
        votes[place] = -1
        dissent = _votes(votes, 12, 4)
        assert everybody.beyond.p[0, 0] < dissent.beyond.p[0, 0] < 0.05
        assert everybody.these.p[0, 0] < dissent.these.p[0, 0]


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=24, max_size=24))
def test_no_votes_are_stronger_evidence_than_all_for_one(votes: list[float]) -> None:
    mixed, everybody = _votes(np.array(votes), 6, 4), _votes(np.ones(24), 6, 4)
    assert everybody.beyond.p[0, 0] <= mixed.beyond.p[0, 0] + 1e-12
    assert everybody.these.p[0, 0] <= mixed.these.p[0, 0] + 1e-12


def test_more_people_who_agree_are_more_evidence_and_an_interval_of_no_width_is_never_told() -> None:
    results = [_votes(np.ones(4 * people), people, 4) for people in range(2, 30)]
    for one in ("beyond", "these"):
        p = [float(getattr(result, one).p[0, 0]) for result in results]
        assert p == sorted(p, reverse=True)
    assert all(result.these.low[0, 0] < result.these.high[0, 0] for result in results)


@pytest.mark.parametrize("people", range(2, 8))
def test_fewer_than_six_people_who_agree_may_each_have_tossed_a_coin(people: int) -> None:
    result = _votes(np.ones(10 * people), people, 10)
    for claim in (result.beyond, result.these):
        assert (claim.p[0, 0] < 0.05) == (claim.low[0, 0] > 0) == (people >= 6)
        assert claim.df[0, 0] < people


def test_few_people_whose_tastes_differ_rarely_find_a_preference_that_is_not_there() -> None:
    for people in (2, 3, 5, 6):
        rates = false_findings(Comparisons(people, 4, 2, 4, people_by_condition=4.0), 400)
        assert rates.family.is_at_most(0.065, whole=False), (people, rates)


# Votes for the winner never raise p, in the forms that hold: of single votes beyond these contents it does not, as they
# can make contents less alike.

TABLES = st.tuples(st.integers(3, 8), st.integers(2, 5)).flatmap(
    lambda size: st.lists(
        st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=size[1], max_size=size[1]),
        min_size=size[0], max_size=size[0],
    )
)  # fmt: skip


@settings(max_examples=60)
@given(TABLES)
def test_one_more_person_who_chooses_the_winner_everywhere_never_raises_p(table: list[list[float]]) -> None:
    votes = np.array(table)
    if votes.mean() < 0:
        votes = -votes
    before = _votes(votes.ravel(), *votes.shape)
    after = _votes(np.append(votes.ravel(), np.ones(votes.shape[1])), len(votes) + 1, votes.shape[1])
    _is_no_weaker(after, before)


SCALES = {
    "acr": lambda felt: np.clip(np.round(3 + felt), 1, 5),
    "mushra": lambda felt: np.clip(80 + 20 * felt, 0, 100),
}


def _scores(scale: str, seed: int, conditions: int) -> Floats:
    """Return scores by person, content and condition, the last condition the best; many are at the end of the scale."""
    rng = np.random.default_rng(seed)
    people, contents = rng.integers(3, 9), rng.integers(2, 6)
    felt = 0.4 * rng.normal(size=(people, 1, 1)) + 0.5 * rng.normal(size=(1, contents, 1))
    felt = felt + rng.choice([0, 0.4]) * rng.normal(size=(1, contents, conditions))
    felt = felt + rng.choice([0.3, 1.0]) * np.linspace(-1, 1, conditions)
    return np.asarray(SCALES[scale](felt + 0.6 * rng.normal(size=(people, contents, conditions))), np.float64)


def _estimated(scores: Floats) -> ContrastEstimates:
    design = AdditiveContrasts(*_crossed(*scores.shape), _all_pairs(scores.shape[2]))
    return design.estimate(scores.reshape(1, -1))


def _is_no_weaker(after: ContrastEstimates, before: ContrastEstimates, pairs: list[int] | None = None) -> None:
    for claim in ("beyond", "these"):
        then, now = (getattr(one, claim).p[0] for one in (before, after))
        is_kept = now <= then * (1 + 1e-9) + 1e-15  # where everybody agrees they are equal but for rounding
        assert (is_kept if pairs is None else is_kept[pairs]).all(), claim


@settings(max_examples=20)
@given(st.sampled_from(list(SCALES)), st.integers(0, 10**6))
def test_higher_scores_of_the_winner_from_everybody_never_raise_p(scale: str, seed: int) -> None:
    scores = _scores(scale, seed, 4)
    best = int(scores.mean(axis=(0, 1)).argmax())
    higher = scores + 0.3 * np.ptp(scores) * (np.arange(4) == best)
    mine = [place for place, pair in enumerate(_all_pairs(4)) if best in pair]
    _is_no_weaker(_estimated(higher), _estimated(scores), mine)


@settings(max_examples=20)
@given(st.sampled_from(list(SCALES)), st.integers(0, 10**6))
def test_one_more_person_who_differs_as_all_do_never_raises_p_of_scores(scale: str, seed: int) -> None:
    scores = _scores(scale, seed, 2)
    before = _estimated(scores)
    everywhere = np.broadcast_to(scores.mean(axis=(0, 1)), (1, *scores.shape[1:]))
    by_stimulus = scores.mean(axis=0, keepdims=True)
    beyond, these = (_estimated(np.concatenate([scores, more])) for more in (everywhere, by_stimulus))
    assert beyond.beyond.p[0, 0] <= before.beyond.p[0, 0] * (1 + 1e-9)
    assert these.these.p[0, 0] <= before.these.p[0, 0] * (1 + 1e-9)


@settings(max_examples=20)
@given(st.sampled_from(list(SCALES)), st.integers(0, 10**6))
def test_no_scores_are_stronger_evidence_than_those_on_which_everybody_agrees(scale: str, seed: int) -> None:
    scores = _scores(scale, seed, 3)
    _is_no_weaker(_estimated(np.broadcast_to(np.array([1.0, 2.0, 4.0]), scores.shape)), _estimated(scores))


def test_of_people_who_all_choose_alike_the_interval_is_the_exact_one() -> None:
    result = _votes(np.ones(8), 8, 1)
    exact = stats.binomtest(8, 8).proportion_ci(method="exact")
    assert result.these.low[0, 0] == pytest.approx(2 * exact.low - 1)


def test_equal_scores_are_no_evidence() -> None:
    participant, content, condition = _crossed(5, 3, 2)
    result = AdditiveContrasts(participant, content, condition, [(0, 1)]).estimate(np.full((1, 30), 3.0))
    assert result.beyond.p[0, 0] == 1.0
    assert result.difference[0, 0] == pytest.approx(0)


def test_very_many_people_and_contents_give_the_same() -> None:
    rng = np.random.default_rng(10)
    size = 3200
    participant = np.tile(np.arange(size), 3)
    content = np.concatenate([np.arange(size), (np.arange(size) + 1) % size, (np.arange(size) + 7) % size])
    condition = rng.permutation(np.tile([0, 1, 2], size))
    effects = rng.normal(size=size)[participant] + rng.normal(size=size)[content] + np.array([0.0, 1.0, 3.0])[condition]
    result = AdditiveContrasts(participant, content, condition, _all_pairs(3)).estimate(effects[np.newaxis])
    np.testing.assert_allclose(result.difference[0], [-1, -3, -2], atol=1e-6)


def test_what_all_see_in_a_stimulus_is_not_taken_for_people_who_rate_few() -> None:
    """Each person rates each content once, under another condition: their effects take a part of what stimuli have."""
    rng = np.random.default_rng(5)
    people, contents, conditions, studies = 80, 4, 4, 1500
    shown = np.concatenate([rng.permutation(conditions) for _ in range(people)])
    participant, content = np.divmod(np.arange(people * contents), contents)
    effects = rng.normal(size=(studies, contents, conditions))
    values = effects[:, content, shown] + rng.normal(size=(studies, len(shown)))
    design = AdditiveContrasts(participant, content, shown, _all_pairs(conditions))
    beyond = design.estimate(values).beyond
    assert 0.03 < (beyond.p < 0.05).mean() < 0.07, "0.10 with what fitting takes from independent values"
    spread = design.estimate(values).difference.std(axis=0)
    assert np.median(beyond.se, axis=0) == pytest.approx(spread, rel=0.12)


def test_how_alike_a_recognised_reference_is_rated_says_nothing_of_the_others() -> None:
    rng = np.random.default_rng(6)
    people, contents, conditions, studies = 20, 4, 4, 1500
    codes = _crossed(people, contents, conditions)
    effects = rng.normal(size=(studies, contents, conditions))
    effects[:, :, 0] = 3.0
    values = effects[:, codes[1], codes[2]] + 0.1 * rng.normal(size=(studies, len(codes[0])))
    pairs = _all_pairs(conditions)
    others = [0 not in pair for pair in pairs]
    apart, drawn_in = (
        AdditiveContrasts(*codes, pairs, frozenset(controls)).estimate(values).beyond.p[:, others]
        for controls in ({0}, set[int]())
    )
    assert 0.035 < (apart < 0.05).mean() < 0.06
    assert (drawn_in < 0.05).mean() > 0.07
