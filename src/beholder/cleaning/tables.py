"""The folder clean/: what `clean` reads, and the tables that it writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from beholder.checks.rules import trust_checks
from beholder.checks.trust import CHECK_ROLES
from beholder.clean import Cleaned, attempts, comments, devices, playback, said
from beholder.clean.account import counts, groups, lost, together, verdict_counts
from beholder.clean.account_page import account_page
from beholder.clean.facts import TABLES, Facts, Rows
from beholder.clean.flow import flow
from beholder.clean.funnel import funnel
from beholder.clean.judging import judge_tables, store_of
from beholder.clean.proposals import Proposals, propose
from beholder.clean.ratings import number_repetitions, rating_blocks
from beholder.clean.sessions import Judged
from beholder.clean.tables import as_text, csv_blocks, json_bytes, table_bytes, text_blocks, utf8, write_together
from beholder.clean.texts import StudyText, text_rows
from beholder.clean.trusted import trusted
from beholder.plan.bulk import no_collection
from beholder.store.address import name_of
from beholder.study.model import Study

SESSIONS = ("session", "participant", "mode", "outcome", "end_reason", "minutes", "accept", "use", "reasons")
PARTICIPANTS = ("participant", "mode", "sessions", "minutes", "ratings", "used_ratings", "accept", "use", "reasons")


def clean_folder(
    study: str | Path | Study,
    *,
    store: str | None,
    robots: bool,
    run: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Cleaned:
    """Read the store of a study, judge every session, write clean/."""
    from beholder.methods import load_study
    from beholder.store.open import read_tables

    loaded = study if isinstance(study, Study) else load_study(Path(study))
    url = store_of(loaded, store)
    with no_collection():
        tables = read_tables(url, TABLES)
        return clean_tables(
            loaded, tables, where=name_of(store) if store else "store/", robots=robots, run=run, progress=progress
        )


def clean_tables(
    study: Study,
    tables: Mapping[str, Rows],
    *,
    where: str = "store/",
    robots: bool = False,
    run: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Cleaned:
    """Judge the sessions of a run in these tables and write clean/ in the study's folder."""
    judging = judge_tables(study, tables, where=where, robots=robots, run=run, progress=progress)
    study, facts, judged = judging.study, judging.facts, judging.judged
    folder = study.folder / "clean"
    proposed = propose(study, judging.method, facts, judged)
    _write(folder, study, facts, judged, judging.texts, funnel(judging.checks, judged), proposed)
    numbers = {**counts(facts, judged), **proposed.counts}
    return Cleaned(folder, facts.population, numbers, lost(judged), proposed.bonus, facts.run)


def _write(
    folder: Path,
    study: Study,
    facts: Facts,
    judged: Sequence[Judged],
    texts: Mapping[str, StudyText],
    qualified: Mapping[str, Any] | None,
    proposed: Proposals,
) -> None:
    ratings = number_repetitions(rating for one in judged for rating in one.ratings)
    options = {f"answer_{ask.id}": ask.options for ask in (*study.before, *study.after)}
    visits = [one.visit for one in judged]
    account = {
        "study": study.name,
        "population": facts.population,
        "run": facts.run,
        "finished": dict(facts.finished),
        "digests": sorted({one.visit.digest for one in judged}),
        "texts": text_rows(texts, judged),
        "roles": {shown.condition: shown.role for shown in facts.stimuli.values() if shown.role not in CHECK_ROLES},
        "counts": {**counts(facts, judged), **proposed.counts},
        "bonus": proposed.bonus,
        "lost": [asdict(one) for one in lost(judged)],
        "together": together(judged),
        "verdicts": verdict_counts(judged),
        "flow": flow(study, judged),
        "groups": groups(facts, judged),
        "qualification": qualified,
        "trust": trusted(trust_checks(study), judged, study.clean.raters),
    }
    write_together(
        folder,
        {
            "ratings.csv": rating_blocks(ratings, facts.stimuli),
            "playback.csv": csv_blocks(playback.COLUMNS, playback.playback_lines(visits, facts.stimuli)),
            "comments.csv": table_bytes(comments.COLUMNS, comments.comment_rows(visits)),
            "devices.csv": table_bytes(devices.COLUMNS, devices.device_rows(judged)),
            "sessions.csv": table_bytes(SESSIONS, (session_row(one) for one in judged)),
            "participants.csv": table_bytes((*PARTICIPANTS, *options), participant_rows(judged, options)),
            "verdicts.csv": csv_blocks(said.VERDICTS, said.verdict_lines(judged)),
            "checks.csv": text_blocks(said.COLUMNS, said.said_texts(judged)),
            "qualification.csv": table_bytes(attempts.COLUMNS, attempts.attempt_rows(judged)),
            **proposed.files,
            "account.json": json_bytes(account),
            "account.md": utf8(account_page(account, study)),
        },
    )


def session_row(one: Judged) -> dict[str, Any]:
    """Return a session as a row of sessions.csv."""
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


def participant_rows(judged: Sequence[Judged], options: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
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
