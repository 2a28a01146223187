"""What a study has become since its plan was begun: stimuli may have been added, everything else stays as it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from beholder.errors import Problem, StudyError
from beholder.methods.contract import Method
from beholder.plan.digest import plan_parts
from beholder.plan.groups import groups_of
from beholder.plan.model import Plan
from beholder.stimuli.catalogue import Catalogue
from beholder.study.document import Document
from beholder.study.load import Rules, build_study
from beholder.study.model import Study
from beholder.study.nodes import Entries, UnreadableError, parse

RATED = ("test", "reference", "anchor")
"""Roles of stimuli that are dealt."""
_MOST_TOLD = 5
_SINGLE = {"training": "training", "checks": "checks", "keys": "stimuli", "questionnaires": "before and after"}
_PEOPLE = ("participants", "votes")


@dataclass(frozen=True)
class Growth:
    """The stimuli that a study has by now and had not when its plan was begun, and what else is different."""

    stimuli: tuple[str, ...]
    """Those that are dealt, in the order of the catalogue."""
    problems: tuple[Problem, ...]
    """What stands in the way of going on with the plan."""


def grown(before: Study | None, rows: Iterable[Mapping[str, Any]], study: Study, catalogue: Catalogue) -> Growth:
    """Return how a study differs from the one that was served, of which these are the stimuli.

    `before` is None where the stored text cannot be read any more: then only stimuli are looked at.
    """
    served = {str(row["stimulus"]): row for row in rows if row["role"] != "example"}
    problems = [*_lost(served, catalogue), *(_changed(before, study, catalogue) if before is not None else ())]
    added = [stimulus.id for stimulus in catalogue.by_cell.values() if stimulus.id not in served]
    return Growth(tuple(added), tuple(problems))


def earlier_study(text: str, study: Study, rules: Rules) -> Study | None:
    """Return a study from its text in a store; None where this version cannot read it."""
    try:
        root = parse(text, "study.yaml").root
        return build_study(Document(study.folder / "study.yaml", root), rules) if isinstance(root, Entries) else None
    except (StudyError, UnreadableError):
        return None


def generations(
    studies: Sequence[Mapping[str, Any]], stimuli: Iterable[Mapping[str, Any]], plan: str
) -> list[frozenset[str]]:
    """Return what there was to rate in each study text of a plan, oldest first, each set once."""
    digests = [row["digest"] for row in studies if row["plan_digest"] == plan]
    found: dict[str, set[str]] = {digest: set() for digest in digests}
    for row in stimuli:
        if row["digest"] in found and row["role"] in RATED:
            found[row["digest"]].add(str(row["stimulus"]))
    return list(dict.fromkeys(frozenset(names) for names in found.values()))


def complete(
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
    more = f" and {len(names) - _MOST_TOLD} more" if len(names) > _MOST_TOLD else ""
    return ", ".join(names[:_MOST_TOLD]) + more


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
