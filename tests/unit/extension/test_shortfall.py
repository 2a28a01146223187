"""Extending a plan: what cleaning left short comes again, exactly, and nothing of what is there changes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from beholder.methods import find
from beholder.planning.balance import ratings_per_stimulus
from beholder.planning.model import Plan
from beholder.planning.serialization import list_to_json
from support.extended_study import World, begin, finish_all
from support.extension_cases import DESIGNS, extension_study
from support.plans import make_catalogue, with_clips


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
    study, catalogue = (
        extension_study("pair", design={"participants": 24, "trials": 6, "seed": 4}),
        make_catalogue(3, 3),
    )
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
    study = extension_study(design={"participants": 12, "trials": 6, "seed": 2}, checks=rules)
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
    study = extension_study(
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
    study = extension_study(
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
    study = extension_study(
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


# Stimuli that were added


def test_votes_bring_lists_for_stimuli_that_were_added(tmp_path: Path) -> None:
    study = extension_study(design={"votes": 6, "trials": 5, "seed": 1})
    world = begin(study, make_catalogue(4, 2), tmp_path)
    grown_world = World(study, make_catalogue(4, 4), world.method, world.lists, world.tables)
    new = [s.id for s in grown_world.catalogue.by_cell.values() if s.condition in ("condition2", "condition3")]
    fresh = grown_world.maker().lists_for_new(new, 6)
    counts = ratings_per_stimulus(Plan("", 1, tuple(fresh)))
    assert counts == dict.fromkeys(new, 6)
    assert not any(planned.makes_up for planned in fresh)


# Spreading
