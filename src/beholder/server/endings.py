"""How sessions end: what is kept of it, and the page that says so."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from urllib.parse import quote, urlencode

from beholder.checks.contract import AnsweredTrial
from beholder.checks.known_answers import targets_of
from beholder.methods.contract import Trial
from beholder.planning.known_answers import message_label, message_text
from beholder.server import tokens
from beholder.server.attempts import failures, rule_result
from beholder.server.flow import Ending
from beholder.server.further_sessions import Offer
from beholder.server.page_checks import PageChecks, Words
from beholder.server.public_steps import public_end
from beholder.server.script import PlannedStep, Script, ServedStudy, base_key
from beholder.store.contract import End, SessionFacts, Store
from beholder.study.model import Study
from beholder.study.recruitment import has_visit_per_session
from beholder.study.texts import markdown
from beholder.types import Json, Outcome, Role


class Endings:
    """Ends sessions, each with its receipt and, where one is due, its code and the way back."""

    def __init__(
        self, study: Study, store: Store, texts: Mapping[str, str], examiner: PageChecks, farewell: EndingTexts
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
        is_taken_back = outcome not in WITHOUT_OWN_CODE or self._study.recruit.mode in ("panel", "prolific")
        return public_end(
            script,
            outcome,
            (self._said(facts, end, script) if outcome == end.outcome else "") or ours,
            code=end.code or None if is_taken_back else None,
            return_url=await self._return_url(facts, end),
            receipt=end.receipt or None,
            answers=len({base_key(key) for key in facts.answers if key.startswith("trial:")}),
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
            self._ids |= {link.participant: link.platform_id for link in await self._store.platform_identities()}
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
    is_own = has_visit_per_session(study.recruit)
    is_round = study.recruit.mode == "prolific" and not is_own
    return {
        "url": None if is_own else url, "minutes": offer.minutes, "number": offer.number, "of": offer.of,
        "earns": offer.earns, "bonus": None if offer.bonus is None else list(offer.bonus), "before_return": is_round,
    }  # fmt: skip


# --- What somebody reads whose session a rule has ended: where it was, what was asked, and whom to write to ---


_ASKING: Mapping[str, Role] = {"attention": "attention", "trap": "trap"}
"""Rules whose stimuli said themselves which answer is right. What others expect is never told."""
_MARKS = re.compile(r"([!-/:-@\[-`{-~])")


class EndingTexts:
    """Writes the last page of sessions that a rule has ended; `own` are our words about each rule."""

    def __init__(self, served: ServedStudy, words: Mapping[str, str], own: Words) -> None:
        self._method, self._contact, self._words, self._own = served.method, served.study.contact, words, own

    def text(self, facts: SessionFacts, end: End, script: Script) -> str:
        """Return the page as HTML."""
        name = end.reason.partition(":")[0]
        lines = []
        for told in failures(facts.verdicts, name):
            step, off = script.find(told.key), rule_result(told, name).get("measured")
            if step is not None:
                lines += self._lines(script, step, name, off if isinstance(off, Mapping) else ())
        return self._page(name, lines)

    def sample(self, script: Script) -> str:
        """Return what such a page can look like, for a preview; empty where no rule ends a session."""
        for name, rule in script.rules.items():
            if rule.end_after is not None:
                trials = [step for step in script.steps if step.is_rated]
                met = [step for step in trials if _asked(step, name)] or trials
                shown = met[: rule.end_after]
                return self._page(
                    name, [line for one in shown for line in self._lines(script, one, name, _asked(one, name))]
                )
        return ""

    def _page(self, name: str, lines: Iterable[str]) -> str:
        words, contact = self._words, self._contact
        parts = [self._own.get(name, {}).get("out") or words["out"], "\n".join(f"- {line}" for line in lines)]
        parts.append(words["out_end"])
        if contact:
            link = contact if contact.startswith("https:") else f"mailto:{contact}"
            parts.append(words["out_contact"].format(contact=f"[{_plain(contact)}](<{link}>)"))
        return markdown("\n\n".join(part for part in parts if part))

    def _lines(self, script: Script, step: PlannedStep, name: str, off: Iterable[str]) -> list[str]:
        """Return a line for each stimulus of a trial that was not answered as it asked: its page, and what it asked."""
        trial, words = _trial(step), self._words
        page, _ = script.page(script.place(step.key))
        asked = _asked(step, name)
        lines = []
        for where in off:
            if where in asked:
                label = message_label(self._method, trial, where)
                said = _plain(message_text(self._method, trial, where, words))
                lines.append(words["out_page_of" if label else "out_page"].format(page=page, label=label, said=said))
        return list(dict.fromkeys(lines)) or [words["out_only_page"].format(page=page)]


def _asked(step: PlannedStep, name: str) -> list[str]:
    """Return what the stimuli of a trial ask for themselves, by question and slot."""
    role = _ASKING.get(name)
    return [] if role is None else list(targets_of(AnsweredTrial(step.key, _trial(step), None, ()), role))


def _plain(text: str) -> str:
    """Return a text that Markdown leaves as it is."""
    return _MARKS.sub(r"\\\1", text)


def _trial(step: PlannedStep) -> Trial:
    assert step.trial is not None, step.key
    return step.trial


# --- What people take back to where they came from: a code for each way in which a session ends, and an address ---


CODED: tuple[Outcome, ...] = (
    "completed", "screened_out", "wrong_device", "no_consent", "failed_checks", "technical",
)  # fmt: skip
"""Outcomes with a code of their own; whoever withdraws takes back that of those who did not agree."""
PROLIFIC_APP = "https://app.prolific.com"
"""Where people return to on Prolific; the environment variable BEHOLDER_PROLIFIC_APP puts a rehearsal in its place."""
WITHOUT_OWN_CODE = ("no_consent", "withdrawn")
"""Outcomes of those who did not want to take part: they get no code of their own, only what the study gives all."""


def shared_codes(study: Study, secret: bytes) -> Mapping[Outcome, str]:
    """Return the codes that are the same for everybody; empty where each session has its own, or there are none."""
    if study.recruit.mode == "prolific":
        of = f"{study.name}/{study.run}"
        return {outcome: tokens.completion_code(secret, of, outcome).replace("-", "") for outcome in CODED}
    if study.recruit.mode == "panel":
        written = study.recruit.codes.model_dump(exclude_none=True)
        return {outcome: str(written[outcome]) for outcome in CODED if outcome in written}
    return {}


def code_for(study: Study, secret: bytes, session: str, outcome: Outcome) -> str | None:
    """Return the code that a session with this outcome ends with; None where there is none to take back."""
    if study.recruit.mode == "lab" or (study.recruit.mode == "link" and outcome == "technical"):
        return None
    kind = _kind(outcome)
    shared = shared_codes(study, secret).get(kind)
    if shared is not None or outcome in WITHOUT_OWN_CODE:
        return shared
    return tokens.completion_code(secret, session, kind)


def return_url(study: Study, code: str | None, outcome: Outcome, platform_id: str | None) -> str | None:
    """Return where somebody goes back to; None where nothing is written, or the address needs what nobody knows."""
    if study.recruit.mode == "prolific":
        return f"{_app()}/submissions/complete?{urlencode({'cc': code})}" if code else None
    if study.recruit.mode != "panel":
        return None
    address: str | None = getattr(study.recruit.return_to, _kind(outcome))
    if address is None:
        return None
    for name, value in (("{code}", code), ("{id}", platform_id)):
        if name in address:
            if not value:
                return None
            address = address.replace(name, quote(value, safe=""))
    return address


def needs_id(study: Study) -> bool:
    """Return whether an address to go back to holds somebody's id."""
    addresses = study.recruit.return_to.model_dump(exclude_none=True).values()
    return any("{id}" in address for address in addresses)


def platform_home(study: Study) -> str | None:
    """Return the platform's own page, for whoever came in vain; None where it has none that we know."""
    return f"{_app()}/" if study.recruit.mode == "prolific" else None


def _app() -> str:
    return os.environ.get("BEHOLDER_PROLIFIC_APP", PROLIFIC_APP).rstrip("/")


def _kind(outcome: Outcome) -> Outcome:
    """Return the outcome whose code and address somebody gets: withdrawing takes back an agreement."""
    return "no_consent" if outcome == "withdrawn" else outcome
