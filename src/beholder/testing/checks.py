"""The conformance suites of checks, ours and those of other packages: `check_step` and `check_rule`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.random import Generator

from beholder.checks.answer_patterns import Repeat
from beholder.checks.contract import (
    AnsweredTrial,
    Click,
    ComparedSession,
    RuleResult,
    SessionEvidence,
    SessionRule,
    Verdict,
)
from beholder.checks.known_answers import MessageRule, TrapItem
from beholder.checks.page_contract import Attempt, CheckContext, CheckTask, PageCheck, RobotAbilities
from beholder.checks.page_registry import action_of, judge_attempt
from beholder.errors import Refused
from beholder.methods.contract import Asked, Judgement, Slot, Target, Trial
from beholder.server.page_checks import fill_words
from beholder.study.checks import CHECKS, STRANGER, installed_checks
from beholder.study.questions import SCALES
from beholder.types import Json, Role

# Checks with a page: `check_step`

_POSED, _DRAWN, _GUESSED = 24, 2, 300
_CANDIDATES = 40
_CHUNKS = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND", b"sRGB", b"gAMA", b"cHRM", b"iCCP", b"pHYs", b"fiLl"})
"""What a picture may consist of: no place for words. `fiLl` makes all of them equally long."""
DEVICE: Mapping[str, Json] = {"screen": [1920, 1080], "dpr": 1}


def check_step(
    check: PageCheck,
    context: CheckContext = CheckContext(DEVICE),
    *,
    fails: Iterable[str] = (),
    varies: bool = False,
) -> None:
    """Raise AssertionError with a sentence if a check does not keep the contract.

    An attempt depends only on the generator and is JSON; its public half does not depend on its private half, unless
    it `varies`, as the items of a quiz do; pictures and sounds depend only on the private half and reveal nothing by
    their names, lengths or metadata. An able robot passes; an unable one does not, nor do the kinds in `fails`.
    Judging the stored answer again gives the same verdict. There is a page; title and every reason have words for
    researchers, and for participants where they are shown. The best blind guess passes as often as `guess_rate` says.
    """
    context = context or CheckContext(DEVICE)
    attempts = [check.pose(_chance(number), context) for number in range(_POSED)]
    _check_posed(check, attempts, context, varies=varies)
    _check_drawn(check, attempts[:_DRAWN])
    robots = [
        RobotAbilities(),
        RobotAbilities(frozenset({check.name})),
        *(RobotAbilities(frozenset({kind})) for kind in fails),
    ]
    verdicts = [_check_robot(check, attempts, context, robot) for robot in robots]
    _check_words(check, [verdict for some in verdicts for verdict in some])
    if check.guess_rate() > 0 and not varies:
        check_luck(check, context, robots)


def _check_posed(check: PageCheck, attempts: list[CheckTask], context: CheckContext, *, varies: bool) -> None:
    """Assert that an attempt depends only on the generator and is JSON, and that the public half is always the same."""
    name = check.name
    assert check.seconds > 0, f"{name} takes no time"
    for number, posed in enumerate(attempts):
        assert check.pose(_chance(number), context) == posed, f"{name} is posed in two ways by the same chance"
        for half, value in (("public", posed.public), ("private", posed.private)):
            kept = json.loads(json.dumps(value, allow_nan=False))
            assert kept == _plain(value), f"the {half} half of {name} is not what JSON gives back"
    assert len({posed.media for posed in attempts}) == 1, f"what {name} draws is named differently from time to time"
    if not varies:
        publics = {json.dumps(_plain(posed.public), sort_keys=True) for posed in attempts}
        assert len(publics) == 1, f"the public half of {name} depends on chance: {sorted(publics)[:2]}"


def _check_drawn(check: PageCheck, attempts: Iterable[CheckTask]) -> None:
    """Pictures and sounds depend only on the private half, have no metadata, and are equally long."""
    sizes: dict[str, set[int]] = {}
    for place, posed in enumerate(attempts):
        for name in posed.media:
            drawn = check.draw(posed.private, name)
            sizes.setdefault(name.rstrip("0123456789"), set()).add(len(drawn.body))
            if drawn.content_type == "image/png":
                more = set(_png_chunks(drawn.body)) - _CHUNKS
                assert not more, f"{name} of {check.name} has the chunks {sorted(more)}"
            if place == 0:
                redrawn = check.draw(json.loads(json.dumps(_plain(posed.private))), name)
                assert drawn == redrawn, f"{name} of {check.name} is drawn in two ways from the same private half"
    for name, lengths in sizes.items():
        assert len(lengths) == 1, f"{name} of {check.name} has {len(lengths)} sizes, by which they can be told apart"


def _check_robot(
    check: PageCheck, attempts: Iterable[CheckTask], context: CheckContext, robot: RobotAbilities
) -> list[Verdict]:
    """Return the verdicts on a robot: always a pass if it is able, never if it is not."""
    verdicts = []
    for number, posed in enumerate(attempts):
        answer = check.respond(posed, robot, _chance(number))
        read = check.read(posed.private, json.loads(json.dumps(answer)))
        kept = json.loads(json.dumps(_plain(read), allow_nan=False))
        assert check.read(posed.private, kept) == kept, f"an answer to {check.name} that is read changes"
        verdict = judge_attempt(check, Attempt(posed.private, read, context, 1))
        rejudged = judge_attempt(check, Attempt(json.loads(json.dumps(_plain(posed.private))), kept, CheckContext(), 1))
        assert _plain(rejudged._asdict()) == _plain(verdict._asdict()), (
            f"{check.name} judged again says {rejudged}, and {verdict} before"
        )
        kind = f"that fails {sorted(robot.fails)}" if robot.fails else "that is able"
        assert (verdict.verdict == "pass") == (not robot.fails), f"a robot {kind} has the verdict {verdict}"
        verdicts.append(verdict)
    return verdicts


def _check_words(check: PageCheck, verdicts: Iterable[Verdict]) -> None:
    """Assert that there is a page, and words for needs, for each reason that is shown or reported, and for the end."""
    words = check.texts("en")
    page = check.home() / check.page
    assert page.is_file(), f"{check.name} has no page"
    assert "export default" in page.read_text("utf-8"), f"the page of {check.name} exports no function"
    assert words.get("title"), f"{check.name} has no title for participants"
    assert check.title, f"{check.name} has no title for researchers"
    fill_words(words.get("needs", ""), check.needs(), words)
    assert check.action != "gate" or words.get("out"), f"{check.name} turns people away without a word"
    for verdict in verdicts:
        is_shown = verdict.verdict == "fail" or verdict.again
        if is_shown and check.options.feedback and action_of(check, verdict) in ("gate", "warn"):
            text = words.get(f"told.{verdict.reason}")
            assert text, f"{check.name} has no words for {verdict.reason!r}"
            fill_words(text, check.message_values(verdict), words)
        is_named = verdict.verdict != "fail" or verdict.reason in check.reasons
        assert is_named, f"{check.name} has no words for researchers on {verdict.reason!r}"


def check_luck(
    check: PageCheck,
    context: CheckContext,
    robots: Sequence[RobotAbilities] = (RobotAbilities(),),
    many: int = _GUESSED,
) -> float:
    """Return how often the best blind guess passes: the best of robots' answers to other attempts, on new ones."""
    attempts = [check.pose(_chance(number), context) for number in range(2 * many)]
    first, fresh = attempts[:many], attempts[many:]
    guesses: dict[str, Mapping[str, Json]] = {}
    for number, (posed, robot) in enumerate((posed, robot) for posed in first for robot in robots):
        if len(guesses) < _CANDIDATES:
            read = check.read(posed.private, check.respond(posed, robot, _chance(number)))
            guesses[json.dumps(_plain(read), sort_keys=True)] = read
    best = max(guesses.values(), key=lambda guess: _passes(check, first, guess, context))
    rate = _passes(check, fresh, best, context) / many
    luck = check.guess_rate()
    slack = 4 * math.sqrt(luck * (1 - luck) / many) + 1 / many
    assert rate <= luck + slack, f"a blind guess passes {check.name} {rate:.1%} of the time, above {luck:.1%}"
    return rate


def _passes(check: PageCheck, attempts: Iterable[CheckTask], guess: Mapping[str, Json], context: CheckContext) -> int:
    passes = 0
    for posed in attempts:
        try:
            read = check.read(posed.private, guess)
        except Refused:
            continue
        passes += judge_attempt(check, Attempt(posed.private, read, context, 1)).verdict == "pass"
    return passes


def _chance(number: int) -> Generator:
    return np.random.default_rng([7, number])


def _plain(value: Any) -> Any:
    """Return a value with lists and dicts in place of tuples and mappings, as in JSON."""
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def _png_chunks(body: bytes) -> Iterable[bytes]:
    """Yield the types of the chunks of a PNG."""
    place = 8
    while place < len(body):
        size = int.from_bytes(body[place : place + 4], "big")
        yield body[place + 4 : place + 8]
        place += 12 + size


# Rules over a session: `check_rule`

_SCALE = SCALES["acr5"]
_PEOPLE, _STIMULI = 14, 16
_LENGTH_MS = 4000
_PLAYED: Mapping[str, Any] = {
    "plays": 1, "watched_ms": _LENGTH_MS, "coverage": 1.0, "furthest_ms": _LENGTH_MS, "stalls": 0, "dropped": 0,
    "frames": 100, "blurs": 0, "whole_ms": _LENGTH_MS, "ended_ms": _LENGTH_MS + 200, "stalled_ms": 0, "away": 0,
}  # fmt: skip


def check_rule(name: str, **options: Json) -> None:
    """Raise AssertionError with a sentence if a registered rule does not keep the contract.

    `options` are those it is tried with, besides the defaults. Title, summary, reasons and every option have words;
    what may change after the last answer is a threshold that can be left out; the rule says in a sentence what it asks.
    Its verdicts depend only on options and evidence, are JSON, and have words for each reason of a failure. It passes
    honest sessions, says nothing about empty ones, and costs nothing when it is only recorded.
    """
    rule = _registered(name)
    _check_documented(rule)
    _check_options(rule, options)
    made = rule(rule.Options.model_validate(options))
    sentence = made.sentence()
    assert sentence.endswith("."), f"the sentence of {name} has no full stop: {sentence!r}"
    assert made.sentence() == sentence, f"{name} says two things about the same options"
    _check_judging(made)
    noted = rule(rule.Options.model_validate({**options, "action": "record"}))
    assert not noted.is_costly, f"{name} costs something although it is only recorded"
    for result in _results(noted):
        assert not result.exclusions, f"{name} takes ratings away although it is only recorded"


def _registered(name: str) -> type[SessionRule]:
    """Return the rule of an entry point."""
    installed = installed_checks()
    assert name not in installed.problems, str(installed.problems.get(name))
    rules = {kind.name: kind for kind in installed.rules}
    assert name in rules, f"{name} is no rule under the entry points {CHECKS.group}; those are {', '.join(rules)}"
    rule = rules[name]
    assert issubclass(rule, SessionRule), f"{name} is no subclass of {CHECKS.contract}"
    return rule


def _check_documented(rule: type[SessionRule]) -> None:
    """Assert that everything about a rule that people read is there."""
    name = rule.name
    for what in ("title", "summary"):
        words = getattr(rule, what, "")
        assert isinstance(words, str), f"the {what} of {name} is no text"
        assert words.strip(), f"{name} has no {what}"
    assert rule.Options.__doc__, f"the options of {name} have no description"
    for key, field in rule.Options.model_fields.items():
        assert field.description, f"the option {key} of {name} has no description"
    assert rule.reasons, f"{name} never has a reason"
    for reason, words in rule.reasons.items():
        assert reason.isidentifier(), f"{name} has the reason {reason!r}, which is no plain word"
        assert words.strip(), f"{name} has no words for {reason}"
    is_ours = rule.__module__.startswith("beholder.")
    assert is_ours or rule.order >= STRANGER, f"{name} puts itself among the rules of Beholder: order is {rule.order}"
    assert not rule.asks_itself or issubclass(rule, MessageRule), f"{name} may cost pay, and is no MessageRule"
    for what, words_of_both in (("role", rule.trial_words), ("purpose", rule.statement_words)):
        is_named = getattr(rule, what) is None or all(words_of_both)
        assert is_named, f"what {name} adds to the lists has no words, one and many"
    assert rule.role is None or rule.is_planned, f"{name} has stimuli in the lists, and says that it needs none"


def _check_options(rule: type[SessionRule], options: Mapping[str, Json]) -> None:
    """Assert that options are plain values, and that each threshold is one of them and can be left out."""
    made = rule.Options.model_validate(options)
    dumped = made.model_dump(mode="json")
    assert rule.Options.model_validate(json.loads(json.dumps(dumped, allow_nan=False))) == made, (
        f"the options of {rule.name} are not what JSON gives back"
    )
    thresholds = rule.Thresholds()
    assert thresholds.written == {}, f"thresholds of {rule.name} that nobody wrote change something"
    for key in rule.Thresholds.model_fields:
        assert key in rule.Options.model_fields, f"{rule.name} has the threshold {key}, and no such option"
    kept = {key: value for key, value in dumped.items() if key in rule.Thresholds.model_fields and key != "action"}
    same = rule.Thresholds.model_validate(kept)
    judged = made.judged_by(same.written)
    assert judged == made, f"{rule.name} with the thresholds {kept} of its own options is judged by others: {judged}"


# Verdicts


def _check_judging(rule: SessionRule) -> None:
    """Assert that verdicts are pure, plain, and have words; and that honest sessions pass."""
    name, sessions = rule.name, _sessions(rule)
    again = type(rule)(rule.options, rule.watch)
    prepared, prepared_again = _prepared(rule, sessions), _prepared(again, sessions)
    for session, evidence, same in zip(sessions, prepared, prepared_again, strict=True):
        result = rule.evaluate(evidence)
        assert result == again.evaluate(same), f"{name} judges the same session in two ways"
        assert rule.judge(evidence) == result.verdict, f"judge and evaluate of {name} do not agree"
        for verdict in (result.verdict, *(one for _, one in result.trials)):
            _check_verdict(rule, verdict)
        for exclusion in result.exclusions:
            check, _, reason = exclusion.reason.partition(":")
            assert (check, reason in rule.reasons) == (name, True), f"{name} excludes ratings for {exclusion.reason}"
        if session.is_honest:
            assert result.verdict.verdict != "fail", f"{name} fails an honest session: {result.verdict}"
            assert not result.exclusions, f"{name} takes ratings of an honest session away: {result.exclusions[0]}"
    empty = rule.evaluate(SessionEvidence(None, "whole"))
    assert empty.verdict.verdict == "unknown", f"{name} judges a session without a single answer: {empty.verdict}"
    assert not empty.exclusions, f"{name} takes ratings of an empty session away"
    _assert_json(name, "account", rule.account([rule.evaluate(evidence) for evidence in prepared]))


def _check_verdict(rule: SessionRule, verdict: Verdict) -> None:
    name = rule.name
    assert (verdict.check, verdict.version) == (name, rule.version), (
        f"{name} gives a verdict of another rule: {verdict}"
    )
    has_words = verdict.verdict != "fail" or verdict.reason in rule.reasons
    assert has_words, f"{name} fails for {verdict.reason!r}, and has no words for it"
    for what in ("measured", "needed", "evidence"):
        _assert_json(name, what, getattr(verdict, what))


def _assert_json(name: str, what: str, value: object) -> None:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{what} of {name} is no JSON: {error}") from error


def _results(rule: SessionRule) -> list[RuleResult]:
    return [rule.evaluate(evidence) for evidence in _prepared(rule, _sessions(rule))]


def _prepared(rule: SessionRule, sessions: Sequence[_Session]) -> Sequence[SessionEvidence]:
    """Return the evidence of all sessions, with what the rule learns from all of them."""
    own = [session.compared.evidence for session in sessions]
    if rule.compared is None:
        return own
    known = rule.prepare([session.compared for session in sessions])
    assert known is None or len(known) == len(own), f"{rule.name} prepares {len(known or ())} of {len(own)} sessions"
    return own if known is None else known


# Sessions: honest ones, and some in which everything goes wrong in one way


class _Session(NamedTuple):
    compared: ComparedSession
    is_honest: bool


class _Rating(NamedTuple):
    participant: str
    stimulus: str
    question: str
    value: float | None
    other_stimulus: str | None = None
    kind: str = "score"
    scale_min: float = _SCALE.min
    scale_max: float = _SCALE.max
    use: bool = True
    trial: str = ""
    condition: str = ""
    other_condition: str | None = None


def _sessions(rule: SessionRule) -> list[_Session]:
    """Return sessions of people who look and answer, and of people who do not."""
    rng = np.random.default_rng(7)
    quality = np.linspace(_SCALE.min, _SCALE.max, _STIMULI)
    honest = []
    for person in range(_PEOPLE):
        votes = np.clip(np.round(quality + rng.normal(0, 0.4, _STIMULI)), _SCALE.min, _SCALE.max)
        honest.append(_session(rule, f"honest-{person}", votes.tolist()))
    turned = _session(rule, "turned", (_SCALE.min + _SCALE.max - quality).round().tolist(), is_obedient=False)
    flat = _session(rule, "flat", [3.0] * _STIMULI, is_obedient=False)
    wild = _session(rule, "wild", rng.integers(1, 6, _STIMULI).astype(float).tolist(), is_obedient=False)
    played: tuple[Mapping[str, Any], ...] = (
        {"whole_ms": _LENGTH_MS / 2, "coverage": 0.5}, {"whole_ms": _LENGTH_MS * 2},
        {"dropped": 90, "stalled_ms": 3000}, {"away": 2}, {"ended_ms": _LENGTH_MS + 1950}, {},
    )  # fmt: skip
    broken = [
        _session(rule, f"played-{place}", quality.round().tolist(), played=how, number=place + 1)
        for place, how in enumerate(played)
    ]
    return [*(_Session(one, True) for one in honest), *(_Session(one, False) for one in (turned, flat, wild, *broken))]


def _session(
    rule: SessionRule,
    participant: str,
    votes: Sequence[float],
    *,
    is_obedient: bool = True,
    played: Mapping[str, Any] | None = None,
    number: int = 1,
) -> ComparedSession:
    """Return a session with one stimulus on each page, and with what the rule needs in the lists."""
    trials = [_trial(f"s{place}", vote, played) for place, vote in enumerate(votes)]
    trials += _extras(rule, votes, is_obedient=is_obedient)
    numbered = tuple(replace(one, key=f"trial:{place}") for place, one in enumerate(trials, 1))
    clicks = tuple(Click("quality", vote, _SCALE.min, _SCALE.max) for vote in votes)
    evidence = SessionEvidence("completed", "whole", (), clicks, numbered, number=number)
    ratings = [_Rating(participant, f"s{place}", "quality", vote) for place, vote in enumerate(votes)]
    return ComparedSession(participant, evidence, ratings)


def _extras(rule: SessionRule, votes: Sequence[float], *, is_obedient: bool) -> Iterator[AnsweredTrial]:
    """Yield trials with the stimuli and statements of the rule, answered as they should be or not at all so."""
    for place in range(3):
        right = _SCALE.max if is_obedient else _SCALE.min
        if rule.role == Repeat.role:
            yield _trial(f"s{place}", votes[place] if is_obedient else 6 - votes[place], role=rule.role)
        elif rule.purpose == TrapItem.purpose:
            obvious = Asked("q2", "trap:1", rule.purpose, "Water is wet.", _SCALE)
            target = {"q2.s1": Target(_SCALE.max, 2.0, "", is_trap=True)}
            yield _trial(f"s{place}", votes[place], targets=target, more=(obvious, right))
        elif rule.role is not None:
            targets = {"q1.s1": Target(_SCALE.max, 0.0, "", is_trap=rule.asks_itself)}
            yield _trial(f"{rule.role}{place}", right, role=rule.role, targets=targets)


def _trial(
    stimulus: str,
    vote: float,
    played: Mapping[str, Any] | None = None,
    *,
    role: Role = "test",
    targets: Mapping[str, Target] | None = None,
    more: tuple[Asked, float] | None = None,
) -> AnsweredTrial:
    answers = {Asked("q1", "quality", "ask", "How good is it?", _SCALE): vote} | ({more[0]: more[1]} if more else {})
    slot = Slot("s1", stimulus, role, "A", True, None)
    trial = Trial("trial", stimulus, "rate", (slot,), tuple(answers), {}, targets or {})
    judgements = tuple(
        Judgement(asked.question, "score", "s1", value, value, _SCALE.min, _SCALE.max, keyed=value)
        for asked, value in answers.items()
    )
    scores = {asked.id: {"s1": value} for asked, value in answers.items()}
    return AnsweredTrial(
        key="trial", trial=trial, answer=cast("Json", {"scores": scores}), judgements=judgements,
        playback={"s1": {**_PLAYED, **(played or {})}}, lengths_ms={"s1": _LENGTH_MS}, sent_ms=_LENGTH_MS + 2000,
    )  # fmt: skip
