"""One session judged: its ratings, its verdicts, and the two decisions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from beholder.checks.contract import (
    Click,
    Exclusion,
    Rule,
    RuleResult,
    SessionEvidence,
    Verdict,
    VerdictValue,
    Viewing,
    Watch,
)
from beholder.checks.known_answers import TRAINING, TRAINING_VERSION, TRAP
from beholder.checks.known_answers import judge_training as known_answer_judge_training
from beholder.checks.page_contract import PageCheck
from beholder.cleaning.decisions import ORDER, Decision, apply_use_decision, decide, judge
from beholder.cleaning.facts import (
    AnswerRecord,
    SessionRecord,
    ShownStimulus,
    ShownTrials,
    answered_trials,
    operated_pages,
    person_verdict,
    position_of,
    trial_answers,
)
from beholder.cleaning.qualification import NOT_MET, SessionQualification, qualify, verdict_of
from beholder.cleaning.ratings import Rating, rating_rows
from beholder.methods.contract import Method
from beholder.study.model import Study
from beholder.types import UNRATED_ROLES, Json

# Training


@dataclass(frozen=True)
class TrainingAnswer:
    """One answer to a training example, from 1."""

    number: int
    attempt: int
    given: AnswerRecord
    verdict: Verdict


def judge_training(method: Method, visit: SessionRecord) -> tuple[TrainingAnswer, ...]:
    """Return every answer to an example, in the order in which they were given."""
    return tuple(sorted(_training_answers(method, visit), key=lambda one: one.given.at)) if visit.lessons else ()


def _training_answers(method: Method, visit: SessionRecord) -> Iterator[TrainingAnswer]:
    for key, given in visit.answers.items():
        kind, _, rest = key.partition(":")
        number, _, attempt = rest.partition(":")
        if kind == "training" and 0 < int(number) <= len(visit.lessons):
            verdict = known_answer_judge_training(method, visit.lessons[int(number) - 1], given.answer)
            yield TrainingAnswer(int(number), int(attempt), given, verdict)


def training_verdict(visit: SessionRecord, lessons: Sequence[TrainingAnswer]) -> Verdict | None:
    """Return what the training came to, by the last answer to each example; None where the plan has none."""
    if not visit.lessons:
        return None
    last = {one.number: one.verdict for one in lessons}
    failed = [number for number, verdict in last.items() if verdict.verdict == "fail"]
    passed = sum(verdict.verdict == "pass" for verdict in last.values())
    say: VerdictValue = "fail" if failed else "pass" if last and passed == len(last) else "unknown"
    reasons = [last[number].reason for number in failed]
    # Not to do what a trap asks for says more than to be further off than expected.
    reason = TRAP if TRAP in reasons else reasons[0] if reasons else "" if say == "pass" else NOT_MET
    if last and say == "unknown":
        reason = next(verdict.reason for verdict in last.values() if verdict.verdict == "unknown")
    evidence: dict[str, Json] = {"attempts": len(lessons), "action": "flag", "failed": [*failed]}
    return Verdict(TRAINING, TRAINING_VERSION, say, reason, passed, len(visit.lessons), evidence)


# One session judged


_COMPARISONS = frozenset({"diff", "choice", "correct"})
_NOTHING = SessionEvidence(None, "whole")
_UNDECIDED = Decision(None, False, ())


@dataclass(frozen=True)
class JudgedSession:
    """A session with its verdicts, decision and ratings."""

    visit: SessionRecord
    verdicts: tuple[Verdict, ...]
    decision: Decision
    ratings: tuple[Rating, ...]
    qualified: SessionQualification
    lessons: tuple[TrainingAnswer, ...] = ()
    evidence: SessionEvidence = _NOTHING
    looked: tuple[RuleResult, ...] = ()
    """What each rule over the session makes of it."""


def judge_session(
    study: Study,
    method: Method,
    visit: SessionRecord,
    shown: ShownTrials,
    watch: Watch,
    checks: Sequence[PageCheck] = (),
    earlier: Sequence[SessionQualification] = (),
    rules: Sequence[Rule] = ORDER,
    number: int = 1,
    minutes: float | None = None,
) -> JudgedSession:
    """Return a session judged from its facts alone. Who withdrew leaves no ratings.

    `earlier` is how the same person did at the checks in other sessions, `number` which of their sessions this is,
    `minutes` how long the study usually takes. What the others say is not known yet: `judge_again` knows it.
    """
    # Who did not agree is erased too, and has not withdrawn.
    outcome = "withdrawn" if visit.is_erased and visit.outcome != "no_consent" else visit.outcome
    if outcome == "withdrawn" or visit.is_erased:
        verdicts = judge(SessionEvidence(outcome, watch), rules)
        gone = replace(visit, outcome=outcome, answers={})
        return JudgedSession(
            gone, verdicts, decide(outcome, verdicts, rules=rules), (), SessionQualification(visit.session)
        )
    ratings: list[Rating] = []
    viewings: list[Viewing] = []
    seen, stimuli = answered_trials(visit, method, shown), shown.stimuli
    for one, (position, given) in zip(seen, trial_answers(visit), strict=True):
        rows = rating_rows(study, visit, position, given, one.judgements, stimuli)
        ratings.extend(rows)
        viewings.extend(_viewings(visit, position, given, rows, stimuli))
    clicks = tuple(
        [
            Click(row.question, raw, row.scale_min, row.scale_max, row.kind, row.heard)
            for row in ratings
            if (raw := row.raw_value if row.heard is None else row.value) is not None
        ]
    )
    pages = operated_pages(visit)
    evidence = SessionEvidence(outcome, watch, tuple(viewings), clicks, seen, pages, number=number)
    qualified, lessons = qualify(checks, visit, earlier), judge_training(method, visit)
    looked = tuple([rule.evaluate(evidence) for rule in rules])
    undecided = JudgedSession(visit, (), _UNDECIDED, tuple(ratings), qualified, lessons, evidence, looked)
    return _decide_again(undecided, rules, minutes)


def judge_again(
    one: JudgedSession, evidence: SessionEvidence, by: type[Rule], rules: Sequence[Rule], minutes: float | None
) -> JudgedSession:
    """Return a session judged `by` one rule with what is known by now of the others; all others stay as they were."""
    if not one.looked:
        return one
    pairs = zip(rules, one.looked, strict=True)
    looked = tuple([rule.evaluate(evidence) if isinstance(rule, by) else before for rule, before in pairs])
    again = replace(one, evidence=evidence, looked=looked)
    if _is_clear(looked, by) and _is_clear(one.looked, by):
        # Only failures decide anything.
        verdicts = (*(look.verdict for look in looked), *one.verdicts[len(looked) :])
        return replace(again, verdicts=verdicts)
    return _decide_again(again, rules, minutes)


def _is_clear(looked: Sequence[RuleResult], by: type[Rule]) -> bool:
    """Return whether a rule passed every session and trial."""
    mine = [look for look in looked if look.verdict.check == by.name]
    return not any(look.exclusions or look.verdict.verdict == "fail" for look in mine)


def _decide_again(one: JudgedSession, rules: Sequence[Rule], minutes: float | None) -> JudgedSession:
    """Return a session with its verdicts, both decisions, and what they mean for each rating."""
    trained = training_verdict(one.visit, one.lessons)
    verdicts = (*(looked.verdict for looked in one.looked), *(() if trained is None else (trained,)))
    decided = decide(one.evidence.outcome, verdicts, one.qualified.settled, rules, one.visit.mode, minutes)
    decision = apply_use_decision(decided, one.visit.act)
    losses: dict[int, list[Exclusion]] = defaultdict(list)
    for looked in one.looked:
        for loss in looked.exclusions:
            losses[position_of(loss.trial)].append(loss)
    ratings = one.ratings
    if losses or decision.costly or not (decision.use and all(row.use for row in ratings)):
        ratings = tuple(_decide_rating(row, decision, one.visit, losses[row.position]) for row in ratings)
    verdicts = (*verdicts, *(verdict_of(settled) for settled in one.qualified.settled))
    if one.visit.act is not None:
        verdicts = (*verdicts, person_verdict(one.visit.act))
    return replace(one, verdicts=verdicts, decision=decision, ratings=ratings)


def _viewings(
    visit: SessionRecord,
    position: int,
    given: AnswerRecord,
    rows: Sequence[Rating],
    stimuli: Mapping[tuple[str, str], ShownStimulus],
) -> list[Viewing]:
    """Return how every slot of a rated trial played, also those that are only there to compare with."""
    missing = given.answer.get("missing", {}) if isinstance(given.answer, Mapping) else {}
    # Where one of two will not play nothing is rated, and the other need not have been watched.
    is_lost = bool(missing) and all(row.value is None for row in rows)
    viewings = []
    for slot in visit.trials[position - 1].slots if rows else ():
        if slot.role in UNRATED_ROLES:
            continue
        played = given.playback.get(slot.id) or {}
        viewings.append(
            Viewing(
                given.key,
                slot.id,
                stimuli[visit.digest, slot.stimulus].length_ms,
                played.get("plays"),
                played.get("coverage"),
                played.get("furthest_ms"),
                played.get("frames"),
                missing.get(slot.id) or ("media_error" if is_lost else None),
            )
        )
    return viewings


def _decide_rating(row: Rating, decision: Decision, visit: SessionRecord, losses: Sequence[Exclusion]) -> Rating:
    """Return the rating with `use` and every reason why it is not used."""
    own = dict.fromkeys(loss.reason for loss in losses if _rests_on(row, visit, loss.slots))
    return row._replace(use=decision.use and not own, reasons="; ".join((*decision.costly, *own)))


def _rests_on(row: Rating, visit: SessionRecord, slots: frozenset[str] | None) -> bool:
    """Return whether a rating rests on one of these slots: its own, one it was compared with, a reference."""
    if slots is None or row.kind in _COMPARISONS:
        return True
    beside = {slot.id for slot in visit.trials[row.position - 1].slots if not slot.rated}
    return row.slot in slots or not beside.isdisjoint(slots)
