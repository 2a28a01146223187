"""What paying has to know: how submissions stand, whose they are, and what cleaning has found out about bonuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from beholder.cleaning.facts import Rows
from beholder.cleaning.payouts import COLUMNS
from beholder.errors import Problem
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.contract import Status, Submission, platform_errors
from beholder.recruiting.launch_record import LaunchRecord, launch_record, promised_pay
from beholder.recruiting.reconciliation import ArrivedSession, arrived_sessions, erased_visits, match_submissions
from beholder.recruiting.signatures import signed_rows
from beholder.store.contract import LedgerEntry
from beholder.store.open import read_rows
from beholder.study.csv_files import CsvLine, column_names, read_lines
from beholder.study.model import Study
from beholder.study.recruitment import Sum, is_money, money

# --- clean/bonus.csv read: who gets a bonus by the rules of the study, and what keeps us from knowing it ---


BONUS_FILE = "clean/bonus.csv"
_FIX = "Nothing of it was paid. Run `beholder clean` to have it written again."


class EarnedBonus(NamedTuple):
    """A bonus that somebody gets."""

    participant: str
    """The pseudonym."""
    rule: str
    amount: Sum
    session: str
    """Their last one."""
    reason: str


@dataclass(frozen=True)
class EarnedBonuses:
    """Everybody's bonuses by rule; none where the study gives any and nobody can tell whose."""

    by_rule: dict[str, list[EarnedBonus]]
    problems: tuple[Problem, ...] = ()


def read_bonuses(study: Study) -> EarnedBonuses:
    """Return what clean/bonus.csv says, by the rules that the study has; where anything is wrong with it, nothing."""
    bonus = study.clean.bonus
    rules = {name: rule for name in ("quantity", "quality") if bonus and (rule := getattr(bonus, name)) is not None}
    if not rules:
        return EarnedBonuses({})
    if not (study.folder / BONUS_FILE).is_file():
        missing = Problem(BONUS_FILE, "is not there, and it says who gets a bonus", "", "Run `beholder clean` first.")
        return EarnedBonuses({}, (missing,))
    problems: list[Problem] = []
    currency = money(next(iter(rules.values())).each).currency
    found = _read(study, currency, problems)
    if problems:
        return EarnedBonuses({}, tuple(problems))
    return EarnedBonuses({rule: [one for one in found if one.rule == rule] for rule in rules})


def _read(study: Study, currency: str, problems: list[Problem]) -> list[EarnedBonus]:
    if not {*COLUMNS} & {*column_names(study.folder, BONUS_FILE)}:
        problems.append(Problem(f"{BONUS_FILE}:1", "names no column", ", ".join(COLUMNS), _FIX))
        return []
    found: dict[tuple[str, str], EarnedBonus] = {}
    for line in read_lines(study.folder, BONUS_FILE, COLUMNS, problems):
        one = _due(line, currency, problems)
        if one is None:
            continue
        if (one.participant, one.rule) in found:
            what = f"is a second {one.rule} bonus for {one.participant}"
            problems.append(Problem(line.where, what, "one for each person and rule", _FIX))
        found[one.participant, one.rule] = one
    return list(found.values())


def _due(line: CsvLine, currency: str, problems: list[Problem]) -> EarnedBonus | None:
    cells = line.cells
    amount = f"{cells['amount']} {cells['currency']}"
    if not is_money(amount) or cells["currency"] != currency:
        allowed = f"an amount above 0 in {currency}, such as 0.50 {currency}"
        problems.append(Problem(line.where, f"amount is {amount.strip() or 'empty'}", allowed, _FIX))
        return None
    return EarnedBonus(cells["participant"], cells["rule"], money(amount), cells["session"], cells["reason"])


# --- What paying has to know: how submissions stand, whose they are, and what cleaning has found out about bonuses ---


@dataclass(frozen=True)
class PayableVisit:
    """A submission, or what stands for one where a platform lists none: whose it is, and the sessions of it."""

    participant: str
    """The pseudonym."""
    platform_id: str
    """Of the person; only lists that a person pays by hand are written with it."""
    sessions: tuple[ArrivedSession, ...]
    status: Status | None = None
    """None where no platform tells."""


@dataclass(frozen=True)
class PayFacts:
    """Everything that debts are made of, beside what was signed."""

    launched: LaunchRecord | None
    reward: Sum | None
    """As it was launched, whatever the study says now; as the study says where it never was."""
    screen_out: Sum | None
    visits: Mapping[str, PayableVisit]
    """By submission."""
    minutes: tuple[float, ...]
    """How long those took who completed, by our clock."""
    platform_minutes: tuple[float, ...]
    bonuses: EarnedBonuses
    has_come: bool = False
    """Whether anybody has."""

    def status(self, submission: str) -> Status | None:
        """Return how a submission stands on its platform."""
        visit = self.visits.get(submission)
        return visit.status if visit is not None else None


async def pay_facts(context: RecruitContext, entries: Sequence[LedgerEntry]) -> PayFacts:
    """Return what is known now."""
    launched = launch_record(entries, context.study.run)
    listed = await read_submissions(context, launched)
    sessions, ends = await read_rows(context.store, "sessions"), await read_rows(context.store, "ends")
    everybody = arrived_sessions(sessions, ends)
    mine = {str(row["session"]) for row in sessions if row["run"] == context.study.run}
    arrived = [one for one in everybody if one.session in mine]
    comings = [
        *await context.store.platform_visits(),
        *erased_visits(entries, listed or (), context.store.secret, context.study.recruit.mode),
    ]
    links = await context.store.platform_identities()
    ids = {link.participant: link.platform_id for link in links}
    by_session = {one.session: one for one in everybody}  # also of earlier runs, of which a list may be open
    signed = signed_rows(entries)
    visits: dict[str, PayableVisit] = {}
    for pair in match_submissions(listed or (), arrived, links, comings):
        one = pair.submission
        if one is not None:
            # Who is who may have been erased since somebody signed.
            row = signed.get(one.id)
            names = pair.sessions or (row.sessions if row is not None else ())
            of_it = tuple(by_session[session] for session in names if session in by_session)
            person = pair.participant or (row.participant if row is not None else "")
            visits[one.id] = PayableVisit(person, one.participant, of_it, one.status)
    if context.is_by_hand:  # what a platform does not list did not come from there
        for key, row in signed.items():
            of_it = tuple(by_session[session] for session in row.sessions if session in by_session)
            visits[key] = PayableVisit(row.participant, ids.get(row.participant, ""), of_it)
    return PayFacts(
        launched,
        *promised_pay(launched, context.study.recruit),
        visits,
        _minutes(arrived, sessions, ends),
        tuple(
            one.seconds / 60 for one in listed or () if one.seconds and one.status in ("awaiting_review", "approved")
        ),
        read_bonuses(context.study),
        bool(arrived or listed),
    )


async def refresh_facts(context: RecruitContext, known: PayFacts) -> PayFacts:
    """Return the same with how the submissions stand now."""
    listed = {one.id: one.status for one in await read_submissions(context, known.launched) or ()}
    visits = {
        id_: replace(visit, status=listed.get(id_, visit.status)) if listed else visit
        for id_, visit in known.visits.items()
    }
    return replace(known, visits=visits)


async def read_submissions(context: RecruitContext, launched: LaunchRecord | None) -> Sequence[Submission] | None:
    """Return the platform's submissions; None where none are listed."""
    if launched is None or context.is_by_hand:
        return None
    with platform_errors(context.study):
        return await context.recruiter.submissions(launched.posting)


def _minutes(arrived: Sequence[ArrivedSession], sessions: Rows, ends: Rows) -> tuple[float, ...]:
    began, ended = ({row["session"]: row["at"] for row in rows} for rows in (sessions, ends))
    done = [one.session for one in arrived if one.outcome == "completed"]
    return tuple((ended[one] - began[one]).total_seconds() / 60 for one in done)
