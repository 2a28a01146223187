"""Who is paid more than was promised: those who stayed, and those who agree best with the others (P.910)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from beholder.checks.agreement import Vote, spearman, voted
from beholder.clean.others import Votes
from beholder.clean.sessions import Judged
from beholder.study.checks import Agreement
from beholder.study.cleaning import Bonus, Quality, Quantity
from beholder.study.money import Sum, money

COLUMNS = ("participant", "rule", "sessions", "amount", "currency", "agreement", "session", "reason")


def bonus_rows(judged: Sequence[Judged], bonus: Bonus | None) -> list[dict[str, Any]]:
    """Return a row for each bonus that is due, by rule and in order of arrival; proposals, as everything about pay."""
    if bonus is None:
        return []
    accepted: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        if one.decision.accept is True and one.visit.outcome == "completed":
            accepted[one.visit.participant].append(one)
    rows = []
    if bonus.quantity is not None:
        rows += _stayed(bonus.quantity, accepted)
    if bonus.quality is not None:
        least = bonus.quality.sessions or (bonus.quantity.sessions if bonus.quantity else 1)
        rows += _best(bonus.quality, least, accepted, judged)
    return rows


def total(rows: Sequence[Mapping[str, Any]]) -> Sum | None:
    """Return what all bonuses come to; None where there are none."""
    sums = [money(f"{row['amount']} {row['currency']}") for row in rows]
    return Sum(sum(one.minor for one in sums), sums[0].currency) if sums else None


def _stayed(rule: Quantity, accepted: Mapping[str, Sequence[Judged]]) -> list[dict[str, Any]]:
    return [
        _row(theirs, "quantity", rule.each, _enough(len(theirs), rule.sessions))
        for theirs in accepted.values()
        if len(theirs) >= rule.sessions
    ]


def _enough(accepted: int, least: int) -> str:
    return f"{accepted} accepted session{'s' * (accepted != 1)}, of {least} or more"


def _best(
    rule: Quality, least: int, accepted: Mapping[str, Sequence[Judged]], judged: Sequence[Judged]
) -> list[dict[str, Any]]:
    """Return the rows of the best: a share of those with enough sessions, whether or not their agreement is known."""
    enough = {person: theirs for person, theirs in accepted.items() if len(theirs) >= least}
    found = _agreements(enough, judged)
    places = int(rule.best * len(enough) / 100 + 1e-9)
    ranked = sorted(found.values(), reverse=True)[:places]
    # Whoever does as well as the last one gets it too.
    limit = max(ranked[-1], rule.min_agreement) if ranked else 2.0
    reason = f"among the best {rule.best:g} % of {len(enough)} by agreement with the others"
    return [
        _row(theirs, "quality", rule.each, reason, found[person])
        for person, theirs in enough.items()
        if found.get(person, -2.0) >= limit
    ]


def _agreements(people: Mapping[str, Sequence[Judged]], judged: Sequence[Judged]) -> dict[str, float]:
    """Return the rank correlation of each person's used votes with the mean of all others, where it is known."""
    votes = Votes(row for one in judged for row in one.ratings if row.use)
    agreements = {}
    for person, theirs in people.items():
        own: dict[Vote, list[float]] = defaultdict(list)
        for row in (row for one in theirs for row in one.ratings if row.use):
            name = voted(row.kind, row.stimulus, row.other_stimulus)
            if name is not None and row.value is not None:
                own[name, row.question].append(row.value)
        others = {vote: mean for one in theirs for vote, mean in votes.others(one).items()}
        shared = [vote for vote in own if vote in others]
        if len({stimulus for stimulus, _ in shared}) < Agreement().stimuli:
            continue
        r = spearman([fmean(own[vote]) for vote in shared], [others[vote] for vote in shared])
        if r is not None:
            agreements[person] = r
    return agreements


def _row(
    sessions: Sequence[Judged], rule: str, each: str, reason: str, agreement: float | None = None
) -> dict[str, Any]:
    paid = money(each)
    due = Sum(paid.minor * len(sessions), paid.currency)
    return {
        "participant": sessions[-1].visit.participant,
        "rule": rule,
        "sessions": len(sessions),
        "amount": due.amount,
        "currency": due.currency,
        "agreement": None if agreement is None else round(agreement, 4),
        "session": sessions[-1].visit.session,
        "reason": reason,
    }
