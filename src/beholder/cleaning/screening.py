"""Judging: from the tables of a store to every session with its verdicts, decisions and ratings; nothing is written."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from beholder.checks.agreement import Agreement
from beholder.checks.consistency import Consistency
from beholder.checks.postscreen import Postscreen
from beholder.checks.quota import ENDED
from beholder.checks.steps import AnyStep, check_steps
from beholder.checks.verdict import Check, Watch
from beholder.clean.decide import session_rules
from beholder.clean.emptied import without_emptied
from beholder.clean.facts import Facts, Rows, Visit, gather
from beholder.clean.others import Votes
from beholder.clean.outliers import without_outliers
from beholder.clean.qualification import Qualified
from beholder.clean.raters import by_raters
from beholder.clean.scatter import scatters
from beholder.clean.sessions import Judged, judge_again, judge_visit
from beholder.clean.spared import spared
from beholder.clean.texts import StudyText, read_text
from beholder.errors import Problem, StoreError
from beholder.methods.contract import Method
from beholder.study.model import Study

_TOLD_AFTER = 100
"""Sessions after which it is told how far judging is."""


@dataclass(frozen=True)
class Judging:
    """The facts of one population, and what the rules of the study make of them."""

    study: Study
    """With the rules that cleaning judges by."""
    method: Method
    facts: Facts
    texts: Mapping[str, StudyText]
    """What people were asked, by digest."""
    checks: Sequence[AnyStep]
    judged: Sequence[Judged]


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
) -> Judging:
    """Return the sessions of a run in these tables, judged: those of people where there are any, else of robots.

    The run is that of the study when left out.
    """
    from beholder.methods import find

    foreign = sorted({str(row["study"]) for row in tables["studies"]} - {study.name})
    if foreign:
        raise StoreError(
            Problem(where, f"holds the study {foreign[0]}, not {study.name}", "", "Name the store of this study.")
        )
    facts = gather(tables, where=where, robots=robots, run=study.run if run is None else run)
    # From here on the rules are those that cleaning judges by.
    study = study.model_copy(update={"checks": study.clean.rules(study.checks)})
    method = find(study.method)
    texts = {digest: read_text(text, study, method) for digest, text in facts.yaml.items()}
    checks = check_steps(study)
    watched = {visit.session: texts[visit.digest].watch_of(visit.group) for visit in facts.visits}
    rules = {watch: session_rules(study, watch) for watch in sorted(set(watched.values()))}
    judged = _judge(study, method, facts, watched, checks, rules, progress)
    return Judging(study, method, facts, texts, checks, judged)


def _judge(
    study: Study,
    method: Method,
    facts: Facts,
    watched: Mapping[str, Watch],
    checks: Sequence[AnyStep],
    rules: Mapping[Watch, Sequence[Check]],
    progress: Callable[[int, int], None] | None = None,
) -> list[Judged]:
    """Return every session judged: by itself, with what the others say, then by all sessions of its rater."""
    minutes = _usual_minutes(facts.visits)
    past: dict[str, list[Qualified]] = defaultdict(list)
    ended: Counter[str] = Counter()
    judged = []
    for done, visit in enumerate(facts.visits, 1):
        watch, earlier = watched[visit.session], past[visit.participant]
        ended[visit.participant] += visit.outcome in ENDED
        number = max(1, ended[visit.participant])
        judged.append(
            judge_visit(
                study, method, visit, facts.stimuli, watch, checks, earlier, rules[watch], number, minutes
            )
        )  # fmt: skip
        earlier.append(judged[-1].qualified)
        if progress is not None and (done % _TOLD_AFTER == 0 or done == len(facts.visits)):
            progress(done, len(facts.visits))

    def again(one: Judged, by: type[Check], **known: Any) -> Judged:
        return judge_again(one, replace(one.evidence, **known), by, rules[watched[one.visit.session]], minutes)

    every = [rule for some in rules.values() for rule in some]
    if pages := spared(judged, every):
        judged = [again(one, Postscreen, spared=pages) for one in judged]
    if any(isinstance(rule, Agreement) for rule in every):
        votes = Votes(rating for one in judged for rating in one.ratings if rating.use)
        judged = [again(one, Agreement, others=votes.others(one)) for one in judged]
    if (steady := next((rule for rule in every if isinstance(rule, Consistency)), None)) is not None:
        found = scatters([rating for one in judged for rating in one.ratings if rating.use], steady.rule.ratings)
        judged = [again(one, Consistency, scatter=found.get(one.visit.participant)) for one in judged]
    judged = by_raters(without_emptied(judged), study.clean.raters)
    return without_emptied(without_outliers(judged)) if study.clean.outliers else judged


def _usual_minutes(visits: Sequence[Visit]) -> float | None:
    """Return how long the study takes: the median of those who finished it."""
    found = [visit.minutes for visit in visits if visit.outcome == "completed" and visit.minutes is not None]
    return median(found) if found else None
