"""What `clean` proposes: whom to pay and how much more, and what to open again. Nothing of it happens by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from beholder.clean import bonus, lists
from beholder.clean.extend import EXTEND, VOTES, is_compared, shortfall
from beholder.clean.facts import Facts
from beholder.clean.sessions import Judged
from beholder.clean.tables import table_bytes
from beholder.methods.contract import Method
from beholder.study.model import Study


@dataclass(frozen=True)
class Proposals:
    """The lists as files, and what is in them in numbers."""

    files: Mapping[str, bytes]
    counts: Mapping[str, int]
    """short_votes, planned_votes, missing_sessions, bonuses"""
    bonus: str
    """What all bonuses come to; empty where there are none."""


def propose(study: Study, method: Method, facts: Facts, judged: Sequence[Judged]) -> Proposals:
    """Return the lists that follow from all decisions."""
    in_pairs = is_compared(facts.planned.values(), method)
    missing = shortfall(facts.planned, judged, votes=study.design.votes, in_pairs=in_pairs)
    bonuses = bonus.bonus_rows(judged, study.clean.bonus)
    return Proposals(
        files={
            "accept.csv": table_bytes(lists.ACCEPT, lists.accept_rows(judged)),
            "reject.csv": table_bytes(lists.REJECT, lists.reject_rows(judged, study, method)),
            "look.csv": table_bytes(lists.LOOK, lists.look_rows(judged)),
            "bonus.csv": table_bytes(bonus.COLUMNS, bonuses),
            "votes.csv": table_bytes(VOTES, missing.vote_rows()),
            "extend.csv": table_bytes(EXTEND, missing.extend_rows()),
        },
        counts={
            "short_votes": missing.short,
            "planned_votes": len(missing.planned),
            "missing_sessions": sum(missing.extra().values()),
            "bonuses": len({row["participant"] for row in bonuses}),
        },
        bonus=str(bonus.total(bonuses) or ""),
    )
