"""Paying by hand: a list of who gets what, which a person pays, and the word of that person that it is paid."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping
from pathlib import Path

from beholder.errors import Problem, RecruitError
from beholder.recruit.ledger.fold import MONEY, Debt, Key
from beholder.recruit.paying.budget import over_budget
from beholder.recruit.paying.known import Visit
from beholder.recruit.paying.till import Till
from beholder.recruit.private import write_private
from beholder.study.money import Sum

FILE = "payments.csv"
COLUMNS = ("id", "visit", "outcome", "amount", "currency", "code", "reason")


async def list_all(till: Till, wanted: Collection[Key]) -> Path | None:
    """Write pay/payments.csv and return it; None where nothing is owed.

    A list that nobody has confirmed is written again as it was, and nothing is added to it: so nothing is ever in two
    lists.
    """
    open_ = _open(till)
    if open_ is None:
        due = [debt for key in sorted(wanted) if (debt := till.books.debts[key]).is_owed]
        if not due:
            return None
        problem = _over(till, due)
        if problem is not None:
            till.problems.append(problem)
            return None
        open_ = await till.pack(due)
    else:
        more = sum(till.books.debts[key].is_owed for key in wanted)
        if more:
            owed = "1 more is owed, and comes" if more == 1 else f"{more} more are owed, and come"
            till.notes.append(f"{owed} into the next list, once this one is paid.")
    path = _write(till, open_)
    await till.write([till.parcel(open_, "accepted")])
    return path


async def confirm(till: Till) -> None:
    """Write that a person has paid the list."""
    open_ = _open(till)
    if open_ is None or till.books.parcels[open_].state != "accepted":
        what = "there is no list that waits to be paid" if open_ is None else "the list was not written to its end"
        till.problems.append(Problem("--paid", what, "", "`beholder pay --send` writes pay/payments.csv."))
        return
    rest = [debt for debt in till.books.of(open_) if debt.state != "settled"]
    await till.write([till.about(debt, "settled", "a person says that it is paid") for debt in rest])


def _open(till: Till) -> str | None:
    """Return the list that is not paid yet."""
    return next((one.id for one in till.books.parcels.values() if one.state in ("confirmed", "accepted")), None)


def _over(till: Till, due: Collection[Debt]) -> Problem | None:
    amounts = [debt.amount for debt in due if debt.amount.minor]
    if not amounts:
        return None
    debts = till.books.debts.values()
    spent = sum(debt.amount.minor for debt in debts if debt.state in ("accepted", "settled") and debt.kind in MONEY)
    return over_budget(till, Sum(sum(one.minor for one in amounts), amounts[0].currency), spent)


def _write(till: Till, id: str) -> Path:
    """Write the list and return where it is; where that cannot be, raise RecruitError."""
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(_row(till, debt) for debt in till.books.of(id) if debt.kind in MONEY and debt.amount.minor)
    folder = till.desk.study.folder / "pay"
    try:
        write_private(folder / FILE, text.getvalue().encode())
    except OSError as error:
        what = f"cannot be written ({error.strerror})"
        fix = "Nothing was paid. Make it writable, then run `beholder pay --send` again."
        raise RecruitError(Problem(str(folder / FILE), what, "", fix)) from error
    return folder / FILE


def _row(till: Till, debt: Debt) -> Mapping[str, str]:
    visit = till.known.visits.get(debt.submission)
    session = next((one for one in visit.sessions if one.session == debt.session), None) if visit is not None else None
    return {
        "id": (visit.platform_id if visit is not None else "") or debt.participant,
        # What stands for a visit that no platform counts would lead from the id to the answers.
        "visit": "" if _is_own(debt, visit) else debt.submission,
        "outcome": (session.outcome or "") if session is not None else "",
        "amount": debt.amount.amount,
        "currency": debt.amount.currency,
        "code": session.code if session is not None else "",
        "reason": debt.reason_code,
    }


def _is_own(debt: Debt, visit: Visit | None) -> bool:
    """Return whether a debt is known by a session or a pseudonym, and not by a visit on a platform."""
    sessions = [one.session for one in visit.sessions] if visit is not None else []
    is_person = bool(debt.participant) and debt.submission.startswith(debt.participant)
    return is_person or debt.submission in (debt.session, *sessions)
