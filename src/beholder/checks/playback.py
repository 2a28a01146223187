"""ratio: playing took as long as it should, neither stalled nor skipped (reference: checks 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from beholder.checks.playing import gap_ms, manner, moving_slots, played
from beholder.checks.trust import (
    MEDIA_ERROR,
    Judged,
    RatingCheck,
    Seen,
    known,
    number_in,
    of_trials,
    remembered,
    why_unknown,
)
from beholder.checks.verdict import Verdict
from beholder.study.checks import Ratio as Rule
from beholder.types import Json

SHORT, LONG = "short", "long"
"""Reasons of a trial."""
TOO_SHORT, TOO_LONG = "too_short", "too_long"
"""Reasons of a session."""


class Ratio(RatingCheck[Rule]):
    """Compares the time of the first whole play of every stimulus with its length; plays after it do not count.

    Where people go back and forth between many there is no such play: how much of each was played has to do, and
    nothing can take too long.
    """

    name: ClassVar[str] = "ratio"

    def judge_trial(self, seen: Seen, before: Sequence[Seen] = ()) -> Verdict | None:
        if self.watch != "whole":
            return None
        if seen.stills:
            return self.verdict("unknown", "still")
        return self._covered(seen) if manner(seen) == "free" else self._timed(seen)

    def _timed(self, seen: Seen) -> Verdict:
        """Return the verdict on what plays by itself, in turns or together."""
        slots = [slot.id for slot in seen.trial.slots]
        if seen.missing:
            return self.verdict("unknown", MEDIA_ERROR)
        lengths = tuple([seen.lengths_ms.get(slot) or 0 for slot in slots])
        times = tuple([played(seen, slot).get("whole_ms") for slot in slots])
        return self._taken(lengths, times, None if seen.trial.together else gap_ms(seen))

    @remembered
    def _taken(self, lengths: tuple[int, ...], times: tuple[float | None, ...], gap: float | None) -> Verdict:
        """Return the verdict from how long slots last and took; `gap` is between them, None where all play at once."""
        if not all(lengths):
            return self.verdict("unknown", "not_timed")
        planned = float(max(lengths)) if gap is None else sum(lengths) + gap
        if None in times:
            return self.verdict("unknown", "not_timed", planned_ms=round(planned))
        whole = [float(time) for time in times if time is not None]
        taken = max(whole) if gap is None else sum(whole) + gap
        low, high = self.rule.trial
        ratio = taken / planned
        reason = SHORT if ratio < low else LONG if ratio > high else ""
        kept: dict[str, Json] = {"taken_ms": round(taken), "planned_ms": round(planned), "is_timed": True}
        return self.found(reason, measured=round(ratio, 4), needed=[low, high], **kept)

    def _covered(self, seen: Seen) -> Verdict:
        """Return the verdict on slots of which some were perhaps not played to the end."""
        low = self.rule.trial[0]
        covered, planned, short = 0.0, 0.0, []
        for slot in moving_slots(seen):
            length, coverage = seen.lengths_ms.get(slot), played(seen, slot).get("coverage")
            if not length or coverage is None:
                continue
            covered, planned = covered + coverage * length, planned + length
            if coverage < low:
                short.append(slot)
        if not planned:
            return self.verdict("unknown", MEDIA_ERROR if seen.missing else "not_timed")
        kept: dict[str, Json] = {"taken_ms": round(covered), "planned_ms": round(planned), "slots": short}
        return self.found(SHORT if short else "", measured=round(covered / planned, 4), needed=low, **kept)

    def conclude(self, found: Judged) -> Verdict:
        """Return the verdict on a session: the sum over its trials within the range, above it where it was timed.

        A trial that nobody could time counts as played as planned, so that it does not make another one weigh more.
        """
        low, high = self.rule.range
        if not known(found):
            return self.verdict("unknown", why_unknown(found), needed=[low, high], **of_trials(found))
        judged = [verdict.evidence for _, verdict in found if verdict.verdict != "unknown"]
        untimed = [verdict.evidence for _, verdict in found if verdict.verdict == "unknown"]
        ratio = _ratio(judged, untimed)
        timed = [one for one in judged if one.get("is_timed")]
        reason = TOO_SHORT if ratio < low else TOO_LONG if timed and _ratio(timed, untimed) > high else ""
        return self.found(reason, measured=round(ratio, 4), needed=[low, high], **of_trials(found))


def _ratio(timed: Sequence[Mapping[str, Json]], untimed: Sequence[Mapping[str, Json]]) -> float:
    """Return the time that was taken over the time that was planned."""
    as_planned = sum([number_in(one, "planned_ms") for one in untimed])
    taken, planned = (sum([number_in(one, name) for one in timed]) for name in ("taken_ms", "planned_ms"))
    return (taken + as_planned) / (planned + as_planned)
