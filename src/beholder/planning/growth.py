"""A study that changed after its plan was begun: stimuli may be added, and lists by the same design; nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Any

import numpy as np

from beholder.errors import Problem, StudyError
from beholder.formats import first_names, plural
from beholder.methods.contract import Method, Trial
from beholder.methods.transcripts import TranscriptMethod, transcript_of
from beholder.planning.batches import BatchComposer, DealtPairs, batch_shape
from beholder.planning.builder import make_plan, part_of, with_checks
from beholder.planning.counts import first_occurrences
from beholder.planning.digest import plan_parts
from beholder.planning.feasibility import build_frame
from beholder.planning.given_plan import compose_given, read_given
from beholder.planning.groups import ParticipantGroup, groups_of
from beholder.planning.model import Addition, DealtBatch, Plan, PlannedList, no_collection
from beholder.planning.vote_tally import VoteTally
from beholder.stimuli.catalogue import Catalogue
from beholder.study.checks import installed_checks
from beholder.study.loading import MethodRules, build_study
from beholder.study.model import Study
from beholder.study.yaml import MapNode, StudyDocument, UnreadableError, parse

RATED_ROLES = ("test", "reference", "anchor")
"""Roles of stimuli that are allocated."""

_MOST_NAMES = 5

_SINGLE = {
    "training": "training", "checks": "checks", "keys": "stimuli", "own": "stimuli",
    "questionnaires": "before, during and after",
}  # fmt: skip

_PEOPLE = ("participants", "votes")


@dataclass(frozen=True)
class StudyChanges:
    """The stimuli that were added since the plan was begun, and the changes that are not allowed."""

    stimuli: tuple[str, ...]
    """The added stimuli that are allocated, in the order of the catalogue."""
    problems: tuple[Problem, ...]
    """Why the plan cannot be continued."""


def study_changes(
    before: Study | None, rows: Iterable[Mapping[str, Any]], study: Study, catalogue: Catalogue
) -> StudyChanges:
    """Return how a study differs from the one that was served, whose stimuli are `rows`.

    `before` is None if the stored text cannot be read any more: then only stimuli are compared.
    """
    served = {str(row["stimulus"]): row for row in rows if row["role"] != "example"}
    problems = [*_lost(served, catalogue), *(_changed(before, study, catalogue) if before is not None else ())]
    added = [stimulus.id for stimulus in catalogue.by_cell.values() if stimulus.id not in served]
    return StudyChanges(tuple(added), tuple(problems))


def _lost(served: Mapping[str, Mapping[str, Any]], catalogue: Catalogue) -> Iterator[Problem]:
    """Yield the stimuli that are missing or have changed."""
    missing = [name for name in served if name not in catalogue.by_id]
    if missing:
        names = f"{first_names(missing, _MOST_NAMES)} {plural(len(missing), 'is', 'are')}"
        what = f"{names} in lists of the plan and no longer there"
        yield Problem("stimuli", what, "", "Put the files back: people have rated them, or are about to.")
    changed = [
        name
        for name, row in served.items()
        if (current := catalogue.by_id.get(name)) is not None
        and (current.sha256, current.role) != (row["sha256"], row["role"])
    ]
    if changed:
        text = "is not what it was when people rated it"
        if len(changed) > 1:
            text = "are not what they were when people rated them"
        fix = "Put the earlier files back, and give changed ones a condition of their own."
        if any(served[name]["role"] == "mismatched" for name in changed):
            fix = "With contents that are added, others lend their companions: take them out, or write another study."
        yield Problem("stimuli", f"{first_names(changed, _MOST_NAMES)} {text}", "", fix)


def _changed(before: Study, study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield each key that the plan depends on and that has changed."""
    old, new = plan_parts(before, catalogue), plan_parts(study, catalogue)
    for part in dict.fromkeys((*old, *new)):
        if part == "design" or old.get(part) == new.get(part):
            continue
        yield study.problem(_SINGLE.get(part, part), "is not what it was when people came", "", "Undo the change.")
    old_design, new_design = old["design"], new["design"]
    for key in dict.fromkeys((*old_design, *new_design)):
        if old_design.get(key) == new_design.get(key):
            continue
        old_value = getattr(before.design, key)
        if key in _PEOPLE and old_value is not None and getattr(study.design, key) is not None:
            new_value = getattr(study.design, key)
            more = str(new_value - old_value) if key == "participants" else "N"
            fix = f"Write {old_value} again"
            fix += f", and add people with `beholder extend --participants {more}`." if new_value > old_value else "."
            yield study.problem(f"design.{key}", f"was {old_value} when people came, and is {new_value}", "", fix)
        else:
            yield study.problem(f"design.{key}", "is not what it was when people came", "", "Undo the change.")


def transcript_changes(
    before: Study | None, lists: Iterable[PlannedList], study: Study, catalogue: Catalogue, method: Method
) -> Iterator[Problem]:
    """Yield the contents whose transcript is not the one in the lists: answers are about words that people were shown.

    Texts are their own transcripts, and told of with the stimuli.
    """
    if not isinstance(method, TranscriptMethod):
        return
    planned_trials = {trial.slots[0].stimulus: trial for planned in lists for trial in planned.rated}
    changed = {
        trial.content
        for name, trial in planned_trials.items()
        if (stimulus := catalogue.by_id.get(name)) is not None
        and stimulus.medium != "text"
        # By the earlier options, whose changes are told of by themselves.
        and method.draws(before or study, transcript_of(study, stimulus)) != trial.draws
    }
    if changed:
        verb = plural(len(changed), "is not what it was", "are not what they were")
        what = f"has other words or times: {first_names(sorted(changed), _MOST_NAMES)} {verb} when people came"
        yield study.problem("options.transcripts", what, "", "Put the earlier transcripts back.")


def given_plan_changes(
    lists: Sequence[PlannedList], study: Study, catalogue: Catalogue, method: Method
) -> Iterator[Problem]:
    """Yield that the file of a given plan deals other stimuli than the lists that were made from it."""
    if study.design.plan is None:
        return
    dealt = [_dealt(planned.rated) for planned in lists if planned.added is None]
    given = compose_given(study, catalogue, method, read_given(study, catalogue, method))
    if [_dealt(trials) for trials in given] != dealt:
        what = f"is {study.design.plan}, which deals other stimuli than when people came"
        fix = (
            "Put the earlier file back: lists that people have begun stay as they were. Another plan is another study."
        )
        yield study.problem("design.plan", what, "", fix)


def _dealt(trials: Iterable[Trial]) -> list[tuple[str, ...]]:
    return [tuple(slot.stimulus for slot in trial.slots) for trial in trials]


def earlier_study(text: str, study: Study, rules: MethodRules) -> Study | None:
    """Return a study from its text in a store; None if this version cannot read it."""
    try:
        root = parse(text, "study.yaml").root
        if not isinstance(root, MapNode):
            return None
        document = StudyDocument(study.folder / "study.yaml", root)
        return build_study(document, rules, installed_checks(), is_resolved=True)
    except (StudyError, UnreadableError):
        return None


def earlier_stimuli(
    studies: Sequence[Mapping[str, Any]], stimuli: Iterable[Mapping[str, Any]], plan: str
) -> list[frozenset[str]]:
    """Return the rated stimuli of each study text of a plan, oldest first, each set once."""
    digests = [row["digest"] for row in studies if row["plan_digest"] == plan]
    by_digest: dict[str, set[str]] = {digest: set() for digest in digests}
    for row in stimuli:
        if row["digest"] in by_digest and row["role"] in RATED_ROLES:
            by_digest[row["digest"]].add(str(row["stimulus"]))
    return list(dict.fromkeys(frozenset(names) for names in by_digest.values()))


def with_units(
    plan: Plan, study: Study, catalogue: Catalogue, method: Method, before: Iterable[frozenset[str]] = ()
) -> Plan:
    """Return a plan that was read with the properties of a plan that was made: units, design and groups.

    `before`: the rated stimuli of each study text that it served.
    """
    present = frozenset(stimulus.id for stimulus in catalogue.by_cell.values())
    groups = groups_of(study, catalogue, method)
    complete = replace(
        plan,
        seed=study.design.seed,
        units=method.units(study, catalogue.common),
        earlier_stimuli=tuple(some for some in before if some != present),
        is_given=study.design.plan is not None,
        design=study.design,
    )
    if len(groups) == 1:
        return complete
    parts = []
    for group in groups:
        group_lists = [planned for planned in plan.lists if planned.group == group.levels]
        lists = tuple(replace(planned, number=number) for number, planned in enumerate(group_lists, 1))
        units = method.units(group.study, group.catalogue)
        parts.append(Plan("", study.design.seed, lists, units, design=group.study.design))
    return replace(complete, groups=tuple(parts))


# More lists by the same design

_TRIES, _MOST_TRIALS = 10, 20_000
"""How many draws are made of a small extension, and the largest number of drawn trials."""

Counts = Counter[tuple[object, ...]]


def more_lists(
    study: Study, catalogue: Catalogue, method: Method, existing: Sequence[PlannedList], number: int
) -> list[PlannedList]:
    """Return lists for more participants by the design of a study, numbered after the existing ones.

    Groups get shares that keep them equally large. A given plan is repeated from its beginning.
    """
    if study.design.plan is not None:
        repeated = islice(cycle([planned for planned in existing if planned.added is None]), number)
        return [replace(planned, number=len(existing) + n) for n, planned in enumerate(repeated, 1)]
    groups, existing = groups_of(study, catalogue, method), [planned.common for planned in existing]
    chain = study.design.sessions_per_participant
    shares = _shares(groups, existing, number, chain)
    with no_collection():
        best: tuple[float, list[list[PlannedList]]] | None = None
        for turn in range(_tries(existing, number)):
            seed = extension_seed(len(existing), turn)
            drawn_lists = [_make(group, method, share, seed) for group, share in zip(groups, shares, strict=True)]
            score = sum(_unevenness(group, existing, lists) for group, lists in zip(groups, drawn_lists, strict=True))
            if best is None or score < best[0]:
                best = score, drawn_lists
    assert best is not None
    ordered = [
        planned
        for start in range(0, max(map(len, best[1])), chain)
        for lists in sorted(best[1], key=lambda lists: -len(lists))
        for planned in lists[start : start + chain]
    ]
    return [replace(planned, number=len(existing) + n) for n, planned in enumerate(ordered, 1)]


def extension_seed(lists: int, turn: int) -> int:
    """Return a different seed for each extension of a plan, by its number of lists, and for each draw."""
    return int(np.random.SeedSequence([lists, turn]).generate_state(1)[0])


def _tries(existing: Sequence[PlannedList], number: int) -> int:
    trials = number * max(1, len(existing[0].entries))
    return max(1, min(_TRIES, _MOST_TRIALS // trials))


def _shares(groups: Sequence[ParticipantGroup], existing: Sequence[PlannedList], number: int, chain: int) -> list[int]:
    """Return the participants of each group: the group with the fewest lists, without replacement lists, is next."""
    sizes = [sum(planned.group == group.levels and not planned.makes_up for planned in existing) for group in groups]
    shares = [0] * len(groups)
    for _ in range(number):
        least = min(range(len(groups)), key=lambda place: sizes[place] + chain * shares[place])
        shares[least] += 1
    return shares


def _make(group: ParticipantGroup, method: Method, number: int, turn: int) -> list[PlannedList]:
    if not number:
        return []
    changes: dict[str, Any] = {"participants": number, "votes": None, "between": {}}
    study = group.study.model_copy(update={"design": group.study.design.model_copy(update=changes)})
    plan = make_plan(study.reseeded(turn), group.catalogue, method)
    return [replace(planned, group=group.levels) for planned in plan.lists]


def _unevenness(group: ParticipantGroup, existing: Sequence[PlannedList], added: Sequence[PlannedList]) -> float:
    """Return how uneven all promised counts are over the lists of a group: the sum of squared counts."""
    counts: Counts = Counter()
    for planned in (*(one for one in existing if one.group == group.levels), *added):
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


# Batches of active pairs

POPULATIONS = ("people", "robot")
BATCH = "batch"
"""Why lists were added to a plan whose pairs are chosen while answers come in."""


class BatchPlanner:
    """Makes the batches of a study after the first one. It keeps what was dealt, so that each is made in a moment."""

    def __init__(self, study: Study, catalogue: Catalogue, method: Method) -> None:
        (self._group,) = groups_of(study, catalogue, method)
        self._frame = build_frame(study, catalogue, method)
        self._study, self._method, self._catalogue = study, method, catalogue
        self._composer = BatchComposer(study, catalogue, method, self._frame.units)
        self._dealt = {population: DealtPairs(catalogue) for population in POPULATIONS}
        self.shape = batch_shape(study, self._frame.units, self._frame.shape.trials)
        """How large a batch is."""

    def take_note(self, planned: PlannedList) -> None:
        """Take note of a list that was dealt, in the order of the plan."""
        population = planned.batch.population if planned.batch is not None else ""
        for name, dealt in self._dealt.items():
            if population in ("", name):
                dealt.add(planned.entries)

    def make(
        self,
        tally: VoteTally,
        batch: DealtBatch,
        lists: int,
        added: Addition,
        after: int,
        retired: Iterable[str] = (),
    ) -> list[PlannedList]:
        """Return the lists of a batch, numbered after so many; none where nothing is left to compare.

        Conditions that are `retired` are in none of them, and their votes still tell of the others.

        Determined by the study, its seed, the tally, the lists that were dealt, and the number of the batch.
        """
        study = self._study.reseeded(extension_seed(batch.number, POPULATIONS.index(batch.population)))
        shape = self.shape._replace(lists=min(lists, self.shape.lists))
        trials = self._composer.compose(tally, self._dealt[batch.population], study.seeds, shape, retired)
        if not trials:
            return []
        group = self._group._replace(study=study)
        part = part_of(group, with_checks(group, self._method, self._frame.units, self._frame.checks, trials))
        return [replace(one, number=after + one.number, added=added, batch=batch) for one in part.lists]
