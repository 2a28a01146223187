"""speed: answers took the time that people need (reference: checks 7). Never a reason not to pay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from beholder.checks.playing import gap_ms, manner, played
from beholder.checks.trust import Judged, RatingCheck, Seen, number_in
from beholder.checks.verdict import Verdict
from beholder.study.checks import Speed as Rule

TOO_FAST, SESSION = "too_fast", "session"
_SLACK_MS = 1000
"""How far the clock of the log may be from that of the page; further apart, one of them jumped."""


class Speed(RatingCheck[Rule]):
    """Times a trial from when it could be answered to the answer, and a session by what it shows and asks.

    On a board each slider opens when its stimulus has been watched, so that the last one alone is timed.
    """

    name: ClassVar[str] = "speed"

    def judge_trial(self, seen: Seen, before: Sequence[Seen] = ()) -> Verdict | None:
        needed = 0.0
        for asked in seen.trial.asked:
            if not asked.ticks:
                needed += self.rule.slider_s if asked.scale.look == "slider" else self.rule.click_s
        if not needed or not seen.slots:
            return None
        spent = seen.sent_ms - seen.shown_ms
        opened = self._opened_ms(seen)
        if opened is None:
            return self.verdict("unknown", "not_timed", needed=round(needed, 3))
        if spent < 0 or opened > spent + _SLACK_MS:
            return self.verdict("unknown", "clock", needed=round(needed, 3))
        took = max(0.0, spent - opened) / 1000
        whole = {"spent_s": round(spent / 1000, 3), "least_s": round(self._least_ms(seen) / 1000, 3)}
        reason = TOO_FAST if took < needed else ""
        return self.found(reason, measured=round(took, 3), needed=round(needed, 3), **whole)

    def conclude(self, found: Judged) -> Verdict:
        """Return the verdict on a session: too many such trials, or all of them together shorter than they can be."""
        often = self.by_share(found, self.rule.share)
        spent, least = (
            sum([number_in(verdict.evidence, name) for _, verdict in found]) for name in ("spent_s", "least_s")
        )
        if often.verdict == "unknown" or spent >= least:
            return often
        kept = {"share": often.measured, **often.evidence}
        return self.verdict("fail", SESSION, measured=round(spent, 1), needed=round(least, 1), **kept)

    def _opened_ms(self, seen: Seen) -> float | None:
        """Return when the answer could be given; at once, where nothing has to be watched to its end before."""
        if self.watch != "whole":
            return 0.0
        ends = [played(seen, slot).get("ended_ms") for slot in seen.slots]
        return max([float(end) for end in ends if end is not None], default=None)

    def _least_ms(self, seen: Seen) -> float:
        """Return how long a trial takes at least: what was watched of its stimuli, once, and the judgements."""
        watched = []
        for slot in seen.slots:
            length, seconds = seen.lengths_ms.get(slot) or 0, played(seen, slot).get("watched_ms")
            watched.append(0.0 if seconds is None else float(min(length, seconds)))
        media = max(watched, default=0.0) if manner(seen) == "together" else sum(watched) + gap_ms(seen)
        if len(seen.slots) > 1 and manner(seen) == "free":
            return media  # one slider can be set while the next stimulus plays
        judged = len([one for one in seen.judgements if one.value is not None and one.kind != "pick"])
        return media + 1000 * self.rule.judgement_s * judged
