"""The researcher's preview: any step as a participant sees it. It claims no list and stores nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

from beholder.checks.page_contract import RobotAbilities
from beholder.errors import Refused
from beholder.server import tokens
from beholder.server.endings import EndingTexts, code_for, public_offer, return_url
from beholder.server.flow import Ending, next_step
from beholder.server.further_sessions import FurtherSessions
from beholder.server.page_checks import PageChecks, check_of, rng_of, seed_of
from beholder.server.public_steps import DescribeMedia, public_end, public_step
from beholder.server.rendering import MediaAddresses, RenderedTexts
from beholder.server.requests import SubmittedAnswer
from beholder.server.script import CONSENT, PlannedStep, ServedStudy
from beholder.server.validation import AnswerReader
from beholder.store.contract import Session, SessionFacts, StoredVerdict
from beholder.types import Json, Outcome

SESSION = "preview"
"""The session name of previews in tokens and addresses; followed by the list unless it is the first."""
_SCREEN: Mapping[str, Json] = {"screen": [1920, 1080], "dpr": 1}
"""The device that checks are drawn for until one arrives."""
_SAMPLE = "XXXX-XXXX"
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def preview_session(number: int) -> str:
    """Return the session name of the preview of a list."""
    return SESSION if number == 1 else f"{SESSION}{number}"


def previewed_list(session: str) -> int | None:
    """Return the list of a preview session; None for any other session."""
    number = session.removeprefix(SESSION) if session.startswith(SESSION) else "-"
    return 1 if not number else int(number) if number.isdecimal() and number.isascii() else None


class Preview:
    """The steps of a list, each check as if all before it had been passed."""

    def __init__(
        self,
        served: ServedStudy,
        number: int,
        secret: bytes,
        texts: Mapping[str, str],
        words: Mapping[str, str],
        media: DescribeMedia,
        page_checks: PageChecks,
        reader: AnswerReader,
        ending_texts: EndingTexts,
        further: FurtherSessions,
    ) -> None:
        self._further = further
        self._served, self._texts, self._words, self._media = served, texts, words, media
        self._secret, self._page_checks, self._reader = secret, page_checks, reader
        self.session, self.script = preview_session(number), served.script(number)
        self._ending_texts = ending_texts.sample(self.script)
        query = "" if number == 1 else f"list={number}&"
        self.link = f"{served.public_url}/s/{served.study.name}?{query}preview={tokens.preview_secret(secret)}"
        self._planned = {step.key: step for step in map(_first, self.script.steps)}
        self.attempts = [step for step in self._planned.values() if step.check is not None]
        ends = ["end:completed", "end:no_consent", "end:withdrawn"]
        if any(item.correct for item in served.study.before) or any(
            step.check.action == "gate" for step in self.attempts if step.check
        ):
            ends.append("end:screened_out")
        if self._ending_texts:
            ends.append("end:failed_checks")
        self.keys = [*self._planned, *ends]
        self.facts = self._passed(_SCREEN)

    @property
    def steps(self) -> list[Json]:
        """The keys of all steps, each with its label."""
        named = {step.key: self._page_checks.title(check_of(step)) for step in self.attempts}
        return [{"key": key, "label": named.get(key, key.replace(":", " "))} for key in self.keys]

    def arrive(self, device: Mapping[str, Json]) -> dict[str, Json]:
        """Return the first step; from now on checks are drawn for this device."""
        self.facts = self._passed(device)
        return self.step(CONSENT.key)

    def _passed(self, device: Mapping[str, Json]) -> SessionFacts:
        """Return the facts of a participant who passed every check, because later checks use earlier answers."""
        session = Session(self.session, self.session, self._served.digest, 1, "preview", 1, device, _LONG_AGO)
        facts = SessionFacts(session)
        verdicts: dict[str, StoredVerdict] = {}
        for step in self.attempts:
            known = SessionFacts(facts.session, verdicts=verdicts)
            rng = rng_of(seed_of(self._secret, self.session, f"{step.key}:able"))
            try:
                answer = check_of(step).respond(self._page_checks.attempt(known, step), RobotAbilities(), rng)
                judged = self._page_checks.judge(known, step, self.script, answer, _LONG_AGO)
            except Exception:  # the page of this check shows what is wrong with it
                continue
            verdicts[step.key] = judged.verdict
        return SessionFacts(facts.session, verdicts=verdicts)

    def step(self, key: str) -> dict[str, Json]:
        """Return a step, or one of the ends."""
        if key.startswith("end:"):
            outcome = key.removeprefix("end:")
            text = self._texts.get("thanks" if outcome == "completed" else outcome, "")
            text = self._ending_texts if outcome == "failed_checks" else text
            return self._end(cast("Outcome", outcome), text)
        served, step = self._served, self._step(key)
        shown = public_step(step, self.script, self._texts, served.method, self.script.playback, self._media)
        if step is CONSENT:
            shown["needs"] = self._page_checks.requirements(self.script)
        if step.is_training:
            shown |= self._reader.training.public(step, self.script, {})
        return (
            shown | self._page_checks.public(self.facts_before(step), step, self.script)
            if step.check is not None
            else shown
        )

    def _end(self, outcome: Outcome, text: str) -> dict[str, Json]:
        """Return a last page with a sample code, and with the offer of another session."""
        study = self._served.study
        code = _SAMPLE if code_for(study, self._secret, self.session, outcome) else None
        is_more = outcome == "completed" and self._further.max_sessions > 1
        offer = public_offer(self._further.make_offer(self.script, 2), study, self.link) if is_more else None
        return public_end(
            self.script,
            outcome,
            text,
            code=code,
            return_url=return_url(study, code, outcome, "ID"),
            receipt=f"BH{'-XXXX' * 7}",
            answers=sum(step.kind == "trial" for step in self.script.steps),
            again=offer,
        )

    def facts_before(self, step: PlannedStep) -> SessionFacts:
        """Return the facts before a step."""
        passed = list(self.facts.verdicts.items())
        keys = [key for key, _ in passed]
        return SessionFacts(
            self.facts.session, verdicts=dict(passed[: keys.index(step.key)] if step.key in keys else passed)
        )

    def answer(self, key: str, submission: SubmittedAnswer) -> dict[str, Json]:
        """Return the feedback that participants read after this answer, and the next step."""
        step = self._step(key)
        read = self._reader.read(self.facts_before(step), step, self.script, submission, _LONG_AGO)
        feedback = read.feedback
        if step.check is not None and read.verdict is not None and read.verdict.verdict != "pass":
            feedback = self._page_checks.text(step.check, read.verdict) or None
        elif step.is_training and step.trial is not None and read.verdict is not None:
            feedback = self._reader.training.text(step.trial, read.verdict) or None
        elif step.is_rated and read.verdict is not None:
            feedback = self._reader.trial_rules.text(read.verdict) or None
        return {"stored_at": None, "feedback": feedback, "step": self._after(step, read.answer)}

    def _after(self, step: PlannedStep, answer: Json) -> dict[str, Json]:
        ending = next_step(self.script, {step.key: answer}) if step is CONSENT else None
        if isinstance(ending, Ending):
            return self.step(f"end:{ending.outcome}")
        return self.step(self.keys[self.keys.index(step.key) + 1])

    def _step(self, key: str) -> PlannedStep:
        step = self._planned.get(key)
        if step is None:
            raise Refused(self._words["not_reached"], where=key, code="not_reached", status=409)
        return step


def _first(step: PlannedStep) -> PlannedStep:
    """Return a step of the script as its first attempt."""
    return step.as_attempt(1) if step.check is not None or step.is_training else step


# Previews by list


class Previews:
    """The previews of a study, each made on its first request."""

    def __init__(
        self,
        served: ServedStudy,
        secret: bytes,
        texts: RenderedTexts,
        words: Mapping[str, str],
        addresses: MediaAddresses,
        page_checks: PageChecks,
        reader: AnswerReader,
        ending_texts: EndingTexts,
        further: FurtherSessions,
    ) -> None:
        self._served, self._secret, self._texts, self._words = served, secret, texts, words
        self._addresses, self._page_checks, self._reader = addresses, page_checks, reader
        self._ending_texts, self._further = ending_texts, further
        self._previews: dict[str, Preview] = {}

    def for_list(self, number: int) -> Preview:
        """Return the preview of a list, or raise Refused where there is no such list."""
        if not 1 <= number <= len(self._served.lists):
            raise Refused(self._words["not_reached"], where="list", code="unknown_list", status=404)
        session = preview_session(number)
        if session not in self._previews:
            media = self._addresses.describe_for(session, self._served.script(number))
            self._previews[session] = Preview(
                self._served, number, self._secret, self._texts.for_list(number), self._words, media, self._page_checks,
                self._reader, self._ending_texts, self._further,
            )  # fmt: skip
        return self._previews[session]

    def find(self, session: str) -> Preview | None:
        """Return the preview of a session; None for a session of a participant."""
        number = previewed_list(session)
        return None if number is None else self.for_list(number)

    def existing(self, session: str) -> Preview | None:
        """Return the preview of a session if it was made already."""
        return self._previews.get(session)
