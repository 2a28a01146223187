"""Extending a plan: what cleaning left short comes again, exactly, and nothing of what is there changes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.methods import find
from beholder.planning.balance import ratings_per_stimulus
from beholder.planning.builder import make_plan
from beholder.planning.growth import earlier_stimuli, earlier_study, more_lists, study_changes, with_units
from beholder.planning.model import Plan
from beholder.planning.replacement_lists import distribute, separate_contents
from beholder.planning.serialization import list_to_json
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from beholder.study.serialization import resolved_yaml
from support.extended_study import World, begin, finish_all
from support.plans import make_catalogue, make_study, with_clips


def written(method: str = "acr", questions: tuple[str, ...] = ("quality",), **keys: Any) -> Study:
    return Study.model_validate(
        {
            "beholder": 1, "name": "tiny", "title": "Tiny", "method": method, "stimuli": "stimuli",
            "questions": [{"id": one, "text": "How good?", "scale": SCALE.get(method, "acr5")} for one in questions],
            **keys,
        }
    )  # fmt: skip


SCALE = {"parallel": "cont100", "pair": "pref2", "mushra": "cont100"}
DESIGNS: dict[str, tuple[Study, Catalogue]] = {
    "stimuli": (written(design={"participants": 12, "trials": 6, "seed": 2}), make_catalogue(6, 4)),
    "stimuli once": (
        written(design={"participants": 10, "trials": 5, "contents": "once", "seed": 2}),
        make_catalogue(6, 3),
    ),
    "pages": (
        written(
            "parallel",
            ("quality", "fit"),
            design={
                "participants": 12, "trials": 4, "per_trial": 3, "contents": "once", "always": ["condition0"],
                "breaks": 2,
            },
        ),
        make_catalogue(6, 5),
    ),
    "pairs": (written("pair", design={"participants": 10, "trials": 8, "seed": 4}), make_catalogue(4, 4)),
    "votes": (written(design={"votes": 5, "trials": 6, "seed": 1}), make_catalogue(5, 4)),
    "references": (
        written("acr-hr", design={"participants": 8, "trials": 8}),
        make_catalogue(4, 4, roles={0: "reference"}),
    ),
}  # fmt: skip


def lose_some(world: World, random: Random, numbers: range, share: float = 0.25) -> None:
    """Let somebody finish each list; every fourth is lost as a whole, and single trials of others."""
    for number in numbers:
        if random.random() < share:
            world.lose(number)
        else:
            world.finish(number, leaves_out=lambda _: random.random() < 0.08)


@pytest.mark.parametrize("design", DESIGNS)
def test_when_the_added_lists_are_finished_everything_has_its_votes(design: str, tmp_path: Path) -> None:
    study, catalogue = DESIGNS[design]
    world, random = begin(study, catalogue, tmp_path), Random(3)
    before = [list_to_json(planned) for planned in world.lists]
    lose_some(world, random, range(1, len(before) + 1))
    short = world.short()
    assert short.wanted, "a quarter of the lists was lost"
    made = world.extend()
    assert [list_to_json(planned) for planned in world.lists[: len(before)]] == before
    assert all(planned.makes_up for planned in world.lists[len(before) :])
    again = world.extend()
    assert (again.repeated, again.recombined) == ([], []), "what is open will bring everything"
    finish_all(world, range(len(before) + 1, len(world.lists) + 1))
    after = world.short()
    assert not after.wanted
    assert after.planned == short.planned, "what makes up is not planned"
    assert world.extend() == again
    added = sum(len(planned.rated) for planned in (*made.repeated, *made.recombined))
    assert added <= sum(len(planned.rated) for planned in world.lists[: len(before)])


@pytest.mark.parametrize("design", ["pages", "votes"])
def test_what_is_lost_again_is_added_again(design: str, tmp_path: Path) -> None:
    study, catalogue = DESIGNS[design]
    world, random, done = begin(study, catalogue, tmp_path), Random(8), 0
    for _ in range(12):
        if done == len(world.lists):
            break
        first, done = done + 1, len(world.lists)
        lose_some(world, random, range(first, done + 1))
        world.extend()
    assert not world.short().wanted


@pytest.mark.parametrize("design", ["stimuli", "pairs"])
def test_single_votes_that_were_lost_come_again_and_nothing_else(design: str, tmp_path: Path) -> None:
    study, catalogue = DESIGNS[design]
    world, random = begin(study, catalogue, tmp_path), Random(5)
    number = len(world.lists)
    for planned in list(world.lists):
        world.finish(planned.number, leaves_out=lambda _: random.random() < 0.2)
    wanted = world.short().wanted
    made = world.extend()
    assert made.repeated == []
    finish_all(world, range(number + 1, len(world.lists) + 1))
    short = world.short()
    assert short.used == short.planned, "nobody rates what has its votes"
    assert sum(len(planned.trials) for planned in made.recombined) == sum(wanted.values())
    assert max(len(planned.trials) for planned in made.recombined) <= len(world.lists[0].trials)


@pytest.mark.parametrize("design", DESIGNS)
def test_nothing_comes_twice_in_a_list_that_was_added(design: str, tmp_path: Path) -> None:
    study, catalogue = DESIGNS[design]
    world, random = begin(study, catalogue, tmp_path), Random(1)
    lose_some(world, random, range(1, len(world.lists) + 1))
    made = world.extend()
    for planned in (*made.repeated, *made.recombined):
        shown = [frozenset(slot.stimulus for slot in trial.slots) for trial in planned.rated]
        if world.maker().in_pairs:
            assert len(set(shown)) == len(shown)
        else:
            assert sum(map(len, shown)) == len(frozenset().union(*shown))
    lengths = [len(planned.trials) for planned in made.recombined]
    assert not lengths or max(lengths) - min(lengths) <= 1


def test_a_list_of_which_nothing_is_used_is_there_again_as_it_was(tmp_path: Path) -> None:
    world = begin(*DESIGNS["pages"], tmp_path)
    finish_all(world, range(1, 13), lost=(3, 7))
    made = world.extend()
    assert made.recombined == []
    assert [planned.entries for planned in made.repeated] == [world.lists[2].entries, world.lists[6].entries]


def test_lists_that_nobody_has_finished_yet_are_not_missing(tmp_path: Path) -> None:
    world = begin(*DESIGNS["stimuli"], tmp_path)
    finish_all(world, range(1, 9), lost=(2,))
    assert world.short().wanted
    made = world.extend()
    assert len(made.repeated) == 1
    assert made.recombined == []


def test_pairs_that_come_again_even_out_which_of_the_two_came_first(tmp_path: Path) -> None:
    study, catalogue = written("pair", design={"participants": 24, "trials": 6, "seed": 4}), make_catalogue(3, 3)
    world, random = begin(study, catalogue, tmp_path), Random(5)
    for planned in list(world.lists):
        world.finish(planned.number, leaves_out=lambda _: random.random() < 0.3)
    used: Counter[tuple[str, ...]] = Counter()
    for one in world.judge().judged:
        for row in one.ratings:
            if row.use:
                used[tuple(slot.stimulus for slot in one.visit.trials[row.position - 1].slots)] += 1
    made = world.extend()
    whole = used + Counter(
        tuple(slot.stimulus for slot in trial.slots) for planned in made.recombined for trial in planned.trials
    )
    spread_before = max(abs(n - used[order[::-1]]) for order, n in used.items())
    assert max(abs(n - whole[order[::-1]]) for order, n in whole.items()) <= 1 < spread_before


def test_checks_are_in_lists_that_were_added_as_in_all_others(tmp_path: Path) -> None:
    rules = {"trap": {"per_session": 1, "clips": 4}, "gold": False}
    study = written(design={"participants": 12, "trials": 6, "seed": 2}, checks=rules)
    catalogue = with_clips(study, make_catalogue(6, 4), find("acr"))
    world, random = begin(study, catalogue, tmp_path), Random(4)
    for planned in list(world.lists):
        world.finish(planned.number, leaves_out=lambda trial: "trap" not in trial.roles and random.random() < 0.06)
    made = world.extend()
    assert made.recombined
    for planned in made.recombined:
        assert sum("trap" in trial.roles for trial in planned.trials) == 1
    finish_all(world, range(13, len(world.lists) + 1))
    assert not world.short().wanted


def test_attention_stimuli_in_place_of_what_is_short_leave_it_short_no_longer(tmp_path: Path) -> None:
    study = written(
        "parallel", design={"participants": 10, "trials": 4, "per_trial": 3, "contents": "once"},
        checks={"attention": {"per_session": 2, "clips": 8}},
    )  # fmt: skip
    catalogue = with_clips(study, make_catalogue(5, 4), find("parallel"))
    world, random = begin(study, catalogue, tmp_path), Random(4)
    for planned in list(world.lists):
        world.finish(planned.number, leaves_out=lambda _: random.random() < 0.1)
    world.extend()
    finish_all(world, range(11, len(world.lists) + 1))
    assert not world.short().wanted


def test_a_page_with_one_place_to_deal_is_not_for_attention_alone(tmp_path: Path) -> None:
    study = written(
        "parallel",
        design={"participants": 12, "trials": 3, "per_trial": 2, "always": ["condition0"], "contents": "once"},
        checks={"attention": {"per_session": 1, "clips": 9}},
    )
    catalogue = with_clips(study, make_catalogue(3, 4), find("parallel"))
    world = begin(study, catalogue, tmp_path)
    lost = next(trial for trial in world.lists[0].trials if trial.roles == {"test"})
    world.finish(1, leaves_out=lambda trial: trial is lost)
    finish_all(world, range(2, 13))
    assert len({cell.stimulus for cell in world.short().wanted}) == 2
    made = world.extend()
    assert len(made.recombined) <= 2
    finish_all(world, range(13, len(world.lists) + 1))
    assert not world.short().wanted


def test_groups_get_back_what_they_lost_themselves(tmp_path: Path) -> None:
    study = written(
        questions=("quality", "fit"), design={
            "participants": 12, "trials": 4, "between": {"asked": {"one": {"questions": ["quality"]},
            "two": {"questions": ["fit"]}}},
        },
    )  # fmt: skip
    world, random = begin(study, make_catalogue(4, 3), tmp_path), Random(2)
    lose_some(world, random, range(1, 13))
    lost = {cell.group for cell in world.short().wanted}
    assert lost == {"asked: one", "asked: two"}
    made = world.extend()
    finish_all(world, range(13, len(world.lists) + 1))
    assert not world.short().wanted
    for planned in (*made.repeated, *made.recombined):
        asked = {one.question for trial in planned.trials for one in trial.asked}
        assert asked == {"one": {"quality"}, "two": {"fit"}}[planned.group["asked"]]


# More participants


@pytest.mark.parametrize("design", ["stimuli", "pages", "references"])
def test_more_participants_get_lists_by_the_same_design(design: str, tmp_path: Path) -> None:
    study, catalogue = DESIGNS[design]
    method = find(study.method)
    plan = make_plan(study, catalogue, method)
    fresh = more_lists(study, catalogue, method, plan.lists, 7)
    assert [planned.number for planned in fresh] == list(range(len(plan.lists) + 1, len(plan.lists) + 8))
    assert {len(planned.trials) for planned in fresh} == {len(plan.lists[0].trials)}
    assert more_lists(study, catalogue, method, plan.lists, 7) == fresh, "the same draw again"
    assert fresh[0].entries != plan.lists[0].entries
    counts = Counter(ratings_per_stimulus(replace(plan, lists=(*plan.lists, *fresh))))
    if design == "stimuli":
        assert max(counts.values()) - min(counts.values()) <= 2


def test_groups_stay_as_large_as_each_other_when_people_are_added() -> None:
    study = make_study(
        participants=5, trials=3, between={"set": {"a": {}, "b": {"conditions": ["condition0", "condition1"]}}}
    )
    catalogue, method = make_catalogue(4, 3), find("acr")
    plan = make_plan(study, catalogue, method)
    assert Counter(planned.group["set"] for planned in plan.lists) == {"a": 3, "b": 2}
    fresh = more_lists(study, catalogue, method, plan.lists, 4)
    assert Counter(planned.group["set"] for planned in (*plan.lists, *fresh)) == {"a": 5, "b": 4}


@pytest.mark.parametrize("more", [1, 2, 3, 6])
def test_groups_stay_as_large_as_each_other_when_people_take_several_sessions(more: int) -> None:
    between = {"told": {"a": {}, "b": {"instructions": "Mind the hands."}}}
    study = make_study(participants=3, trials=2, sessions_per_participant=3, between=between)
    catalogue, method = make_catalogue(5, 3), find("acr")
    plan = make_plan(study, catalogue, method)
    fresh = more_lists(study, catalogue, method, plan.lists, more)
    people = Counter(planned.group["told"] for planned in (*plan.lists, *fresh))
    assert sum(people.values()) == 3 * (3 + more)
    assert max(people.values()) - min(people.values()) <= 3


# Stimuli that were added


def rows_of(catalogue: Catalogue) -> list[dict[str, Any]]:
    return [
        {"stimulus": s.id, "content": s.content, "condition": s.condition, "role": s.role, "sha256": s.sha256}
        for s in catalogue.stimuli
    ]


def test_stimuli_that_were_added_are_found_and_nothing_else() -> None:
    before, study = make_catalogue(3, 2), make_study(participants=4)
    after = make_catalogue(3, 3)
    found = study_changes(study, rows_of(before), study, after)
    assert found.problems == ()
    assert found.stimuli == ("content0-condition2", "content1-condition2", "content2-condition2")
    assert study_changes(study, rows_of(before), study, before).stimuli == ()


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "trials": ({"trials": 3}, "study.yaml  design.trials is not what it was when people came. Undo the change."),
    "seed": ({"seed": 9}, "study.yaml  design.seed is not what it was when people came. Undo the change."),
    "participants": (
        {"participants": 9},
        "study.yaml  design.participants was 4 when people came, and is 9. Write 4 again, and add people with "
        "`beholder extend --participants 5`.",
    ),
    "fewer participants": (
        {"participants": 2},
        "study.yaml  design.participants was 4 when people came, and is 2. Write 4 again.",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_design_that_changed_is_named(change: str) -> None:
    keys, told = CHANGES[change]
    catalogue = make_catalogue(3, 2)
    found = study_changes(
        make_study(participants=4), rows_of(catalogue), make_study(**({"participants": 4} | keys)), catalogue
    )
    assert [str(problem) for problem in found.problems] == [told]


def test_stimuli_that_are_gone_or_changed_are_named() -> None:
    study, before = make_study(participants=4), make_catalogue(3, 2)
    stimuli = list(before.stimuli[1:])
    stimuli[0] = replace(stimuli[0], sha256="other")
    found = study_changes(study, rows_of(before), study, replace(before, stimuli=tuple(stimuli)))
    assert [str(problem) for problem in found.problems] == [
        "stimuli  content0-condition0 is in lists of the plan and no longer there. Put the files back: people have "
        "rated them, or are about to.",
        "stimuli  content0-condition1 is not what it was when people rated it. Put the earlier files back, and give "
        "changed ones a condition of their own.",
    ]


def test_a_study_is_read_from_its_text_in_the_store(tmp_path: Path) -> None:
    study = make_study(participants=4)
    study._folder = tmp_path
    assert earlier_study(resolved_yaml(study), study, find("acr")) == study
    assert earlier_study("method: [", study, find("acr")) is None
    assert earlier_study("what: ever", study, find("acr")) is None


def test_votes_bring_lists_for_stimuli_that_were_added(tmp_path: Path) -> None:
    study = written(design={"votes": 6, "trials": 5, "seed": 1})
    world = begin(study, make_catalogue(4, 2), tmp_path)
    grown_world = World(study, make_catalogue(4, 4), world.method, world.lists, world.tables)
    new = [s.id for s in grown_world.catalogue.by_cell.values() if s.condition in ("condition2", "condition3")]
    fresh = grown_world.maker().lists_for_new(new, 6)
    counts = ratings_per_stimulus(Plan("", 1, tuple(fresh)))
    assert counts == dict.fromkeys(new, 6)
    assert not any(planned.makes_up for planned in fresh)


def test_what_there_was_to_rate_is_known_from_the_store() -> None:
    studies = [
        {"digest": "d1", "plan_digest": "p"},
        {"digest": "d2", "plan_digest": "p"},
        {"digest": "d3", "plan_digest": "q"},
    ]
    stimuli = [
        {"digest": d, "stimulus": s, "role": r}
        for d, s, r in (
            ("d1", "a", "test"),
            ("d2", "a", "test"),
            ("d2", "b", "anchor"),
            ("d2", "t", "trap"),
            ("d3", "c", "test"),
        )
    ]
    assert earlier_stimuli(studies, stimuli, "p") == [frozenset("a"), frozenset("ab")]


def test_nothing_is_promised_of_a_plan_that_was_extended(tmp_path: Path) -> None:
    from beholder.planning.balance import balance
    from beholder.planning.model import Addition

    study, catalogue = DESIGNS["stimuli"]
    plan = make_plan(study, catalogue, find("acr"))
    fresh = [
        replace(one, added=Addition("why", "when", "d"))
        for one in more_lists(study, catalogue, find("acr"), plan.lists, 3)
    ]
    whole = with_units(replace(plan, lists=(*plan.lists, *fresh)), study, catalogue, find("acr"))
    rows = balance(whole, catalogue)
    assert all(row.promised is None for row in rows)
    assert rows[0].count == balance(plan, catalogue)[0].count == "condition totals"


# Spreading


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 5)), st.integers(1, 5), min_size=1),
    st.integers(1, 8),
    st.booleans(),
)
def test_everything_is_spread_as_often_as_it_is_wanted(
    wanted: dict[tuple[int, int], int], most: int, once: bool
) -> None:
    rng = np.random.default_rng(1)
    lists = distribute(wanted, lambda one: str(one[0]), most, rng, once=once)
    assert Counter(one for some in lists for one in some) == wanted
    sizes = [len(some) for some in lists]
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) <= most
    assert all(len(set(some)) == len(some) for some in lists)
    if once:
        assert all(len({one[0] for one in some}) == len(some) for some in lists)
    for some in lists:
        order = separate_contents(some, lambda one: str(one[0]), rng)
        assert Counter(order) == Counter(some)
        most_of_one = max(Counter(one[0] for one in some).values())
        if most_of_one <= (len(some) + 1) // 2:
            assert all(one[0] != two[0] for one, two in pairwise(order))
