"""One row for each submission: what we have beside what the platform says, and what is proposed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from beholder.clean.decide import in_words
from beholder.clean.persons import LEFT_OUT, TAKEN_IN
from beholder.methods import find
from beholder.methods.contract import Method
from beholder.recruit.contract import Status, Submission
from beholder.recruit.deciding.evidence import Evidence
from beholder.recruit.deciding.messages import proposed_message
from beholder.recruit.decisions import Decided, Found, Pay
from beholder.recruit.launching.recorded import promised, recorded
from beholder.recruit.panel.codes import plain_code
from beholder.recruit.reconcile.cases import HELD, WORDS, Case, Held, Proposal
from beholder.recruit.reconcile.table import by_hand, elsewhere, propose
from beholder.recruit.reconcile.visits import Arrived, Paired
from beholder.serve.tokens import pseudonym
from beholder.store.contract import Entry
from beholder.study.model import Study

WAIT = timedelta(days=7)
"""How long somebody has to return what they were asked to return, before a person looks."""
_EARLIER = "plan:earlier"
_DONE: dict[Pay, str] = {
    "approve": "Everything is here",
    "nothing": "Nothing is left to do",
    "screen_out": "Did not fit, and is paid for that",
    "wait": "Not over yet",
}
"""What a row says that has no reason."""


@dataclass(frozen=True)
class Row:
    """What is proposed for a submission, and what a person may make of it."""

    decided: Decided
    held: Held
    proposal: Proposal
    is_ours: bool = True
    """Whether somebody can be paid for it at all."""
    platform_id: str = ""
    """Of the person, where a platform has told it; for a person who has to find them there."""


class Rows:
    """Makes the rows of a study from its evidence."""

    def __init__(self, study: Study, secret: bytes, evidence: Evidence, now: datetime) -> None:
        self._study, self._secret, self._evidence, self._now = study, secret, evidence, now
        judging = evidence.judging
        self._judged = {one.visit.session: one for one in judging.judged} if judging is not None else {}
        self._rules = judging.study if judging is not None else study
        self._method: Method = find(study.method)
        self.promised = promised(recorded(evidence.entries, study.run), study.recruit)
        self._asked = {one.submission: one.at for one in _of_kind(evidence.entries, "return", ("accepted", "settled"))}
        self._refused = {one.submission for one in _of_kind(evidence.entries, "approve", ("refused",))}
        self._rejected = {one.submission for one in _of_kind(evidence.entries, "reject", ("accepted", "settled"))}
        self._visits = {one.session: one.submission for one in evidence.comings if one.submission}

    def all(self) -> list[Row]:
        """Return every row, in the order of the platform; then sessions that no submission belongs to."""
        rows: dict[str, Row] = {}
        for pair in self._pairs():
            key = self._key(pair)
            rows[key] = self._row(key, pair)
        return list(rows.values())

    def _pairs(self) -> Sequence[Paired]:
        """Return submissions with their sessions; where no platform lists any, visits that are paid by hand."""
        if self._evidence.is_listed or self._study.recruit.mode != "panel":
            return self._evidence.pairs
        together: dict[str, list[Paired]] = {}
        for pair in self._evidence.pairs:
            together.setdefault(self._key(pair), []).append(pair)
        return [
            Paired(None, some[0].participant, tuple(session for one in some for session in one.sessions))
            for some in together.values()
        ]

    def _key(self, pair: Paired) -> str:
        """Return by what a row is known for ever: never by somebody's id on a platform."""
        if pair.submission is None:
            if self._study.recruit.mode != "panel":
                return pair.sessions[0]
            visit = self._visits.get(pair.sessions[0]) if self._study.recruit.visit_parameter else None
            return visit or self._of_run(pair.participant)
        if pair.submission.id != pair.submission.participant:
            return pair.submission.id
        person = pair.participant or pseudonym(self._secret, self._study.recruit.mode, pair.submission.participant)
        return self._of_run(person)

    def _of_run(self, person: str) -> str:
        """Return by what a person's row is known: who comes to two runs is paid for both."""
        return person if self._study.run == 1 else f"{person}-{self._study.run}"

    def _row(self, key: str, pair: Paired) -> Row:
        sessions = [self._evidence.arrived[one] for one in pair.sessions]
        main = self._main(sessions)
        held: Held = HELD[main.outcome] if main is not None else self._held_by_code(pair.submission)
        judged = self._judged.get(main.session) if main is not None else None
        found = self._found(pair.submission)
        proposal = self._proposal(key, pair.submission, held, found, self._accept(main))
        category, message = proposed_message(
            proposal.pay, held, found, judged, self._rules, self._method, self.promised.screen_out
        )
        if judged is not None and not judged.decision.is_refusable:
            proposal = proposal._replace(grounds=proposal.grounds - {"FAILED_CHECK"})
        use = proposal.is_kept and any(self._is_used(one) for one in sessions)
        stands = self._by_hand(sessions, use)
        reasons = (*proposal.reasons, *self._reasons(sessions))
        status: Status = pair.submission.status if pair.submission is not None else self._status(main)
        decided = Decided(
            submission=key,
            participant=pair.participant,
            sessions=pair.sessions,
            outcome=main.outcome if main is not None else None,
            status=status,
            code=found,
            proposed=proposal.pay,
            pay=proposal.pay,
            use=stands,
            is_use_changed=False,
            reasons=reasons,
            words="; ".join(_words(reason) for reason in reasons) or _DONE.get(proposal.pay, ""),
            category=category,
            message=message,
            further=self._further(sessions, main),
        )
        is_ours = pair.submission is not None or not self._evidence.is_listed
        id_ = pair.submission.participant if pair.submission is not None else ""
        return Row(decided, held, proposal, is_ours, id_)

    def _main(self, sessions: Sequence[Arrived]) -> Arrived | None:
        """Return the session that the reward is for: the first that is accepted, else finished, else the last."""
        whole = [one for one in sessions if one.outcome == "completed"]
        accepted = [one for one in whole if self._accept(one)]
        return next(iter([*accepted, *whole, *reversed(sessions)]), None)

    def _further(self, sessions: Sequence[Arrived], main: Arrived | None) -> tuple[str, ...]:
        others = [one for one in sessions if one is not main and one.outcome == "completed"]
        return tuple(one.session for one in others if self._accept(one))

    def _accept(self, one: Arrived | None) -> bool | None:
        """Return what cleaning says about the pay; whoever was forgotten, or came under another plan, is paid."""
        if one is None or one.session in self._evidence.erased or one.session not in self._judged:
            return True
        return self._judged[one.session].decision.accept

    def _held_by_code(self, submission: Submission | None) -> Held:
        """Return what we have where no session is left: who did not agree, or withdrew, has been erased."""
        code = self._evidence.common.get("no_consent")
        is_left = submission is not None and bool(code) and plain_code(submission.code) == plain_code(code or "")
        return "declined" if is_left else "none"

    def _found(self, submission: Submission | None) -> Found:
        return "none" if submission is None else self._evidence.codes[submission.id]

    def _proposal(
        self, key: str, submission: Submission | None, held: Held, code: Found, accept: bool | None
    ) -> Proposal:
        pays_screen_out = self.promised.screen_out is not None
        if submission is None:
            if self._evidence.is_listed:
                return Proposal("nothing") if held == "declined" else elsewhere()
            return by_hand(held, accept, pays=self.promised.reward is not None, pays_screen_out=pays_screen_out)
        asked = self._asked.get(key) or (submission.completed_at if submission.is_return_requested else None)
        return propose(
            Case(
                held=held,
                status=submission.status,
                code=code,
                accept=accept,
                has_waited=asked is not None and self._now - asked >= WAIT,
                is_refused=key in self._refused,
                is_ours=key in self._rejected,
                pays_screen_out=pays_screen_out,
            )
        )

    def _status(self, main: Arrived | None) -> Status:
        """Return how a visit stands that no platform counts."""
        if self._evidence.is_listed:
            return "unknown"
        return "active" if main is not None and main.outcome is None else "awaiting_review"

    def _is_used(self, one: Arrived) -> bool:
        return one.session in self._judged and self._judged[one.session].decision.use

    def _by_hand(self, sessions: Sequence[Arrived], use: bool) -> bool:
        """Return the use as it stands: what people have decided goes before what rules and platform say."""
        acts = [self._evidence.acts[one.session] for one in sessions if one.session in self._evidence.acts]
        by_hand = [act for act in acts if act.reason in (LEFT_OUT, TAKEN_IN)]
        return not max(by_hand, key=lambda act: act.entry).is_left_out if by_hand else use

    def _reasons(self, sessions: Sequence[Arrived]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for one in sessions:
            judged = self._judged.get(one.session)
            found |= dict.fromkeys(judged.decision.reasons if judged is not None else (_EARLIER,))
        return tuple(found)


def _words(reason: str) -> str:
    return WORDS.get(reason) or ("Came under an earlier plan" if reason == _EARLIER else in_words(reason))


def _of_kind(entries: Sequence[Entry], kind: str, events: tuple[str, ...]) -> list[Entry]:
    return [one for one in entries if one.kind == kind and one.event in events]
