"""The folder clean/: what `clean` reads, and the tables that it writes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from beholder.checks.agreement import Agreement
from beholder.checks.quota import ENDED
from beholder.checks.rules import trust_checks
from beholder.checks.steps import AnyStep, check_steps
from beholder.checks.trust import CHECK_ROLES
from beholder.checks.verdict import Check, Watch
from beholder.clean import Cleaned, attempts, comments, playback, said
from beholder.clean.account import counts, lost, verdict_counts, verdict_row
from beholder.clean.decide import session_rules
from beholder.clean.facts import TABLES, Facts, Rows, Visit, gather
from beholder.clean.funnel import funnel
from beholder.clean.others import Votes
from beholder.clean.qualification import Qualified
from beholder.clean.ratings import COLUMNS, as_record, number_repetitions
from beholder.clean.sessions import Judged, judge_again, judge_visit
from beholder.clean.tables import as_text, json_bytes, table_bytes, write_together
from beholder.clean.texts import StudyText, read_text, text_rows
from beholder.clean.trusted import trusted
from beholder.errors import Problem, StoreError
from beholder.methods.contract import Method
from beholder.study.model import Study

SESSIONS = ("session", "participant", "mode", "outcome", "end_reason", "minutes", "accept", "use", "reasons")
PARTICIPANTS = ("participant", "mode", "sessions", "minutes", "ratings", "used_ratings", "accept", "use", "reasons")
VERDICTS = ("session", "check", "version", "verdict", "reason", "measured", "needed", "evidence")


def clean_folder(study: str | Path | Study, *, store: str | None, robots: bool) -> Cleaned:
    """Read the store of a study, judge every session, write clean/."""
    from beholder.methods import load_study
    from beholder.store.open import read_tables

    loaded = study if isinstance(study, Study) else load_study(Path(study))
    url = store or str(loaded.folder / "store")
    if store is None and not Path(url).is_dir():
        raise StoreError(
            Problem(
                url,
                "is not there",
                "",
                "Run `beholder serve` or `beholder simulate` first, or name a store with --store.",
            )
        )
    return clean_tables(loaded, read_tables(url, TABLES), where=store or "store/", robots=robots)


def clean_tables(study: Study, tables: Mapping[str, Rows], *, where: str = "store/", robots: bool = False) -> Cleaned:
    """Judge the sessions in these tables and write clean/ in the study's folder."""
    from beholder.methods import find

    foreign = sorted({str(row["study"]) for row in tables["studies"]} - {study.name})
    if foreign:
        raise StoreError(
            Problem(where, f"holds the study {foreign[0]}, not {study.name}", "", "Name the store of this study.")
        )
    facts = gather(tables, where=where, robots=robots)
    method = find(study.method)
    texts = {digest: read_text(text, study, method) for digest, text in facts.yaml.items()}
    checks = check_steps(study)
    rules = {watch: session_rules(study, watch) for watch in {text.watch for text in texts.values()}}
    judged = _judge(study, method, facts, {digest: text.watch for digest, text in texts.items()}, checks, rules)
    folder = study.folder / "clean"
    _write(folder, study, facts, judged, texts, funnel(checks, judged))
    return Cleaned(folder, facts.population, counts(facts, judged), lost(judged))


def _judge(
    study: Study,
    method: Method,
    facts: Facts,
    watched: Mapping[str, Watch],
    checks: Sequence[AnyStep],
    rules: Mapping[Watch, Sequence[Check]],
) -> list[Judged]:
    """Return every session judged: by itself, then with what those say who are used so far."""
    minutes = _usual_minutes(facts.visits)
    past: dict[str, list[Qualified]] = defaultdict(list)
    ended: Counter[str] = Counter()
    judged = []
    for visit in facts.visits:
        watch, earlier = watched[visit.digest], past[visit.participant]
        ended[visit.participant] += visit.outcome in ENDED
        number = max(1, ended[visit.participant])
        judged.append(
            judge_visit(
                study, method, visit, facts.stimuli, watch, checks, earlier, rules[watch], number, minutes
            )
        )  # fmt: skip
        earlier.append(judged[-1].qualified)
    if not any(isinstance(rule, Agreement) for some in rules.values() for rule in some):
        return judged
    votes = Votes(rating for one in judged for rating in one.ratings if rating.use)
    return [judge_again(one, votes.others(one), rules[watched[one.visit.digest]], minutes) for one in judged]


def _usual_minutes(visits: Sequence[Visit]) -> float | None:
    """Return how long the study takes: the median of those who finished it."""
    found = [visit.minutes for visit in visits if visit.outcome == "completed" and visit.minutes is not None]
    return median(found) if found else None


def _write(
    folder: Path,
    study: Study,
    facts: Facts,
    judged: Sequence[Judged],
    texts: Mapping[str, StudyText],
    qualified: Mapping[str, Any] | None,
) -> None:
    ratings = number_repetitions(rating for one in judged for rating in one.ratings)
    factors = sorted({f"factor_{name}" for rating in ratings for name in rating.factors})
    options = {f"answer_{ask.id}": ask.options for ask in (*study.before, *study.after)}
    visits = [one.visit for one in judged]
    verdicts = (verdict_row(one.visit.session, verdict) for one in judged for verdict in one.verdicts)
    account = {
        "study": study.name,
        "population": facts.population,
        "finished": dict(facts.finished),
        "digests": sorted({one.visit.digest for one in judged}),
        "texts": text_rows(texts, judged),
        "roles": {shown.condition: shown.role for shown in facts.stimuli.values() if shown.role not in CHECK_ROLES},
        "counts": counts(facts, judged),
        "lost": [asdict(one) for one in lost(judged)],
        "verdicts": verdict_counts(judged),
        "qualification": qualified,
        "trust": trusted(trust_checks(study), judged),
    }
    write_together(
        folder,
        {
            "ratings.csv": table_bytes((*COLUMNS, *factors), (as_record(rating) for rating in ratings)),
            "playback.csv": table_bytes(playback.COLUMNS, playback.playback_rows(visits, facts.stimuli)),
            "comments.csv": table_bytes(comments.COLUMNS, comments.comment_rows(visits)),
            "sessions.csv": table_bytes(SESSIONS, (_session_row(one) for one in judged)),
            "participants.csv": table_bytes((*PARTICIPANTS, *options), _participant_rows(judged, options)),
            "verdicts.csv": table_bytes(VERDICTS, verdicts),
            "checks.csv": table_bytes(said.COLUMNS, said.said_rows(judged)),
            "qualification.csv": table_bytes(attempts.COLUMNS, attempts.attempt_rows(judged)),
            "account.json": json_bytes(account),
        },
    )


def _session_row(one: Judged) -> dict[str, Any]:
    return {
        "session": one.visit.session,
        "participant": one.visit.participant,
        "mode": one.visit.mode,
        "outcome": one.visit.outcome,
        "end_reason": one.visit.end_reason,
        "minutes": one.visit.minutes,
        "accept": one.decision.accept,
        "use": one.decision.use,
        "reasons": "; ".join(one.decision.reasons),
    }


def _participant_rows(judged: Sequence[Judged], options: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """Return one row per participant, in order of arrival. Any accepted session is paid, any used one is analysed."""
    sessions: dict[str, list[Judged]] = {}
    for one in judged:
        sessions.setdefault(one.visit.participant, []).append(one)
    rows = []
    for participant, theirs in sessions.items():
        accepts = [one.decision.accept for one in theirs]
        minutes = [one.visit.minutes for one in theirs if one.visit.minutes is not None]
        reasons = dict.fromkeys(reason for one in theirs for reason in one.decision.reasons)
        row: dict[str, Any] = {
            "participant": participant,
            "mode": theirs[0].visit.mode,
            "sessions": len(theirs),
            "minutes": round(sum(minutes), 2) if minutes else None,
            "ratings": sum(len(one.ratings) for one in theirs),
            "used_ratings": sum(rating.use for one in theirs for rating in one.ratings),
            "accept": True if True in accepts else False if False in accepts else None,
            "use": any(one.decision.use for one in theirs),
            "reasons": "; ".join(reasons),
        }
        for one in theirs:
            row.update(_questionnaire(one, options))
        rows.append(row)
    return rows


def _questionnaire(one: Judged, options: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the answers to the questions before and after the trials; `options` are the researcher's own words."""
    found = {}
    for key in ("questions:before", "questions:after"):
        given = one.visit.answers.get(key)
        if given is not None:
            found.update({f"answer_{name}": value for name, value in given.answer["answers"].items()})
    return {column: value if value in options.get(column, ()) else as_text(value) for column, value in found.items()}
