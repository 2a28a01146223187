"""Votes counted for dealing: pairs, ties, pages of several, and what is no comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from beholder.methods import find
from beholder.planning.vote_tally import PairVote, VoteTally, comparisons_in
from support.method_studies import make_catalogue, make_study


def votes(method: str, answer: Any, **keys: Any) -> list[PairVote]:
    study = make_study(method, conditions=["a", "b", "c"], **keys)
    catalogue, own = make_catalogue(("a", "b", "c")), find(method)
    unit = own.units(study, catalogue).items[0]
    trial = own.compose(study, unit, catalogue, np.random.default_rng(0))
    (question,) = (one.id for one in own.questions(study))
    given = sorted(comparisons_in(own, trial, answer, question))
    assert list(comparisons_in(own, trial, answer, "another")) == []
    condition = {name: one.condition for name, one in catalogue.by_id.items()}
    return [PairVote(condition[vote.stimulus], condition[vote.other], vote.share) for vote in given]


def test_a_choice_is_one_comparison_and_a_tie_half_of_it() -> None:
    better = [{"choices": {"q1": {"better": slot}}} for slot in ("s1", "s2", "tie")]
    one, two, tie = (votes("pair", answer, options={"tie": True}) for answer in better)
    assert {one[0].share, two[0].share} == {0.0, 1.0}
    assert tie[0].share == 0.5
    assert {one[0].stimulus, one[0].other} == {"a", "b"}


def test_an_order_is_every_two_of_it_and_best_and_worst_leave_the_middle_open() -> None:
    order = votes("rank", {"choices": {"q1": {"order": [["s3"], ["s1"], ["s2"]]}}})
    assert [(vote.stimulus, vote.other, vote.share) for vote in order] == [
        ("a", "b", 1.0), ("a", "c", 0.0), ("b", "c", 0.0)
    ]  # fmt: skip
    marked = votes("best-worst", {"choices": {"q1": {"best": "s3", "worst": "s2"}}})
    assert marked == order, "of three, the middle one is known"


def test_what_would_not_play_is_no_comparison() -> None:
    assert votes("rank", {"choices": {}, "missing": {"s1": "media_error"}}) == []


def test_wins_are_counted_by_condition_and_named_by_their_hash() -> None:
    tally = VoteTally(("a", "b", "c"), {"a1": "a", "a2": "a", "b1": "b"})
    empty = tally.digest
    tally.add(PairVote("a1", "b1", 1.0))
    tally.add(PairVote("b1", "a2", 0.5))
    tally.add(PairVote("a1", "gone", 1.0))
    tally.add(PairVote("a1", "a2", 1.0))
    assert tally.votes == 2
    assert tally.wins == pytest.approx(np.array([[0, 1.5, 0], [0.5, 0, 0], [0, 0, 0]]))
    assert tally.digest != empty
    assert VoteTally(("a", "b", "d"), {}).digest != empty, "other conditions are another hash"
