"""Screening: every session judged by the rules, against the other raters, and by all sessions of its rater."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from beholder.checks.agreement import (
    AgreementRule,
    ConsistencyRule,
    PageQuestion,
    PostscreenRule,
    Vote,
    high_anchors,
    vote_subject,
)
from beholder.checks.answer_patterns import ENDED
from beholder.checks.contract import NOT_MET, MeansOfOthers, Rule, Scatter, Verdict, VerdictValue, Watch
from beholder.checks.page_registry import AnyPageCheck, page_checks
from beholder.cleaning.decisions import NOTHING_LEFT, session_rules
from beholder.cleaning.facts import Facts, Rows, SessionRecord, gather_facts
from beholder.cleaning.qualification import SessionQualification
from beholder.cleaning.ratings import Rating
from beholder.cleaning.sessions import JudgedSession, judge_again, judge_session
from beholder.cleaning.texts import StudyText, read_text
from beholder.errors import Problem, StoreError
from beholder.methods.contract import Method
from beholder.stats.rater_models import Floats, RaterModelFit, RaterVotes
from beholder.stats.shrinkage import shrunken
from beholder.stats.tests import robust_z
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
    checks: Sequence[AnyPageCheck]
    judged: Sequence[JudgedSession]


def store_of(study: Study, store: str | None) -> str:
    """Return where the facts of a study are: as named, else store/ in its folder, which has to be there."""
    url = store or str(study.folder / "store")
    if store is None and not Path(url).is_dir():
        raise StoreError(
            Problem(
                url,
                "is not there",
                "",
                "Run `beholder serve` or `beholder simulate` first, or name a store with --store.",
            )
        )
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
    from beholder.methods import find

    foreign = sorted({str(row["study"]) for row in tables["studies"]} - {study.name})
    if foreign:
        raise StoreError(
            Problem(where, f"holds the study {foreign[0]}, not {study.name}", "", "Name the store of this study.")
        )
    facts = gather_facts(tables, where=where, robots=robots, run=study.run if run is None else run)
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
    checks: Sequence[AnyPageCheck],
    rules: Mapping[Watch, Sequence[Rule]],
    progress: Callable[[int, int], None] | None = None,
) -> list[JudgedSession]:
    """Return every session judged: by itself, with what the others say, then by all sessions of its rater."""
    minutes = _median_minutes(facts.visits)
    past: dict[str, list[SessionQualification]] = defaultdict(list)
    ended: Counter[str] = Counter()
    judged = []
    for done, visit in enumerate(facts.visits, 1):
        watch, earlier = watched[visit.session], past[visit.participant]
        ended[visit.participant] += visit.outcome in ENDED
        number = max(1, ended[visit.participant])
        judged.append(
            judge_session(
                study, method, visit, facts.stimuli, watch, checks, earlier, rules[watch], number, minutes
            )
        )  # fmt: skip
        earlier.append(judged[-1].qualified)
        if progress is not None and (done % _PROGRESS_STEP == 0 or done == len(facts.visits)):
            progress(done, len(facts.visits))

    def again(one: JudgedSession, by: type[Rule], **known: Any) -> JudgedSession:
        return judge_again(one, replace(one.evidence, **known), by, rules[watched[one.visit.session]], minutes)

    every = [rule for some in rules.values() for rule in some]
    if pages := ignored_pages(judged, every):
        judged = [again(one, PostscreenRule, ignored_pages=pages) for one in judged]
    if any(isinstance(rule, AgreementRule) for rule in every):
        votes = VotesOfOthers(rating for one in judged for rating in one.ratings if rating.use)
        judged = [again(one, AgreementRule, others=votes.others(one)) for one in judged]
    if (steady := next((rule for rule in every if isinstance(rule, ConsistencyRule)), None)) is not None:
        scatter = rater_scatter([rating for one in judged for rating in one.ratings if rating.use], steady.rule.ratings)
        judged = [again(one, ConsistencyRule, scatter=scatter.get(one.visit.participant)) for one in judged]
    judged = judge_raters(exclude_empty_sessions(judged), study.clean.raters)
    return exclude_empty_sessions(exclude_outliers(judged)) if study.clean.outliers else judged


def _median_minutes(visits: Sequence[SessionRecord]) -> float | None:
    """Return how long the study takes: the median of those who finished it."""
    minutes = [visit.minutes for visit in visits if visit.outcome == "completed" and visit.minutes is not None]
    return median(minutes) if minutes else None


# Means of the other raters


class VotesOfOthers:
    """All votes on each stimulus and question, and how many of them each person gave."""

    def __init__(self, ratings: Iterable[Rating]) -> None:
        self._all: dict[Vote, list[float]] = {}
        self._own: dict[str, dict[Vote, list[float]]] = defaultdict(dict)
        for rating in ratings:
            vote = _vote(rating)
            if vote is not None and rating.value is not None:
                for sums in (self._all, self._own[rating.participant]):
                    known = sums.setdefault(vote, [0.0, 0])
                    known[0] += rating.value
                    known[1] += 1

    def others(self, one: JudgedSession) -> MeansOfOthers:
        """Return the means of everybody else on what was judged in a session."""
        own = self._own.get(one.visit.participant, {})
        means = {}
        for vote in {vote for rating in one.ratings if (vote := _vote(rating)) is not None}:
            whole, count = self._all.get(vote, (0.0, 0))
            mine, times = own.get(vote, (0.0, 0))
            if count > times:
                means[vote] = (whole - mine) / (count - times)
        return means


def _vote(rating: Rating) -> Vote | None:
    judged = vote_subject(rating.kind, rating.stimulus, rating.other_stimulus)
    return None if judged is None else (judged, rating.question)


# Scatter: each rater's inconsistency, with quality and bias removed


_GRADED = ("score", "diff")
"""Kinds of votes that can be near or far; a choice is one or the other."""
_MIN_LOG_SCATTER = 0.08
"""Deviation of the logarithm of scatter that people have at least: among many who are nearly the same, as robots are,
nobody is far off who scatters a tenth more."""


def rater_scatter(ratings: Sequence[Rating], fewest: int) -> dict[str, Scatter]:
    """Return the scatter of every person with such ratings; what is usual is that of people with `fewest` or more.

    All questions enter one model, each vote in widths of its scale. What somebody rated several times counts once,
    with its mean.
    """
    rows = [
        (row.participant, row.question, vote_subject(row.kind, row.stimulus, row.other_stimulus), row.value / width)
        for row in ratings
        if row.kind in _GRADED and row.value is not None and (width := row.scale_max - row.scale_min) > 0
    ]
    if not rows:
        return {}
    table = pd.DataFrame(rows, columns=["participant", "question", "judged", "value"])
    votes = table.groupby(["participant", "question", "judged"], sort=False)["value"].mean().reset_index()
    rater, people = pd.factorize(votes["participant"])
    thing = np.asarray(votes.groupby(["question", "judged"], sort=False).ngroup(), np.intp)
    rater_votes = RaterVotes(
        votes["value"].to_numpy(float), np.asarray(rater, np.intp), thing, len(people), int(thing.max()) + 1
    )
    counts = np.bincount(rater_votes.rater, minlength=rater_votes.raters)
    fitted = shrunken(rater_votes)
    z = scatter_z(rater_votes, fitted, fewest)
    raters = int((counts >= fewest).sum())
    return {
        str(person): Scatter(int(count), raters, None if np.isnan(one) else float(one), float(width))
        for person, count, one, width in zip(people, counts, z, np.nan_to_num(fitted.inconsistency), strict=True)
    }


def scatter_z(votes: RaterVotes, fitted: RaterModelFit, fewest: int) -> Floats:
    """Return the robust z of each rater's log inconsistency among those with enough votes; NaN for everybody else."""
    scores = np.full(votes.raters, np.nan)
    has_enough = np.bincount(votes.rater, minlength=votes.raters) >= fewest
    is_known = has_enough & np.isfinite(fitted.inconsistency) & (fitted.inconsistency > 0)
    z = robust_z(np.log(fitted.inconsistency[is_known]), _MIN_LOG_SCATTER)
    if z is not None:
        scores[is_known] = z
    return scores


# Pages whose anchors fool many raters are ignored (ITU-R BS.1534; reference: statistics 4.1)


_MIN_FOOLED = 2
"""One person alone spares nobody, however few there are."""


def ignored_pages(judged: Iterable[JudgedSession], rules: Sequence[Rule]) -> frozenset[PageQuestion]:
    """Return the contents and questions with anchors that more people than allowed rated as high as a reference."""
    rule = next((rule.rule for rule in rules if isinstance(rule, PostscreenRule)), None)
    if rule is None:
        return frozenset()
    people: dict[PageQuestion, dict[str, bool]] = defaultdict(dict)
    for one in judged:
        for page, is_fooled in high_anchors(rule, one.evidence).items():
            people[page].setdefault(one.visit.participant, is_fooled)
    return frozenset(
        page
        for page, fooled in people.items()
        if (count := sum(fooled.values())) >= _MIN_FOOLED and count > rule.spare * len(fooled)
    )


# Raters: without enough used sessions, none of a rater's sessions is used (reference: checks 9)


NAME, VERSION = "rater", 1
FEW_USED, MOSTLY_UNUSED = f"{NAME}:few_used", f"{NAME}:mostly_unused"
_OVER = "quota:over"


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
    used = [row for one in judged for row in one.ratings if row.use and row.value is not None and row.kind in _GRADED]
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
