"""Checks on pages of their own, as a server poses, draws and judges them, with the texts for participants."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, cast

import numpy as np
from numpy.random import Generator

from beholder.checks.contract import Verdict, VerdictValue
from beholder.checks.page_contract import Attempt, CheckContext, CheckTask, DrawnFile, Needs, PageCheck, WordKey
from beholder.checks.page_registry import CANNOT, judge_attempt
from beholder.errors import Refused
from beholder.server import tokens
from beholder.server.attempts import AttemptProgress, action_of, attempt_progress, current_device
from beholder.server.script import PlannedStep, Script
from beholder.store import contract as store
from beholder.store.contract import SessionFacts, StoredVerdict
from beholder.study.markdown import markdown
from beholder.types import Json

_DRAWN = 64
"""How many pictures and sounds are cached: a page requests each a few times at once."""
OUR_FAULT = "our_fault"
"""The reason of an unknown verdict that a bug of ours caused."""
_log = logging.getLogger("beholder.server")

Words = Mapping[str, Mapping[str, str]]
"""Our texts about each check, by its name."""


@dataclass(frozen=True)
class JudgedCheck:
    """An answer to a check as it is stored, its verdict, and the feedback before the next step."""

    answer: Mapping[str, Json]
    verdict: StoredVerdict
    feedback: str | None


class PageChecks:
    """Poses, draws and judges the checks of one study.

    A bug of ours costs no participant anything: it is logged, the verdict is unknown, and the session goes on.
    """

    def __init__(self, needs: Needs, secret: bytes, words: Words) -> None:
        self.needs, self._secret, self._words = needs, secret, words
        self._draw = lru_cache(_DRAWN)(self._draw_file)

    # Posing

    def context(self, facts: SessionFacts) -> CheckContext:
        """Return what is known of a participant: the device, and the last answer to each check, also carried over."""
        return check_context(facts.session.device, facts.verdicts, self.needs)

    def attempt(self, facts: SessionFacts, step: PlannedStep) -> CheckTask:
        """Return this attempt, the same every time: as it was stored, even if the study has changed since."""
        posed = pose(self._secret, facts.session.session, step, self.context(facts))
        kept = facts.posed.get(step.key)
        return posed if kept is None else CheckTask(_map(kept.public), _map(kept.private), posed.media)

    def posed_fact(self, facts: SessionFacts, step: PlannedStep, at: datetime) -> store.PosedAttempt | StoredVerdict:
        """Return the fact to store of an attempt; where it cannot be posed, a verdict that ends it."""
        session = facts.session.session
        try:
            posed = self.attempt(facts, step)
        except Exception as error:
            return self.fault(facts, step, error, at)
        seed = seed_of(self._secret, session, step.key).hex()
        return store.PosedAttempt(session, step.key, seed, dict(posed.public), dict(posed.private), at)

    def fault(
        self, facts: SessionFacts, step: PlannedStep, error: Exception, at: datetime, answer: Json = None
    ) -> StoredVerdict:
        """Return the verdict on an attempt that failed by a bug of ours."""
        check, session = check_of(step), facts.session.session
        _log.error("%s of session %s failed by a fault of ours", step.key, session, exc_info=error)
        verdict = check.verdict("unknown", OUR_FAULT, error=f"{type(error).__name__}: {error}")
        read = answer if isinstance(answer, Mapping) else {}
        kept = verdict_evidence(verdict, read, check, step)
        return StoredVerdict(session, step.key, check.name, "unknown", OUR_FAULT, kept, at)

    def public(self, facts: SessionFacts, step: PlannedStep, script: Script) -> dict[str, Json]:
        """Return the fields of the page of a check, in addition to those of every step."""
        check, session = check_of(step), facts.session.session
        posed = self.attempt(facts, step)
        place = script.steps[script.place(step.key)]
        at = attempt_progress(place, facts.verdicts, check.options.attempts, check.action)
        has_feedback, is_listed = at.settled is None and check.options.feedback, check.stage == "device"
        left = check.options.attempts - (at.used if at.settled is None else 0)
        return {
            "check": check.name,
            "attempt": step.attempt,
            "gate": check.action == "gate",
            "public": dict(posed.public),
            "media": {name: {"url": f"/media/{self.token(session, step.key, name)}"} for name in posed.media},
            "told": {"text": self.text(check, at.last), "left": left} if at.last and has_feedback else None,
            "words": {**(self._words.get(LIST_WORDS, {}) if is_listed else {}), **self._page_words(check)},
            "list": self.device_list(script, facts, step) if is_listed else [],
        }

    def device_list(self, script: Script, facts: SessionFacts, here: PlannedStep) -> list[Json]:
        """Return the list of device checks, each with its state and result."""

        def describe(check: PageCheck, stored: StoredVerdict | None) -> Mapping[str, Json]:
            return {"title": self.title(check), "text": "" if stored is None else self.short_text(check, stored)}

        return device_rows(script, facts.verdicts, here, describe)

    # Drawing

    def token(self, session: str, key: str, name: str) -> str:
        """Return the address of a picture or sound of an attempt; like every address it begins with the session."""
        return f"{session}-{tokens.keyed(self._secret, 'drawn', session, key, name)[:16].hex()}"

    def draw(self, facts: SessionFacts, step: PlannedStep, token: str) -> DrawnFile | None:
        """Return the file behind an address, if it belongs to this attempt."""
        posed = self.attempt(facts, step)
        for name in posed.media:
            if self.token(facts.session.session, step.key, name) == token:
                return self._draw(check_of(step), json.dumps(posed.private), name)
        return None

    @staticmethod
    def _draw_file(check: PageCheck, private: str, name: str) -> DrawnFile:
        return check.draw(json.loads(private), name)

    # Judging

    def judge(self, facts: SessionFacts, step: PlannedStep, script: Script, answer: Json, now: datetime) -> JudgedCheck:
        """Return an answer with its verdict, or raise Refused where it is malformed."""
        check, session = check_of(step), facts.session.session
        try:
            known = self.context(facts)
            read, verdict = examine(check, self.attempt(facts, step), answer, known, step.attempt)
            kept = verdict_evidence(verdict, read, check, step)
            stored = StoredVerdict(session, step.key, check.name, verdict.verdict, verdict.reason, kept, now)
        except Refused:
            raise
        except Exception as error:
            stored = self.fault(facts, step, error, now, answer)
            read = answer if isinstance(answer, Mapping) else {}
        return JudgedCheck(read, stored, self.feedback_after(step, script, {**facts.verdicts, step.key: stored}))

    def read(self, facts: SessionFacts, step: PlannedStep, answer: Json) -> Json:
        """Return an answer that was sent again, as it is stored, or raise Refused."""
        check = check_of(step)
        try:
            return examine(check, self.attempt(facts, step), answer, self.context(facts), step.attempt)[0]
        except Refused:
            raise
        except Exception:  # logged the first time, and stored as it was sent
            return answer

    def feedback_after(self, step: PlannedStep, script: Script, verdicts: Mapping[str, StoredVerdict]) -> str | None:
        """Return the feedback between this attempt and the next step: a warning after the last attempt."""
        check, verdict = check_of(step), verdicts[step.key]
        place = script.steps[script.place(step.key)]
        until = {f"{place.key}:{number}" for number in range(step.attempt + 1)}
        at = attempt_progress(
            place, {key: verdicts[key] for key in until & verdicts.keys()}, check.options.attempts, check.action
        )
        is_warned = check.options.feedback and at.settled is not None and action_of(verdict, check.action) == "warn"
        if not is_warned or verdict.verdict == "unknown" or not verdict.reason:
            return None
        return self.text(check, verdict) or None

    # Words

    def _page_words(self, check: PageCheck) -> Mapping[str, str]:
        """Return the words that the page of a check may say: refusals are of the server."""
        own = self._words.get(check.name, {})
        return {key: text for key, text in own.items() if not key.startswith("refused.")}

    def title(self, check: PageCheck) -> str:
        """Return the title of a check."""
        return self._words.get(check.name, {}).get("title", check.name)

    def text(self, check: PageCheck, stored: StoredVerdict) -> str:
        """Return the text on a verdict for participants; empty without one."""
        return self._text(check, stored, f"told.{stored.reason or stored.verdict}")

    def short_text(self, check: PageCheck, stored: StoredVerdict) -> str:
        """Return the text on a verdict in the list of device checks, the short one if there is one."""
        if fails_silently(check, stored):
            return self._text(check, stored, "found.pass")
        short = self._text(check, stored, f"found.{stored.reason}") or self._text(
            check, stored, f"found.{stored.verdict}"
        )
        return short or self.text(check, stored)

    def _text(self, check: PageCheck, stored: StoredVerdict, key: str) -> str:
        own = self._words.get(check.name, {})
        if not own.get(key):
            return ""
        try:
            return fill_words(own[key], check.message_values(verdict_of(check, stored)), own)
        except Exception as error:
            _log.error("the words %s of %s lack a value", key, check.name, exc_info=error)
            return ""

    def refusal_text(self, reason: str) -> str:
        """Return the last page of a participant whom a check screened out, as HTML; empty without a text."""
        if reason.startswith("questions:before."):  # the study's questionnaire, not the check of that name
            return ""
        check, _, why = reason.partition(":")
        words = self._words.get(check, {})
        text = words.get(f"out.{why}") or words.get("out")
        return markdown(text) if text else ""

    def requirements(self, script: Script) -> list[str]:
        """Return the requirements shown before consent, a line for each check that has one."""
        lines = []
        for step in script.steps:
            own = self._words.get(step.check.name, {}) if step.check is not None else {}
            if step.check is not None and own.get("needs"):
                lines.append(fill_words(own["needs"], step.check.needs(), own))
        return [line for line in lines if line]


_NO_WORDS: Mapping[str, str] = MappingProxyType({})


def fill_words(words: str, values: Mapping[str, str | float], own: Mapping[str, str] = _NO_WORDS) -> str:
    """Return a text with its values filled in; numbers are written short, a key of words is looked up in `own`."""
    plain = {name: _value_text(value) for name, value in values.items() if not isinstance(value, WordKey)}
    said = {name: own.get(value, "").format_map(plain) for name, value in values.items() if isinstance(value, WordKey)}
    return words.format_map(plain | said)


def _value_text(value: str | float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _map(value: Json) -> Mapping[str, Json]:
    assert isinstance(value, Mapping)
    return value


# Posing and judging, shared with the robots


def check_context(device: Mapping[str, Json], verdicts: Mapping[str, StoredVerdict], needs: Needs) -> CheckContext:
    """Return what is known of a participant: the current device, and the last answer to each check.

    `device` is the one the session began with; the verdicts record later changes.
    """
    answers: dict[str, Json] = {}
    latest: dict[str, int] = {}
    for key, one in verdicts.items():
        kind, _, rest = key.partition(":")
        if kind != "check" or not isinstance(one.evidence, Mapping) or "answer" not in one.evidence:
            continue
        number = int(rest.rpartition(":")[2])
        if number >= latest.get(one.check, 0):
            latest[one.check], answers[one.check] = number, one.evidence["answer"]
    return CheckContext(current_device(device, verdicts), answers, needs)


def seed_of(secret: bytes, session: str, key: str) -> bytes:
    """Return the seed of an attempt."""
    return tokens.keyed(secret, "posed", session, key)


def rng_of(seed: bytes) -> Generator:
    return np.random.default_rng(int.from_bytes(seed, "big"))


def pose(secret: bytes, session: str, step: PlannedStep, known: CheckContext) -> CheckTask:
    """Return an attempt at a check: the same for the same secret, session and key."""
    return check_of(step).pose(rng_of(seed_of(secret, session, step.key)), known)


def examine(
    check: PageCheck, posed: CheckTask, answer: Json, known: CheckContext, attempt: int
) -> tuple[Mapping[str, Json], Verdict]:
    """Return the answer as it is stored, and the verdict on it."""
    if not isinstance(answer, Mapping):
        raise Refused.because("answer_not_an_object", where="answer", allowed="a JSON object")
    is_unable = answer == CANNOT and answer["cannot"] is True  # in Python 1 == True, in JSON it is not
    read = CANNOT if is_unable else check.read(posed.private, answer)
    return read, judge_attempt(check, Attempt(posed.private, read, known, attempt))


def verdict_evidence(
    verdict: Verdict, answer: Mapping[str, Json], check: PageCheck, step: PlannedStep
) -> dict[str, Json]:
    """Return the evidence stored with a verdict."""
    kept: dict[str, Json] = {
        "version": check.version, "attempt": step.attempt, "answer": dict(answer), "measured": verdict.measured,
        "needed": verdict.needed, "rule": check.options.model_dump(mode="json"), "evidence": dict(verdict.evidence),
    }  # fmt: skip
    if verdict.again:
        kept["again"] = True
    if verdict.action is not None:
        kept["action"] = verdict.action
    return kept


def verdict_of(check: PageCheck, stored: StoredVerdict) -> Verdict:
    """Return the verdict of a check from its stored row."""
    kept = stored.evidence if isinstance(stored.evidence, Mapping) else {}
    measured = kept.get("evidence")
    return Verdict(
        check.name, check.version, cast(VerdictValue, stored.verdict), stored.reason, kept.get("measured"),
        kept.get("needed"), measured if isinstance(measured, Mapping) else {},
    )  # fmt: skip


def check_of(step: PlannedStep) -> PageCheck:
    """Return the check of a step that has one."""
    assert step.check is not None, step.key
    return step.check


# The list of device checks


RowState = Literal["todo", "now", "pass", "fail", "attention", "unknown"]
LIST_WORDS = "list"
"""The name of the texts that all rows share."""


def device_rows(
    script: Script,
    verdicts: Mapping[str, StoredVerdict],
    here: PlannedStep,
    describe: Callable[[PageCheck, StoredVerdict | None], Mapping[str, Json]],
) -> list[Json]:
    """Return the rows; `describe` returns the title of a check and the text on its verdict."""
    rows: list[Json] = []
    for step in script.steps:
        check = step.check
        if check is None or check.stage != "device":
            continue
        at = attempt_progress(step, verdicts, check.options.attempts, check.action)
        last = _last_verdict(step, verdicts, at)
        is_silent = last is not None and fails_silently(check, last)
        is_fresh = step.key == here.base_key and (last is None or at.settled is not None or is_silent)
        state: RowState = "now" if is_fresh else "todo" if last is None else row_state(check, last)
        rows.append({"name": check.name, "state": state, **describe(check, None if is_fresh else last)})
    return rows


def row_state(check: PageCheck, stored: StoredVerdict) -> RowState:
    """Return the state of a row; a silent failure looks like a pass."""
    if stored.verdict == "unknown":
        return "unknown"
    if stored.verdict == "pass" or fails_silently(check, stored):
        return "pass"
    return "fail" if action_of(stored, check.action) == "gate" else "attention"


def fails_silently(check: PageCheck, stored: StoredVerdict) -> bool:
    """Return whether an attempt failed without feedback."""
    return stored.verdict == "fail" and (
        not check.options.feedback or action_of(stored, check.action) in ("flag", "record")
    )


def _last_verdict(
    step: PlannedStep, verdicts: Mapping[str, StoredVerdict], at: AttemptProgress
) -> StoredVerdict | None:
    """Return the last verdict; after "cannot", the one of the measurement before."""
    if at.last is not None and at.last.reason == "cannot" and at.tries > 1:
        return verdicts.get(f"{step.key}:{at.tries - 1}", at.last)
    return at.last
