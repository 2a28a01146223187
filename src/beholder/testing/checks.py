"""The conformance suite of checks with a page: `check_step`, for our checks and those of other packages."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from beholder.checks.contract import Verdict
from beholder.checks.page_contract import Attempt, CheckContext, CheckTask, PageCheck, RobotAbilities
from beholder.checks.page_registry import action_of, judge_attempt
from beholder.errors import Refused
from beholder.server.page_checks import fill_words
from beholder.types import Json

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
