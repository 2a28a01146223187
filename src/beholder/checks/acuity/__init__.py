"""acuity: where the gaps of small Landolt rings are (reference: checks 4).

The size of a pixel comes from the card. Where the screen cannot draw the gap with two device pixels, a coarser ring is
shown: whoever sees it may or may not see the finer one (unknown), whoever does not see it cannot.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from numpy.random import Generator

from beholder.checks.card import MM_PER_INCH, device_px_per_mm
from beholder.checks.contract import Attempt, Drawn, Known, Posed, Robot, Step, refuse
from beholder.checks.drawing import rings
from beholder.checks.drawing.png import png
from beholder.checks.verdict import Verdict
from beholder.checks.window import is_scaled, read_scale
from beholder.study import qualification as rules
from beholder.types import Json

FINEST = 2
"""A gap of fewer device pixels cannot be drawn."""
_SNELLEN = 20
_MM_PER_CM = 10
_LONGEST_MS = 3_600_000


class Acuity(Step[rules.Acuity]):
    name = "acuity"
    stage = "qualify"
    bound = "device"
    lasting = frozenset(["coarse"])
    seconds = 28
    screens = 2

    def pose(self, rng: Generator, known: Known) -> Posed:
        per_mm = device_px_per_mm(known)
        if per_mm is None:
            return Posed({"skip": True}, {"skip": True})
        wanted = rings.gap_mm(self.rule.mar, self.rule.distance_mm) * per_mm
        gap = max(wanted, FINEST)
        directions: list[Json] = [int(way) for way in rng.integers(0, rings.DIRECTIONS, self.rule.rings)]
        private: dict[str, Json] = {
            "directions": directions, "gap_px": gap, "px_per_mm": per_mm, "distance_mm": self.rule.distance_mm,
            "is_coarse": wanted < FINEST,
        }  # fmt: skip
        names = tuple(f"r{place + 1}" for place in range(self.rule.rings))
        return Posed({"rings": list(names), "distance": self.rule.distance_mm / _MM_PER_CM}, private, names)

    def draw(self, private: Mapping[str, Json], name: str) -> Drawn:
        gap, directions = _number(private, "gap_px"), _directions(private)
        picture = rings.ring(gap, directions[int(name[1:]) - 1])
        return png(picture, picture.size + 1024)  # as long as it is unpacked: a slanted gap packs worse

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        if private.get("skip") is True:
            return {}
        needed, last = len(_directions(private)), rings.DIRECTIONS - 1
        given, times = answer.get("directions"), answer.get("ms")
        ways = given if isinstance(given, list) else []
        if len(ways) != needed or not all(type(way) is int and 0 <= way <= last for way in ways):
            raise refuse("directions", "A direction is missing", f"{needed} whole numbers, 0 to {last}")
        spent: list[Json] = [*times] if isinstance(times, list) and len(times) == needed else [None] * needed
        taken: list[Json] = [_milliseconds(one) for one in spent]
        return {"directions": ways, "ms": taken, "scale": read_scale(answer)}

    def judge(self, attempt: Attempt) -> Verdict:
        private, answer = attempt.private, attempt.answer
        if private.get("skip") is True:
            return self.verdict("unknown", "no_card", needed=self.rule.right)
        gap, distance = _number(private, "gap_px"), _number(private, "distance_mm")
        per_mm = _number(private, "px_per_mm")
        mar = rings.mar_of(gap / per_mm, distance)
        given: Any = answer["directions"]
        measured = sum(one == other for one, other in zip(given, _directions(private), strict=True))
        needed, scale = self.rule.right, answer.get("scale")
        evidence: dict[str, Any] = {
            "rings": len(given), "gap_px": round(gap, 4), "ppi": round(per_mm * MM_PER_INCH, 2), "mar": round(mar, 4),
            "distance_mm": distance, "snellen": f"{_SNELLEN}/{_SNELLEN * mar:.0f}", "scale": scale,
        }  # fmt: skip
        if is_scaled(scale):
            return self.verdict("unknown", "scaled", measured=measured, needed=needed, again=True, **evidence)
        if measured < needed:
            return self.verdict("fail", "rings", measured=measured, needed=needed, **evidence)
        # At least as sharp as `snellen` says, which is coarser than what the study asks for.
        if private["is_coarse"] is True:
            return self.verdict("unknown", "coarse", measured=measured, needed=needed, **evidence)
        return self.verdict("pass", measured=measured, needed=needed, **evidence)

    def told(self, verdict: Verdict) -> Mapping[str, str | float]:
        measured, rings_shown = verdict.measured, verdict.evidence.get("rings")
        return {
            "right": measured if isinstance(measured, int) else 0,
            "rings": rings_shown if isinstance(rings_shown, int) else self.rule.rings,
            **self.needs(),
        }

    def needs(self) -> Mapping[str, str | float]:
        return {"needed": self.rule.right, "distance": self.rule.distance_mm / _MM_PER_CM}

    def luck(self) -> float:
        shown, chance = self.rule.rings, 1 / rings.DIRECTIONS
        hits = range(self.rule.right, shown + 1)
        return sum(math.comb(shown, hit) * chance**hit * (1 - chance) ** (shown - hit) for hit in hits)

    def respond(self, posed: Posed, robot: Robot, rng: Generator) -> Json:
        if posed.private.get("skip") is True:
            return {}
        turned = 0 if robot.can(self.name) else rings.DIRECTIONS // 2
        ways: list[Json] = [(way + turned) % rings.DIRECTIONS for way in _directions(posed.private)]
        return {"directions": ways, "ms": [900] * len(ways), "scale": 1}


def _directions(private: Mapping[str, Json]) -> list[int]:
    directions: Any = private["directions"]
    return list(directions)


def _number(private: Mapping[str, Json], key: str) -> float:
    value = private[key]
    assert isinstance(value, int | float), key
    return float(value)


def _milliseconds(told: Json) -> float | None:
    """Return how long a ring was looked at, as its page told it."""
    if isinstance(told, bool) or not isinstance(told, int | float) or not 0 <= told <= _LONGEST_MS:
        return None
    return round(float(told), 1)
