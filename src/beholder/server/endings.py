"""How sessions end: the stored end, the last page, completion codes and return addresses."""

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
    """Ends sessions, each with its receipt and, if due, its completion code and return address."""

    def __init__(
        self, study: Study, store: Store, texts: Mapping[str, str], page_checks: PageChecks, ending_texts: EndingTexts
    ) -> None:
        self._study, self._store, self._texts = study, store, texts
        self._page_checks, self._ending_texts = page_checks, ending_texts
        self._ids: dict[str, str] = {}

    def end_fact(self, session: str, ending: Ending, now: datetime) -> End:
        """Return the end of a session to store."""
        secret = self._store.secret
        code = code_for(self._study, secret, session, ending.outcome) or ""
        return End(session, ending.outcome, ending.reason, code, tokens.receipt_code(secret, session), now)

    def erased_end(self, session: str, now: datetime) -> End:
        """Return the end of a session that was erased while it was open. It is not stored, and has no receipt."""
        return replace(self.end_fact(session, Ending("withdrawn", "participant"), now), receipt="")

    async def last_page(
        self, facts: SessionFacts, end: End, script: Script, offer: Offer | None = None
    ) -> dict[str, Json]:
        """Return the last page, with the offer of another session if there is one."""
        # A session erased after its end keeps its stored outcome, but its page is that of a withdrawal.
        outcome = "withdrawn" if facts.erased and end.outcome != "no_consent" else end.outcome
        ours = self._texts.get("thanks" if outcome == "completed" else outcome, self._texts["screened_out"])
        has_code = outcome not in WITHOUT_OWN_CODE or self._study.recruit.mode in ("panel", "prolific")
        return public_end(
            script,
            outcome,
            (self._reason_text(facts, end, script) if outcome == end.outcome else "") or ours,
            code=end.code or None if has_code else None,
            return_url=await self._return_url(facts, end),
            receipt=end.receipt or None,
            answers=len({base_key(key) for key in facts.answers if key.startswith("trial:")}),
            seconds=(end.at - facts.session.at).total_seconds(),
            ended_at=end.at,
            again=None if offer is None else public_offer(offer, self._study, self._next_session_url(facts)),
        )

    def remember_platform_id(self, participant: str, platform_id: str) -> None:
        """Cache a platform id that the return address needs: after a withdrawal the store no longer has it."""
        if platform_id and needs_id(self._study):
            self._ids[participant] = platform_id

    async def _return_url(self, facts: SessionFacts, end: End) -> str | None:
        participant = facts.session.participant
        if needs_id(self._study) and participant not in self._ids:
            self._ids |= {link.participant: link.platform_id for link in await self._store.platform_identities()}
        return return_url(self._study, end.code, end.outcome, self._ids.get(participant))

    def _next_session_url(self, facts: SessionFacts) -> str:
        token = tokens.session_token(self._store.secret, self._study.name, facts.session.session)
        return f"/s/{self._study.name}?again={token}"

    def _reason_text(self, facts: SessionFacts, end: End, script: Script) -> str:
        """Return the text on what ended this session early."""
        if end.outcome == "failed_checks":
            return self._ending_texts.text(facts, end, script)
        return self._page_checks.refusal_text(end.reason)


def public_offer(offer: Offer, study: Study, url: str) -> Json:
    """Return the offer of another session for the last page; without an address where it is a separate visit."""
    is_own = has_visit_per_session(study.recruit)
    is_round = study.recruit.mode == "prolific" and not is_own
    return {
        "url": None if is_own else url, "minutes": offer.minutes, "number": offer.number, "of": offer.of,
        "earns": offer.earns, "bonus": None if offer.bonus is None else list(offer.bonus), "before_return": is_round,
    }  # fmt: skip


# Sessions ended by a rule

_ASKING: Mapping[str, Role] = {"attention": "attention", "trap": "trap"}
"""Rules whose stimuli state the right answer themselves. What other rules expect is never shown."""
_MARKS = re.compile(r"([!-/:-@\[-`{-~])")


class EndingTexts:
    """The last page of sessions that a rule ended; `own` are our texts about each rule."""

    def __init__(self, served: ServedStudy, words: Mapping[str, str], own: Words) -> None:
        self._method, self._contact, self._words, self._own = served.method, served.study.contact, words, own

    def text(self, facts: SessionFacts, end: End, script: Script) -> str:
        """Return the page as HTML."""
        name = end.reason.partition(":")[0]
        lines = []
        for stored in failures(facts.verdicts, name):
            step, off = script.find(stored.key), rule_result(stored, name).get("measured")
            if step is not None:
                lines += self._lines(script, step, name, off if isinstance(off, Mapping) else ())
        return self._page(name, lines)

    def sample(self, script: Script) -> str:
        """Return a sample of such a page for previews; empty where no rule ends a session."""
        for name, rule in script.rules.items():
            if rule.end_after is not None:
                trials = [step for step in script.steps if step.is_rated]
                matching = [step for step in trials if _stating(step, name)] or trials
                shown = matching[: rule.end_after]
                return self._page(
                    name, [line for one in shown for line in self._lines(script, one, name, _stating(one, name))]
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
        """Return a line for each stimulus that was not answered as it asked: its page, and what it asked."""
        trial, words = _trial(step), self._words
        page, _ = script.page(script.place(step.key))
        stating = _stating(step, name)
        lines = []
        for where in off:
            if where in stating:
                label = message_label(self._method, trial, where)
                said = _plain(message_text(self._method, trial, where, words))
                lines.append(words["out_page_of" if label else "out_page"].format(page=page, label=label, said=said))
        return list(dict.fromkeys(lines)) or [words["out_only_page"].format(page=page)]


def _stating(step: PlannedStep, name: str) -> list[str]:
    """Return where the stimuli of a trial state the answer, by question and slot."""
    role = _ASKING.get(name)
    return [] if role is None else list(targets_of(AnsweredTrial(step.key, _trial(step), None, ()), role))


def _plain(text: str) -> str:
    """Return a text that Markdown leaves as it is."""
    return _MARKS.sub(r"\\\1", text)


def _trial(step: PlannedStep) -> Trial:
    assert step.trial is not None, step.key
    return step.trial


# Completion codes and return addresses

CODED: tuple[Outcome, ...] = (
    "completed", "screened_out", "wrong_device", "no_consent", "failed_checks", "technical",
)  # fmt: skip
"""Outcomes with a code; a withdrawal uses the code of no_consent."""
PROLIFIC_APP = "https://app.prolific.com"
"""Where participants return to on Prolific; a rehearsal sets the environment variable BEHOLDER_PROLIFIC_APP."""
WITHOUT_OWN_CODE = ("no_consent", "withdrawn")
"""Outcomes without an individual code: only a code that is the same for everybody is given."""


def shared_codes(study: Study, secret: bytes) -> Mapping[Outcome, str]:
    """Return the codes that are the same for everybody; empty where each session has its own or there are none."""
    if study.recruit.mode == "prolific":
        of = f"{study.name}/{study.run}"
        return {outcome: tokens.completion_code(secret, of, outcome).replace("-", "") for outcome in CODED}
    if study.recruit.mode == "panel":
        written = study.recruit.codes.model_dump(exclude_none=True)
        return {outcome: str(written[outcome]) for outcome in CODED if outcome in written}
    return {}


def code_for(study: Study, secret: bytes, session: str, outcome: Outcome) -> str | None:
    """Return the completion code of a session with this outcome; None without one."""
    if study.recruit.mode == "lab" or (study.recruit.mode == "link" and outcome == "technical"):
        return None
    kind = _coded_outcome(outcome)
    shared = shared_codes(study, secret).get(kind)
    if shared is not None or outcome in WITHOUT_OWN_CODE:
        return shared
    return tokens.completion_code(secret, session, kind)


def return_url(study: Study, code: str | None, outcome: Outcome, platform_id: str | None) -> str | None:
    """Return the return address; None where the study has none, or a value in it is unknown."""
    if study.recruit.mode == "prolific":
        return f"{_app()}/submissions/complete?{urlencode({'cc': code})}" if code else None
    if study.recruit.mode != "panel":
        return None
    address: str | None = getattr(study.recruit.return_to, _coded_outcome(outcome))
    if address is None:
        return None
    for name, value in (("{code}", code), ("{id}", platform_id)):
        if name in address:
            if not value:
                return None
            address = address.replace(name, quote(value, safe=""))
    return address


def needs_id(study: Study) -> bool:
    """Return whether a return address contains the platform id."""
    addresses = study.recruit.return_to.model_dump(exclude_none=True).values()
    return any("{id}" in address for address in addresses)


def platform_home(study: Study) -> str | None:
    """Return the platform's home page, for participants who are refused; None where it is unknown."""
    return f"{_app()}/" if study.recruit.mode == "prolific" else None


def _app() -> str:
    return os.environ.get("BEHOLDER_PROLIFIC_APP", PROLIFIC_APP).rstrip("/")


def _coded_outcome(outcome: Outcome) -> Outcome:
    """Return the outcome whose code and address are used: a withdrawal counts as no consent."""
    return "no_consent" if outcome == "withdrawn" else outcome
