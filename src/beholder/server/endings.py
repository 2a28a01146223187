"""How sessions end: what is kept of it, and the page that says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from beholder.serve import tokens
from beholder.serve.again import Offer
from beholder.serve.examiner import Examiner
from beholder.serve.farewell import Farewell
from beholder.serve.flow import Ending
from beholder.serve.public import public_end
from beholder.serve.returning import LEFT, code_for, needs_id, return_url
from beholder.serve.script import Script, place_key
from beholder.store.contract import End, SessionFacts, Store
from beholder.study.model import Study
from beholder.study.recruiting import is_visit_each
from beholder.types import Json


class Ends:
    """Ends sessions, each with its receipt and, where one is due, its code and the way back."""

    def __init__(
        self, study: Study, store: Store, texts: Mapping[str, str], examiner: Examiner, farewell: Farewell
    ) -> None:
        self._study, self._store, self._texts = study, store, texts
        self._examiner, self._farewell = examiner, farewell
        self._ids: dict[str, str] = {}

    def fact(self, session: str, ending: Ending, now: datetime) -> End:
        """Return what is kept of an end."""
        secret = self._store.secret
        code = code_for(self._study, secret, session, ending.outcome) or ""
        return End(session, ending.outcome, ending.reason, code, tokens.receipt_code(secret, session), now)

    def gone(self, session: str, now: datetime) -> End:
        """Return the end of a session that was erased while it was open. It is not kept, and has no receipt."""
        return replace(self.fact(session, Ending("withdrawn", "participant"), now), receipt="")

    async def step(self, facts: SessionFacts, end: End, script: Script, offer: Offer | None = None) -> dict[str, Json]:
        """Return the last page; `offer`: what another session is like, where there is one."""
        # Whoever withdraws after the end has an end of another kind among the facts, and reads of the withdrawal.
        outcome = "withdrawn" if facts.erased and end.outcome != "no_consent" else end.outcome
        ours = self._texts.get("thanks" if outcome == "completed" else outcome, self._texts["screened_out"])
        is_taken_back = outcome not in LEFT or self._study.recruit.mode in ("panel", "prolific")
        return public_end(
            script,
            outcome,
            (self._said(facts, end, script) if outcome == end.outcome else "") or ours,
            code=end.code or None if is_taken_back else None,
            return_url=await self._return_url(facts, end),
            receipt=end.receipt or None,
            answers=len({place_key(key) for key in facts.answers if key.startswith("trial:")}),
            seconds=(end.at - facts.session.at).total_seconds(),
            ended_at=end.at,
            again=None if offer is None else public_offer(offer, self._study, self._again(facts)),
        )

    def know(self, participant: str, platform_id: str) -> None:
        """Remember somebody's id until the server stops, where the way back is made of it: they may withdraw."""
        if platform_id and needs_id(self._study):
            self._ids[participant] = platform_id

    async def _return_url(self, facts: SessionFacts, end: End) -> str | None:
        participant = facts.session.participant
        if needs_id(self._study) and participant not in self._ids:
            self._ids |= {link.participant: link.platform_id for link in await self._store.links()}
        return return_url(self._study, end.code, end.outcome, self._ids.get(participant))

    def _again(self, facts: SessionFacts) -> str:
        token = tokens.session_token(self._store.secret, self._study.name, facts.session.session)
        return f"/s/{self._study.name}?again={token}"

    def _said(self, facts: SessionFacts, end: End, script: Script) -> str:
        """Return what belongs to this end alone: what turned the person away."""
        if end.outcome == "failed_checks":
            return self._farewell.text(facts, end, script)
        return self._examiner.out(end.reason)


def public_offer(offer: Offer, study: Study, url: str) -> Json:
    """Return another session as the last page offers it; without an address where it is a visit of its own."""
    is_own = is_visit_each(study.recruit)
    is_round = study.recruit.mode == "prolific" and not is_own
    return {
        "url": None if is_own else url, "minutes": offer.minutes, "number": offer.number, "of": offer.of,
        "earns": offer.earns, "bonus": None if offer.bonus is None else list(offer.bonus), "before_return": is_round,
    }  # fmt: skip
