"""Lists for people with stimuli of their own: nobody gets what is another's, and what is common stays as balanced."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.errors import PlanError
from beholder.methods import find, load_study
from beholder.planning import plan_study
from beholder.planning.balance import balance, ratings_range
from beholder.planning.builder import make_plan
from beholder.planning.digest import plan_digest
from beholder.planning.growth import more_lists
from beholder.planning.message_trials import load_stimuli
from beholder.planning.model import Plan, PlannedList
from beholder.planning.own_stimuli import bound_people, describe_bound
from beholder.planning.serialization import lists_from_json, lists_to_json
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from support.bound_studies import bind_contents, bound_catalogue, write_bound
from support.plans import assert_promises, make_catalogue, make_study, with_clips

LAB = {"mode": "lab"}


def in_lab(study: Study, **recruit: Any) -> Study:
    return study.model_copy(update={"recruit": study.recruit.model_copy(update={**LAB, **recruit})})


def stimuli_of(planned: PlannedList) -> set[str]:
    return {slot.stimulus for trial in (*planned.training, *planned.trials) for slot in trial.slots}


def assert_nobody_gets_what_is_anothers(study: Study, catalogue: Catalogue, plan: Plan) -> None:
    people = {person.number: person for person in bound_people(study, catalogue)}
    assert sorted(planned.person for planned in plan.lists if planned.person) == sorted(people)
    for planned in plan.lists:
        person = people.get(planned.person)
        for name in stimuli_of(planned):
            shown = catalogue.by_id[name]
            for one in (shown, catalogue.by_id[shown.derived_from]) if shown.derived_from else (shown,):
                is_theirs = person is not None and one.id in person.relations
                assert not one.relations or "*" in one.relations or is_theirs
        assert planned.relations.keys() <= (person.relations.keys() if person is not None else set())


def own_contents(study: Study, catalogue: Catalogue) -> list[set[str]]:
    """Return the contents of each person with stimuli of their own."""
    return [{catalogue.by_id[name].content for name in one.relations} for one in bound_people(study, catalogue)]


@settings(deadline=None, max_examples=60)
@given(
    method=st.sampled_from(["acr", "parallel", "mushra", "dcr", "pair", "acr-hr"]),
    whose=st.lists(
        st.dictionaries(
            st.sampled_from(["1", "2", "3", "*"]), st.sampled_from(["own", "friend"]), min_size=1, max_size=3
        ),
        max_size=4,
    ),
    own=st.fixed_dictionaries({"place": st.sampled_from(["spread", "first", "last"])}),
    checks=st.booleans(),
    seed=st.integers(0, 3),
)  # fmt: skip
def test_no_plan_ever_gives_a_stimulus_to_somebody_it_is_not_for(
    method: str, whose: list[dict[str, str]], own: dict[str, Any], checks: bool, seed: int
) -> None:
    roles: dict[int, Any] = {} if method in ("acr", "parallel", "pair") else {0: "reference"}
    contents = 6 + len(whose)
    relations = {f"content{6 + n}": names for n, names in enumerate(whose) if set(names) != {"*"}}
    catalogue = bind_contents(make_catalogue(contents, 3, roles=roles), relations)
    study = in_lab(make_study(method, participants=7, trials=4, contents="free", own=own, seed=seed))
    if checks:
        study = study.model_copy(update={"checks": type(study.checks).model_validate({"attention": True})})
        catalogue = with_clips(study, catalogue, find(method))
    if method == "acr-hr" and any(len(group) < 2 for group in own_contents(study, catalogue)):
        assert "to keep a reference from its tests, in the stimuli for" in " ".join(problems(study, catalogue))
        return
    plan = make_plan(study, catalogue, find(method))
    assert_nobody_gets_what_is_anothers(study, catalogue, plan)
    for planned in plan.lists:
        ids = [trial.id for trial in planned.trials]
        assert ids == [f"trial:{n}" for n in range(1, len(ids) + 1)]
    assert tuple(lists_from_json(map(json.loads, map(json.dumps, lists_to_json(plan))))) == plan.lists
    assert make_plan(study, catalogue, find(method)).lists == plan.lists


def test_what_is_common_is_planned_as_if_nothing_were_anybodys() -> None:
    catalogue = bound_catalogue(8, 3, {"content6": {"1": "own"}, "content7": {"2": "own", "1": "colleague"}})
    study = in_lab(make_study("acr", participants=8, trials=6, seed=4))
    plan, plain = make_plan(study, catalogue, find("acr")), make_plan(study, make_catalogue(6, 3), find("acr"))
    assert [planned.number for planned in plan.lists if planned.person] == [7, 8]
    for mine, before in zip(plan.common.lists, plain.lists, strict=True):
        assert [trial.slots for trial in mine.trials] == [trial.slots for trial in before.trials]
    assert_promises(plan, catalogue)
    assert balance(plan, catalogue) == balance(plain, make_catalogue(6, 3))
    assert ratings_range(plan) == ratings_range(plain)
    assert [len(planned.trials) for planned in plan.lists] == [6] * 6 + [12, 9]
    assert describe_bound(plan.lists) == (
        "2 lists are for one person each (7, 8), with 3 to 6 trials of their own stimuli beside those of everybody"
    )


def test_a_study_without_bound_stimuli_has_the_digest_and_the_lists_that_it_had() -> None:
    study, catalogue = make_study("acr", participants=6, trials=4), make_catalogue(5, 2)
    plan = make_plan(study, catalogue, find("acr"))
    assert not any(word in json.dumps(row) for row in lists_to_json(plan) for word in ("person", "relations"))
    other = in_lab(study)
    bound = bind_contents(catalogue, {"content4": {"1": "own"}})
    assert plan_digest(study, catalogue) == plan_digest(other, catalogue)
    assert plan_digest(other, bound) != plan_digest(other, catalogue)
    assert plan_digest(other, bind_contents(catalogue, {"content4": {"2": "own"}})) != plan_digest(other, bound)


@pytest.mark.parametrize(("place", "expected"), [("first", {1, 2}), ("last", {5, 6})])
def test_own_trials_stand_where_the_design_says(place: str, expected: set[int]) -> None:
    catalogue = bound_catalogue(6, 2, {"content5": {"1": "own"}})
    study = in_lab(make_study("acr", participants=4, trials=4, own={"place": place}))
    (planned,) = [one for one in make_plan(study, catalogue, find("acr")).lists if one.person]
    assert {n for n, trial in enumerate(planned.trials, 1) if planned.is_own(trial)} == expected


def test_own_trials_are_spread_evenly_and_as_many_as_the_design_says() -> None:
    catalogue = bound_catalogue(10, 4, {"content9": {"1": "own"}, "content8": {"1": "own"}})
    study = in_lab(make_study("acr", participants=4, trials=8, own={"trials": 4}))
    (planned,) = [one for one in make_plan(study, catalogue, find("acr")).lists if one.person]
    places = [n for n, trial in enumerate(planned.trials) if planned.is_own(trial)]
    assert len(places) == 4
    assert [place // 3 for place in places] == [0, 1, 2, 3]


def test_what_is_somebodys_own_and_everybodys_comes_once_to_that_person() -> None:
    catalogue = bound_catalogue(6, 2, {"content0": {"1": "own", "*": "own"}})
    study = in_lab(make_study("acr", participants=6, trials=4, seed=2))
    plan = make_plan(study, catalogue, find("acr"))
    (planned,) = [one for one in plan.lists if one.person]
    mine = [trial for trial in planned.trials if trial.content == "content0"]
    assert [planned.is_own(trial) for trial in mine] == [True, True]
    assert any(trial.content == "content0" for one in plan.lists if not one.person for trial in one.trials)
    # A list without it was there to be chosen, so that nothing is missing in what is common.
    assert plan.is_whole
    whole = in_lab(make_study("acr", participants=6, trials=6, contents="once", seed=2))
    plan = make_plan(whole, catalogue, find("acr"))
    assert not plan.is_whole
    assert {row.promised for row in balance(plan, catalogue)} == {None}


def test_lists_that_are_added_are_for_everybody() -> None:
    catalogue = bound_catalogue(7, 2, {"content6": {"1": "own"}})
    study = in_lab(make_study("acr", participants=4, trials=4))
    plan = make_plan(study, catalogue, find("acr"))
    added = more_lists(study, catalogue, find("acr"), plan.lists, 5)
    assert [planned.person for planned in added] == [0] * 5
    assert not any("content6" in name for planned in added for name in stimuli_of(planned))


def test_a_group_of_the_list_of_people_is_each_of_its_members(tmp_path: Path) -> None:
    own = {"face-21": "lab=colleague; ann", "face-22": "fred"}
    study = load_study(write_bound(tmp_path, own))
    catalogue = load_stimuli(study, find("acr"))
    people = bound_people(study, catalogue)
    words = {person.name: set(person.relations.values()) for person in people}
    assert words == {"ann": {"own"}, "bob": {"colleague"}, "fred": {"own"}}
    plan = plan_study(study, catalogue=catalogue)
    written = (tmp_path / "plan" / "lists.jsonl").read_text("utf-8") + (tmp_path / "plan" / "plan.json").read_text(
        "utf-8"
    )
    assert not any(name in written for name in ("ann", "bob", "fred"))
    assert not (tmp_path / "plan" / "lists.csv").exists()  # no other study could take it as a given plan
    assert plan.is_bound


def problems(study: Study, catalogue: Catalogue) -> list[str]:
    with pytest.raises(PlanError) as caught:
        make_plan(study, catalogue, find(study.method))
    return [" ".join(str(problem).split()) for problem in caught.value.problems]


def test_what_does_not_fit_is_told_all_at_once(tmp_path: Path) -> None:
    path = write_bound(
        tmp_path, {"face-7": "ann; zoe"}, recruit={}, design={"sessions_per_participant": 2, "trials": 2}
    )
    study = load_study(path)
    catalogue = load_stimuli(study, find("acr"))
    assert problems(study, catalogue) == [
        "study.yaml:19 design.sessions_per_participant is 2, and the column for of the manifest binds stimuli to "
        "people, which are shown in one session. Allowed: 1.",
        "study.yaml:11 recruit.mode is link without a list of people, and the column for of the manifest binds stimuli "
        "to people: nothing would show who comes. Allowed: recruit.mode: link or panel with recruit.people, or lab. "
        "Write recruit: {people: people.csv}, a CSV with their ids in a column id, and send everybody their link.",
    ]


def test_names_without_a_list_are_told(tmp_path: Path) -> None:
    study = load_study(write_bound(tmp_path, {"face-7": "ann; zoe", "face-8": "bop"}))
    assert problems(study, load_stimuli(study, find("acr"))) == [
        "manifest.csv for names zoe, who gets no list: neither an id nor a group in people.csv is called so. "
        "Add a line to people.csv, or put people into a group by its column group.",
        "manifest.csv for names bop, who gets no list: neither an id nor a group in people.csv is called so. Did you "
        "mean bob?",
    ]
    lab = in_lab(make_study("acr", participants=4, trials=4))
    assert problems(lab, bound_catalogue(6, 2, {"content5": {"ann": "own"}})) == [
        "stimuli for names ann, and in a laboratory people are known by their numbers. Allowed: 1 to 4, as many as "
        "design.participants."
    ]


def test_who_has_fewer_stimuli_than_others_gets_all_of_them() -> None:
    catalogue = bound_catalogue(8, 2, {"content6": {"1": "own"}, "content7": {"1": "own", "2": "own"}})
    study = in_lab(make_study("acr", participants=4, trials=4, own={"trials": 3}))
    lists = make_plan(study, catalogue, find("acr")).lists
    assert [sum(map(planned.is_own, planned.trials)) for planned in lists] == [0, 0, 3, 2]


def test_too_few_lists_too_few_stimuli_for_a_page_and_nothing_in_common_are_told() -> None:
    study = in_lab(make_study("parallel", participants=3, trials=2, per_trial=2))
    one = bound_catalogue(6, 2, {"content1": {"1": "own"}})
    one = one.holding([stimulus for stimulus in one.by_cell.values() if stimulus.id != "content1-condition0"])
    assert problems(study, one) == [
        "study.yaml conditions give every page 1 stimulus to rate, and parallel compares at least two, in the stimuli "
        "for 1. Allowed: two or more that are rated. Add one, or use method: acr.",
        "study.yaml design.per_trial is 2, but there is 1 condition to show, in the stimuli for 1.",
    ]
    everything = {f"content{n}": {"1": "own"} for n in range(3)}
    (problem,) = problems(study, bound_catalogue(3, 2, everything))
    assert problem.startswith("stimuli binds every stimulus to people by its column for, and none is for everybody.")
