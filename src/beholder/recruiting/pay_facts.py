"""Facts for paying: the status of submissions, their participants and sessions, and earned bonuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from beholder.cleaning.facts import Rows
from beholder.cleaning.payouts import BONUSES
from beholder.columns import names_of
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

# Bonuses in clean/bonus.csv


BONUS_FILE = "clean/bonus.csv"
_COLUMNS = names_of(BONUSES)
_FIX = "Nothing of it was paid. Run `beholder clean` to have it written again."


class EarnedBonus(NamedTuple):
    """A bonus that a participant has earned."""

    participant: str
    """The pseudonym."""
    rule: str
    amount: Sum
    session: str
    """Their last session."""
    reason: str


@dataclass(frozen=True)
class EarnedBonuses:
    """All bonuses by rule; none where the file has problems."""

    by_rule: dict[str, list[EarnedBonus]]
    problems: tuple[Problem, ...] = ()


def read_bonuses(study: Study) -> EarnedBonuses:
    """Return the bonuses in clean/bonus.csv, by the study's rules; none where the file has problems."""
    bonus = study.clean.bonus
    rules = {name: rule for name in ("quantity", "quality") if bonus and (rule := getattr(bonus, name)) is not None}
    if not rules:
        return EarnedBonuses({})
    if not (study.folder / BONUS_FILE).is_file():
        missing = Problem(BONUS_FILE, "is not there, and it says who gets a bonus", "", "Run `beholder clean` first.")
        return EarnedBonuses({}, (missing,))
    problems: list[Problem] = []
    currency = money(next(iter(rules.values())).each).currency
    bonuses = _read_rows(study, currency, problems)
    if problems:
        return EarnedBonuses({}, tuple(problems))
    return EarnedBonuses({rule: [one for one in bonuses if one.rule == rule] for rule in rules})


def _read_rows(study: Study, currency: str, problems: list[Problem]) -> list[EarnedBonus]:
    if not {*_COLUMNS} & {*column_names(study.folder, BONUS_FILE)}:
        problems.append(Problem(f"{BONUS_FILE}:1", "names no column", ", ".join(_COLUMNS), _FIX))
        return []
    bonuses: dict[tuple[str, str], EarnedBonus] = {}
    for line in read_lines(study.folder, BONUS_FILE, _COLUMNS, problems):
        one = _read_row(line, currency, problems)
        if one is None:
            continue
        if (one.participant, one.rule) in bonuses:
            what = f"is a second {one.rule} bonus for {one.participant}"
            problems.append(Problem(line.where, what, "one for each person and rule", _FIX))
        bonuses[one.participant, one.rule] = one
    return list(bonuses.values())


def _read_row(line: CsvLine, currency: str, problems: list[Problem]) -> EarnedBonus | None:
    cells = line.cells
    amount = f"{cells['amount']} {cells['currency']}"
    if not is_money(amount) or cells["currency"] != currency:
        allowed = f"an amount above 0 in {currency}, such as 0.50 {currency}"
        problems.append(Problem(line.where, f"amount is {amount.strip() or 'empty'}", allowed, _FIX))
        return None
    return EarnedBonus(cells["participant"], cells["rule"], money(amount), cells["session"], cells["reason"])


# Submissions and sessions


@dataclass(frozen=True)
class PayableVisit:
    """A submission, or a visit where no platform lists submissions: its participant and its sessions."""

    participant: str
    """The pseudonym."""
    platform_id: str
    """Of the participant; written only to lists that a person pays by hand."""
    sessions: tuple[ArrivedSession, ...]
    status: Status | None = None
    """None where there is no platform."""


@dataclass(frozen=True)
class PayFacts:
    """Everything that debts follow from, besides the signatures."""

    launched: LaunchRecord | None
    reward: Sum | None
    """As launched, whatever the study says now; as the study says where it never was launched."""
    screen_out: Sum | None
    visits: Mapping[str, PayableVisit]
    """By submission."""
    minutes: tuple[float, ...]
    """Durations of completed sessions, by our clock."""
    platform_minutes: tuple[float, ...]
    bonuses: EarnedBonuses
    has_come: bool = False
    """Whether any participant has come."""

    def status(self, submission: str) -> Status | None:
        """Return the status of a submission on its platform."""
        visit = self.visits.get(submission)
        return visit.status if visit is not None else None


async def pay_facts(context: RecruitContext, entries: Sequence[LedgerEntry]) -> PayFacts:
    """Return the current facts."""
    launched = launch_record(entries, context.study.run)
    listed = await _read_submissions(context, launched)
    sessions, ends = await read_rows(context.store, "sessions"), await read_rows(context.store, "ends")
    all_sessions = arrived_sessions(sessions, ends)
    own = {str(row["session"]) for row in sessions if row["run"] == context.study.run}
    arrived = [one for one in all_sessions if one.session in own]
    platform_visits = [
        *await context.store.platform_visits(),
        *erased_visits(entries, listed or (), context.store.secret, context.study.recruit.mode),
    ]
    links = await context.store.platform_identities()
    ids = {link.participant: link.platform_id for link in links}
    by_session = {one.session: one for one in all_sessions}  # also of earlier runs, of which a list may be open
    signed = signed_rows(entries)
    visits: dict[str, PayableVisit] = {}
    for pair in match_submissions(listed or (), arrived, links, platform_visits):
        one = pair.submission
        if one is not None:
            # Identities may have been purged since the signature.
            row = signed.get(one.id)
            names = pair.sessions or (row.sessions if row is not None else ())
            of_it = tuple(by_session[session] for session in names if session in by_session)
            person = pair.participant or (row.participant if row is not None else "")
            visits[one.id] = PayableVisit(person, one.participant, of_it, one.status)
    if context.is_by_hand:  # a session that a platform does not list did not come from there
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


async def refresh_facts(context: RecruitContext, facts: PayFacts) -> PayFacts:
    """Return the facts with the current status of the submissions."""
    listed = {one.id: one.status for one in await _read_submissions(context, facts.launched) or ()}
    visits = {
        id_: replace(visit, status=listed.get(id_, visit.status)) if listed else visit
        for id_, visit in facts.visits.items()
    }
    return replace(facts, visits=visits)


async def _read_submissions(context: RecruitContext, launched: LaunchRecord | None) -> Sequence[Submission] | None:
    """Return the platform's submissions; None where none are listed."""
    if launched is None or context.is_by_hand:
        return None
    with platform_errors(context.study):
        return await context.recruiter.submissions(launched.posting)


def _minutes(arrived: Sequence[ArrivedSession], sessions: Rows, ends: Rows) -> tuple[float, ...]:
    began, ended = ({row["session"]: row["at"] for row in rows} for rows in (sessions, ends))
    done = [one.session for one in arrived if one.outcome == "completed"]
    return tuple((ended[one] - began[one]).total_seconds() / 60 for one in done)
