"""Proposals: read the evidence, and propose a decision for each submission."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from beholder.cleaning.decisions import reason_words
from beholder.cleaning.facts import LEFT_OUT, TABLES, TAKEN_IN, UseDecision, use_decisions
from beholder.cleaning.payouts import rejection_message
from beholder.cleaning.screening import JudgedPopulation, judge_tables
from beholder.cleaning.sessions import JudgedSession
from beholder.errors import Problem, RecruitError
from beholder.methods import find
from beholder.methods.contract import Method
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.contract import Category, CodeFinding, DecisionRow, Pay, Status, Submission, platform_errors
from beholder.recruiting.launch_record import launch_record, promised_pay
from beholder.recruiting.ledger import last_purge
from beholder.recruiting.panel import plain_code
from beholder.recruiting.reconciliation import (
    DATA_STATES,
    REASON_WORDS,
    ArrivedSession,
    DataState,
    MatchedSubmission,
    Proposal,
    ReconciliationCase,
    arrived_sessions,
    erased_visits,
    match_submissions,
    propose,
    propose_manual,
    propose_unlisted,
    submission_codes,
)
from beholder.server.entrances import shared_codes
from beholder.server.tokens import pseudonym
from beholder.store.contract import LedgerEntry, PlatformVisit
from beholder.store.open import read_rows
from beholder.study.model import Study
from beholder.study.recruitment import Sum, modes_where
from beholder.types import Outcome
from beholder.words import read_words

_RETURN_WAIT = timedelta(days=7)
"""How long a participant has to return a submission on request, before a person looks."""
_EARLIER = "plan:earlier"
_DONE: dict[Pay, str] = {
    "approve": "Everything is here",
    "nothing": "Nothing is left to do",
    "screen_out": "Did not fit, and is paid for that",
    "wait": "Not over yet",
}
"""What a row without a reason says."""


@dataclass(frozen=True)
class ProposalRow:
    """The proposal for a submission, and what an edit of it depends on."""

    decided: DecisionRow
    data: DataState
    proposal: Proposal
    is_ours: bool = True
    """Whether it can be paid at all."""
    platform_id: str = ""
    """Of the participant, where the platform gave it; for a person who has to find them there."""


class ProposalTable:
    """Makes the rows of a study from its evidence."""

    def __init__(self, study: Study, secret: bytes, evidence: DecisionEvidence, now: datetime) -> None:
        self._study, self._secret, self._evidence, self._now = study, secret, evidence, now
        judging = evidence.judging
        self._judged = {one.visit.session: one for one in judging.judged} if judging is not None else {}
        self._rules = judging.study if judging is not None else study
        self._method: Method = find(study.method)
        self.promised = promised_pay(launch_record(evidence.entries, study.run), study.recruit)
        self._return_requests = {
            one.submission: one.at for one in _of_kind(evidence.entries, "return", ("accepted", "settled"))
        }
        self._refused = {one.submission for one in _of_kind(evidence.entries, "approve", ("refused",))}
        self._rejected = {one.submission for one in _of_kind(evidence.entries, "reject", ("accepted", "settled"))}
        self._visits = {one.session: one.submission for one in evidence.visits if one.submission}

    def all(self) -> list[ProposalRow]:
        """Return every row, in the order of the platform; then sessions without a submission."""
        rows: dict[str, ProposalRow] = {}
        for pair in self._pairs():
            key = self._key(pair)
            rows[key] = self._row(key, pair)
        return list(rows.values())

    def _pairs(self) -> Sequence[MatchedSubmission]:
        """Return submissions with their sessions; where no platform lists any, visits that are paid by hand."""
        if self._evidence.is_listed or not self._study.recruit.source.has_submission_list:
            return self._evidence.pairs
        by_key: dict[str, list[MatchedSubmission]] = {}
        for pair in self._evidence.pairs:
            by_key.setdefault(self._key(pair), []).append(pair)
        return [
            MatchedSubmission(None, some[0].participant, tuple(session for one in some for session in one.sessions))
            for some in by_key.values()
        ]

    def _key(self, pair: MatchedSubmission) -> str:
        """Return the permanent key of a row: never somebody's id on a platform."""
        if pair.submission is None:
            if not self._study.recruit.source.has_submission_list:
                return pair.sessions[0]
            visit = self._visits.get(pair.sessions[0]) if self._study.recruit.visit_parameter else None
            return visit or self._of_run(pair.participant)
        if pair.submission.id != pair.submission.participant:
            return pair.submission.id
        person = pair.participant or pseudonym(self._secret, self._study.recruit.mode, pair.submission.participant)
        return self._of_run(person)

    def _of_run(self, person: str) -> str:
        """Return the key of a participant's row in this run: taking part in two runs is paid twice."""
        return person if self._study.run == 1 else f"{person}-{self._study.run}"

    def _row(self, key: str, pair: MatchedSubmission) -> ProposalRow:
        sessions = [self._evidence.arrived[one] for one in pair.sessions]
        main = self._paid_session(sessions)
        data: DataState = DATA_STATES[main.outcome] if main is not None else self._data_by_code(pair.submission)
        judged = self._judged.get(main.session) if main is not None else None
        code = self._code_finding(pair.submission)
        proposal = self._proposal(key, pair.submission, data, code, self._accept(main))
        category, message = _proposed_message(
            proposal.pay, data, code, judged, self._rules, self._method, self.promised.screen_out
        )
        if judged is not None and not judged.decision.is_refusable:
            proposal = proposal._replace(grounds=proposal.grounds - {"FAILED_CHECK"})
        use = proposal.is_kept and any(self._is_used(one) for one in sessions)
        final_use = self._final_use(sessions, use)
        reasons = (*proposal.reasons, *self._reasons(sessions))
        status: Status = pair.submission.status if pair.submission is not None else self._status(main)
        decided = DecisionRow(
            submission=key,
            participant=pair.participant,
            sessions=pair.sessions,
            outcome=main.outcome if main is not None else None,
            status=status,
            code=code,
            proposed=proposal.pay,
            pay=proposal.pay,
            use=final_use,
            is_use_changed=False,
            reasons=reasons,
            words="; ".join(_reason_text(reason) for reason in reasons) or _DONE.get(proposal.pay, ""),
            category=category,
            message=message,
            further=self._further(sessions, main),
            grounds=tuple(sorted(proposal.grounds)) if status == "awaiting_review" else (),
        )
        is_ours = pair.submission is not None or not self._evidence.is_listed
        id_ = pair.submission.participant if pair.submission is not None else ""
        return ProposalRow(decided, data, proposal, is_ours, id_)

    def _paid_session(self, sessions: Sequence[ArrivedSession]) -> ArrivedSession | None:
        """Return the session that the reward pays: the first accepted, else completed, else the last."""
        whole = [one for one in sessions if one.outcome == "completed"]
        accepted = [one for one in whole if self._accept(one)]
        return next(iter([*accepted, *whole, *reversed(sessions)]), None)

    def _further(self, sessions: Sequence[ArrivedSession], main: ArrivedSession | None) -> tuple[str, ...]:
        others = [one for one in sessions if one is not main and one.outcome == "completed"]
        return tuple(one.session for one in others if self._accept(one))

    def _accept(self, one: ArrivedSession | None) -> bool | None:
        """Return the verdict about the pay; erased sessions and those of another plan are paid."""
        if one is None or one.session in self._evidence.erased or one.session not in self._judged:
            return True
        return self._judged[one.session].decision.accept

    def _data_by_code(self, submission: Submission | None) -> DataState:
        """Return the data state without a session: those who did not consent, or withdrew, are erased."""
        code = self._evidence.common.get("no_consent")
        is_left = submission is not None and bool(code) and plain_code(submission.code) == plain_code(code or "")
        return "declined" if is_left else "none"

    def _code_finding(self, submission: Submission | None) -> CodeFinding:
        return "none" if submission is None else self._evidence.codes[submission.id]

    def _proposal(
        self, key: str, submission: Submission | None, data: DataState, code: CodeFinding, accept: bool | None
    ) -> Proposal:
        pays_screen_out = self.promised.screen_out is not None
        if submission is None:
            if self._evidence.is_listed:
                return Proposal("nothing") if data == "declined" else propose_unlisted()
            return propose_manual(data, accept, pays=self.promised.reward is not None, pays_screen_out=pays_screen_out)
        requested_at = self._return_requests.get(key) or (
            submission.completed_at if submission.is_return_requested else None
        )
        return propose(
            ReconciliationCase(
                data=data,
                status=submission.status,
                code=code,
                accept=accept,
                has_waited=requested_at is not None and self._now - requested_at >= _RETURN_WAIT,
                is_refused=key in self._refused,
                is_ours=key in self._rejected,
                pays_screen_out=pays_screen_out,
            )
        )

    def _status(self, main: ArrivedSession | None) -> Status:
        """Return the status of a visit that no platform counts."""
        if self._evidence.is_listed:
            return "unknown"
        return "active" if main is not None and main.outcome is None else "awaiting_review"

    def _is_used(self, one: ArrivedSession) -> bool:
        return one.session in self._judged and self._judged[one.session].decision.use

    def _final_use(self, sessions: Sequence[ArrivedSession], use: bool) -> bool:
        """Return the final use: decisions of people override rules and platform."""
        acts = [self._evidence.acts[one.session] for one in sessions if one.session in self._evidence.acts]
        manual = [act for act in acts if act.reason in (LEFT_OUT, TAKEN_IN)]
        return not max(manual, key=lambda act: act.entry).is_left_out if manual else use

    def _reasons(self, sessions: Sequence[ArrivedSession]) -> tuple[str, ...]:
        reasons: dict[str, None] = {}
        for one in sessions:
            judged = self._judged.get(one.session)
            reasons |= dict.fromkeys(judged.decision.reasons if judged is not None else (_EARLIER,))
        return tuple(reasons)


def _reason_text(reason: str) -> str:
    return REASON_WORDS.get(reason) or ("Came under an earlier plan" if reason == _EARLIER else reason_words(reason))


def _of_kind(entries: Sequence[LedgerEntry], kind: str, events: tuple[str, ...]) -> list[LedgerEntry]:
    return [one for one in entries if one.kind == kind and one.event in events]


# Evidence: judged sessions, the platform's submissions, and which belong together


@dataclass(frozen=True)
class DecisionEvidence:
    """The evidence for decisions."""

    pairs: Sequence[MatchedSubmission]
    arrived: Mapping[str, ArrivedSession]
    """Our sessions of this run, in the order of arrival."""
    erased: frozenset[str]
    judging: JudgedPopulation | None
    """By the rules alone, without decisions of people; None where nobody has come."""
    acts: Mapping[str, UseDecision]
    """Decisions of people about the use of sessions."""
    codes: Mapping[str, CodeFinding]
    """The finding about each submission's code."""
    common: Mapping[Outcome, str]
    """The codes that are the same for everybody."""
    visits: Sequence[PlatformVisit]
    entries: Sequence[LedgerEntry]
    is_listed: bool
    """Whether a platform counts submissions, and has listed them."""


async def read_evidence(context: RecruitContext, submissions: Path | None) -> DecisionEvidence:
    """Return the evidence: the store, and the submissions of the platform or of its list."""
    tables: dict[str, list[dict[str, Any]]] = {table: await read_rows(context.store, table) for table in TABLES}
    entries = await context.store.ledger.entries()
    listed = await _submissions(context, submissions, entries)
    arrived = arrived_sessions([row for row in tables["sessions"] if row["run"] == context.study.run], tables["ends"])
    visits = [
        *await context.store.platform_visits(),
        *erased_visits(entries, listed or (), context.store.secret, context.study.recruit.mode),
    ]
    if listed is not None:
        _check_identity(context, entries)
    pairs = match_submissions(listed or (), arrived, await context.store.platform_identities(), visits)
    common = shared_codes(context.study, context.store.secret)
    return DecisionEvidence(
        pairs=pairs,
        arrived={one.session: one for one in arrived},
        erased=frozenset(str(row["session"]) for row in tables["erasures"]),
        # Without the ledger: decisions of people are in `acts`, and must not count twice.
        judging=judge_tables(context.study, {**tables, "ledger": []}) if arrived else None,
        acts=use_decisions(tables["ledger"]),
        codes=submission_codes(pairs, arrived, common),
        common=common,
        visits=visits,
        entries=entries,
        is_listed=listed is not None,
    )


async def _submissions(
    context: RecruitContext, listed: Path | None, entries: Sequence[LedgerEntry]
) -> Sequence[Submission] | None:  # fmt: skip
    """Return the platform's submissions; None where no platform counts any."""
    if listed is not None:
        if not context.study.recruit.source.has_submission_list:
            what = f"does not go with mode {context.study.recruit.mode}"
            modes = modes_where(lambda source: source.has_submission_list)
            allowed = f"mode {modes}, whose platform gives a list to download"
            raise RecruitError(Problem("--submissions", what, allowed))
        from beholder.recruiting.panel import read_submissions

        return read_submissions(listed, context.study)
    if context.is_by_hand:
        return None
    launched = launch_record(entries, context.study.run)
    if launched is None:
        what = f"run {context.study.run} is not on the platform yet, so there is nothing to decide"
        raise RecruitError(Problem(context.study.name, what, fix="Run `beholder launch` first."))
    with platform_errors(context.study):
        return await context.recruiter.submissions(launched.posting)


def _check_identity(context: RecruitContext, entries: Sequence[LedgerEntry]) -> None:
    """Raise RecruitError where identities were purged, so that nobody is taken for having done nothing."""
    purge = last_purge(entries)
    if purge is not None:
        raise RecruitError(
            Problem(
                context.study.name,
                f"who is who was erased on {purge.at:%Y-%m-%d}, so submissions and sessions cannot be matched any more",
                fix="Decide and pay on the platform itself.",
            )
        )


# Messages to participants


def _proposed_message(
    pay: Pay,
    data: DataState,
    code: CodeFinding,
    judged: JudgedSession | None,
    study: Study,
    method: Method,
    screen_out: Sum | None,
) -> tuple[Category | None, str]:
    """Return the category and the message for a proposal; nothing where no message is sent.

    `screen_out` is the amount that screen-outs are paid.
    """
    if pay == "screen_out":
        key = "paid_no_place" if code == "no_place" else "paid_screened_out"
        return None, read_words(study.language).say(key, amount=screen_out)
    if pay == "return":
        kind = data if data in ("screened_out", "wrong_device", "declined") else "partial"
        return None, read_words(study.language)[f"return_{kind}"]
    if pay == "reject" and judged is not None:
        return "FAILED_CHECK", rejection_message(judged, study, method)
    return None, ""
