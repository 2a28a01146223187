"""The budget of a run: a hard cap over everything that a study costs."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.blocking import block_on
from beholder.errors import Problem, RecruitError
from beholder.recruit.launching.cost import cost_of_runs
from beholder.store.contract import Entry
from beholder.store.open import open_store
from beholder.study.model import Study
from beholder.study.money import Sum, is_money, money


def with_budget(study: Study, budget: float | str | None) -> Study:
    """Return the study under the smaller of its own budget and the one that a run was given."""
    if budget is None:
        return study
    cap = in_money(budget, study)
    if study.budget is not None:
        cap = min(cap, in_money(study.budget, study))
    return study.model_copy(update={"budget": str(cap)})


def in_money(budget: float | str, study: Study) -> Sum:
    """Return a budget as a sum; a bare number is in the currency of the reward, and no other can be compared."""
    currency = money(study.recruit.reward).currency if study.recruit.reward else ""
    text = budget if isinstance(budget, str) else f"{budget:.2f} {currency}"
    if not is_money(text):
        raise RecruitError(Problem("budget", f"is {budget}", "an amount above 0 and a currency, such as 120 GBP"))
    cap = money(text)
    if currency and cap.currency != currency:
        what = f"is {cap}, and {study.name} pays {study.recruit.reward}"
        raise RecruitError(Problem("budget", what, f"an amount in {currency}"))
    return cap


def left_for(study: Study, before: Sequence[Study], cap: Sum) -> Sum:
    """Return what is left of a budget after all that the studies before this one have cost, or raise RecruitError."""
    spent = cap._replace(minor=sum(_spent_on(one, cap.currency).minor for one in before))
    if spent.minor >= cap.minor:
        what = f"is {cap}, and nothing is left for {study.name}: the studies before it may cost {spent}"
        raise RecruitError(Problem("budget", what, f"more than {spent}"))
    return cap._replace(minor=cap.minor - spent.minor)


def _spent_on(study: Study, currency: str) -> Sum:
    """Return what all runs of a study have cost at most."""
    entries = block_on(_entries(study)) if (study.folder / "store").is_dir() else ()
    return cost_of_runs(study, entries, currency)


async def _entries(study: Study) -> tuple[Entry, ...]:
    async with open_store(study.folder / "store", write=False) as store:
        return await store.ledger.entries()
