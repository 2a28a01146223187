"""What the runs of a study cost together: its budget is one cap over all of them."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.errors import Problem, RecruitError
from beholder.recruit.launching.recorded import recorded, runs_of
from beholder.recruit.ledger.fold import fold
from beholder.recruit.ledger.spent import beyond, paid_by_hand
from beholder.store.contract import Entry
from beholder.study.model import Study
from beholder.study.money import Sum


def cost_of_runs(study: Study, entries: Sequence[Entry], currency: str, *, besides: int | None = None) -> Sum:
    """Return what the runs in a store cost at most, but for one of them.

    It is what their places were published for, also where fewer people came, and what was paid beyond that; of a run
    that was never launched, what people got.
    """
    books, costs, counted = fold(entries), list[Sum](), {besides}
    for run in runs_of(entries):
        launched = recorded(entries, run) if run != besides else None
        if launched is not None and launched.total is not None:
            counted.add(run)
            costs.append(launched.total._replace(minor=launched.total.minor + beyond(books, launched.posting)))
    costs += paid_by_hand(books, counted)
    for cost in costs:
        if cost.currency != currency:
            what = f"is in {currency}, and {study.name} was paid in {cost.currency}"
            raise RecruitError(Problem("budget", what, "one currency"))
    return Sum(sum(cost.minor for cost in costs), currency)
