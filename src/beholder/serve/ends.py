"""How sessions end: what is kept of it, and the page that says so."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from beholder.serve import tokens
from beholder.serve.examiner import Examiner
from beholder.serve.farewell import Farewell
from beholder.serve.flow import Ending
from beholder.serve.public import public_end
from beholder.serve.script import Script, place_key
from beholder.store.contract import End, SessionFacts
from beholder.types import Json

CODED = ("completed", "screened_out", "wrong_device", "failed_checks")
"""Outcomes that come with a code, each with its own: a whole ledger, and a person who was turned away."""


class Ends:
    """Ends sessions, each with its receipt and, where one is due, its code."""

    def __init__(
        self, study: str, secret: bytes, texts: Mapping[str, str], examiner: Examiner, farewell: Farewell
    ) -> None:
        self._study, self._secret, self._texts = study, secret, texts
        self._examiner, self._farewell = examiner, farewell

    def fact(self, session: str, ending: Ending, now: datetime) -> End:
        """Return what is kept of an end."""
        is_coded = ending.outcome in CODED
        code = tokens.completion_code(self._secret, session, ending.outcome) if is_coded else ""
        return End(session, ending.outcome, ending.reason, code, tokens.receipt_code(self._secret, session, now), now)

    def step(self, facts: SessionFacts, end: End, script: Script, minutes: int | None = None) -> dict[str, Json]:
        """Return the last page; `minutes`: how long another session takes, where there is one."""
        # Whoever withdraws after the end has an end of another kind among the facts, and reads of the withdrawal.
        outcome = "withdrawn" if facts.erased and end.outcome != "no_consent" else end.outcome
        ours = self._texts.get("thanks" if outcome == "completed" else outcome, self._texts["screened_out"])
        return public_end(
            script,
            outcome,
            (self._said(facts, end, script) if outcome == end.outcome else "") or ours,
            code=end.code or None,
            receipt=end.receipt or None,
            answers=len({place_key(key) for key in facts.answers if key.startswith("trial:")}),
            seconds=(end.at - facts.session.at).total_seconds(),
            ended_at=end.at,
            again=None if minutes is None else self._again(facts, minutes),
        )

    def _again(self, facts: SessionFacts, minutes: int) -> Json:
        token = tokens.session_token(self._secret, self._study, facts.session.session)
        return {"url": f"/s/{self._study}?again={token}", "minutes": minutes}

    def _said(self, facts: SessionFacts, end: End, script: Script) -> str:
        """Return what belongs to this end alone: what turned the person away."""
        if end.outcome == "failed_checks":
            return self._farewell.text(facts, end, script)
        return self._examiner.out(end.reason)
