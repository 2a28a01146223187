"""Attention stimuli on pages of several: which conditions they stand in for, where, and with which answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.checks.known_answers import Attention
from beholder.planning.balance import balance, ratings_per_stimulus
from beholder.stimuli.known_answers import EVERY_QUESTION
from beholder.study.model import Study
from support.check_plans import (
    places_of,
    plan_of,
    slots_of,
    spread,
    without_checks,
)
from support.method_studies import make_study
from support.plans import assert_promises


@st.composite
def boards(draw: st.DrawFn) -> Study:
    conditions = [f"k{n}" for n in range(draw(st.integers(3, 8)))]
    always = conditions[: draw(st.integers(0, 1))]
    per_trial = draw(st.integers(len(always) + 2, len(conditions)))
    trials = draw(st.integers(2, 10))
    return make_study(
        "parallel",
        conditions,
        design={
            "participants": draw(st.integers(2, 40)), "trials": trials, "per_trial": per_trial, "always": always,
            "seed": draw(st.integers(0, 10)),
        },
        checks={
            "attention": {
                "per_session": draw(st.integers(1, trials)),
                "protect": conditions[1 : 1 + draw(st.integers(0, 1))],
                "clips": draw(st.sampled_from([1, 40, 200])),
            }
        },
    )  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(boards())
def test_attention_stimuli_stand_in_for_all_conditions_evenly(study: Study) -> None:
    plan, catalogue = plan_of(study)
    before = without_checks(study, catalogue)
    rule = study.checks.of(Attention.Options)
    assert rule is not None
    kept = {*rule.protect, *study.design.always}
    made = {clip.derived_from for clip in catalogue.of_role("attention")}
    pages: Counter[int] = Counter()
    gone: Counter[str] = Counter()
    for planned, plain in zip(plan.lists, before.lists, strict=True):
        assert len(places_of(planned, "attention")) == rule.per_session
        pages.update(places_of(planned, "attention"))
        for trial, old in zip(planned.trials, plain.trials, strict=True):
            changed = [(new, was) for new, was in zip(trial.slots, old.slots, strict=True) if new != was]
            assert len(changed) <= 1
            assert replace(trial, slots=(), targets={}) == replace(old, slots=(), targets={})
            for new, was in changed:
                clip, condition = catalogue.by_id[new.stimulus], catalogue.by_id[was.stimulus].condition
                assert new == was._replace(stimulus=clip.id, role="attention")
                assert condition not in kept
                assert clip.content == trial.content
                assert clip.derived_from == was.stimulus or was.stimulus not in made
                gone[condition] += 1
                (where, target), *others = trial.targets.items()
                assert (where, others) == (f"q1.{new.id}", [])
                assert clip.known_answer is not None
                assert (target.value, target.tolerance) == clip.known_answer.expected[EVERY_QUESTION][:2]
                assert 5 <= target.value <= 95
                assert target.tolerance == 3
    assert spread(pages, study.design.trials or 0) <= 1
    assert +gone == +Counter(plan.replaced)
    assert_promises(plan, catalogue)
    assert plan == plan_of(study)[0]
    (row,) = (row for row in balance(plan, catalogue) if row.count == "conditions replaced by attention")
    assert row.cells == len(catalogue.conditions) - len(kept)
    has_choice = (study.design.per_trial or 0) - len(kept) >= 2
    assert row.promised == (1 if has_choice and sum(gone.values()) >= 2 * row.cells else None)
    assert not any(name.startswith("attention") for name in ratings_per_stimulus(plan))


@pytest.mark.variant
def test_slots_and_numbers_are_uniform_and_a_matter_of_the_seed() -> None:
    from scipy.stats import chisquare

    design = {"participants": 800, "trials": 10}
    checks = {"attention": {"clips": 300}}
    study = make_study("parallel", [f"k{n}" for n in range(8)], design=design, checks=checks)
    plan, _ = plan_of(study)
    placed = slots_of(plan, "attention")
    assert len(placed) == 2400
    slots = Counter(slot.id for _, slot in placed)
    assert chisquare([slots[f"s{n}"] for n in range(1, 9)]).pvalue > 1e-4
    colours = Counter(slot.colour for _, slot in placed)
    assert chisquare(list(colours.values())).pvalue > 1e-4
    values = np.array([trial.targets[f"q1.{slot.id}"].value for trial, slot in placed])
    tenths = np.histogram(values, bins=[5, 18, 31, 44, 57, 70, 83, 96])[0]
    assert tenths.min() > 0.75 * tenths.mean()
    other = make_study("parallel", [f"k{n}" for n in range(8)], design={**design, "seed": 2}, checks=checks)
    assert [slot.id for _, slot in slots_of(plan_of(other)[0], "attention")] != [slot.id for _, slot in placed]


def test_references_and_anchors_are_never_replaced() -> None:
    conditions = [{"name": "o", "role": "reference"}, {"name": "low", "role": "anchor"}, "a", "b", "c"]
    study = make_study("mushra", conditions, design={"participants": 20, "trials": 6}, checks={"attention": True})
    plan, catalogue = plan_of(study)
    assert set(plan.replaced) == {"a", "b", "c"}
    for trial, _ in slots_of(plan, "attention"):
        assert [slot.role for slot in trial.slots].count("hidden_reference") == 1
        assert trial.slots[0].role == "reference"
    assert_promises(plan, catalogue)


def test_pages_with_an_attention_stimulus_do_not_come_again() -> None:
    checks = {"attention": {"per_session": 3}, "repeat": {"per_session": 2}}
    study = make_study("parallel", list("abcd"), design={"participants": 20, "trials": 10}, checks=checks)
    plan, catalogue = plan_of(study)
    assert [trial for trial, _ in slots_of(plan, "attention") if any(s.role == "repeat" for s in trial.slots)] == []
    for planned in plan.lists:
        pages = {frozenset(slot.stimulus for slot in trial.slots) for trial in planned.rated}
        assert all(
            frozenset(s.stimulus for s in planned.trials[n].slots) in pages for n in places_of(planned, "repeat")
        )
    assert_promises(plan, catalogue)
