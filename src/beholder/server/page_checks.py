"""The examiner: poses checks, draws what they show, judges what comes back, and says it in words."""

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
from beholder.checks.page_contract import Attempt, CheckContext, CheckTask, DrawnFile, Needs, WordKey
from beholder.checks.page_registry import CANNOT, AnyPageCheck, judge_attempt
from beholder.errors import Refused
from beholder.server import tokens
from beholder.server.attempts import AttemptProgress, action_of, attempt_progress, current_device
from beholder.server.script import PlannedStep, Script
from beholder.store import contract as store
from beholder.store.contract import SessionFacts, StoredVerdict
from beholder.study.texts import markdown
from beholder.types import Json

_DRAWN = 64
"""How many pictures and sounds are kept in memory: a page asks for each a few times at once."""
OUR_FAULT = "our_fault"
"""The reason of an unknown that a bug of ours led to."""
_log = logging.getLogger("beholder.server")

Words = Mapping[str, Mapping[str, str]]
"""Our words about each check, by its name."""


@dataclass(frozen=True)
class JudgedCheck:
    """An answer to a check: as it is kept, what it made us say, and what the person reads before the next step."""

    answer: Mapping[str, Json]
    told: StoredVerdict
    feedback: str | None


class PageChecks:
    """Everything a server has to do with the checks of one study.

    A bug of ours costs nobody anything: it is logged, the verdict is unknown, and the person goes on.
    """

    def __init__(self, needs: Needs, secret: bytes, words: Words) -> None:
        self.needs, self._secret, self._words = needs, secret, words
        self._draw = lru_cache(_DRAWN)(self._drawn)

    # Posing

    def context(self, facts: SessionFacts) -> CheckContext:
        """Return what is known of a person: the device, and the last answer to each check, also carried over."""
        return check_context(facts.session.device, facts.verdicts, self.needs)

    def attempt(self, facts: SessionFacts, step: PlannedStep) -> CheckTask:
        """Return this attempt, the same whenever it is asked for: as it was kept, whatever the study is by now."""
        posed = pose(self._secret, facts.session.session, step, self.context(facts))
        kept = facts.posed.get(step.key)
        return posed if kept is None else CheckTask(_map(kept.public), _map(kept.private), posed.media)

    def fact(self, facts: SessionFacts, step: PlannedStep, at: datetime) -> store.PosedAttempt | StoredVerdict:
        """Return what is kept of an attempt; where it cannot be posed, that it is over."""
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
        """Return what is told of an attempt that failed by a bug of ours."""
        check, session = check_of(step), facts.session.session
        _log.error("%s of session %s failed by a fault of ours", step.key, session, exc_info=error)
        verdict = check.verdict("unknown", OUR_FAULT, error=f"{type(error).__name__}: {error}")
        given = answer if isinstance(answer, Mapping) else {}
        kept = verdict_evidence(verdict, given, check, step)
        return StoredVerdict(session, step.key, check.name, "unknown", OUR_FAULT, kept, at)

    def public(self, facts: SessionFacts, step: PlannedStep, script: Script) -> dict[str, Json]:
        """Return what the page of a check gets beyond what every step gets."""
        check, session = check_of(step), facts.session.session
        posed = self.attempt(facts, step)
        place = script.steps[script.place(step.key)]
        at = attempt_progress(place, facts.verdicts, check.rule.attempts, check.action)
        is_told, is_listed = at.settled is None and check.rule.feedback, check.stage == "device"
        left = check.rule.attempts - (at.used if at.settled is None else 0)
        return {
            "check": check.name,
            "attempt": step.attempt,
            "gate": check.action == "gate",
            "public": dict(posed.public),
            "media": {name: {"url": f"/media/{self.token(session, step.key, name)}"} for name in posed.media},
            "told": {"text": self.text(check, at.last), "left": left} if at.last and is_told else None,
            "words": {**(self._words.get(LIST_WORDS, {}) if is_listed else {}), **self._words.get(check.name, {})},
            "list": self.rows(script, facts, step) if is_listed else [],
        }

    def rows(self, script: Script, facts: SessionFacts, here: PlannedStep) -> list[Json]:
        """Return how far the look at the device is: each check with its state and what was found."""

        def say(check: AnyPageCheck, told: StoredVerdict | None) -> Mapping[str, Json]:
            return {"title": self.title(check), "text": "" if told is None else self.found(check, told)}

        return device_rows(script, facts.verdicts, here, say)

    # Drawing

    def token(self, session: str, key: str, name: str) -> str:
        """Return the address of a picture or sound of an attempt; it begins with the session, as every address."""
        return f"{session}-{tokens.keyed(self._secret, 'drawn', session, key, name)[:16].hex()}"

    def draw(self, facts: SessionFacts, step: PlannedStep, token: str) -> DrawnFile | None:
        """Return what is behind an address, if it belongs to this attempt."""
        posed = self.attempt(facts, step)
        for name in posed.media:
            if self.token(facts.session.session, step.key, name) == token:
                return self._draw(check_of(step), json.dumps(posed.private), name)
        return None

    @staticmethod
    def _drawn(check: AnyPageCheck, private: str, name: str) -> DrawnFile:
        return check.draw(json.loads(private), name)

    # Judging

    def judge(self, facts: SessionFacts, step: PlannedStep, script: Script, answer: Json, now: datetime) -> JudgedCheck:
        """Return an answer judged, or raise Refused where it is not of the shape that its page sends."""
        check, session = check_of(step), facts.session.session
        try:
            known = self.context(facts)
            read, verdict = examine(check, self.attempt(facts, step), answer, known, step.attempt)
            kept = verdict_evidence(verdict, read, check, step)
            told = StoredVerdict(session, step.key, check.name, verdict.verdict, verdict.reason, kept, now)
        except Refused:
            raise
        except Exception as error:
            told = self.fault(facts, step, error, now, answer)
            read = answer if isinstance(answer, Mapping) else {}
        return JudgedCheck(read, told, self.said(step, script, {**facts.verdicts, step.key: told}))

    def read(self, facts: SessionFacts, step: PlannedStep, answer: Json) -> Json:
        """Return an answer that came again as it is kept, or raise Refused."""
        check = check_of(step)
        try:
            return examine(check, self.attempt(facts, step), answer, self.context(facts), step.attempt)[0]
        except Refused:
            raise
        except Exception:  # logged when it came first, and kept as it was
            return answer

    def said(self, step: PlannedStep, script: Script, told: Mapping[str, StoredVerdict]) -> str | None:
        """Return what a person reads between this attempt and the next step: a warning after the last one."""
        check, verdict = check_of(step), told[step.key]
        place = script.steps[script.place(step.key)]
        until = {f"{place.key}:{number}" for number in range(step.attempt + 1)}
        at = attempt_progress(place, {key: told[key] for key in until & told.keys()}, check.rule.attempts, check.action)
        is_warned = check.rule.feedback and at.settled is not None and action_of(verdict, check.action) == "warn"
        if not is_warned or verdict.verdict == "unknown" or not verdict.reason:
            return None
        return self.text(check, verdict) or None

    # Words

    def title(self, check: AnyPageCheck) -> str:
        """Return what a check is called on its page."""
        return self._words.get(check.name, {}).get("title", check.name)

    def text(self, check: AnyPageCheck, told: StoredVerdict) -> str:
        """Return what a person reads about a verdict; nothing where there are no words for it."""
        return self._text(check, told, f"told.{told.reason or told.verdict}")

    def found(self, check: AnyPageCheck, told: StoredVerdict) -> str:
        """Return what stands in the list about a verdict, in few words where there are any."""
        if fails_silently(check, told):
            return self._text(check, told, "found.pass")
        short = self._text(check, told, f"found.{told.reason}") or self._text(check, told, f"found.{told.verdict}")
        return short or self.text(check, told)

    def _text(self, check: AnyPageCheck, told: StoredVerdict, key: str) -> str:
        own = self._words.get(check.name, {})
        if not own.get(key):
            return ""
        try:
            return fill_words(own[key], check.message_values(verdict_of(check, told)), own)
        except Exception as error:
            _log.error("the words %s of %s lack a value", key, check.name, exc_info=error)
            return ""

    def out(self, reason: str) -> str:
        """Return what somebody reads who was turned away by a check, as HTML: which one, in words."""
        if reason.startswith("questions:before."):  # the study's own questionnaire, not the check of that name
            return ""
        check, _, why = reason.partition(":")
        words = self._words.get(check, {})
        said = words.get(f"out.{why}") or words.get("out")
        return markdown(said) if said else ""

    def needed(self, script: Script) -> list[str]:
        """Return what the study needs, a line for each check that has words for it: read before agreeing."""
        lines = []
        for step in script.steps:
            own = self._words.get(step.check.name, {}) if step.check is not None else {}
            if step.check is not None and own.get("needs"):
                lines.append(fill_words(own["needs"], step.check.needs(), own))
        return [line for line in lines if line]


_NO_WORDS: Mapping[str, str] = MappingProxyType({})


def fill_words(words: str, values: Mapping[str, str | float], own: Mapping[str, str] = _NO_WORDS) -> str:
    """Return words with their values filled in; a number is written as short as it goes, a word is one of `own`."""
    return words.format_map({name: _said(value, own) for name, value in values.items()})


def _said(value: str | float, own: Mapping[str, str]) -> str:
    if isinstance(value, WordKey):
        return own.get(value, "")
    return f"{value:g}" if isinstance(value, float) else str(value)


def _map(value: Json) -> Mapping[str, Json]:
    assert isinstance(value, Mapping)
    return value


# --- Posing a check and judging its answer: what the server and the robots' oracle do alike ---


def check_context(device: Mapping[str, Json], told: Mapping[str, StoredVerdict], needs: Needs) -> CheckContext:
    """Return what is known of a person: the device they sit at now, and the last answer to each check.

    `device` is the one the session began with; what was told knows of any other since.
    """
    answers: dict[str, Json] = {}
    latest: dict[str, int] = {}
    for key, one in told.items():
        kind, _, rest = key.partition(":")
        if kind != "check" or not isinstance(one.evidence, Mapping) or "answer" not in one.evidence:
            continue
        number = int(rest.rpartition(":")[2])
        if number >= latest.get(one.check, 0):
            latest[one.check], answers[one.check] = number, one.evidence["answer"]
    return CheckContext(current_device(device, told), answers, needs)


def seed_of(secret: bytes, session: str, key: str) -> bytes:
    """Return what all chance in an attempt comes from."""
    return tokens.keyed(secret, "posed", session, key)


def rng_of(seed: bytes) -> Generator:
    return np.random.default_rng(int.from_bytes(seed, "big"))


def pose(secret: bytes, session: str, step: PlannedStep, known: CheckContext) -> CheckTask:
    """Return an attempt at a check: the same for the same secret, session and key."""
    return check_of(step).pose(rng_of(seed_of(secret, session, step.key)), known)


def examine(
    check: AnyPageCheck, posed: CheckTask, answer: Json, known: CheckContext, attempt: int
) -> tuple[Mapping[str, Json], Verdict]:
    """Return the answer as it is kept, and the verdict on it."""
    if not isinstance(answer, Mapping):
        raise Refused("The answer is not an object", where="answer", allowed="a JSON object")
    is_unable = answer == CANNOT and answer["cannot"] is True  # 1 is as good as true to Python, and to nobody else
    read = CANNOT if is_unable else check.read(posed.private, answer)
    return read, judge_attempt(check, Attempt(posed.private, read, known, attempt))


def verdict_evidence(
    verdict: Verdict, answer: Mapping[str, Json], check: AnyPageCheck, step: PlannedStep
) -> dict[str, Json]:
    """Return what is kept beside a verdict."""
    kept: dict[str, Json] = {
        "version": check.version, "attempt": step.attempt, "answer": dict(answer), "measured": verdict.measured,
        "needed": verdict.needed, "rule": check.rule.model_dump(mode="json"), "evidence": dict(verdict.evidence),
    }  # fmt: skip
    if verdict.again:
        kept["again"] = True
    if verdict.action is not None:
        kept["action"] = verdict.action
    return kept


def verdict_of(check: AnyPageCheck, told: StoredVerdict) -> Verdict:
    """Return the verdict that was told, from what was kept beside it."""
    kept = told.evidence if isinstance(told.evidence, Mapping) else {}
    found = kept.get("evidence")
    return Verdict(
        check.name, check.version, cast(VerdictValue, told.verdict), told.reason, kept.get("measured"),
        kept.get("needed"), found if isinstance(found, Mapping) else {},
    )  # fmt: skip


def check_of(step: PlannedStep) -> AnyPageCheck:
    """Return the check of a step that has one."""
    assert step.check is not None, step.key
    return step.check


# --- The look at the device as people see it: one list, a row for each check, with its state and what was found ---


RowState = Literal["todo", "now", "pass", "fail", "attention", "unknown"]
LIST_WORDS = "list"
"""Under this name are the words that all rows share."""


def device_rows(
    script: Script,
    told: Mapping[str, StoredVerdict],
    here: PlannedStep,
    say: Callable[[AnyPageCheck, StoredVerdict | None], Mapping[str, Json]],
) -> list[Json]:
    """Return the rows; `say` gives the title of a check and what was found, nothing where that is None."""
    rows: list[Json] = []
    for step in script.steps:
        check = step.check
        if check is None or check.stage != "device":
            continue
        at = attempt_progress(step, told, check.rule.attempts, check.action)
        last = _met(step, told, at)
        is_silent = last is not None and fails_silently(check, last)
        is_fresh = step.key == here.place_key and (last is None or at.settled is not None or is_silent)
        state: RowState = "now" if is_fresh else "todo" if last is None else row_state(check, last)
        rows.append({"name": check.name, "state": state, **say(check, None if is_fresh else last)})
    return rows


def row_state(check: AnyPageCheck, told: StoredVerdict) -> RowState:
    """Return how a verdict looks; what fails in silence looks as what passes."""
    if told.verdict == "unknown":
        return "unknown"
    if told.verdict == "pass" or fails_silently(check, told):
        return "pass"
    return "fail" if action_of(told, check.action) == "gate" else "attention"


def fails_silently(check: AnyPageCheck, told: StoredVerdict) -> bool:
    """Return whether nobody is told that an attempt failed."""
    return told.verdict == "fail" and (not check.rule.feedback or action_of(told, check.action) in ("flag", "record"))


def _met(step: PlannedStep, told: Mapping[str, StoredVerdict], at: AttemptProgress) -> StoredVerdict | None:
    """Return what was found last; who then went on without measuring again has found nothing new."""
    if at.last is not None and at.last.reason == "cannot" and at.tries > 1:
        return told.get(f"{step.key}:{at.tries - 1}", at.last)
    return at.last
