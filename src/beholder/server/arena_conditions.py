"""The conditions of an arena: those that join are dealt from the start of a server on, those that retire no more.

Nothing vanishes: votes on a condition that has retired stay, and tell of the others. Each change is an entry of the
ledger with its time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from beholder.errors import Problem, StudyError, UserError, did_you_mean
from beholder.planning.digest import plan_digest
from beholder.planning.growth import earlier_study, study_changes
from beholder.server.script import ServedStudy
from beholder.store.condition_changes import RETIRE, RETURN
from beholder.store.contract import Store
from beholder.types import Json

_FEWEST = 2


def check_change(what: str, names: Sequence[str], conditions: Sequence[str], retired: frozenset[str]) -> None:
    """Raise UserError with everything that is wrong with a change: unknown names, no change, too few that are left."""
    problems = []
    option = f"--{what}"
    active = [name for name in conditions if name not in retired]
    for name in names:
        if name not in conditions:
            near = did_you_mean(name, conditions)
            problems.append(
                Problem(option, f"is {name}, which is no condition", "" if near else ", ".join(conditions), near)
            )
        elif what == RETIRE and name in retired:
            problems.append(Problem(option, f"is {name}, which has retired already", ", ".join(active)))
        elif what == RETURN and name not in retired:
            problems.append(
                Problem(option, f"is {name}, which has not retired", ", ".join(sorted(retired)) or "nothing")
            )
    left = [name for name in active if name not in names]
    if what == RETIRE and not problems and len(left) < _FEWEST:
        problems.append(Problem(option, f"would leave {len(left)} to compare", f"at least {_FEWEST}"))
    if problems:
        raise UserError(problems)


class Joining(NamedTuple):
    """What joins an arena: the digest of its plan, its lists so far, and the stimuli and conditions that are new."""

    plan_digest: str
    lists: Sequence[Json]
    stimuli: tuple[str, ...]
    conditions: tuple[str, ...]


async def joining(store: Store, served: ServedStudy) -> Joining | None:
    """Return what joins an arena whose store holds its plan without some stimuli; None where nothing is new.

    Raises StudyError where more has changed than that stimuli were added.
    """
    record = await store.current()
    if record is None or record.plan_digest == served.plan_digest or not record.lists:
        return None
    study, catalogue = served.study, served.catalogue
    earlier = earlier_study(record.yaml, study, served.method)
    if earlier is None or earlier.run != study.run or plan_digest(earlier, catalogue) != plan_digest(study, catalogue):
        return None  # another run or design, which the store refuses
    changes = study_changes(earlier, record.stimuli, study, catalogue)
    if changes.problems:
        raise StudyError(changes.problems)
    if not changes.stimuli:
        return None
    known = {str(row["condition"]) for row in record.stimuli}
    conditions = tuple(dict.fromkeys(catalogue.by_id[name].condition for name in changes.stimuli))
    new = tuple(name for name in conditions if name not in known)
    return Joining(record.plan_digest, record.lists, changes.stimuli, new)
