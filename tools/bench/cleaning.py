"""How long `clean` and `analyse` take on a large P.910 batch: a store of 20,000 submissions, written in bulk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import yaml
from numpy.random import Generator

from beholder.aio import block_on
from beholder.methods import find, load_study
from beholder.methods.contract import Trial
from beholder.planning.builder import make_plan
from beholder.planning.digest import study_digest
from beholder.planning.model import Plan
from beholder.planning.serialization import lists_to_json
from beholder.stimuli.catalogue import Catalogue, Probe, Stimulus
from beholder.stimuli.known_answers import Expectation, KnownAnswer
from beholder.store.contract import Answer, End, Session, StudyRecord
from beholder.store.open import open_store
from beholder.store.sqlite.database_files import FACTS
from beholder.store.tables import SHAPES, Row, fact_row, session_row, to_iso
from beholder.study.presets import PRESETS
from beholder.types import Json, Role
from bench.servers import spent_by
from bench.table import Row as TableRow
from bench.table import below

RATINGS = 12


_LENGTH_MS = 10_000


_PROBE = Probe(800_000, "mp4", _LENGTH_MS, 640, 360, 25.0, "h264", "aac", 2)


_CONDITIONS, _CONTENTS, _CLIPS = 10, 40, 20


_NOBODY = tuple(PRESETS["p910"]["qualification"])


_BEGAN = datetime(2026, 1, 5, 8, tzinfo=UTC)


_CARELESS, _HURRIED = 0.05, 0.03
"""How many answer anything, and how many skip what they should watch."""


def write_batch(folder: Path, submissions: int) -> Path:
    """Write a study of `acr` with the rules of `p910`, and a store with so many finished sessions of 12 ratings."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(_study(submissions), sort_keys=False), "utf-8")
    study, catalogue = load_study(path), _catalogue()
    plan = make_plan(study, catalogue, find(study.method))
    record = StudyRecord(
        digest=study_digest(study, catalogue),
        plan_digest=plan.plan_digest,
        study=study.name,
        yaml=path.read_text("utf-8"),
        software="beholder",
        stimuli=[_stimulus_row(stimulus) for stimulus in catalogue.stimuli],
        lists=list(lists_to_json(plan)),
        at=_BEGAN,
    )
    block_on(_begin(folder / "store", record))
    with closing(sqlite3.connect(folder / "store" / FACTS)) as connection:
        _fill(connection, plan, record.digest)
    return path


async def _begin(folder: Path, record: StudyRecord) -> None:
    async with open_store(folder) as store:
        await store.begin(record)


def _study(submissions: int) -> dict[str, Json]:
    return {
        "beholder": 1, "name": "batch", "title": "Batch", "method": "acr", "preset": "p910", "stimuli": "stimuli",
        "questions": [{"id": "quality", "text": "How good is it?"}], "contact": "batch@example.org",
        "qualification": dict.fromkeys(_NOBODY, False), "training": False,
        "design": {"participants": submissions, "trials": RATINGS, "seed": 1},
    }  # fmt: skip


def _catalogue() -> Catalogue:
    conditions = tuple(f"codec-{number:02}" for number in range(1, _CONDITIONS + 1))
    contents = tuple(f"clip-{number:02}" for number in range(1, _CONTENTS + 1))
    stimuli = [_stimulus("test", content, condition) for condition in conditions for content in contents]
    for number in range(_CLIPS):
        stimuli.append(_stimulus("gold", f"gold-{number:02}", "best", 5))
        stimuli.append(_stimulus("trap", f"trap-{number:02}", "asks", 1 + number % 5))
    return Catalogue(tuple(stimuli), conditions, contents)


def _stimulus(role: Role, content: str, condition: str, expected: float | None = None) -> Stimulus:
    name = f"{condition}/{content}" if role == "test" else f"{role}:{condition}/{content}"
    lesson = None if expected is None else KnownAnswer("batch", expected={"": Expectation(expected)})
    return Stimulus(
        name, content, condition, role, "video", f"{name}.mp4", "00", _PROBE, Path("clip"), known_answer=lesson
    )


def _stimulus_row(stimulus: Stimulus) -> dict[str, Json]:
    return {
        "stimulus": stimulus.id, "content": stimulus.content, "condition": stimulus.condition, "role": stimulus.role,
        "medium": stimulus.medium, "sha256": stimulus.sha256, "probe": asdict(stimulus.probe), "factors": {},
    }  # fmt: skip


def _fill(connection: sqlite3.Connection, plan: Plan, digest: str) -> None:
    """Write one finished session for each list, all in one commit."""
    rows: dict[str, list[Row]] = {"sessions": [], "claims": [], "answers": [], "ends": []}
    rng = np.random.default_rng(1)
    for planned in plan.lists:
        session, at = f"s{planned.number:019}", _BEGAN + timedelta(seconds=planned.number)
        device: dict[str, Json] = {"screen": [1920, 1080], "dpr": 1}
        rows["sessions"].append(
            session_row(Session(session, f"p{planned.number:019}", digest, 1, "link", 1, device, at))
        )
        rows["claims"].append((session, planned.number, at))
        for answer in _answers(session, planned.trials, at, rng):
            rows["answers"].append(fact_row(answer)[1])
        rows["ends"].append(fact_row(End(session, "completed", "", "CODE", "RECEIPT", at + timedelta(minutes=6)))[1])
    for table, found in rows.items():
        shape = SHAPES[table]  # type: ignore[index]
        places = ", ".join("?" * len(shape.columns))
        as_text = ((*row[:-1], to_iso(row[-1])) for row in found)
        connection.executemany(f"INSERT INTO {table} ({shape.quoted}) VALUES ({places})", as_text)
    connection.commit()


def _answers(session: str, trials: tuple[Trial, ...], at: datetime, rng: Generator) -> Iterator[Answer]:
    """Yield what one person sends: the consent, the instructions, every trial."""
    yield Answer(session, "consent", {"agree": True}, {}, 0.0, 2000.0, "mouse", "t", at + timedelta(seconds=2))
    yield Answer(session, "text:instructions", {}, {}, 0.0, 9000.0, "mouse", "t", at + timedelta(seconds=11))
    kind = rng.random()
    is_careless, is_hurried = kind < _CARELESS, _CARELESS <= kind < _CARELESS + _HURRIED
    for position, trial in enumerate(trials, 1):
        (slot,) = trial.slots
        target = trial.targets.get("q1.s1")
        good = target.value if target else 1 + 4 * int(slot.stimulus[6:8]) / _CONDITIONS
        felt = rng.integers(1, 6) if is_careless else round(good if target else good + rng.normal(0, 0.7))
        played = _LENGTH_MS * (0.5 if is_hurried else 1) + int(rng.integers(0, 200))
        spent = played + 1500 + int(rng.integers(0, 4000))
        yield Answer(
            session, f"trial:{position}", {"scores": {"q1": {"s1": int(min(5, max(1, felt)))}}},
            _playback(int(played), int(rng.integers(0, 4)), is_hurried), 0.0, float(spent), "mouse", "t",
            at + timedelta(seconds=11 + 20 * position),
        )  # fmt: skip


def _playback(played: int, dropped: int, is_hurried: bool) -> dict[str, Json]:
    return {
        "s1": {
            "plays": 1, "watched_ms": min(played, _LENGTH_MS), "coverage": 0.5 if is_hurried else 1.0,
            "furthest_ms": _LENGTH_MS, "stalls": 0, "dropped": dropped, "frames": 250 - dropped, "blurs": 0,
            "errors": 0, "changes": 0, "displayed": [1280, 720], "duration_ms": _LENGTH_MS, "played_ms": played,
            "whole_ms": played, "ended_ms": played + 900, "stalled_ms": 0, "away": 0,
        },
        "page": {
            "first_ms": 900, "exits": 0, "blurs": 0, "changes": 0, "viewport": [1920, 970], "screen": [1920, 1080],
            "dpr": 1, "skew_ms": None,
        },
    }  # fmt: skip


_CLEAN_S, _CLEAN_GB, _ANALYSE_S = 6, 1, 4


def measure_clean(scratch: Path, *, submissions: int = 20_000) -> list[TableRow]:
    """Return what `beholder clean` and `beholder analyse` cost, each in a process of its own."""
    study = write_batch(scratch / "batch", submissions)
    cleaned, analysed = (spent_by([verb, str(study)]) for verb in ("clean", "analyse"))
    what = f"{submissions:,} submissions of {RATINGS} ratings, all lists and tables"
    return [
        below(f"`beholder clean` of {what}", cleaned.seconds, _CLEAN_S, "s"),
        below("the same: most memory", cleaned.gigabytes, _CLEAN_GB, "GB"),
        below("`beholder analyse` of the same", analysed.seconds, _ANALYSE_S, "s", f" ({analysed.gigabytes:.1f} GB)"),
    ]
