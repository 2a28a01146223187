"""People with stimuli of their own: who they are, which lists are theirs, and their trials among those of everybody."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random import Generator

from beholder.errors import PlanError, Problem, did_you_mean
from beholder.formats import first_names, plain_count, plural
from beholder.methods.contract import Break, Trial
from beholder.planning.model import PlannedList
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.relations import EVERYBODY
from beholder.study.checks import Checks
from beholder.study.csv_files import read_table
from beholder.study.model import Study

GROUP = "group"
"""The column of the list of people that puts them into groups."""
MOST_OWN = 1000
"""Trials of somebody's own stimuli at most, where the design does not say how many."""
_STREAM = 40
"""Random stream of where such trials stand."""


@dataclass(frozen=True)
class BoundPerson:
    """Somebody with stimuli of their own."""

    number: int
    """From 1, in the order of the list of people: lists name nobody."""
    name: str
    """Their id in the list of people, or the number of their seat."""
    relations: Mapping[str, str]
    """What each stimulus that is for them is to them, by its id."""


def bound_people(study: Study, catalogue: Catalogue) -> tuple[BoundPerson, ...]:
    """Return everybody with stimuli of their own, or raise PlanError; nobody where all stimuli are for everybody."""
    if not catalogue.is_bound:
        return ()
    problems = list(_problems(study, catalogue))
    groups = _people(study, problems) if not problems else {}
    if not problems:
        problems += _unknown_names(study, catalogue, groups)
    if problems:
        raise PlanError(problems)
    people: list[BoundPerson] = []
    for name, memberships in groups.items():
        called = (name, *memberships)  # what is said of somebody by name goes before what is said of a group
        relations = {
            stimulus.id: stimulus.relations[next(one for one in called if one in stimulus.relations)]
            for stimulus in catalogue.by_cell.values()
            if any(one in stimulus.relations for one in called)
        }
        if relations:
            people.append(BoundPerson(len(people) + 1, name, relations))
    return tuple(people)


def own_parts(study: Study, catalogue: Catalogue) -> list[Any]:
    """Return whom stimuli are for, as JSON, for the digest of a plan; empty where all are for everybody."""
    try:
        return [[person.name, sorted(person.relations.items())] for person in bound_people(study, catalogue)]
    except PlanError:
        return [[stimulus.id, sorted(stimulus.relations.items())] for stimulus in catalogue.stimuli]


# Who may be named


def _problems(study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield why stimuli cannot be for some people in this study."""
    design, recruit = study.design, study.recruit
    why = "and the column for of the manifest binds stimuli to people"
    if design.between:
        fix = "Take one of the two out: groups are for whoever comes."
        yield study.problem("design.between", f"splits people by chance, {why}", "", fix)
    if design.plan is not None:
        yield study.problem("design.plan", f"is {design.plan}, {why}", "", "Take it out: their trials are planned.")
    if design.active is not None:
        yield study.problem(
            "design.pairs", f"is active, {why}, and lists are dealt to whoever comes", "", "Take it out."
        )
    if design.sessions_per_participant > 1:
        what = f"is {design.sessions_per_participant}, {why}, which are shown in one session"
        yield study.problem("design.sessions_per_participant", what, "1")
    if any(stimulus.role == "mismatched" for stimulus in catalogue.stimuli):
        what = f"is {study.method}, which gives a stimulus the companion of another one, {why}"
        yield study.problem("method", what, "another method", "Somebody would meet what is another's.")
    if not catalogue.common.by_cell:
        what = "binds every stimulus to people by its column for, and none is for everybody"
        fix = "Leave for empty for some contents, or write * behind the names: conditions are compared by these."
        yield Problem(study.stimuli.manifest or "stimuli", what, "", fix)
    if not recruit.source.is_on_site and recruit.people is None:
        what = f"is {recruit.mode} without a list of people, {why}: nothing would show who comes"
        allowed = "recruit.mode: link or panel with recruit.people, or lab"
        fix = "Write recruit: {people: people.csv}, a CSV with their ids in a column id, and send everybody their link."
        yield study.problem("recruit.mode", what, allowed, fix)


def _people(study: Study, problems: list[Problem]) -> dict[str, tuple[str, ...]]:
    """Return everybody who may come by name, with their groups; of a laboratory, the participant numbers."""
    name = study.recruit.people
    if name is None:
        return {str(number): () for number in range(1, study.design.participants + 1)}
    sheet = read_table(study.folder, name, ["id"], problems)
    heads = [head.lower() for head in sheet.heads] if sheet is not None else []
    if sheet is None or "id" not in heads:
        if sheet is not None:
            fix = "Write id above the column by which you know people."
            problems.append(Problem(f"{name}:1", "has no column id", "one column id, and any others", fix))
        return {}
    people: dict[str, tuple[str, ...]] = {}
    for _, cells in sheet.rows:
        row = dict(zip(heads, cells, strict=False))
        if row.get("id"):
            groups = (one.strip() for one in row.get(GROUP, "").split(";"))
            people.setdefault(row["id"], tuple(one for one in groups if one))
    return people


def _unknown_names(study: Study, catalogue: Catalogue, people: Mapping[str, tuple[str, ...]]) -> Iterator[Problem]:
    """Yield the names that nobody has, and names that are both somebody's and that of a group."""
    groups = {group for memberships in people.values() for group in memberships}
    known = [*people, *sorted(groups)]
    manifest, listed = study.stimuli.manifest or "stimuli", study.recruit.people
    named = dict.fromkeys(name for one in catalogue.stimuli for name in one.relations if name != EVERYBODY)
    for name in named:
        if name not in known and listed is None:
            what = f"for names {name}, and in a laboratory people are known by their numbers"
            yield Problem(manifest, what, f"1 to {study.design.participants}, as many as design.participants")
        elif name not in known:
            what = f"for names {name}, who gets no list: neither an id nor a group in {listed} is called so"
            fix = (
                did_you_mean(name, known) or f"Add a line to {listed}, or put people into a group by its column group."
            )
            yield Problem(manifest, what, "", fix)
        elif name in people and name in groups:
            what = f"for names {name}, which is a person and a group in {listed}"
            yield Problem(manifest, what, "", "Rename the group.")


def bound_warnings(catalogue: Catalogue) -> Iterator[Problem]:
    """Yield the conditions that have stimuli of people's own alone."""
    if not catalogue.is_bound:
        return
    for name in catalogue.conditions:
        if name not in catalogue.common.conditions:
            what = "has stimuli of people's own alone, so that it is in no comparison of conditions"
            yield Problem(f"condition {name}", what, "", "Add stimuli of it for everybody, where it is to be compared.")


# The study and the stimuli as one person's own trials are planned from


def own_study(study: Study, person: BoundPerson) -> Study:
    """Return the study from which the own trials of one person are planned: one list, without checks and training.

    Contents may be neighbours: there are few, and the trials stand among others.
    """
    design = study.design
    changes: dict[str, Any] = {
        "participants": 1, "votes": None, "looks": (), "trials": None, "order": "balanced", "blocks": None,
        "contents": "once" if design.contents == "once" else "free",
    }  # fmt: skip
    own = study.model_copy(
        update={"design": design.model_copy(update=changes), "checks": _no_checks(study), "training": False}
    )
    return own.reseeded(person.number)


def _no_checks(study: Study) -> Checks:
    """Return the rules of a study, all of them switched off."""
    return study.checks.model_copy(update={kind.name: False for kind in study.checks.kinds})


def own_catalogue(catalogue: Catalogue, person: BoundPerson) -> Catalogue:
    """Return the stimuli that are for one person."""
    mine = [replace(one, relations={}) for one in catalogue.by_cell.values() if one.id in person.relations]
    return catalogue.holding(mine)


def own_problem(problem: Problem, person: BoundPerson) -> Problem:
    """Return a problem of planning somebody's own trials, which says so."""
    return replace(problem, what=f"{problem.what}, in the stimuli for {person.name}")


# Whose lists


def choose_lists(
    study: Study, people: Sequence[BoundPerson], lists: Sequence[PlannedList], catalogue: Catalogue
) -> dict[int, BoundPerson]:
    """Return whose each list is that is bound, by its number; raise PlanError where there are too few.

    The last ones, as whoever comes gets the first that is free. Where what is somebody's own is for everybody too, a
    list of theirs has as little of it as possible.
    """
    if len(people) > len(lists):
        key = "design.votes" if study.design.votes is not None else "design.participants"
        named = plain_count(len(people), "person", "people")
        what = f"plans {plain_count(len(lists), 'list')}, and the column for names {named}"
        raise PlanError(study.problem(key, what, f"{len(people)} lists or more"))
    shown = [{trial.content for trial in planned.rated} for planned in lists]
    costs = np.array([[len(contents & _contents(person, catalogue)) for contents in shown] for person in people])
    if not costs.any():
        last = lists[len(lists) - len(people) :]
        return {planned.number: person for planned, person in zip(last, people, strict=True)}
    later_first = np.arange(len(lists), 0, -1) / (len(lists) + 1) / len(people)
    from scipy.optimize import linear_sum_assignment  # it takes long to load, and few plans need it

    rows, columns = linear_sum_assignment(costs + later_first)
    return {lists[int(column)].number: people[int(row)] for row, column in zip(rows, columns, strict=True)}


def _contents(person: BoundPerson, catalogue: Catalogue) -> set[str]:
    return {catalogue.by_id[stimulus].content for stimulus in person.relations}


def bound_lists(study: Study, catalogue: Catalogue, lists: Sequence[PlannedList]) -> dict[int, BoundPerson]:
    """Return whose the lists of a plan are that are for one person, by their numbers."""
    if not any(planned.person for planned in lists):
        return {}
    people = {person.number: person for person in bound_people(study, catalogue)}
    return {planned.number: people[planned.person] for planned in lists if planned.person}


def without_theirs(trials: Sequence[Trial], person: BoundPerson, catalogue: Catalogue) -> list[Trial]:
    """Return trials of everybody without those of contents that are somebody's own: they see these as their own."""
    theirs, content_of = _contents(person, catalogue), catalogue.by_id
    return [one for one in trials if not any(content_of[slot.stimulus].content in theirs for slot in one.slots)]


# Where their trials stand


def merge_trials(common: Sequence[Trial], own: Sequence[Trial], study: Study, person: BoundPerson) -> list[Trial]:
    """Return the trials of one list, named by their position, with its person's own where the design says."""
    rng = np.random.default_rng([*study.seeds, _STREAM, person.number])
    places = _PLACES[study.design.own.place](len(common), len(own), rng)
    merged, rest, mine = [], iter(common), iter(own)
    for place in range(len(common) + len(own)):
        merged.append(next(mine) if place in places else next(rest))
    return [replace(trial, id=f"trial:{position}") for position, trial in enumerate(merged, 1)]


def _spread(common: int, own: int, rng: Generator) -> Collection[int]:
    """Return one place in each of as many equal parts of a list, none the last of a part: neighbours are rare."""
    bounds = [(common + own) * part // own for part in range(own + 1)]
    return {int(rng.integers(low, max(low + 1, high - 1))) for low, high in pairwise(bounds)}


def _first(common: int, own: int, rng: Generator) -> Collection[int]:
    return range(own)


def _last(common: int, own: int, rng: Generator) -> Collection[int]:
    return range(common, common + own)


_PLACES = {"spread": _spread, "first": _first, "last": _last}


def bind(planned: PlannedList, person: BoundPerson, entries: Sequence[Trial | Break]) -> PlannedList:
    """Return a list with other entries that is for one person."""
    own = {slot.stimulus for entry in entries if isinstance(entry, Trial) for slot in entry.slots}
    relations = {stimulus: word for stimulus, word in person.relations.items() if stimulus in own}
    return replace(planned, entries=tuple(entries), person=person.number, relations=relations)


def describe_bound(planned_lists: Sequence[PlannedList]) -> str:
    """Return which lists are bound, and how many own trials they have, in one line; empty where none is."""
    bound = [planned for planned in planned_lists if planned.person]
    if not bound:
        return ""
    trials = [sum(planned.is_own(trial) for trial in planned.trials) for planned in bound]
    low, high = min(trials), max(trials)
    each = plain_count(low, "trial") if low == high else f"{low} to {high} trials"
    numbers = first_names([str(planned.number) for planned in bound], 8)
    lists = f"{plain_count(len(bound), 'list')} {plural(len(bound), 'is', 'are')} for one person each ({numbers})"
    return f"{lists}, with {each} of their own stimuli beside those of everybody"
