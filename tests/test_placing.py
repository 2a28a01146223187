"""What the rules of a study put into its lists: where, how evenly, and with which answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.checks.rules import trust_checks
from beholder.checks.trust import Seen, TrialCheck
from beholder.checks.verdict import Verdict
from beholder.errors import PlanError
from beholder.methods import find
from beholder.methods.contract import Break, Slot, Trial
from beholder.plan.counting.balance import balance, ratings_per_stimulus
from beholder.plan.digest import plan_digest
from beholder.plan.make import make_plan
from beholder.plan.model import CHECKING, Plan, PlannedList, is_check
from beholder.plan.placing.statements import bank_of
from beholder.plan.written import list_from_json, list_to_json
from beholder.serve.public import public_step
from beholder.serve.script import make_script
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.lesson import EVERY, Expectation, Lesson
from beholder.study.checks import TrapItem
from beholder.study.model import Study
from beholder.types import Role
from planning import assert_promises, with_clips
from rating import catalogue_of, make_study

ASKING: tuple[Role, ...] = ("attention", "trap")
CONTENTS = tuple(f"content{n:02}" for n in range(14))
REFERENCE = [{"name": "o", "role": "reference"}, "a", "b", "c"]
SURVEY = [{"id": f"item{n}", "text": f"Statement {n}."} for n in range(6)]


def plan_of(study: Study, catalogue: Catalogue | None = None) -> tuple[Plan, Catalogue]:
    method = find(study.method)
    whole = with_clips(study, catalogue or catalogue_of(study, contents=CONTENTS), method)
    return make_plan(study, whole, method), whole


def without_checks(study: Study, catalogue: Catalogue) -> Plan:
    """Return the plan of a study that checks nothing."""
    off = study.model_copy(
        update={"checks": study.checks.model_copy(update=dict.fromkeys(study.checks.model_dump(), False))}
    )
    return make_plan(off, catalogue, find(study.method))


def slots_of(plan: Plan, role: Role) -> list[tuple[Trial, Slot]]:
    return [
        (trial, slot) for planned in plan.lists for trial in planned.trials for slot in trial.slots if slot.role == role
    ]


def places_of(planned: PlannedList, role: Role) -> list[int]:
    """Return the positions of the trials of a role, from 0."""
    return [n for n, trial in enumerate(planned.trials) if any(slot.role == role for slot in trial.slots)]


def gaps_of(planned: PlannedList, role: Role) -> list[int]:
    """Return behind how many rated trials the trials of a role stand."""
    rated = [not is_check(trial) for trial in planned.trials]
    return [sum(rated[:place]) for place in places_of(planned, role)]


def spread(counts: Mapping[Any, int], cells: int) -> int:
    """Return by how much the most frequent is ahead of the rarest of so many."""
    values = [*counts.values(), *[0] * (cells - len(counts))]
    return max(values) - min(values)


def verdict(study: Study, name: str, trial: Trial, answer: Any) -> Verdict | None:
    """Return what a rule says of an answer."""
    method = find(study.method)
    read = method.read(trial, answer)
    (rule,) = (rule for rule in trust_checks(study) if rule.name == name)
    assert isinstance(rule, TrialCheck)
    return rule.judge_trial(Seen(trial.id, trial, read, method.judgements(trial, read)), ())


def problems(study: Study, catalogue: Catalogue | None = None) -> list[str]:
    try:
        plan_of(study, catalogue)
    except PlanError as error:
        return [str(problem).partition("  ")[2] for problem in error.problems]
    return []


# Attention stimuli among others


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
    rule = study.checks.attention
    assert not isinstance(rule, bool)
    kept = {*rule.protect, *study.design.always}
    made = {clip.made_of for clip in catalogue.of_role("attention")}
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
                assert clip.made_of == was.stimulus or was.stimulus not in made
                gone[condition] += 1
                (where, target), *others = trial.targets.items()
                assert (where, others) == (f"q1.{new.id}", [])
                assert clip.lesson is not None
                assert (target.value, target.tolerance) == clip.lesson.expected[EVERY][:2]
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


def test_slots_and_numbers_are_uniform_and_a_matter_of_the_seed() -> None:
    from scipy.stats import chisquare

    design = {"participants": 800, "trials": 10}
    checks = {"attention": {"clips": 300}}
    study = make_study("parallel", [f"k{n}" for n in range(8)], design=design, checks=checks)
    plan, _ = plan_of(study)
    found = slots_of(plan, "attention")
    assert len(found) == 2400
    slots = Counter(slot.id for _, slot in found)
    assert chisquare([slots[f"s{n}"] for n in range(1, 9)]).pvalue > 1e-4
    colours = Counter(slot.colour for _, slot in found)
    assert chisquare(list(colours.values())).pvalue > 1e-4
    values = np.array([trial.targets[f"q1.{slot.id}"].value for trial, slot in found])
    tenths = np.histogram(values, bins=[5, 18, 31, 44, 57, 70, 83, 96])[0]
    assert tenths.min() > 0.75 * tenths.mean()
    other = make_study("parallel", [f"k{n}" for n in range(8)], design={**design, "seed": 2}, checks=checks)
    assert [slot.id for _, slot in slots_of(plan_of(other)[0], "attention")] != [slot.id for _, slot in found]


def test_references_and_anchors_are_never_replaced() -> None:
    conditions = [{"name": "o", "role": "reference"}, {"name": "low", "role": "anchor"}, "a", "b", "c"]
    study = make_study("mushra", conditions, design={"participants": 20, "trials": 6}, checks={"attention": True})
    plan, catalogue = plan_of(study)
    assert set(plan.replaced) == {"a", "b", "c"}
    for trial, _ in slots_of(plan, "attention"):
        assert [slot.role for slot in trial.slots].count("hidden_reference") == 1
        assert trial.slots[0].role == "reference"
    assert_promises(plan, catalogue)


# Trials of their own


METHODS: dict[str, dict[str, Any]] = {
    "acr": {"conditions": list("abcd")},
    "acr-hr": {"conditions": REFERENCE},
    "dcr": {"conditions": REFERENCE},
    "ccr": {"conditions": REFERENCE},
    "pair": {"conditions": list("abc")},
    "ab": {"conditions": list("ab")},
    "likert": {"conditions": list("abcd"), "questions": SURVEY},
}


def inserted(method: str, **keys: Any) -> Study:
    checks = {"attention": {"per_session": 1}, "trap": {"per_session": 2}, "repeat": {"per_session": 1}}
    design = {"participants": 40, "trials": 8, "breaks": 4, "seed": 5}
    return make_study(method, **{"design": design, "checks": checks, **METHODS[method], **keys})


@pytest.mark.parametrize("method", METHODS)
def test_trials_that_check_are_strewn_between_the_others(method: str) -> None:
    study = inserted(method)
    plan, catalogue = plan_of(study)
    before = without_checks(study, catalogue)
    gaps: dict[Role, Counter[int]] = {"attention": Counter(), "trap": Counter(), "repeat": Counter()}
    used: Counter[str] = Counter()
    again = 0
    for planned, plain in zip(plan.lists, before.lists, strict=True):
        trials = planned.trials
        assert [trial.id for trial in trials] == [f"trial:{n}" for n in range(1, 13)]
        assert [entry.id for entry in planned.entries if isinstance(entry, Break)] == ["break:1", "break:2"]
        rated = [replace(trial, id="") for trial in planned.rated]
        assert rated == [replace(trial, id="") for trial in plain.trials]
        checks = [is_check(trial) for trial in trials]
        assert not checks[0]
        assert not checks[-1]
        assert not any(one and two for one, two in pairwise(checks))
        shown = [slot.stimulus for trial in planned.rated for slot in trial.slots]
        assert [len(places_of(planned, role)) for role in gaps] == [1, 2, 1]
        for role, counts in gaps.items():
            counts.update(gaps_of(planned, role))
        for role in ASKING:
            for place in places_of(planned, role):
                trial = trials[place]
                (clip,) = (slot for slot in trial.slots if slot.stimulus.startswith(role))
                used[clip.stimulus] += 1
                assert catalogue.by_id[clip.stimulus].content == trial.content
                assert trial.content not in (trials[place - 1].content, trials[place + 1].content)
                assert {slot.role for slot in trial.slots if slot.rated} == {role}
                assert {where.partition(".")[0] for where in trial.targets} == {asked.id for asked in trial.asked}
                assert all(target.is_trap for target in trial.targets.values())
                again += catalogue.by_id[clip.stimulus].made_of in shown
    for role, counts in gaps.items():
        places = range(4, 8) if role == "repeat" else range(1, 8)
        assert set(counts) <= set(places)
        assert spread(counts, len(places)) <= 2
    assert again <= 0.1 * 3 * len(plan.lists)
    for role in ASKING:
        assert spread({name: n for name, n in used.items() if name.startswith(role)}, 1) <= 2
    assert_promises(plan, catalogue)
    assert balance(plan, catalogue) == balance(before, catalogue)
    assert plan == plan_of(study)[0]
    assert [list_from_json(list_to_json(planned)) for planned in plan.lists] == list(plan.lists)


@pytest.mark.parametrize("method", METHODS)
def test_who_does_what_is_asked_passes_and_nobody_else(method: str) -> None:
    study = inserted(method)
    plan, _ = plan_of(study)
    seen = set()
    for trial, slot in slots_of(plan, "trap")[:24]:
        if not slot.stimulus.startswith("trap"):
            continue
        answers = every_answer(study, trial)
        right = [
            answer for answer in answers if (said := verdict(study, "trap", trial, answer)) and said.verdict == "pass"
        ]
        assert len(right) == 1
        (answer,) = right
        (target,) = {(target.value, target.tolerance) for target in trial.targets.values()}
        if "scores" in answer:
            assert all(values == {slot.id: target[0]} for values in answer["scores"].values())
        elif study.method == "ccr":
            # What is asked for is a word of the scale, which is about the second one.
            choice = answer["choices"]["q1"]
            raw = 0 if choice["better"] == "tie" else choice["grade"] * (1 if choice["better"] == "s2" else -1)
            assert raw == target[0]
        else:
            assert answer["choices"]["q1"]["better"] == slot.id
        seen.add(slot.id)
    assert seen == ({"s1", "s2"} if method in ("ccr", "pair", "ab") else {"s2"} if method == "dcr" else {"s1"})


def every_answer(study: Study, trial: Trial) -> list[Any]:
    """Return the answers to a page that give one value everywhere."""
    scale = trial.asked[0].scale
    values = [scale.min + scale.step * n for n in range(round((scale.max - scale.min) / scale.step) + 1)]
    rated = [slot.id for slot in trial.slots if slot.rated]
    if len(rated) == 1:
        return [{"scores": {asked.id: {rated[0]: value} for asked in trial.asked}} for value in values]
    choices: list[Any] = []
    for value in values:
        one: dict[str, Any] = {"better": "tie"} if not value else {"better": rated[value > 0]}
        if value and scale.max > 1:
            one["grade"] = abs(value)
        choices.append({"choices": {"q1": one}})
    return choices


def test_a_trial_comes_again_later_with_another_place_and_role() -> None:
    study = inserted("acr", checks={"repeat": {"per_session": 4}})
    plan, _ = plan_of(study)
    gaps: Counter[int] = Counter()
    for planned in plan.lists:
        for place in places_of(planned, "repeat"):
            trial = planned.trials[place]
            (first,) = (n for n, one in enumerate(planned.trials)
                        if n != place and one.slots[0].stimulus == trial.slots[0].stimulus)  # fmt: skip
            assert place - first >= 4
            assert replace(planned.trials[first], id=trial.id) == replace(
                trial, slots=tuple(slot._replace(role="test") for slot in trial.slots)
            )
        gaps.update(gaps_of(planned, "repeat"))
    assert gaps == {n: len(plan.lists) for n in range(4, 8)}


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


def test_what_a_preset_wants_is_left_out_where_it_does_not_fit() -> None:
    full = make_study("acr", list("abcd"), preset="p910", training=False)
    plan, _ = plan_of(full)
    # Two trials have one place between them, and there is no gold.
    assert [len(planned.trials) for planned in plan.lists] == [3] * 6
    assert len(slots_of(plan, "trap")) == 6
    for study in (
        make_study("parallel", list("abcd"), preset="p910", training=False),
        make_study("abx", list("ab"), preset="p910", training=False, options={"mode": "identify"}),
        make_study("abx", REFERENCE[:3], preset="hemvip", options={"mode": "closest"}),
    ):
        plan, catalogue = plan_of(study)
        assert not catalogue.of_role("trap")
        assert not any(
            slot.role in CHECKING for planned in plan.lists for trial in planned.trials for slot in trial.slots
        )


def test_a_plan_changes_with_what_is_placed_and_not_with_what_follows_from_it() -> None:
    def digest(**trap: Any) -> str:
        study = make_study("acr", checks={"trap": trap})
        return plan_digest(study, with_clips(study, catalogue_of(study), find("acr")))

    assert digest() == digest(max_failed=1, action="record", end_after=2, reject_after=1, retries=3)
    assert len({digest(), digest(per_session=2), digest(tolerance=1), digest(words="Choose {label}.")}) == 4
    plain = make_study("acr")
    silent = make_study("acr", checks={"variance": {"min": 0.3}, "speed": True})
    assert plan_digest(plain, catalogue_of(plain)) == plan_digest(silent, catalogue_of(plain))


# Gold


def gold(name: str, line: int, expected: float | Mapping[str, float], near: float | None = None) -> tuple[str, Lesson]:
    of = expected if isinstance(expected, Mapping) else {EVERY: expected}
    return name, Lesson(f"list.csv:{line}", "", line, {question: Expectation(v, near) for question, v in of.items()})


def with_lessons(catalogue: Catalogue, role: Role, *found: tuple[str, Lesson]) -> Catalogue:
    """Return a catalogue with stimuli of a role, each named `condition/content`."""
    more = []
    for name, lesson in found:
        condition, _, content = name.partition("/")
        like = catalogue.stimuli[0]
        more.append(replace(like, id=f"{role}:{name}", content=content, condition=condition, role=role, lesson=lesson))
    return replace(catalogue, stimuli=(*catalogue.stimuli, *more))


def test_gold_comes_between_the_others_with_its_answer() -> None:
    study = make_study(
        "acr", list("abcd"), questions=[{"id": "quality", "text": "?"}, {"id": "fit", "text": "?", "scale": "acr9"}],
        design={"participants": 30, "trials": 6}, checks={"gold": {"per_session": 2}},
    )  # fmt: skip
    catalogue = with_lessons(
        catalogue_of(study, contents=CONTENTS), "gold",
        gold("best/x", 9, 5), gold("worst/y", 10, {"quality": 1, "fit": 2}, 0), gold("fine/z", 11, {"fit": 8}),
    )  # fmt: skip
    plan, _ = plan_of(study, catalogue)
    used: Counter[str] = Counter()
    for planned in plan.lists:
        places = places_of(planned, "gold")
        assert len(places) == 2
        assert 0 < min(places) < max(places) < len(planned.trials) - 1
        names = [planned.trials[place].slots[0].stimulus for place in places]
        assert len(set(names)) == 2
        used.update(names)
    assert spread(used, 3) <= 2
    targets = {
        slot.stimulus: {where: one[:4] for where, one in t.targets.items()} for t, slot in slots_of(plan, "gold")
    }
    assert targets == {
        "gold:best/x": {"q1.s1": (5, 1, "", False), "q2.s1": (5, 2, "", False)},
        "gold:worst/y": {"q1.s1": (1, 0, "", False), "q2.s1": (2, 0, "", False)},
        "gold:fine/z": {"q2.s1": (8, 2, "", False)},
    }
    assert_promises(plan, catalogue)
    assert not any(name.startswith("gold") for name in ratings_per_stimulus(plan))
    near = make_study("acr", list("abcd"), checks={"gold": {"tolerance": 2}})
    plan, _ = plan_of(near, with_lessons(catalogue_of(near), "gold", gold("best/x", 9, 5)))
    assert {target.tolerance for trial, _ in slots_of(plan, "gold") for target in trial.targets.values()} == {2}


def test_a_page_of_sliders_holds_all_gold_stimuli_of_a_content() -> None:
    study = make_study("parallel", list("abc"), checks={"gold": True, "attention": {"per_session": 1}})
    catalogue = with_lessons(catalogue_of(study), "gold", gold("best/x", 9, 100), gold("worst/x", 10, 0))
    plan, _ = plan_of(study, catalogue)
    for planned in plan.lists:
        (place,) = places_of(planned, "gold")
        trial = planned.trials[place]
        at = {slot.stimulus: trial.targets[f"q1.{slot.id}"][:2] for slot in trial.slots}
        assert at == {"gold:best/x": (100, 25), "gold:worst/x": (0, 25)}
        assert {slot.role for slot in trial.slots} == {"gold"}
    assert_promises(plan, catalogue)


@pytest.mark.parametrize(("method", "value"), [("ccr", -3), ("pair", -1), ("dcr", 1)])
def test_gold_is_held_against_what_stands_beside_it(method: str, value: float) -> None:
    study = make_study(method, REFERENCE, design={"participants": 20, "trials": 2}, checks={"gold": True})
    catalogue = with_lessons(catalogue_of(study), "gold", gold("bad/one", 9, value))
    plan, _ = plan_of(study, catalogue)
    places = set()
    for trial, slot in slots_of(plan, "gold"):
        if slot.stimulus != "gold:bad/one":
            continue
        assert {one.stimulus for one in trial.slots} == {"gold:bad/one", "o/one"}
        assert list(trial.targets) == [f"q1.{slot.id}"]
        places.add(slot.id)
        said = [verdict(study, "gold", trial, answer) for answer in every_answer(study, trial)]
        right = [n for n, one in enumerate(said) if one is not None and one.verdict == "pass"]
        # Worst, or next to it, from wherever it stands.
        worst = [0, 1] if method != "pair" else [0]
        count = len(said) - 1
        assert right == (worst if method == "dcr" or slot.id == "s2" else sorted(count - n for n in worst))
    assert places == ({"s2"} if method == "dcr" else {"s1", "s2"})


# Statements of a survey


def survey(statements: int = 6, **checks: Any) -> Study:
    questions = [*SURVEY[:statements], {"id": "flaws", "text": "Which?", "ticks": ["one", "two"]}]
    design = {"participants": 24, "trials": 8, "seed": 2}
    return make_study("likert", list("abcd"), questions=questions, design=design, checks=checks)


def test_obvious_statements_stand_anywhere_on_a_page_and_are_half_true() -> None:
    study = survey(trap_item={"per_trial": 2})
    plan, _ = plan_of(study)
    bank = {one.name: one for one in bank_of(TrapItem(), "en")}
    assert len(bank) >= 16
    assert {one.is_true for one in bank.values()} == {True, False}
    places: Counter[int] = Counter()
    for planned in plan.lists:
        told = []
        for trial in planned.trials:
            assert [asked.id for asked in trial.asked] == [f"q{n}" for n in range(1, 10)]
            obvious = [asked for asked in trial.asked if asked.purpose == "trap"]
            assert len(obvious) == 2
            for asked in obvious:
                one = bank[asked.question]
                told.append(one)
                places[trial.asked.index(asked)] += 1
                assert (asked.text, asked.keyed, asked.ticks) == (one.text, "+", ())
                assert asked.scale == trial_scale(trial)
                assert trial.targets[f"{asked.id}.s1"][:4] == (5 if one.is_true else 1, 1, "", True)
            assert len(trial.targets) == 2
        first = told[: len(bank)]
        assert len(set(first)) == len(first) == 16
        assert sum(one.is_true for one in told) == 8
    assert set(places) == set(range(9))
    assert max(places.values()) < 2 * min(places.values())


def trial_scale(trial: Trial) -> Any:
    return next(asked.scale for asked in trial.asked if asked.question == "item0")


def test_a_study_has_a_bank_of_its_own() -> None:
    items = [{"text": "Two and two are four.", "agree": True}, {"text": "I am a fish.", "agree": False}]
    plan, _ = plan_of(survey(3, trap_item={"items": items}))
    for planned in plan.lists:
        told = [asked.text for trial in planned.trials for asked in trial.asked if asked.purpose == "trap"]
        assert all(set(told[n : n + 2]) == {"Two and two are four.", "I am a fish."} for n in range(0, 8, 2))
    study = survey(3, trap_item={"items": items})
    trial = plan.lists[0].trials[0]
    (asked,) = (asked for asked in trial.asked if asked.purpose == "trap")
    for value in range(1, 6):
        answer = {"scores": {one.id: {"s1": value} for one in trial.asked if not one.ticks}, "ticks": {
            one.id: {"s1": []} for one in trial.asked if one.ticks}}  # fmt: skip
        said = verdict(study, "trap_item", trial, answer)
        side = np.sign(value - 3) * (1 if asked.text == "Two and two are four." else -1)
        assert said is not None
        assert said.verdict == {1: "pass", 0: "unknown", -1: "fail"}[int(side)]


def test_a_statement_comes_again_some_places_later() -> None:
    plan, _ = plan_of(survey(trap_item=True, repeat={"items_per_trial": 2}))
    for planned in plan.lists:
        for trial in planned.trials:
            assert [asked.id for asked in trial.asked] == [f"q{n}" for n in range(1, 11)]
            again = [(n, asked) for n, asked in enumerate(trial.asked) if asked.purpose == "repeat"]
            assert len({asked.question for _, asked in again}) == 2
            for place, asked in again:
                ((first, original),) = (
                    (n, one) for n, one in enumerate(trial.asked) if asked.question == f"repeat:{one.question}"
                )
                assert place - first >= 4
                assert original.purpose == "ask"
                assert not original.ticks
                assert asked[3:] == original[3:]


def test_a_page_that_asks_for_one_answer_everywhere_has_the_same_statements() -> None:
    study = survey(trap={"per_session": 1}, trap_item=True, repeat={"items_per_trial": 1})
    plan, _ = plan_of(study)
    for trial, _ in slots_of(plan, "trap"):
        assert Counter(asked.purpose for asked in trial.asked) == {"ask": 7, "trap": 1, "repeat": 1}
        scaled = {f"{asked.id}.s1" for asked in trial.asked if asked.purpose == "ask" and not asked.ticks}
        assert set(trial.targets) == scaled
        (value,) = {target.value for target in trial.targets.values()}
        answer = {"scores": {one.id: {"s1": value} for one in trial.asked if not one.ticks}, "ticks": {
            one.id: {"s1": []} for one in trial.asked if one.ticks}}  # fmt: skip
        said = verdict(study, "trap", trial, answer)
        assert said is not None
        assert said.verdict == "pass"
        assert verdict(study, "trap_item", trial, answer) is None


def test_a_question_at_a_time_can_ask_as_well() -> None:
    questions = [*SURVEY[:2], {"id": "grade", "text": "?", "scale": "acr5"}, {"id": "t", "text": "?", "ticks": ["x"]}]
    study = make_study("likert", list("abcd"), questions=questions, options={"layout": "random"}, checks={"trap": True})
    plan, _ = plan_of(study)
    asked = Counter(trial.asked[0].question for trial, _ in slots_of(plan, "trap"))
    # Its words are on one scale, so it asks where that is.
    assert set(asked) <= {"item0", "item1"}
    assert all(len(trial.targets) == 1 for trial, _ in slots_of(plan, "trap"))


# What cannot be


@pytest.mark.parametrize(
    ("method", "keys", "told"),
    [
        (
            "parallel",
            {"checks": {"trap": True}},
            "checks.trap does not fit parallel, whose pages hold several stimuli. Use checks.attention.",
        ),
        (
            "abx",
            {"options": {"mode": "identify"}, "checks": {"attention": True, "trap": True}},
            [
                "checks.attention does not fit abx: none of its answers can be asked for.",
                "checks.trap does not fit abx: none of its answers can be asked for.",
            ],
        ),
        (
            "parallel",
            {"checks": {"attention": {"per_session": 3}}},
            "checks.attention.per_session is 3, and a list has 2 pages, with one on each at most. Allowed: 1 to 2.",
        ),
        (
            "parallel",
            {"checks": {"attention": {"per_session": 1, "protect": ["aa"]}}},
            "checks.attention.protect.0 is aa, which is no condition. Allowed: a, b. Did you mean a?",
        ),
        (
            "parallel",
            {"checks": {"attention": {"per_session": 1, "protect": ["a", "b"]}}},
            "checks.attention has no stimulus that could ask: every condition is protected. "
            "Leave one out of checks.attention.protect or design.always.",
        ),
        (
            "acr",
            {"checks": {"trap": {"words": "Please look here."}}},
            "checks.trap.words do not say which answer to give, so that nobody could know it. "
            "Allowed: words with {value} or {label} in them.",
        ),
        (
            "acr",
            {"checks": {"trap": {"tolerance": 1}}},
            "checks.trap.tolerance is 1, on a scale of 4: half of all answers would do. Allowed: below 1.",
        ),
        (
            "acr",
            {"checks": {"trap": {"per_session": 2}}},
            "checks.trap.per_session is 2, and a list of 2 trials has 1 place between them. Allowed: 1.",
        ),
        (
            "acr",
            {"checks": {"attention": {"per_session": 1}, "trap": {"per_session": 1}}},
            "checks.trap.per_session is 1, and a list of 2 trials has 1 place between them, 1 for attention. "
            "Make design.trials larger, or take it out.",
        ),
        (
            "acr",
            {"checks": {"repeat": True}, "design": {"participants": 6, "trials": 6}},
            "checks.repeat.per_session is 3, and a list of 6 trials has 5 places between them, "
            "and each comes again 4 or more trials later. Allowed: 1 to 2.",
        ),
        (
            "acr",
            {"checks": {"gold": True}},
            "checks.gold is written, and no stimuli have the role gold. Give stimuli the role gold and an expected "
            "answer in a manifest, list files in checks.gold.items, or write checks: {gold: false}.",
        ),
        (
            "acr",
            {"checks": {"trap_item": True}},
            "checks.trap_item does not fit pages with 1 statement on a scale of categories. Allowed: 3 or more.",
        ),
        (
            "parallel",
            {"checks": {"trap_item": True}},
            "checks.trap_item does not fit pages with 0 statements on a scale of categories. Allowed: 3 or more.",
        ),
        (
            "likert",
            {
                "questions": SURVEY[:3],
                "checks": {"trap_item": {"per_trial": 2, "items": [{"text": "I am a fish.", "agree": False}]}},
            },
            "checks.trap_item.per_trial is 2, and the bank has 1 statement. Allowed: 1.",
        ),
        (
            "likert",
            {"questions": SURVEY[:4], "checks": {"repeat": {"items_per_trial": 1}}},
            "checks.repeat.items_per_trial is 1, and a page has 4 statements on a scale of categories. "
            "Allowed: pages with 5 or more.",
        ),
    ],
)  # fmt: skip
def test_what_is_written_and_cannot_be_kept_is_told(method: str, keys: dict[str, Any], told: str | list[str]) -> None:
    assert problems(make_study(method, **keys)) == ([told] if isinstance(told, str) else told)


@pytest.mark.parametrize(
    ("method", "role", "found", "told"),
    [
        (
            "acr", "gold", [gold("best/x", 9, 7)],
            "expected is 7, which is not on the scale of quality. Allowed: 1 to 5 in steps of 1.",
        ),
        (
            "acr", "gold", [gold("best/x", 9, {"qualty": 5})],
            "expected_qualty is about qualty, which is not asked. Allowed: quality. Did you mean quality?",
        ),
        (
            "pair", "gold", [gold("best/x", 9, 1)],
            "has nothing to be shown with: pair needs another stimulus of content x. "
            "Add one with role gold and the same content, or the reference of that content.",
        ),
        (
            "abx", "gold", [gold("best/one", 9, 1), gold("worst/one", 10, 1)],
            "expected is 1, and abx gives no score to a single stimulus. Leave it out: any answer is right.",
        ),
        (
            "acr", "trap", [gold("trap/x", 9, 0)],
            "expected is 0, which is not on the scale of quality. Allowed: 1 to 5 in steps of 1.",
        ),
        (
            "pair", "trap", [gold("trap/x", 9, 1)],
            "has nothing to be shown with: pair needs another stimulus of content x. "
            "Add one with role trap and the same content, or the reference of that content.",
        ),
        (
            "parallel", "attention", [gold("attention/ones", 9, 30)],
            "is of content ones, and no page has that content. Allowed: one, three, two. Did you mean one?",
        ),
        (
            "parallel", "attention", [gold("attention/one", 9, 130)],
            "expected is 130, which is not on the scale of quality. Allowed: 0 to 100 in steps of 1.",
        ),
    ],
)  # fmt: skip
def test_a_stimulus_whose_answer_cannot_be_given_is_told(
    method: str, role: Role, found: Sequence[tuple[str, Lesson]], told: str
) -> None:
    options = {"options": {"mode": "identify"}} if method == "abx" else {}
    study = make_study(method, checks={role: {"per_session": 1}}, **options)
    assert problems(study, with_lessons(catalogue_of(study), role, *found))[0] == told


def test_a_researchers_own_stimuli_ask_and_none_are_made() -> None:
    study = make_study("acr", list("ab"), checks={"trap": {"per_session": 1}})
    own = with_lessons(catalogue_of(study), "trap", gold("trap/x", 9, 2), gold("trap/one", 10, 4, 1))
    plan, catalogue = plan_of(study, own)
    assert catalogue == own
    assert {(slot.stimulus, trial.targets["q1.s1"]) for trial, slot in slots_of(plan, "trap")} == {
        ("trap:trap/x", (2, 0, "", True, ())), ("trap:trap/one", (4, 1, "", True, ())),
    }  # fmt: skip
    board = make_study("parallel", list("ab"), checks={"attention": {"per_session": 1}})
    clips = [gold(f"attention/{content}", 9, 40) for content in ("one", "two", "three")]
    plan, _ = plan_of(board, with_lessons(catalogue_of(board), "attention", *clips))
    assert {target for trial, _ in slots_of(plan, "attention") for target in trial.targets.values()} == {
        (40, 3, "", True, ())
    }


# What the browser gets


@pytest.mark.parametrize("method", ["parallel", *METHODS])
def test_the_page_of_a_check_is_like_any_other_to_the_browser(method: str) -> None:
    checks = {"attention": {"per_session": 2}, "gold": True, **({} if method == "parallel" else {"trap": True})}
    keys = METHODS.get(method, {"conditions": list("abcd")})
    if method == "likert":
        checks |= {"trap_item": True, "repeat": {"items_per_trial": 1}}
    study = make_study(method, **{**keys, "design": {"participants": 8, "trials": 8}, "checks": checks})
    value = {"parallel": 100, "ccr": -1, "pair": -1, "ab": -1}.get(method, 1)
    found = [gold("k1/content00", 9, value), gold("k2/content00", 10, -value if value < 0 else value)]
    whole = with_lessons(catalogue_of(study, contents=CONTENTS), "gold", *found)
    plan, catalogue = plan_of(study, whole)
    shapes: dict[Any, set[bool]] = {}
    for planned in plan.lists:
        script = make_script(study, planned.entries)
        for step in script.steps:
            if step.trial is not None and step.key.startswith("trial:"):
                shown = public_step(step, script, {}, find(method), study.playback, lambda key, slot: {"url": "u"})
                assert "target" not in str(shown)
                assert not any(f"{role}:" in str(shown) for role in CHECKING)
                page: Any = shown["trial"]
                # A page of gold sliders holds what is known, which may be fewer.
                slots = {str(sorted(slot)) for slot in page["slots"]}
                asked = [sorted(one) for one in page["asked"]]
                shape = (*sorted(shown), *sorted(page), *slots, str(asked), str(sorted(page["extra"])))
                shapes.setdefault(shape, set()).add(any(slot.role in CHECKING for slot in step.trial.slots))
    assert list(shapes.values()) == [{True, False}]
    assert catalogue.of_role("attention")
