"""The rule `automation`: signs that a program operated the pages.

It reads how pages were operated (`OperatedPage`), never what was answered. Signs that no person leaves flag a session
alone. The others are also left by some assistive technology, by trackpads, by extensions or by a translator in another
window, so that one of them is only noted, and several kinds together flag the session.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan, sqrt
from statistics import fmean
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from pydantic import Field

from beholder.checks.contract import (
    ComparedSession,
    OperatedPage,
    RuleResult,
    SessionEvidence,
    SessionRule,
    Verdict,
)
from beholder.formats import join_names, listed
from beholder.study.checks import After
from beholder.types import Json

Sign = Literal["driver", "decoy", "identical", "untrusted", "pointer", "keys", "times", "focus", "paste"]
Signs: TypeAlias = Mapping[Sign, Mapping[str, Json]]
"""The signs that were found, each with its numbers."""
SIGNS: tuple[Sign, ...] = get_args(Sign)
ALONE: frozenset[Sign] = frozenset({"driver", "decoy", "identical"})
"""Each of them flags a session by itself."""
SEVERAL = "several"


class Automation(SessionRule):
    """automation: nothing says that a program operated the pages. What no page told is unknown."""

    name: ClassVar[str] = "automation"
    title: ClassVar[str] = "Signs of automation"
    order: ClassVar[int] = 105
    summary: ClassVar[str] = "Signs that a program operated the pages."
    looks_at_presses: ClassVar[bool] = True
    compared: ClassVar[int | None] = 5
    reasons: ClassVar[Mapping[str, str]] = {
        "driver": "The browser says that a program drives it",
        "decoy": "A control was used that no person can meet",
        "identical": "Operated to the same rhythm as somebody else's session",
        SEVERAL: "Several signs of a program",
    }

    class Options(SessionRule.Options):
        """Signs that a program operated the pages. Never a reason not to pay."""

        action: Literal["flag", "record"] = Field(
            default="record", description="`flag`: silent, cleaning decides; `record`: only noted, and costs nothing."
        )
        least: Annotated[int, After()] = Field(
            default=2,
            ge=1,
            le=6,
            description="So many kinds of the weaker signs fail a session; `driver`, `decoy` and `identical` do alone.",
        )
        ignore: Annotated[tuple[Sign, ...], After()] = Field(
            default=(), description="Signs that are not looked at, such as `driver` where a laboratory drives browsers."
        )

    options: Options

    def sentence(self) -> str:
        alone = [sign for sign in SIGNS if sign in ALONE and sign not in self.options.ignore]
        weaker = [sign for sign in SIGNS if sign not in ALONE and sign not in self.options.ignore]
        either = f"no {listed(alone, 'or')}, and " if alone else ""
        return (
            f"Nothing says that a program operated the pages: {either}fewer than {self.options.least} of "
            f"{join_names(weaker)}."
        )

    def prepare(self, sessions: Sequence[ComparedSession]) -> Sequence[SessionEvidence] | None:
        """Return the evidence with how many sessions of others have the same rhythm."""
        twins = same_rhythms([one.participant for one in sessions], [rhythm(one.evidence.pages) for one in sessions])
        if not any(twin.sessions for twin in twins):
            return None
        return [
            replace(one.evidence, prepared={**one.evidence.prepared, self.name: twin})
            if twin.sessions
            else one.evidence
            for one, twin in zip(sessions, twins, strict=True)
        ]

    def judge(self, evidence: SessionEvidence) -> Verdict:
        if not any(page.presses or page.driver for page in evidence.pages):
            return self.verdict("unknown", "no_evidence", needed=self.options.least)
        signs = {sign: numbers for sign, numbers in _signs(evidence) if sign not in self.options.ignore}
        alone = next((sign for sign in signs if sign in ALONE), None)
        weaker = [sign for sign in signs if sign not in ALONE]
        reason = alone or (SEVERAL if len(weaker) >= self.options.least else "")
        found: dict[str, Json] = {sign: dict(numbers) for sign, numbers in signs.items()}
        count = sum(len(page.presses) for page in evidence.pages)
        return self.pass_or_fail(reason, measured=[*signs], needed=self.options.least, presses=count, **found)

    def account(self, results: Sequence[RuleResult]) -> dict[str, Json]:
        """Return in how many sessions each sign was found, also where it failed none."""
        found = [set(result.verdict.evidence) for result in results]
        return {"signs": {sign: count for sign in SIGNS if (count := sum(sign in one for one in found))}}


# Signs of one session

_JUMP_PX, _FEW_MOVES = 60, 2
"""A hand that moves a pointer so far is seen on its way: browsers tell of a move in every frame."""
_CENTRE_PX = 1
_FEWEST_PRESSES, _FEWEST_KEYS = 5, 8
_MOST = 0.8
"""The share from which a habit counts as one."""
_HELD_MS = 25
"""Fingers hold a key for 50 ms and more."""
_APART_MS, _HALF = 200, 0.5
"""To press one thing and then another that is not beside it takes a hand 300 ms and more."""
_EVEN, _EVEN_MS, _FEWEST_AT_PLACE, _FEWEST_DELAYS = 0.1, 200, 5, 12
"""People's times differ from trial to trial by 20 % and more, even where they do the same simple thing."""
_FEWEST_AWAY = 3
_PASTED = 50
"""Letters; a word or a name is pasted by many."""


def _signs(evidence: SessionEvidence) -> Iterator[tuple[Sign, Mapping[str, Json]]]:
    """Yield the signs in a session with their numbers, those that flag alone first."""
    presses = [press for page in evidence.pages for press in page.presses]
    driver = sorted({mark for page in evidence.pages for mark in page.driver})
    if driver:
        yield "driver", {"marks": [*driver]}
    if decoys := sum(press.get("decoy") is True for press in presses):
        yield "decoy", {"presses": decoys}
    twin = evidence.prepared.get(Automation.name)
    if isinstance(twin, Twin) and twin.sessions:
        yield "identical", {"sessions": twin.sessions, "presses": twin.presses, "same": twin.same}
    for sign, look in _WEAKER.items():
        if numbers := look(presses, evidence.pages):
            yield sign, numbers


Presses: TypeAlias = Sequence[Mapping[str, Any]]
Pages: TypeAlias = Sequence[OperatedPage]


def _untrusted(presses: Presses, pages: Pages) -> Mapping[str, Json]:
    """Return how many presses the browser does not vouch for; some extensions make such ones too."""
    count = sum(press.get("trusted") is False for press in presses)
    return {"presses": count} if count else {}


def _pointer(presses: Presses, pages: Pages) -> Mapping[str, Json]:
    """Return the shares of presses of a mouse that jumped there, and that hit the very centre of a control."""
    mouse = [press for press in presses if press.get("by") == "mouse"]
    jumps = [press["moves"] <= _FEW_MOVES for press in mouse if "moves" in press and press.get("gone", 0) >= _JUMP_PX]
    centred = [press["off"] <= _CENTRE_PX for press in mouse if "off" in press]
    shares = {"jumps": jumps, "centred": centred}
    return {
        name: round(fmean(one), 2)
        for name, one in shares.items()
        if len(one) >= _FEWEST_PRESSES and fmean(one) >= _MOST
    }


def _keys(presses: Presses, pages: Pages) -> Mapping[str, Json]:
    """Return the share of keys that were let go at once."""
    brief = [press["held"] < _HELD_MS for press in presses if press.get("by") == "key" and "held" in press]
    return {"brief": round(fmean(brief), 2)} if len(brief) >= _FEWEST_KEYS and fmean(brief) >= _MOST else {}


def _times(presses: Presses, pages: Pages) -> Mapping[str, Json]:
    """Return the share of presses faster than a hand, and how little the times of trials vary."""
    delays = [one for page in pages for one in delays_on(page)]
    fast = [
        one.ms < _APART_MS
        for one in delays
        if one.is_next and (one.by == "none" or (one.by == "mouse" and one.gone >= _JUMP_PX))
    ]
    numbers: dict[str, Json] = {}
    if len(fast) >= _FEWEST_PRESSES and fmean(fast) >= _HALF:
        numbers["fast"] = round(fmean(fast), 2)
    spread = _spread([one for page in pages if page.is_trial for one in delays_on(page)])
    if spread is not None and spread < _EVEN:
        numbers["spread"] = round(spread, 3)
    return numbers


def _spread(delays: Sequence[Delay]) -> float | None:
    """Return how much delays vary between trials, relative to the mean at their place; None where they are few."""
    places: dict[int, list[float]] = defaultdict(list)
    for one in delays:
        places[one.place].append(one.ms)
    off = []
    for times in places.values():
        mean = fmean(times)
        if len(times) >= _FEWEST_AT_PLACE and mean >= _EVEN_MS:
            off += [((ms - mean) / mean) ** 2 for ms in times]
    return sqrt(fmean(off)) if len(off) >= _FEWEST_DELAYS else None


def _focus(presses: Presses, pages: Pages) -> Mapping[str, Json]:
    """Return how many presses came while the window was hidden, or was not the one in use."""
    away = sum(press.get("away") is True for press in presses)
    return {"presses": away} if away >= _FEWEST_AWAY and away >= _HALF * len(presses) else {}


def _paste(presses: Presses, pages: Pages) -> Mapping[str, Json]:
    """Return how many longer texts were pasted into answers."""
    pasted = sum(press.get("by") == "paste" and press.get("letters", 0) >= _PASTED for press in presses)
    return {"texts": pasted} if pasted else {}


_WEAKER: Mapping[Sign, Callable[[Presses, Pages], Mapping[str, Json]]] = {
    "untrusted": _untrusted, "pointer": _pointer, "keys": _keys, "times": _times, "focus": _focus, "paste": _paste,
}  # fmt: skip


# Times between presses


class Delay(NamedTuple):
    """How long it took to a press: since the press before, since the end of a stimulus, or since the page was shown."""

    place: int
    """Which press of the page it is, from 0."""
    ms: float
    by: str
    gone: float
    is_next: bool
    """Whether it follows another press, and nothing ended in between."""


def delays_on(page: OperatedPage) -> list[Delay]:
    """Return the delays of the presses on a page."""
    delays: list[Delay] = []
    before = 0.0
    acted = [press for press in page.presses if press.get("by") != "paste" and press.get("decoy") is not True]
    for place, press in enumerate(acted):
        begun = press["ms"] - press.get("held", 0)
        ended = max((end for end in page.ends_ms if end <= begun), default=0.0)
        is_next = place > 0 and before >= ended
        since = max(before, ended)
        delays.append(Delay(place, max(0.0, begun - since), press.get("by", ""), press.get("gone", 0), is_next))
        before = press["ms"]
    return delays


# The same rhythm in sessions of two people

_TRIALS, _PLACES = 40, 6
_SAME_MS, _SLOW_MS = 25, 150
"""Delays count as the same within 25 ms; very short ones are alike without a reason."""
_FEWEST_SHARED = 16


class Twin(NamedTuple):
    """How many sessions of others have the same rhythm; in the nearest, how many presses are shared, and same."""

    sessions: int = 0
    presses: int = 0
    same: float = 0.0


def rhythm(pages: Pages) -> Sequence[float]:
    """Return the delays of the first presses of the first trials, at fixed places; not a number where there is none."""
    delays = [nan] * (_TRIALS * _PLACES)
    for number, page in enumerate([page for page in pages if page.is_trial][:_TRIALS]):
        for one in delays_on(page)[:_PLACES]:
            if one.ms >= _SLOW_MS:
                delays[number * _PLACES + one.place] = one.ms
    return delays


def same_rhythms(people: Sequence[str], rhythms: Sequence[Sequence[float]]) -> list[Twin]:
    """Return for each session what other people's sessions have in common with its rhythm."""
    twins = [Twin()] * len(people)
    times = np.array(rhythms, dtype=np.float32).reshape(len(people), _TRIALS * _PLACES)
    known = [place for place in range(len(people)) if np.isfinite(times[place]).sum() >= _FEWEST_SHARED]
    if len(known) < 2:
        return twins
    times, owners = times[known], np.array(people)[known]
    for number, place in enumerate(known):
        mine = np.isfinite(times[number])
        apart = np.abs(times[:, mine] - times[number, mine])  # not a number where the other has none
        shared = np.isfinite(apart).sum(axis=1)
        same = (apart <= _SAME_MS).sum(axis=1)
        is_twin = (shared >= _FEWEST_SHARED) & (same >= _MOST * shared) & (owners != people[place])
        if is_twin.any():
            nearest = int(np.argmax(np.where(is_twin, same, -1)))
            share = round(float(same[nearest] / shared[nearest]), 2)
            twins[place] = Twin(int(is_twin.sum()), int(shared[nearest]), share)
    return twins
