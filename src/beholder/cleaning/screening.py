"""Screening: every session judged by the rules, against the other raters, and by all sessions of its rater."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd

from beholder.checks.agreement import GRADED, vote_subject
from beholder.checks.answer_patterns import ENDED, Quota
from beholder.checks.contract import (
    NOT_MET,
    ComparedSession,
    Rule,
    SessionRule,
    Verdict,
    VerdictValue,
    Watch,
)
from beholder.checks.page_contract import PageCheck
from beholder.checks.page_registry import page_checks
from beholder.cleaning.decisions import NOTHING_LEFT, session_rules
from beholder.cleaning.facts import Facts, Rows, SessionRecord, ShownTrials, gather_facts
from beholder.cleaning.qualification import SessionQualification
from beholder.cleaning.ratings import Rating
from beholder.cleaning.sessions import JudgedSession, judge_again, judge_session
from beholder.cleaning.texts import StudyText, read_text
from beholder.errors import Problem, StoreError, no_answers
from beholder.formats import plain_count, precise_percent
from beholder.methods.contract import Method
from beholder.study.cleaning import Rater
from beholder.study.model import Study
from beholder.types import Json

_PROGRESS_STEP = 100
"""Sessions between two calls of `progress`."""


@dataclass(frozen=True)
class JudgedPopulation:
    """The facts of one population, and what the rules of the study make of them."""

    study: Study
    """With the rules that cleaning judges by."""
    method: Method
    facts: Facts
    texts: Mapping[str, StudyText]
    """What people were asked, by digest."""
    checks: Sequence[PageCheck]
    judged: Sequence[JudgedSession]


def store_of(study: Study, store: str | None) -> str:
    """Return where the facts of a study are: as named, else store/ in its folder, which has to be there."""
    url = store or str(study.folder / "store")
    if store is None and not Path(url).is_dir():
        raise StoreError(no_answers(url, ", or name a store with --store"))
    return url


def judge_tables(
    study: Study,
    tables: Mapping[str, Rows],
    *,
    where: str = "store/",
    robots: bool = False,
    run: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> JudgedPopulation:
    """Return the sessions of a run in these tables, judged: those of people where there are any, else of robots.

    The run is that of the study when left out.
    """
    return judge_facts(study, facts_of(study, tables, where=where, robots=robots, run=run), progress=progress)


def facts_of(
    study: Study, tables: Mapping[str, Rows], *, where: str = "store/", robots: bool = False, run: int | None = None
) -> Facts:
    """Return the facts of a run in these tables, which have to be those of the study."""
    foreign = sorted({str(row["study"]) for row in tables["studies"]} - {study.name})
    if foreign:
        raise StoreError(
            Problem(where, f"holds the study {foreign[0]}, not {study.name}", "", "Name the store of this study.")
        )
    return gather_facts(tables, where=where, robots=robots, run=study.run if run is None else run)


def judge_facts(study: Study, facts: Facts, *, progress: Callable[[int, int], None] | None = None) -> JudgedPopulation:
    """Return all sessions of a population, judged by the rules of a study."""
    from beholder.methods import find

    # From here on the rules are those that cleaning judges by.
    study = study.model_copy(update={"checks": study.clean.rules(study.checks)})
    method = find(study.method)
    texts = {digest: read_text(text, study, method) for digest, text in facts.yaml.items()}
    checks = page_checks(study)
    watched = {visit.session: texts[visit.digest].watch_of(visit.group) for visit in facts.visits}
    rules = {watch: session_rules(study, watch) for watch in sorted(set(watched.values()))}
    judged = _judge(study, method, facts, watched, checks, rules, progress)
    return JudgedPopulation(study, method, facts, texts, checks, judged)


def _judge(
    study: Study,
    method: Method,
    facts: Facts,
    watched: Mapping[str, Watch],
    checks: Sequence[PageCheck],
    rules: Mapping[Watch, Sequence[Rule]],
    progress: Callable[[int, int], None] | None = None,
) -> list[JudgedSession]:
    """Return every session judged: by itself, with what the others say, then by all sessions of its rater."""
    minutes, shown = _median_minutes(facts.visits), ShownTrials(facts.stimuli)
    past: dict[str, list[SessionQualification]] = defaultdict(list)
    ended: Counter[str] = Counter()
    judged = []
    for done, visit in enumerate(facts.visits, 1):
        watch, earlier = watched[visit.session], past[visit.participant]
        ended[visit.participant] += visit.outcome in ENDED
        number = max(1, ended[visit.participant])
        judged.append(
            judge_session(
                study, method, visit, shown, watch, checks, earlier, rules[watch], number, minutes
            )
        )  # fmt: skip
        earlier.append(judged[-1].qualified)
        if progress is not None and (done % _PROGRESS_STEP == 0 or done == len(facts.visits)):
            progress(done, len(facts.visits))

    for rule in _comparing(rules):
        known = rule.prepare(
            [ComparedSession(one.visit.participant, one.evidence, _common(one.ratings)) for one in judged]
        )
        if known is not None:
            judged = [
                judge_again(one, evidence, type(rule), rules[watched[one.visit.session]], minutes)
                for one, evidence in zip(judged, known, strict=True)
            ]
    judged = judge_raters(exclude_empty_sessions(judged), study.clean.raters)
    return exclude_empty_sessions(exclude_outliers(judged)) if study.clean.outliers else judged


def _common(ratings: tuple[Rating, ...]) -> tuple[Rating, ...]:
    """Return the ratings of stimuli that are for everybody: nobody is held against others by what is their own."""
    return tuple(row for row in ratings if not row.is_own) if any(row.is_own for row in ratings) else ratings


def _comparing(rules: Mapping[Watch, Sequence[Rule]]) -> list[SessionRule]:
    """Return the rules that need all sessions, in their turns, whatever people were asked to watch."""
    every = {rule.name: rule for some in rules.values() for rule in some if isinstance(rule, SessionRule)}
    turns = [(rule.compared, rule) for rule in every.values() if rule.compared is not None]
    return [rule for _, rule in sorted(turns, key=lambda turn: turn[0])]


def _median_minutes(visits: Sequence[SessionRecord]) -> float | None:
    """Return how long the study takes: the median of those who finished it."""
    minutes = [visit.minutes for visit in visits if visit.outcome == "completed" and visit.minutes is not None]
    return median(minutes) if minutes else None


# Raters: without enough used sessions, none of a rater's sessions is used (reference: checks 9)


NAME, VERSION = "rater", 1
RATER_TITLE = "Sessions of one person in use"
FEW_USED, MOSTLY_UNUSED = f"{NAME}:few_used", f"{NAME}:mostly_unused"
_OVER = f"{Quota.name}:over"


def rater_sentence(rule: Rater) -> str:
    """Return a sentence about what the rule over raters asks, with its numbers."""
    return (
        f"At least {precise_percent(rule.min_used)} of the sessions that somebody finished are used, and {rule.least} "
        f"at least, or none of them is; looked at from {plain_count(rule.sessions, 'session')} on."
    )


def judge_raters(judged: Sequence[JudgedSession], rule: Rater | None) -> list[JudgedSession]:
    """Return the sessions with what follows from all sessions of the same person: once, and for use alone."""
    if rule is None:
        return list(judged)
    sessions: Mapping[str, list[JudgedSession]] = defaultdict(list)
    for one in judged:
        sessions[one.visit.participant].append(one)
    verdicts = {participant: _verdict(theirs, rule) for participant, theirs in sessions.items()}
    return [_with_verdict(one, verdicts[one.visit.participant]) for one in judged]


def _verdict(sessions: Sequence[JudgedSession], rule: Rater) -> Verdict:
    """Return the verdict on one person, from the sessions that they finished and that may count."""
    finished = [one for one in sessions if one.visit.outcome in ENDED and _OVER not in one.decision.costly]
    used = sum(one.decision.use for one in finished)
    evidence: dict[str, Json] = {"sessions": len(finished), "used": used}
    if len(finished) < rule.sessions:
        return Verdict(NAME, VERSION, "unknown", NOT_MET, needed=rule.min_used, evidence=evidence)
    share = used / len(finished)
    evidence["mostly_unused"] = share < rule.report_below and len(finished) >= rule.report_from
    is_few = share < rule.min_used or used < rule.least
    say: VerdictValue = "fail" if is_few else "pass"
    return Verdict(NAME, VERSION, say, "few_used" if is_few else "", round(share, 4), rule.min_used, evidence)


def _is_taken_in(one: JudgedSession) -> bool:
    return one.visit.act is not None and not one.visit.act.is_left_out


def _with_verdict(one: JudgedSession, verdict: Verdict) -> JudgedSession:
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


# Outlying votes on a stimulus: Tukey's fences, once (reference: statistics 3.6; off by default)


FAR = "outliers:far"
_MIN_VOTES = 6
"""With fewer votes on a stimulus nobody can be far from the others."""
_FENCE = 1.5


def exclude_outliers(judged: Sequence[JudgedSession]) -> list[JudgedSession]:
    """Return the sessions without the votes that lie further than 1.5 quartile ranges outside the quartiles.

    Where both quartiles are the same number there is no range to go by, and no vote is left out.
    """
    ratings = [row for one in judged for row in _common(one.ratings)]
    used = [row for row in ratings if row.use and row.value is not None and row.kind in GRADED]
    table = pd.DataFrame(
        [(vote_subject(row.kind, row.stimulus, row.other_stimulus), row.question, row.value) for row in used],
        columns=["judged", "question", "value"],
    ).astype({"value": float})
    votes = table.groupby(["judged", "question"], sort=False)["value"]
    low, high, count = votes.transform("quantile", 0.25), votes.transform("quantile", 0.75), votes.transform("size")
    values, fence = table["value"], _FENCE * (high - low)
    far = (count >= _MIN_VOTES) & (fence > 0) & ((values < low - fence) | (values > high + fence))
    places = {id(used[place]) for place in np.asarray(far.index[far])}
    return [_exclude_ratings(one, places) for one in judged]


def _exclude_ratings(one: JudgedSession, places: set[int]) -> JudgedSession:
    if not any(id(row) in places for row in one.ratings):
        return one
    return replace(one, ratings=tuple(_exclude_rating(row) if id(row) in places else row for row in one.ratings))


def _exclude_rating(row: Rating) -> Rating:
    return row._replace(use=False, reasons=FAR)


# Sessions without a rating in use


def exclude_empty_sessions(judged: list[JudgedSession]) -> list[JudgedSession]:
    """Return the sessions; one without a single rating in use is not used, so that nobody is counted for nothing."""
    return [_exclude_empty(one) if _is_empty(one) else one for one in judged]


def _is_empty(one: JudgedSession) -> bool:
    return one.decision.use and not any(row.use and row.value is not None for row in one.ratings)


def _exclude_empty(one: JudgedSession) -> JudgedSession:
    before = one.decision
    decision = replace(before, use=False, reasons=(*before.reasons, NOTHING_LEFT), costly=(NOTHING_LEFT,))
    ratings = tuple(row._replace(use=False, reasons=NOTHING_LEFT) if row.use else row for row in one.ratings)
    return replace(one, decision=decision, ratings=ratings)
