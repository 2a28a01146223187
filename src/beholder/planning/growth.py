"""What a study has become since its plan was begun: stimuli may have been added, everything else stays as it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Any

import numpy as np

from beholder.errors import Problem, StudyError
from beholder.methods.contract import Method, Trial
from beholder.planning.builder import make_plan
from beholder.planning.counts import first_occurrences
from beholder.planning.digest import plan_parts
from beholder.planning.groups import ParticipantGroup, groups_of
from beholder.planning.model import Plan, PlannedList, no_collection
from beholder.stimuli.catalogue import Catalogue
from beholder.study.loading import MethodRules, build_study
from beholder.study.model import Study
from beholder.study.yaml import MapNode, StudyDocument, UnreadableError, parse

RATED_ROLES = ("test", "reference", "anchor")
"""Roles of stimuli that are dealt."""
_MOST_NAMES = 5
_SINGLE = {"training": "training", "checks": "checks", "keys": "stimuli", "questionnaires": "before and after"}
_PEOPLE = ("participants", "votes")


@dataclass(frozen=True)
class StudyChanges:
    """The stimuli that a study has by now and had not when its plan was begun, and what else is different."""

    stimuli: tuple[str, ...]
    """Those that are dealt, in the order of the catalogue."""
    problems: tuple[Problem, ...]
    """What stands in the way of going on with the plan."""


def study_changes(
    before: Study | None, rows: Iterable[Mapping[str, Any]], study: Study, catalogue: Catalogue
) -> StudyChanges:
    """Return how a study differs from the one that was served, of which these are the stimuli.

    `before` is None where the stored text cannot be read any more: then only stimuli are looked at.
    """
    served = {str(row["stimulus"]): row for row in rows if row["role"] != "example"}
    problems = [*_lost(served, catalogue), *(_changed(before, study, catalogue) if before is not None else ())]
    added = [stimulus.id for stimulus in catalogue.by_cell.values() if stimulus.id not in served]
    return StudyChanges(tuple(added), tuple(problems))


def earlier_study(text: str, study: Study, rules: MethodRules) -> Study | None:
    """Return a study from its text in a store; None where this version cannot read it."""
    try:
        root = parse(text, "study.yaml").root
        return (
            build_study(StudyDocument(study.folder / "study.yaml", root), rules) if isinstance(root, MapNode) else None
        )
    except (StudyError, UnreadableError):
        return None


def earlier_stimuli(
    studies: Sequence[Mapping[str, Any]], stimuli: Iterable[Mapping[str, Any]], plan: str
) -> list[frozenset[str]]:
    """Return what there was to rate in each study text of a plan, oldest first, each set once."""
    digests = [row["digest"] for row in studies if row["plan_digest"] == plan]
    found: dict[str, set[str]] = {digest: set() for digest in digests}
    for row in stimuli:
        if row["digest"] in found and row["role"] in RATED_ROLES:
            found[row["digest"]].add(str(row["stimulus"]))
    return list(dict.fromkeys(frozenset(names) for names in found.values()))


def with_units(
    plan: Plan, study: Study, catalogue: Catalogue, method: Method, before: Iterable[frozenset[str]] = ()
) -> Plan:
    """Return a plan that was read with what a plan knows that is made: what can be dealt, to each group.

    `before`: what there was to rate in each study text that it served.
    """
    present = frozenset(stimulus.id for stimulus in catalogue.by_cell.values())
    groups = groups_of(study, catalogue, method)
    whole = replace(
        plan,
        seed=study.design.seed,
        units=method.units(study, catalogue),
        before=tuple(some for some in before if some != present),
        is_given=study.design.plan is not None,
        design=study.design,
    )
    if len(groups) == 1:
        return whole
    parts = []
    for group in groups:
        own = [planned for planned in plan.lists if planned.group == group.levels]
        lists = tuple(replace(planned, number=number) for number, planned in enumerate(own, 1))
        units = method.units(group.study, group.catalogue)
        parts.append(Plan("", study.design.seed, lists, units, design=group.study.design))
    return replace(whole, groups=tuple(parts))


def _lost(served: Mapping[str, Mapping[str, Any]], catalogue: Catalogue) -> Iterator[Problem]:
    """Yield the stimuli that are gone or are others than they were."""
    gone = [name for name in served if name not in catalogue.by_id]
    if gone:
        what = f"{_some(gone)} {'is' if len(gone) == 1 else 'are'} in lists of the plan and no longer there"
        yield Problem("stimuli", what, "", "Put the files back: people have rated them, or are about to.")
    other = [
        name
        for name, row in served.items()
        if (now := catalogue.by_id.get(name)) is not None and (now.sha256, now.role) != (row["sha256"], row["role"])
    ]
    if other:
        said = "is not what it was when people rated it"
        if len(other) > 1:
            said = "are not what they were when people rated them"
        fix = "Put the earlier files back, and give changed ones a condition of their own."
        yield Problem("stimuli", f"{_some(other)} {said}", "", fix)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _changed(before: Study, study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield each key that the plan depends on and that is another than it was."""
    old, new = plan_parts(before, catalogue), plan_parts(study, catalogue)
    for part in dict.fromkeys((*old, *new)):
        if part == "design" or old.get(part) == new.get(part):
            continue
        yield study.problem(_SINGLE.get(part, part), "is not what it was when people came", "", "Undo the change.")
    was, now = old["design"], new["design"]
    for key in dict.fromkeys((*was, *now)):
        if was.get(key) == now.get(key):
            continue
        then = getattr(before.design, key)
        if key in _PEOPLE and then is not None and getattr(study.design, key) is not None:
            wish = getattr(study.design, key)
            more = str(wish - then) if key == "participants" else "N"
            fix = f"Write {then} again"
            fix += f", and add people with `beholder extend --participants {more}`." if wish > then else "."
            yield study.problem(f"design.{key}", f"was {then} when people came, and is {wish}", "", fix)
        else:
            yield study.problem(f"design.{key}", "is not what it was when people came", "", "Undo the change.")


# --- More lists by the same design: other draws, and of several those that go best with the lists that are there ---


_TRIES, _MOST_TRIALS = 10, 20_000
"""How many draws are made of a small extension, and how many trials at most."""
Counts = Counter[tuple[object, ...]]


def more_lists(
    study: Study, catalogue: Catalogue, method: Method, there: Sequence[PlannedList], number: int
) -> list[PlannedList]:
    """Return lists for so many participants by the design of a study, numbered on from those that are there.

    Groups get their shares such that all stay as large as each other. A plan that was given is gone through again.
    """
    if study.design.plan is not None:
        again = islice(cycle([planned for planned in there if planned.added is None]), number)
        return [replace(planned, number=len(there) + n) for n, planned in enumerate(again, 1)]
    groups = groups_of(study, catalogue, method)
    chain = study.design.sessions_per_participant
    shares = _shares(groups, there, number, chain)
    with no_collection():
        best: tuple[float, list[list[PlannedList]]] | None = None
        for turn in range(_tries(there, number)):
            drawn = extension_seed(len(there), turn)
            made = [_make(group, method, share, drawn) for group, share in zip(groups, shares, strict=True)]
            score = sum(_unevenness(group, there, lists) for group, lists in zip(groups, made, strict=True))
            if best is None or score < best[0]:
                best = score, made
    assert best is not None
    taken = [
        planned
        for start in range(0, max(map(len, best[1])), chain)
        for lists in sorted(best[1], key=lambda lists: -len(lists))
        for planned in lists[start : start + chain]
    ]
    return [replace(planned, number=len(there) + n) for n, planned in enumerate(taken, 1)]


def extension_seed(lists: int, turn: int) -> int:
    """Return another number for each extension of a plan, by how many lists there were, and for each draw of it."""
    return int(np.random.SeedSequence([lists, turn]).generate_state(1)[0])


def _tries(there: Sequence[PlannedList], number: int) -> int:
    trials = number * max(1, len(there[0].entries))
    return max(1, min(_TRIES, _MOST_TRIALS // trials))


def _shares(groups: Sequence[ParticipantGroup], there: Sequence[PlannedList], number: int, chain: int) -> list[int]:
    """Return how many people each group gets: always the one that has fewest lists, those that make up not counted."""
    has = [sum(planned.group == group.levels and not planned.makes_up for planned in there) for group in groups]
    shares = [0] * len(groups)
    for _ in range(number):
        least = min(range(len(groups)), key=lambda place: has[place] + chain * shares[place])
        shares[least] += 1
    return shares


def _make(group: ParticipantGroup, method: Method, number: int, turn: int) -> list[PlannedList]:
    if not number:
        return []
    fresh: dict[str, Any] = {"participants": number, "votes": None, "between": {}}
    study = group.study.model_copy(update={"design": group.study.design.model_copy(update=fresh)})
    made = make_plan(study.reseeded(turn), group.catalogue, method)
    return [replace(planned, group=group.levels) for planned in made.lists]


def _unevenness(group: ParticipantGroup, there: Sequence[PlannedList], fresh: Sequence[PlannedList]) -> float:
    """Return how uneven everything that is promised is over all lists of a group: the sum of squared counts."""
    counts: Counts = Counter()
    for planned in (*(one for one in there if one.group == group.levels), *fresh):
        for position, trial in first_occurrences(planned):
            counts.update(_counted(position, trial, group.catalogue))
    return float(sum(count * count for count in counts.values()))


def _counted(position: int, trial: Trial, catalogue: Catalogue) -> Iterable[tuple[object, ...]]:
    yield "content", trial.content
    yield "position", trial.content, position
    for place, slot in enumerate(trial.slots):
        condition = catalogue.by_id[slot.stimulus].condition
        yield "stimulus", slot.stimulus
        yield "condition", condition
        yield "slot", condition, place
