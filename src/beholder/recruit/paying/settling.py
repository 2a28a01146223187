"""Settling: money counts as paid when the platform shows it, and what is unsure is read and never sent again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta

from beholder.errors import Problem
from beholder.recruit.contract import PlatformAway, PlatformRefused, PlatformUnsure
from beholder.recruit.ledger.fold import Parcel
from beholder.recruit.ledger.reading import Arrival, arrivals
from beholder.recruit.paying.till import Till

WINDOW = timedelta(hours=24)
"""How long money may take to show before a person may say that it never will."""
_LOOKS = (0.0, 5.0, 10.0, 20.0, 30.0, 60.0)
"""Seconds before each look at a parcel that was taken: it settles within minutes."""


async def read_bonuses(till: Till, submissions: Iterable[str]) -> Mapping[str, tuple[int, ...]]:
    """Return what each submission was paid on top so far."""
    return {one: (await till.desk.recruiter.submission(one)).bonuses or () for one in submissions}


async def read_back(till: Till, id: str) -> Mapping[str, Arrival]:
    """Return for each submission of a parcel whether its money has come, and settle what has."""
    parcel = till.books.parcels[id]
    rows = till.books.rows(id)
    open_ = {debt.submission for debt in till.books.of(id) if debt.state != "settled"}
    now = await read_bonuses(till, [one for one in rows if one in open_])
    found = arrivals({one: rows[one] for one in now}, parcel.baseline, now)
    paid = [debt for debt in till.books.of(id) if found.get(debt.submission) == "paid"]
    await till.write([till.about(debt, "settled") for debt in paid])
    return {**{one: "paid" for one in rows if one not in now}, **found}


async def settle_all(till: Till) -> None:
    """Look at everything that was sent and has not been seen to arrive. Nothing is sent."""
    lost = [parcel for parcel in till.books.parcels.values() if parcel.state == "pay_sent"]
    words = "it was sent, and whoever sent it stopped before the answer came"
    await till.write([till.parcel(parcel.id, "unknown", words) for parcel in lost])
    for parcel in list(till.books.parcels.values()):
        # Also what was refused: should the money come all the same, it is not sent again.
        if parcel.sends and parcel.state in ("accepted", "unknown", "refused", "resend_authorised"):
            await _settle(till, parcel)


async def _settle(till: Till, parcel: Parcel) -> None:
    if not till.books.of(parcel.id):
        return
    try:
        found = await read_back(till, parcel.id)
    except (PlatformAway, PlatformRefused, PlatformUnsure) as error:
        till.problems.append(Problem(parcel.id, f"could not be looked at: {error}", fix="Run `beholder pay` again."))
        return
    is_late = parcel.sent_at is not None and till.desk.now() - parcel.sent_at >= WINDOW
    if till.books.parcels[parcel.id].state == "accepted" and is_late:
        missing = sum(one != "paid" for one in found.values())
        words = f"it was taken, and after {WINDOW.total_seconds() / 3600:g} h {missing} of {len(found)} are not shown"
        await till.write([till.parcel(parcel.id, "unknown", words)])


async def wait_for(till: Till, id: str) -> bool:
    """Return whether everything of a parcel that was taken has arrived, after some minutes at most."""
    for pause in _LOOKS:
        if pause == _LOOKS[1]:
            till.wait(f"payment {id}", _LOOKS)
        if pause:
            await till.sleep(pause)
        await read_back(till, id)
        if till.books.parcels[id].state == "settled":
            return True
    return False


async def authorise(till: Till, id: str) -> bool:
    """Write that a person lets a parcel be sent once more, where reading says that nobody has got it."""
    parcel = till.books.parcels.get(id)
    if parcel is None or parcel.state not in ("unknown", "resend_authorised") or parcel.sent_at is None:
        till.problems.append(_not_unknown(till, f"--resend {id}", parcel, "Nothing was sent again."))
        return False
    found = await read_back(till, id)
    if till.books.parcels[id].state == "settled":
        till.notes.append(f"{id} has arrived by now: it was not sent again.")
        return False
    if set(found.values()) != {"none"}:
        paid = sum(one == "paid" for one in found.values())
        odd = sum(one == "odd" for one in found.values())
        what = f"{paid} of {len(found)} people have got it" + (f", and {odd} got something else" if odd else "")
        fix = (
            f"Sent again it would pay them twice. Pay the others on the platform, then say so with "
            f"`beholder pay --settle {id}`."
        )
        till.problems.append(Problem(f"--resend {id}", what, "a payment that nobody has got", fix))
        return False
    if till.desk.now() - parcel.sent_at < WINDOW:
        hours, until = WINDOW.total_seconds() / 3600, parcel.sent_at + WINDOW
        what = f"it was sent on {parcel.sent_at:%Y-%m-%d %H:%M} UTC, and money may take {hours:g} h to show"
        fix = f"Nothing was sent again. From {until:%Y-%m-%d %H:%M} UTC on it may be."
        till.problems.append(Problem(f"--resend {id}", what, "", fix))
        return False
    if parcel.state == "unknown":
        words = "a person has looked, and nobody has got it"
        await till.write([till.parcel(id, "resend_authorised", words)])
    return True


async def declare(till: Till, id: str) -> None:
    """Write that a person has looked, and made up what was missing: everything of a parcel counts as paid."""
    parcel = till.books.parcels.get(id)
    if parcel is None or not parcel.sends or parcel.state not in ("unknown", "accepted"):
        till.problems.append(_not_unknown(till, f"--settle {id}", parcel))
        return
    rest = [debt for debt in till.books.of(id) if debt.state != "settled"]
    await till.write([till.about(debt, "settled", "a person has looked, and says so") for debt in rest])


def _not_unknown(till: Till, where: str, parcel: Parcel | None, fix: str = "") -> Problem:
    unknown = ", ".join(one.id for one in till.books.parcels.values() if one.state == "unknown") or "none now"
    what = "there is no such payment" if parcel is None else f"it is {parcel.state}, and not unknown"
    return Problem(where, what, unknown, fix)
