"""Batches of active pairs: what is in them, what stays even, and what a study cannot ask of them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beholder.errors import UserError
from beholder.methods import find, load_study
from beholder.planning.builder import make_plan
from beholder.planning.digest import plan_digest
from beholder.planning.growth import BatchPlanner
from beholder.planning.message_trials import load_stimuli
from beholder.planning.model import Addition, DealtBatch, PlannedList
from beholder.planning.serialization import later_lists_to_json, lists_from_json, lists_to_json
from beholder.planning.vote_tally import PairVote, VoteTally
from support.active_studies import compared_in, conditions_in, write_active_study

ADDED = Addition("batch", "2026-01-01T00:00:00+00:00", "digest")


class Dealing:
    """A study of which batch after batch is dealt; earlier letters win."""

    def __init__(self, folder: Path, **keys: Any) -> None:
        self.study = load_study(write_active_study(folder, **keys))
        self.method = find(self.study.method)
        self.catalogue = load_stimuli(self.study, self.method)
        self.planner = BatchPlanner(self.study, self.catalogue, self.method)
        self.lists: list[PlannedList] = list(make_plan(self.study, self.catalogue, self.method).lists)
        for planned in self.lists:
            self.planner.take_note(planned)
        by_id = self.catalogue.by_id
        self.tally = VoteTally(self.catalogue.conditions, {name: one.condition for name, one in by_id.items()})

    def vote(self, lists: list[PlannedList]) -> None:
        for pair in conditions_in(lists):
            better, worse = sorted(pair)
            self.tally.add(PairVote(f"{better}/text1", f"{worse}/text1", 1.0))

    def deal(self, number: int, lists: int = 100) -> list[PlannedList]:
        batch = DealtBatch(number, "people", self.tally.votes, self.tally.digest)
        made = self.planner.make(self.tally, batch, lists, ADDED, len(self.lists))
        for planned in made:
            self.planner.take_note(planned)
        self.lists += made
        return made


def test_batch_after_batch_no_pair_comes_twice_and_everything_stays_even(tmp_path: Path) -> None:
    dealing = Dealing(tmp_path, design={"participants": 100, "trials": 8})
    dealing.vote(dealing.lists)
    for number in range(2, 12):
        made = dealing.deal(number)
        assert len(made) == 2, "seven pairs hold eight conditions together; a batch has two lists at least"
        assert len(set(compared_in(made))) == 16
        dealing.vote(made)
    assert [planned.number for planned in dealing.lists] == list(range(1, 23))
    contents = Counter(trial.content for planned in dealing.lists for trial in planned.rated)
    assert set(contents.values()) == {44}
    for planned in dealing.lists:
        shown = [trial.content for trial in planned.rated]
        assert set(Counter(shown).values()) == {2}
        assert all(one != other for one, other in pairwise(shown)), "a content never follows itself"
    first = Counter(trial.slots[0].stimulus.partition("/")[0] for one in dealing.lists for trial in one.rated)
    second = Counter(trial.slots[1].stimulus.partition("/")[0] for one in dealing.lists for trial in one.rated)
    assert all(abs(first[name] - second[name]) <= 8 for name in "abcdefgh")
    met = Counter(conditions_in(dealing.lists))
    near = sum(met[frozenset(pair)] for pair in pairwise("abcdefgh"))
    assert near > 1.3 * 176 * 7 / 28, "neighbours are told apart least easily, and compared most often"


def test_the_same_votes_and_seed_give_the_same_batch_and_others_another(tmp_path: Path) -> None:
    one, same, other = (
        Dealing(tmp_path / name, design={"participants": 9, "seed": seed})
        for name, seed in (("one", 3), ("same", 3), ("other", 4))
    )
    for dealing in (one, same, other):
        dealing.vote(dealing.lists)
    written = [later_lists_to_json(dealing.deal(2)) for dealing in (one, same, other)]
    assert written[0] == written[1] != written[2]
    before = one.tally.digest
    one.vote(one.lists[:1])
    assert one.tally.digest != before
    same.deal(3)
    one.deal(3)
    assert later_lists_to_json(one.lists[-2:]) != later_lists_to_json(same.lists[-2:]), "after other votes"


def test_a_batch_comes_back_from_the_store_as_it_was(tmp_path: Path) -> None:
    dealing = Dealing(tmp_path)
    made = dealing.deal(2)
    plan = make_plan(dealing.study, dealing.catalogue, dealing.method)
    read = list(lists_from_json([*lists_to_json(plan), *later_lists_to_json(made)]))
    assert read[2:] == made
    assert read[2].batch == DealtBatch(2, "people", 0, dealing.tally.digest)
    assert [trial.draw_probability for trial in read[2].rated] == [trial.draw_probability for trial in made[0].rated]


def test_two_are_compared_no_more_often_than_the_cap_says_and_then_nothing_is_dealt(tmp_path: Path) -> None:
    dealing = Dealing(tmp_path, conditions="abcd", design={"trials": 3, "pairs": {"active": {"cap": 3}}})
    number = 2
    while dealing.deal(number):
        number += 1
    met = Counter(conditions_in(dealing.lists))
    assert max(met.values()) == 3
    assert sum(met.values()) == 18, "each of six pairs three times"


def test_the_number_of_participants_does_not_change_the_plan_and_the_options_do(tmp_path: Path) -> None:
    def digest(**design: Any) -> str:
        study = load_study(write_active_study(tmp_path, design=design))
        return plan_digest(study, load_stimuli(study, find(study.method)))

    assert digest() == digest(participants=500)
    assert digest() != digest(pairs={"active": {"uniform": 0.5}})
    assert digest(pairs="all") != digest(pairs="all", participants=500)


@pytest.mark.parametrize("method", ["best-worst", "rank"])
def test_pages_of_several_are_chosen_too(tmp_path: Path, method: str) -> None:
    dealing = Dealing(tmp_path, method=method, design={"per_trial": 3})
    dealing.vote(dealing.lists)
    made = dealing.deal(2)
    assert len(set(compared_in(made))) == len(compared_in(made))
    assert {len(trial.slots) for planned in made for trial in planned.rated} == {3}
    assert all(len({trial.content for trial in planned.rated}) == 4 for planned in made), "each content once"
    assert all(0 < trial.draw_probability < 1 for one in made for trial in one.rated if trial.draw_probability)


@pytest.mark.parametrize("method", ["pair", "ab", "ccr"])
def test_every_method_that_compares_two_is_dealt(tmp_path: Path, method: str) -> None:
    conditions = "ab" if method == "ab" else "abcdef"
    dealing = Dealing(tmp_path, conditions=conditions, method=method, design={"trials": 2})
    dealing.vote(dealing.lists)
    assert dealing.deal(2)


def test_stimuli_that_are_missing_are_in_no_pair(tmp_path: Path) -> None:
    write_active_study(tmp_path)
    for name in ("a", "b", "c"):
        (tmp_path / "stimuli" / name / "text1.txt").unlink()
    study = load_study(tmp_path)
    method = find(study.method)
    catalogue = load_stimuli(study, method)
    planner = BatchPlanner(study, catalogue, method)
    tally = VoteTally(catalogue.conditions, {})
    for number in range(2, 8):
        for planned in planner.make(tally, DealtBatch(number, "people", 0, ""), 9, ADDED, 2):
            planner.take_note(planned)
            assert all(trial.slots[0].stimulus in catalogue.by_id for trial in planned.rated)
            assert {catalogue.by_id[slot.stimulus].content for trial in planned.rated for slot in trial.slots}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "votes": (
        {"design": {"participants": None, "votes": 5}},
        "study.yaml:10  design.votes is 5, and with active pairs the answers decide how often each is compared. "
        "Allowed: participants. Write design.participants in place of votes.",
    ),
    "order": (
        {"design": {"order": "williams"}},
        "study.yaml:13  design.order is williams, a square that is made before anybody answers. Allowed: balanced. "
        "Take it out, or choose other pairs than active.",
    ),
    "between": (
        {"design": {"between": {"who": {"one": {}, "two": {}}}}},
        "study.yaml:13  design.between says what each group gets, which active pairs do not keep to. "
        "Take it out, or choose other pairs than active.",
    ),
    "one at a time": (
        {"method": "acr"},
        "study.yaml:12  design.pairs does not fit acr, which makes its own trials. Allowed: all. Leave it out.",
    ),
    "all on a page": (
        {"method": "rank"},
        "study.yaml:9  design.per_trial is 8, all conditions that there are, and active pairs choose some of them. "
        "Allowed: 2 to 7.",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_active_pairs_cannot_do_is_told_with_its_line(tmp_path: Path, what: str) -> None:
    keys, expected = REFUSED[what]
    if what == "votes":
        path = write_active_study(tmp_path)
        path.write_text(path.read_text("utf-8").replace("participants: 12", "votes: 5"), "utf-8")
    else:
        path = write_active_study(tmp_path, **keys)
    with pytest.raises(UserError) as caught:
        study = load_study(path)
        method = find(study.method)
        make_plan(study, load_stimuli(study, method), method)
    assert [str(problem) for problem in caught.value.problems] == [expected]


def test_a_batch_of_a_hundred_conditions_is_dealt_whole(tmp_path: Path) -> None:
    names = [f"c{number:03}" for number in range(100)]
    dealing = Dealing(tmp_path, conditions=names, contents=1, design={"trials": 20, "contents": "free"})
    rng = np.random.default_rng(0)
    dealing.tally.wins[:] = rng.integers(0, 3, (100, 100)) * ~np.eye(100, dtype=bool)
    made = dealing.deal(2)
    assert [len(planned.rated) for planned in made] == [20] * 5
    assert len({name for pair in conditions_in(made) for name in pair}) == 100, "a tree holds all of them"
