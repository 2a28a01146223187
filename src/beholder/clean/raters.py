"""Raters as a whole: whoever has too few sessions in use is not used at all (reference: checks 9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from beholder.checks.quota import ENDED
from beholder.checks.trust import NOT_MET
from beholder.checks.verdict import Say, Verdict
from beholder.clean.sessions import Judged
from beholder.study.cleaning import Rater
from beholder.types import Json

NAME, VERSION = "rater", 1
FEW_USED, MOSTLY_UNUSED = f"{NAME}:few_used", f"{NAME}:mostly_unused"
_OVER = "quota:over"


def by_raters(judged: Sequence[Judged], rule: Rater | None) -> list[Judged]:
    """Return the sessions with what follows from all sessions of the same person: once, and for use alone."""
    if rule is None:
        return list(judged)
    sessions: Mapping[str, list[Judged]] = defaultdict(list)
    for one in judged:
        sessions[one.visit.participant].append(one)
    verdicts = {participant: _verdict(theirs, rule) for participant, theirs in sessions.items()}
    return [_told(one, verdicts[one.visit.participant]) for one in judged]


def _verdict(sessions: Sequence[Judged], rule: Rater) -> Verdict:
    """Return the verdict on one person, from the sessions that they finished and that may count."""
    finished = [one for one in sessions if one.visit.outcome in ENDED and _OVER not in one.decision.costly]
    used = sum(one.decision.use for one in finished)
    found: dict[str, Json] = {"sessions": len(finished), "used": used}
    if len(finished) < rule.sessions:
        return Verdict(NAME, VERSION, "unknown", NOT_MET, needed=rule.min_used, evidence=found)
    share = used / len(finished)
    found["mostly_unused"] = share < rule.report_below and len(finished) >= rule.report_from
    is_few = share < rule.min_used or used < rule.least
    say: Say = "fail" if is_few else "pass"
    return Verdict(NAME, VERSION, say, "few_used" if is_few else "", round(share, 4), rule.min_used, found)


def _is_taken_in(one: Judged) -> bool:
    return one.visit.act is not None and not one.visit.act.is_left_out


def _told(one: Judged, verdict: Verdict) -> Judged:
    """Return a session with the verdict on its rater, and what that costs."""
    one = replace(one, verdicts=(*one.verdicts, verdict))
    is_hardly = verdict.evidence.get("mostly_unused") is True
    if (verdict.verdict != "fail" and not is_hardly) or _is_taken_in(one):
        return one
    costly = (*one.decision.costly, *((FEW_USED,) if verdict.verdict == "fail" else ()))
    reasons = dict.fromkeys((*one.decision.reasons, *costly, *((MOSTLY_UNUSED,) if is_hardly else ())))
    decision = replace(one.decision, use=not costly, reasons=tuple(reasons), costly=costly)
    if verdict.verdict != "fail":
        return replace(one, decision=decision)
    ratings = tuple(
        row._replace(use=False, reasons="; ".join(filter(None, (row.reasons, FEW_USED)))) for row in one.ratings
    )
    return replace(one, decision=decision, ratings=ratings)
