"""The folder clean/: what `clean` reads, and the tables that it writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from statistics import mean, median
from typing import Any

from beholder.checks.contract import Verdict
from beholder.checks.known_answers import TRAINING, TRAINING_TITLE
from beholder.checks.page_contract import PageCheck
from beholder.checks.page_registry import action_of
from beholder.checks.registry import study_rules
from beholder.cleaning import Cleaned
from beholder.cleaning import columns as c
from beholder.cleaning.account import (
    combined_reasons,
    counts,
    exclusion_counts,
    flow,
    groups,
    rule_counts,
    verdict_counts,
)
from beholder.cleaning.account_page import account_page
from beholder.cleaning.collection import Collection, collection_of
from beholder.cleaning.devices import DEVICES, device_rows
from beholder.cleaning.facts import (
    IMPORTED,
    TABLES,
    AnswerRecord,
    Facts,
    Rows,
    SessionRecord,
    has_people,
    position_of,
    trial_answers,
)
from beholder.cleaning.languages import language_rows, spoken_factors, spoken_group
from beholder.cleaning.payouts import Proposals, propose
from beholder.cleaning.playback import LOOPS, loop_counts, loop_rows, playback_columns, playback_lines
from beholder.cleaning.ratings import number_repetitions, rating_blocks
from beholder.cleaning.recurring_questions import DURING, during_rows
from beholder.cleaning.screening import facts_of, judge_facts, store_of
from beholder.cleaning.sessions import JudgedSession
from beholder.cleaning.stimuli import stimulus_columns, stimulus_rows
from beholder.cleaning.texts import StudyText, text_rows
from beholder.cleaning.time_marks import MARKS, VIEWINGS, has_marks, mark_rows, viewing_rows
from beholder.cleaning.views import VIEW_USE, has_views, view_rows
from beholder.columns import Column, names_of, pick
from beholder.files import csv_blocks, csv_text, json_bytes, table_bytes, text_blocks, text_of, utf8, write_all
from beholder.planning.model import no_collection
from beholder.preregistration.changes import registered_account
from beholder.stimuli.si_ti import known_si_ti
from beholder.store.open import display_address
from beholder.study.model import Study
from beholder.types import UNRATED_ROLES

SESSIONS = (
    c.SESSION, c.PARTICIPANT, c.MODE, c.OUTCOME,
    Column("end_reason", "text", "At what it ended, such as colour:plates."),
    c.MINUTES, c.ACCEPT, c.USE, c.REASONS,
)  # fmt: skip
PARTICIPANTS = (
    c.PARTICIPANT, c.MODE,
    Column("sessions", "integer", "How many sessions they had."),
    Column("minutes", "number", "How long these took together."),
    Column("ratings", "integer", "How many ratings they gave."),
    Column("used_ratings", "integer", "How many of them are analysed."),
    Column("accept", "boolean", "Whether any session is to be paid; empty where a person has to look."),
    Column("use", "boolean", "Whether any session is analysed."),
    Column("reasons", "text", "Everything that their sessions failed, as check:reason, with `; ` between."),
)  # fmt: skip
"""Then `factor_<name>` for each factor between participants, and `answer_<id>` for each item of the questionnaires."""


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
        if any(row["mode"] == IMPORTED for row in tables["sessions"]):
            tables |= read_tables(url, ("told",))
        return clean_tables(
            loaded,
            tables,
            where=display_address(store) if store else "store/",
            robots=robots,
            run=run,
            progress=progress,
        )


def clean_tables(
    study: Study,
    tables: Mapping[str, Rows],
    *,
    where: str = "store/",
    robots: bool = False,
    run: int | None = None,
    now: datetime | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Cleaned:
    """Judge the sessions of a run in these tables and write clean/, of robots in rehearsal/ once a person has come.

    `now` says whether the study has closed; it is the present when left out.
    """
    facts = facts_of(study, tables, where=where, robots=robots, run=run)
    told = [row for row in tables.get("told", ()) if row["key"] == IMPORTED]
    is_rehearsal, ledger = facts.population == "robots" and has_people(tables), tables.get("ledger", ())
    registered = registered_account(study, tables, facts)
    del tables  # the rows as they were read, which would take a seventh of the memory to the end
    judging = judge_facts(study, facts, progress=progress)
    study, judged = judging.study, judging.judged
    if is_rehearsal:
        study = study.in_rehearsal()
    folder = study.outputs / "clean"
    proposed = propose(study, judging.method, facts, judged)
    collected = collection_of(study, facts, ledger, judging.texts, store=where, now=now)
    qualified = funnel(judging.checks, facts, judged)
    foreign = foreign_rows(told, judged)
    numbers, lost = {**counts(facts, judged), **proposed.counts}, exclusion_counts(facts, judged)
    account = {"counts": numbers, "bonus": proposed.bonus, "lost": [asdict(one) for one in lost]}
    _write(folder, study, facts, judged, judging.texts, qualified, proposed, account, collected, registered, foreign)
    return Cleaned(folder, facts.population, numbers, lost, proposed.bonus, facts.run)


def _write(
    folder: Path,
    study: Study,
    facts: Facts,
    judged: Sequence[JudgedSession],
    texts: Mapping[str, StudyText],
    qualified: Mapping[str, Any] | None,
    proposed: Proposals,
    told: Mapping[str, Any],
    collected: Collection,
    registered: Mapping[str, Any] | None,
    foreign: Sequence[Mapping[str, Any]],
) -> None:
    ratings = number_repetitions(rating for one in judged for rating in one.ratings)
    options = {f"answer_{ask.id}": ask.choices for ask in (*study.before, *study.after)}
    people = (*names_of(PARTICIPANTS), *(f"factor_{name}" for name in spoken_factors(study)), *options)
    visits = [one.visit for one in judged]
    seldom: dict[str, bytes] = {}
    if any(text.during for text in texts.values()):
        asked = (row for one in visits for row in during_rows(one, texts[one.digest].during, facts.stimuli))
        seldom[_BETWEEN] = table_bytes(names_of(DURING), asked)
    if has_marks(facts):
        seldom[_MARKS] = table_bytes(names_of(MARKS), mark_rows(judged, facts.stimuli))
        seldom[_VIEWINGS] = table_bytes(names_of(VIEWINGS), viewing_rows(judged, facts.stimuli))
    if has_views(visits):
        seldom[_VIEWS] = table_bytes(names_of(VIEW_USE), (row for one in judged for row in view_rows(one)))
    if foreign:
        seldom[_FOREIGN] = table_bytes(names_of(FOREIGN), foreign)
    if rows := list(loop_rows(visits)):
        seldom[_LOOPS] = table_bytes(names_of(LOOPS), rows)
    si_ti = known_si_ti(study.folder)
    looped = loop_counts([one.visit for one in judged if one.decision.use])
    account = {
        "study": study.name,
        "population": facts.population,
        "run": facts.run,
        "finished": dict(facts.finished),
        "collection": collected.json(),
        "digests": sorted({one.visit.digest for one in judged}),
        "texts": text_rows(texts, judged),
        "roles": {shown.condition: shown.role for shown in facts.stimuli.values() if shown.role not in UNRATED_ROLES},
        **told,
        "together": combined_reasons(judged),
        "verdicts": verdict_counts(judged),
        "flow": flow(study, facts, judged),
        "groups": groups(facts, judged),
        **({"languages": spoken} if (spoken := language_rows(judged)) else {}),
        "qualification": qualified,
        "trust": rule_counts(study_rules(study), judged, study.clean.raters),
        **({"loops": looped} if looped else {}),
        **({"preregistration": registered} if registered is not None else {}),
        **({"foreign": foreign_counts(foreign)} if foreign else {}),
    }
    write_all(
        folder,
        {
            "ratings.csv": rating_blocks(ratings, facts.stimuli),
            "playback.csv": csv_blocks(
                names_of(playback_columns(study)),
                playback_lines(visits, facts.stimuli, is_apart=study.stage == "separate"),
            ),
            "comments.csv": table_bytes(names_of(COMMENTS), comment_rows(visits)),
            **seldom,
            "devices.csv": table_bytes(names_of(DEVICES), device_rows(judged)),
            "stimuli.csv": table_bytes(names_of(stimulus_columns(si_ti)), stimulus_rows(facts, si_ti)),
            "sessions.csv": table_bytes(names_of(SESSIONS), (session_row(one) for one in judged)),
            "participants.csv": table_bytes(people, participant_rows(judged, options)),
            "verdicts.csv": csv_blocks(names_of(VERDICTS), verdict_lines(judged)),
            "checks.csv": text_blocks(names_of(CHECKS), check_texts(judged)),
            "qualification.csv": table_bytes(names_of(ATTEMPTS), attempt_rows(judged)),
            **proposed.files,
            "account.json": json_bytes(account),
            "account.md": utf8(account_page(account, study)),
        },
        stale=[_BETWEEN, _MARKS, _VIEWINGS, _VIEWS, _LOOPS, _FOREIGN],
    )


_BETWEEN, _VIEWS = "during.csv", "views.csv"
"""Only of studies that ask something between trials, and of those whose pairs have views."""
_MARKS, _VIEWINGS = "marks.csv", "viewings.csv"
"""Only of studies in which people mark what plays."""
_LOOPS = "loops.csv"
"""Only where somebody looped a part."""
_FOREIGN = "foreign.csv"
"""Only of imports whose source had decided something about its sessions."""


def session_row(one: JudgedSession) -> dict[str, Any]:
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


def participant_rows(judged: Sequence[JudgedSession], options: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """Return one row per participant, in order of arrival. Any accepted session is paid, any used one is analysed."""
    sessions: dict[str, list[JudgedSession]] = {}
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
            row.update({f"factor_{name}": level for name, level in spoken_group(one.visit).items()})
            row.update(_questionnaire(one, options))
        rows.append(row)
    return rows


def _questionnaire(one: JudgedSession, options: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the answers to the questions before and after the trials; `options` are the researcher's own words."""
    answers = {}
    for key in ("questions:before", "questions:after"):
        given = one.visit.answers.get(key)
        if given is not None:
            answers.update({f"answer_{name}": value for name, value in given.answer["answers"].items()})
    return answers


# foreign.csv: what another tool decided about sessions, beside our decisions


FOREIGN = (
    c.SESSION, c.PARTICIPANT,
    Column("check", "text", "What the other tool decided: `accept`, `use`, or a check by its own name."),
    Column("verdict", "text", "What it decided.", c.VERDICT_VALUES),
    Column("reason", "text", "Why, in its own words."),
    c.ACCEPT, c.USE, c.REASONS,
    Column("same", "boolean", "Whether our decision is the same; empty of what we do not decide."),
)  # fmt: skip


def foreign_rows(told: Rows, judged: Sequence[JudgedSession]) -> list[dict[str, Any]]:
    """Return one row for each decision of another tool about a session."""
    sessions = {one.visit.session: one for one in judged}
    rows = []
    for row in told:
        one, check = sessions.get(row["session"]), str(row["check"]).removeprefix(f"{IMPORTED}:")
        if one is None:
            continue
        ours = {"accept": one.decision.accept, "use": one.decision.use}
        is_known = ours.get(check) is not None and row["verdict"] in ("pass", "fail")
        rows.append({
            "session": one.visit.session, "participant": one.visit.participant, "check": check,
            "verdict": row["verdict"], "reason": row["reason"], **ours, "reasons": "; ".join(one.decision.reasons),
            "same": (row["verdict"] == "pass") is ours[check] if is_known else None,
        })  # fmt: skip
    return rows


def foreign_counts(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Return for each decision that we make as well how many sessions passed there, and in how many we agree."""
    counts: dict[str, dict[str, int]] = {}
    for row in rows:
        if row["same"] is not None:
            one = counts.setdefault(row["check"], {"of": 0, "passed": 0, "same": 0})
            one["of"] += 1
            one["passed"] += row["verdict"] == "pass"
            one["same"] += row["same"]
    return counts


# comments.csv: reasons and comments


COMMENTS = (
    c.SESSION, c.PARTICIPANT, c.POSITION, c.TRIAL, c.CONTENT,
    Column("question", "text", "The question that a reason belongs to; empty for a comment."),
    Column("kind", "text", "What it is.", ("reason", "comment")),
    Column("text", "text", "What was written."),
)  # fmt: skip


def comment_rows(visits: Sequence[SessionRecord]) -> Iterator[dict[str, Any]]:
    """Yield one row for each reason and each comment, in the order of the trials; a comment belongs to no question."""
    for visit in visits:
        for position, given in trial_answers(visit):
            trial = visit.trials[position - 1]
            if not isinstance(given.answer, Mapping):
                continue
            reasons, comment = given.answer.get("reasons") or {}, given.answer.get("comment")
            if not reasons and not comment:
                continue
            questions = {asked.id: asked.question for asked in trial.asked}
            texts = [(questions.get(asked), "reason", text) for asked, texts in reasons.items() for text in texts]
            if comment:
                texts.append((None, "comment", comment))
            for question, kind, text in texts:
                yield {
                    "session": visit.session,
                    "participant": visit.participant,
                    "position": position,
                    "trial": trial.id,
                    "content": trial.content,
                    "question": question,
                    "kind": kind,
                    "text": text,
                }


# verdicts.csv and checks.csv


VERDICT = (
    Column("check", "text", "The check or rule."),
    Column("version", "integer", "Its version."),
    Column(
        "verdict", "text", "What it says; what cannot be evaluated is unknown, and costs nothing.", c.VERDICT_VALUES
    ),
    Column("reason", "text", "Why."),
    Column("measured", "text", "What was measured; lists and maps as JSON."),
    Column("needed", "text", "What was needed; lists and maps as JSON."),
    Column("evidence", "text", "What it rests on, as JSON."),
)
VERDICTS = (c.SESSION, *VERDICT)
CHECKS = (c.SESSION, c.PARTICIPANT, c.POSITION, c.TRIAL, *VERDICT)


def verdict_lines(judged: Iterable[JudgedSession]) -> Iterator[Sequence[Any]]:
    """Yield a line for each session and rule."""
    texts: dict[str, str] = {}
    for one in judged:
        for verdict in one.verdicts:
            yield (one.visit.session, *_cells(verdict, texts))


def check_texts(judged: Iterable[JudgedSession]) -> Iterator[str]:
    """Yield a line for each session, rule and trial that the rule says something of, also where it passed."""
    # Millions of lines can share one verdict object, so its cells are made once.
    verdicts: dict[int, str] = {}
    trials: dict[tuple[str, str], str] = {}
    texts: dict[str, str] = {}
    for one in judged:
        who = csv_text((one.visit.session, one.visit.participant))
        for looked in one.looked:
            for seen, verdict in looked.trials:
                which = trials.get((seen.key, seen.trial.id))
                if which is None:
                    which = trials[seen.key, seen.trial.id] = csv_text((position_of(seen.key), seen.trial.id))
                what = verdicts.get(id(verdict))
                if what is None:
                    what = verdicts[id(verdict)] = csv_text(_cells(verdict, texts))
                yield f"{who},{which},{what}\n"


def _cells(verdict: Verdict, texts: dict[str, str]) -> tuple[str, ...]:
    """Return a verdict as cells; `texts` are those of lists and maps, by what they hold: many are the same."""

    def text(value: Any) -> str:
        if not isinstance(value, list | tuple | dict):
            return text_of(value)
        held = repr(value)
        if held not in texts:
            texts[held] = text_of(value)
        return texts[held]

    measured, needed, evidence = text(verdict.measured), text(verdict.needed), text({**verdict.evidence})
    return verdict.check, str(verdict.version), verdict.verdict, verdict.reason, measured, needed, evidence


# qualification.csv: one row per session and attempt


ATTEMPTS = (
    c.SESSION, c.PARTICIPANT, *pick(VERDICT, "check", "version"),
    Column("action", "text", "What the study makes of a failure: gate, flag, warn or record."),
    Column("example", "integer", "Of the training: which example."),
    Column("attempt", "integer", "Which attempt it was, from 1."),
    *pick(VERDICT, "verdict", "reason", "measured", "needed"),
    Column("seconds", "number", "How long the page of an attempt was looked at."),
    c.INPUT,
    Column("answered_at", "time", "When an attempt was answered."),
    Column("answer", "text", "What an attempt was answered with, as JSON."),
    *pick(VERDICT, "evidence"),
)  # fmt: skip


def attempt_rows(judged: Iterable[JudgedSession]) -> Iterator[dict[str, Any]]:
    """Yield every attempt of every session, in the order in which they were answered; `example` is of the training."""
    for one in judged:
        for tried in one.qualified.tried:
            row = _row(one.visit, tried.number, tried.given, tried.verdict)
            yield row | {"action": action_of(tried.check, tried.verdict)}
        for lesson in one.lessons:
            row = _row(one.visit, lesson.attempt, lesson.given, lesson.verdict)
            yield row | {"action": "flag", "example": lesson.number}


def _row(visit: SessionRecord, attempt: int, given: AnswerRecord, verdict: Verdict) -> dict[str, Any]:
    return {
        "session": visit.session,
        "participant": visit.participant,
        "check": verdict.check,
        "version": verdict.version,
        "attempt": attempt,
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "measured": verdict.measured,
        "needed": verdict.needed,
        "seconds": given.seconds,
        "input": given.input,
        "answered_at": given.at,
        "answer": given.answer,
        "evidence": dict(verdict.evidence),
    }


# The funnel: how many met, passed and failed each check, and how long it took


_RATED = ("trial:", "break:", "questions:during:", "questions:after")
"""Steps that come after the first rating began."""


def funnel(checks: Sequence[PageCheck], facts: Facts, judged: Sequence[JudgedSession]) -> dict[str, Any] | None:
    """Return the numbers of all sessions on their way to the first rating; None where nothing stands in it."""
    visits = [one.visit for one in judged]
    has_training = any(visit.lessons for visit in visits)
    if not checks and not has_training:
        return None
    rated = [visit for visit in visits if "trial:1" in visit.answers]
    return {
        "arrived": len(visits) + facts.removed.sessions,
        "agreed": sum(_agreed(visit) for visit in visits),
        "by_questions": sum(visit.end_reason.startswith("questions:") for visit in visits),
        "rated": len(rated),
        "minutes_before_rating": _median(_minutes(visit) for visit in rated),
        "checks": [*(_check(check, judged) for check in checks), *([_training(judged)] if has_training else [])],
    }


def _check(check: PageCheck, judged: Sequence[JudgedSession]) -> dict[str, Any]:
    """Return how all sessions did at one check."""
    tried = [one for sat in judged for one in sat.qualified.tried if one.check.name == check.name]
    settled = [one for sat in judged for one in sat.qualified.settled if one.check.name == check.name and one.tries]
    return {
        "check": check.name,
        "title": check.title,
        "action": check.action,
        **_verdict_counts([(one.verdict.verdict, one.tries == 1) for one in settled]),
        "turned_away": sum(_is_turned_away(sat.visit, check.name) for sat in judged),
        "attempts": _mean(one.tries for one in settled),
        "seconds": _median(one.given.seconds for one in tried),
    }


def _training(judged: Sequence[JudgedSession]) -> dict[str, Any]:
    """Return the same of the training: at once where no example had to come again, attempts for each example."""
    met = [one for one in judged if one.lessons]
    outcomes = [
        (verdict.verdict, all(lesson.attempt == 1 for lesson in one.lessons))
        for one in met
        for verdict in one.verdicts
        if verdict.check == TRAINING
    ]
    return {
        "check": TRAINING,
        "title": TRAINING_TITLE,
        "action": "flag",
        **_verdict_counts(outcomes),
        "turned_away": 0,
        "attempts": _mean(len(one.lessons) / len({lesson.number for lesson in one.lessons}) for one in met),
        "seconds": _median(lesson.given.seconds for one in met for lesson in one.lessons),
    }


def _verdict_counts(verdicts: Sequence[tuple[str, bool]]) -> dict[str, int]:
    """Return how many passed, failed and were unknown, from each verdict and whether it came at once."""
    return {
        "met": len(verdicts),
        "passed": sum(verdict == "pass" for verdict, _ in verdicts),
        "passed_at_once": sum(verdict == "pass" and at_once for verdict, at_once in verdicts),
        "failed": sum(verdict == "fail" for verdict, _ in verdicts),
        "unknown": sum(verdict == "unknown" for verdict, _ in verdicts),
    }


def _is_turned_away(visit: SessionRecord, check: str) -> bool:
    return visit.outcome in ("screened_out", "wrong_device") and visit.end_reason.startswith(f"{check}:")


def _agreed(visit: SessionRecord) -> bool:
    """Return whether somebody agreed; who declined or withdrew left no answers."""
    return "consent" in visit.answers


def _minutes(visit: SessionRecord) -> float:
    """Return how long somebody looked at the pages before the first rating."""
    pages = [given for given in visit.answers.values() if not given.key.startswith(_RATED)]
    return sum(given.sent_ms - given.shown_ms for given in pages) / 60_000


def _median(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return round(median(numbers), 2) if numbers else None


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return round(mean(numbers), 2) if numbers else None
