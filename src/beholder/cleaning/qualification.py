"""Who qualified: every attempt at a check judged again from what was posed and answered, by the rules of now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from beholder.checks.contract import Verdict
from beholder.checks.page_contract import Attempt, CheckContext, PageCheck
from beholder.checks.page_registry import action_of, costs_session, judge_attempt
from beholder.cleaning.facts import AnswerRecord, SessionRecord
from beholder.types import Json

NOT_MET, UNDER_WAY, NOT_KEPT = "not_met", "under_way", "not_kept"
"""Why a verdict is unknown: the session ended before, the person was still at it, or nothing is kept to judge by."""


@dataclass(frozen=True)
class JudgedAttempt:
    """One attempt at a check, judged again."""

    check: PageCheck
    number: int
    given: AnswerRecord
    verdict: Verdict


@dataclass(frozen=True)
class CheckOutcome:
    """What a session came to at one check, and after how many attempts; none where an earlier session counts."""

    check: PageCheck
    verdict: Verdict
    tries: int

    @property
    def reason(self) -> str:
        return f"{self.verdict.check}:{self.verdict.reason}"

    @property
    def is_told(self) -> bool:
        """Whether it is named among the reasons of a session. What is only recorded is not."""
        return self.verdict.verdict == "fail" and action_of(self.check, self.verdict) != "record"

    @property
    def costs(self) -> bool:
        """Whether the session is not used for it."""
        return costs_session(self.check, self.verdict)


@dataclass(frozen=True)
class SessionQualification:
    """One session at all checks of the study."""

    session: str
    tried: tuple[JudgedAttempt, ...] = ()
    """In the order in which they were answered."""
    settled: tuple[CheckOutcome, ...] = ()
    """One for each check, in the order of the study."""


def qualify(
    checks: Sequence[PageCheck], visit: SessionRecord, earlier: Sequence[SessionQualification] = ()
) -> SessionQualification:
    """Return how a session did. `earlier` are others of the same person, oldest first: a pass can outlast one."""
    if not checks:
        return SessionQualification(visit.session)
    tried = tuple(_judge_attempts(checks, visit, earlier))
    settled = tuple(_check_outcome(place, checks, tried, visit, earlier) for place in range(len(checks)))
    return SessionQualification(visit.session, tried, settled)


def _judge_attempts(
    checks: Sequence[PageCheck], visit: SessionRecord, earlier: Sequence[SessionQualification]
) -> Iterator[JudgedAttempt]:
    """Yield every attempt. What was answered before is known to the later ones, also from an earlier session."""
    by_name = {check.name: check for check in checks}
    known: dict[str, Json] = {one.check.name: one.given.answer for past in earlier for one in past.tried}
    for given in sorted(visit.answers.values(), key=lambda given: given.at):
        kind, _, rest = given.key.partition(":")
        name, _, number = rest.partition(":")
        check = by_name.get(name)
        if kind != "check" or check is None:
            continue
        yield JudgedAttempt(check, int(number), given, _judge_attempt(check, visit, given, known, int(number)))
        known[name] = given.answer


def _judge_attempt(
    check: PageCheck, visit: SessionRecord, given: AnswerRecord, known: Mapping[str, Json], number: int
) -> Verdict:
    private = visit.posed.get(given.key)
    if private is None or not isinstance(given.answer, Mapping):
        return check.verdict("unknown", NOT_KEPT)
    attempt = Attempt(private, given.answer, CheckContext(visit.device, dict(known)), number)
    try:
        return judge_attempt(check, attempt)
    except Exception as error:
        # Kept by another version of the check, or as it came where a bug of ours could not read it. What cannot be
        # judged costs nobody anything, and says why.
        return check.verdict("unknown", NOT_KEPT, problem=f"{type(error).__name__}: {error}")


def _check_outcome(
    place: int,
    checks: Sequence[PageCheck],
    tried: Sequence[JudgedAttempt],
    visit: SessionRecord,
    earlier: Sequence[SessionQualification],
) -> CheckOutcome:
    check = checks[place]
    mine = [one for one in tried if one.check is check]
    if mine:
        last = mine[-1]
        is_newest = last.given.at == max(given.at for given in visit.answers.values())
        is_open = visit.outcome is None and is_newest and len(mine) < check.options.attempts
        # An attempt without a verdict changes nothing: a round ends with the last verdict (server/attempts.py).
        known = [one for one in mine if not one.verdict.again] if last.verdict.again else []
        verdict = known[-1].verdict if known and known[-1].verdict.verdict == "fail" else last.verdict
        if is_open and verdict.verdict == "fail":
            verdict = check.verdict("unknown", UNDER_WAY, measured=verdict.measured, needed=verdict.needed)
        return CheckOutcome(check, verdict, len(mine))
    later = {one.name for one in checks[place + 1 :]}
    is_past = "trial:1" in visit.answers or any(one.check.name in later for one in tried)
    for past in reversed(earlier) if is_past else ():
        outcome = next((one for one in past.settled if one.check.name == check.name and one.tries), None)
        if outcome is not None:
            carried = {**outcome.verdict.evidence, "from_session": past.session}
            return CheckOutcome(check, outcome.verdict._replace(evidence=carried), 0)
    return CheckOutcome(check, check.verdict("unknown", NOT_MET), 0)


def verdict_of(settled: CheckOutcome) -> Verdict:
    """Return the verdict on a session with what belongs beside it: how many attempts, and what it does."""
    action = action_of(settled.check, settled.verdict)
    evidence = {"attempts": settled.tries, "action": action, **settled.verdict.evidence}
    return settled.verdict._replace(evidence=evidence)
