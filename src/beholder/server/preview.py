"""The researcher's preview: any step as a participant sees it. It claims no list and stores nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

from beholder.checks.page_contract import CheckContext, RobotAbilities
from beholder.checks.screen import window_of
from beholder.errors import Refused
from beholder.server import tokens
from beholder.server.answers import read_answer
from beholder.server.context import Context
from beholder.server.endings import public_offer, sample_rule_ending
from beholder.server.entrances import PreviewEntrance
from beholder.server.flow import Ending, next_step
from beholder.server.page_checks import check_of, rng_of, seed_of
from beholder.server.public_steps import public_end, public_step, stage_needs
from beholder.server.requests import SubmittedAnswer
from beholder.server.script import CONSENT, PlannedStep
from beholder.server.session_language import PARAMETER
from beholder.store.contract import Session, SessionFacts, StoredVerdict
from beholder.study.markdown import marked
from beholder.study.model import Study
from beholder.types import Json, Outcome

SESSION = "preview"
"""The session name of previews in tokens and addresses; followed by the list unless it is the first."""
_SCREEN: Mapping[str, Json] = {"screen": [1920, 1080], "dpr": 1}
"""The device that checks are drawn for until one arrives."""
_SCREEN_INCHES = 11.8
"""Height of a usual screen of 24 inches: nobody has measured that of the researcher with a card."""
_SAMPLE = "XXXX-XXXX"
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def preview_session(number: int, language: str = "") -> str:
    """Return the session name of the preview of a list, in another language than the first one of the study."""
    name = SESSION if number == 1 else f"{SESSION}{number}"
    return f"{name}_{language.replace('-', '')}" if language else name


def preview_language(session: str, study: Study) -> str:
    """Return the language of a preview session."""
    _, _, named = session.partition("_")
    return next((code for code in study.all_languages if code.replace("-", "") == named), study.language)


def previewed_list(session: str) -> int | None:
    """Return the list of a preview session; None for any other session."""
    number = session.partition("_")[0].removeprefix(SESSION) if session.startswith(SESSION) else "-"
    return 1 if not number else int(number) if number.isdecimal() and number.isascii() else None


class Preview:
    """The steps of a list, each check as if all before it had been passed."""

    def __init__(self, ctx: Context, number: int) -> None:
        served, secret = ctx.served, ctx.store.secret
        self._ctx, self._texts = ctx, ctx.texts.for_list(number)
        language = served.study.language
        other = "" if language == served.study.all_languages[0] else language
        self.session, self.script = preview_session(number, other), served.script(number)
        self._media = ctx.media.describe_for(self.session, self.script)
        self._rule_ending = sample_rule_ending(ctx, self.script)
        query = "" if number == 1 else f"list={number}&"
        query += f"{PARAMETER}={other}&" if other else ""
        self.link = f"{served.public_url}/s/{served.study.name}?{query}preview={tokens.preview_secret(secret)}"
        self._planned = {step.key: step for step in map(_first, self.script.steps)}
        self.attempts = [step for step in self._planned.values() if step.check is not None]
        ends = ["end:completed", "end:no_consent", "end:withdrawn"]
        if any(item.correct for item in served.study.before) or any(
            step.check.action == "gate" for step in self.attempts if step.check
        ):
            ends.append("end:screened_out")
        if self._rule_ending:
            ends.append("end:failed_checks")
        self.keys = [*self._planned, *ends]
        self.facts = self._passed(_SCREEN)

    @property
    def steps(self) -> list[Json]:
        """The keys of all steps, each with its label."""
        named = {step.key: self._ctx.page_checks.title(check_of(step)) for step in self.attempts}
        return [{"key": key, "label": named.get(key, key.replace(":", " "))} for key in self.keys]

    def arrive(self, device: Mapping[str, Json]) -> dict[str, Json]:
        """Return the first step; from now on checks are drawn for this device."""
        self.facts = self._passed(device)
        return self.step(CONSENT.key)

    def _passed(self, device: Mapping[str, Json]) -> SessionFacts:
        """Return the facts of a participant who passed every check, because later checks use earlier answers."""
        session = Session(
            self.session, self.session, self._ctx.served.digest, 1, PreviewEntrance.mode, 1, device, _LONG_AGO
        )
        facts = SessionFacts(session)
        window = window_of(CheckContext(device, {}))
        able = RobotAbilities(ppi=window.screen_height * window.ratio / _SCREEN_INCHES)
        verdicts: dict[str, StoredVerdict] = {}
        for step in self.attempts:
            known = SessionFacts(facts.session, verdicts=verdicts)
            rng = rng_of(seed_of(self._ctx.store.secret, self.session, f"{step.key}:able"))
            try:
                answer = check_of(step).respond(self._ctx.page_checks.attempt(known, step), able, rng)
                judged = self._ctx.page_checks.judge(known, step, self.script, answer, _LONG_AGO)
            except Exception:  # noqa: S112 (the page of this check shows what is wrong with it)
                continue
            verdicts[step.key] = judged.verdict
        return SessionFacts(facts.session, verdicts=verdicts)

    def step(self, key: str) -> dict[str, Json]:
        """Return a step, or one of the ends."""
        if key.startswith("end:"):
            outcome = key.removeprefix("end:")
            text = self._texts.get("thanks" if outcome == "completed" else outcome, "")
            text = self._rule_ending if outcome == "failed_checks" else text
            return self._end(cast("Outcome", outcome), text)
        served, step = self._ctx.served, self._step(key)
        playback, language = self.script.playback, served.study.language
        shown = public_step(step, self.script, self._texts, served.method, playback, self._media, language=language)
        if step is CONSENT:
            needs = stage_needs(served.study, self._ctx.words)
            shown["needs"] = [*needs, *self._ctx.page_checks.requirements(self.script)]
        if step.is_training:
            shown |= self._ctx.trial_rules.training.public(step, self.script, {})
        return (
            shown | self._ctx.page_checks.public(self.facts_before(step), step, self.script)
            if step.check is not None
            else shown
        )

    def _end(self, outcome: Outcome, text: str) -> dict[str, Json]:
        """Return a last page with a sample code, and with the offer of another session."""
        entrance = self._ctx.entrance
        code = _SAMPLE if entrance.code(self.session, outcome) else None
        is_more = outcome == "completed" and self._ctx.further.max_sessions > 1
        offer = public_offer(self._ctx.further.make_offer(self.script, 2), entrance, self.link) if is_more else None
        return public_end(
            self.script,
            outcome,
            text,
            code=code,
            return_url=entrance.return_url(code, outcome, "ID"),
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
        read = read_answer(self._ctx, self.facts_before(step), step, self.script, submission, _LONG_AGO)
        feedback = read.feedback
        if step.check is not None and read.verdict is not None and read.verdict.verdict != "pass":
            feedback = self._ctx.page_checks.text(step.check, read.verdict) or None
        elif step.is_training and step.trial is not None and read.verdict is not None:
            feedback = marked(self._ctx.trial_rules.training.text(step.trial, read.verdict)) or None
        elif step.is_rated and read.verdict is not None:
            feedback = self._ctx.trial_rules.text(read.verdict) or None
        return {"stored_at": None, "feedback": feedback, "step": self._after(step, read.answer)}

    def _after(self, step: PlannedStep, answer: Json) -> dict[str, Json]:
        ending = next_step(self.script, {step.key: answer}) if step is CONSENT else None
        if isinstance(ending, Ending):
            return self.step(f"end:{ending.outcome}")
        return self.step(self.keys[self.keys.index(step.key) + 1])

    def _step(self, key: str) -> PlannedStep:
        step = self._planned.get(key)
        if step is None:
            raise Refused(self._ctx.words["not_reached"], where=key, code="not_reached", status=409)
        return step


def _first(step: PlannedStep) -> PlannedStep:
    """Return a step of the script as its first attempt."""
    return step.as_attempt(1) if step.check is not None or step.is_training else step


# Previews by list


def preview_of(ctx: Context, number: int) -> Preview:
    """Return the preview of a list, made on its first request, or raise Refused where there is no such list."""
    if not 1 <= number <= len(ctx.served.lists):
        raise Refused(ctx.words["not_reached"], where="list", code="unknown_list", status=404)
    language = ctx.served.study.language
    session = preview_session(number, "" if language == ctx.served.study.all_languages[0] else language)
    if session not in ctx.previews:
        ctx.previews[session] = Preview(ctx, number)
    return ctx.previews[session]


def find_preview(ctx: Context, session: str) -> Preview | None:
    """Return the preview of a session; None for a session of a participant."""
    number = previewed_list(session)
    return None if number is None else preview_of(ctx, number)
