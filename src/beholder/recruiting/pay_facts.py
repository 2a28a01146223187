"""What paying has to know: how submissions stand, whose they are, and what cleaning has found out about bonuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from beholder.clean.facts import Rows
from beholder.recruit.contract import Status, Submission
from beholder.recruit.deciding.signing import signed_rows
from beholder.recruit.desk import Desk
from beholder.recruit.launching.recorded import Recorded, promised, recorded
from beholder.recruit.paying.bonuses import Bonuses, read_bonuses
from beholder.recruit.reconcile.visits import Arrived, arrived_of, forgotten, pair_up
from beholder.recruit.trouble import asking
from beholder.store.contract import Entry
from beholder.store.open import read_rows
from beholder.study.money import Sum


@dataclass(frozen=True)
class Visit:
    """A submission, or what stands for one where a platform lists none: whose it is, and the sessions of it."""

    participant: str
    """The pseudonym."""
    platform_id: str
    """Of the person; only lists that a person pays by hand are written with it."""
    sessions: tuple[Arrived, ...]
    status: Status | None = None
    """None where no platform tells."""


@dataclass(frozen=True)
class Known:
    """Everything that debts are made of, beside what was signed."""

    launched: Recorded | None
    reward: Sum | None
    """As it was launched, whatever the study says now; as the study says where it never was."""
    screen_out: Sum | None
    visits: Mapping[str, Visit]
    """By submission."""
    minutes: tuple[float, ...]
    """How long those took who completed, by our clock."""
    platform_minutes: tuple[float, ...]
    bonuses: Bonuses
    has_come: bool = False
    """Whether anybody has."""

    def status(self, submission: str) -> Status | None:
        """Return how a submission stands on its platform."""
        visit = self.visits.get(submission)
        return visit.status if visit is not None else None


async def gather(desk: Desk, entries: Sequence[Entry]) -> Known:
    """Return what is known now."""
    launched = recorded(entries, desk.study.run)
    listed = await read_submissions(desk, launched)
    sessions, ends = await read_rows(desk.store, "sessions"), await read_rows(desk.store, "ends")
    everybody = arrived_of(sessions, ends)
    mine = {str(row["session"]) for row in sessions if row["run"] == desk.study.run}
    arrived = [one for one in everybody if one.session in mine]
    comings = [
        *await desk.store.comings(),
        *forgotten(entries, listed or (), desk.store.secret, desk.study.recruit.mode),
    ]
    links = await desk.store.links()
    ids = {link.participant: link.platform_id for link in links}
    by_session = {one.session: one for one in everybody}  # also of earlier runs, of which a list may be open
    signed = signed_rows(entries)
    visits: dict[str, Visit] = {}
    for pair in pair_up(listed or (), arrived, links, comings):
        one = pair.submission
        if one is not None:
            # Who is who may have been erased since somebody signed.
            row = signed.get(one.id)
            names = pair.sessions or (row.sessions if row is not None else ())
            of_it = tuple(by_session[session] for session in names if session in by_session)
            person = pair.participant or (row.participant if row is not None else "")
            visits[one.id] = Visit(person, one.participant, of_it, one.status)
    if desk.is_by_hand:  # what a platform does not list did not come from there
        for key, row in signed.items():
            of_it = tuple(by_session[session] for session in row.sessions if session in by_session)
            visits[key] = Visit(row.participant, ids.get(row.participant, ""), of_it)
    return Known(
        launched,
        *promised(launched, desk.study.recruit),
        visits,
        _minutes(arrived, sessions, ends),
        tuple(
            one.seconds / 60 for one in listed or () if one.seconds and one.status in ("awaiting_review", "approved")
        ),
        read_bonuses(desk.study),
        bool(arrived or listed),
    )


async def look_again(desk: Desk, known: Known) -> Known:
    """Return the same with how the submissions stand now."""
    listed = {one.id: one.status for one in await read_submissions(desk, known.launched) or ()}
    visits = {
        id_: replace(visit, status=listed.get(id_, visit.status)) if listed else visit
        for id_, visit in known.visits.items()
    }
    return replace(known, visits=visits)


async def read_submissions(desk: Desk, launched: Recorded | None) -> Sequence[Submission] | None:
    """Return the platform's submissions; None where none are listed."""
    if launched is None or desk.is_by_hand:
        return None
    with asking(desk.study):
        return await desk.recruiter.submissions(launched.posting)


def _minutes(arrived: Sequence[Arrived], sessions: Rows, ends: Rows) -> tuple[float, ...]:
    began, ended = ({row["session"]: row["at"] for row in rows} for rows in (sessions, ends))
    done = [one.session for one in arrived if one.outcome == "completed"]
    return tuple((ended[one] - began[one]).total_seconds() / 60 for one in done)
