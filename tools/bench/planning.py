"""How long it takes to plan a study larger than any we know of."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from beholder.methods import find
from beholder.planning.builder import make_plan
from beholder.planning.digest import study_digest
from beholder.planning.folder import write_plan
from beholder.planning.growth import BatchPlanner
from beholder.planning.model import Addition, DealtBatch, no_collection
from beholder.planning.vote_tally import VoteTally
from beholder.stimuli.catalogue import Catalogue, Probe, Stimulus
from beholder.study.model import installed_study_model
from bench.servers import Spent, most_memory
from bench.table import Row, below

_PROBE = Probe(800_000, "mp4", 10_000, 640, 360, 25.0, "h264", "aac", 2)


_LIMIT_S, _LIMIT_TIMES, _LIMIT_GB = 10, 1.2, 6


def measure_plan(scratch: Path, *, participants: int = 10_000, contents: int = 500) -> list[Row]:
    """Return the time to make and write a plan of 12 conditions, 8 in each of 10 trials, and of one ten times as large.

    Each is made in a process of its own.
    """
    few = min(_alone(scratch, participants, contents) for _ in range(3))
    many = _alone(scratch, 10 * participants, contents)
    what = (
        f"plan for {participants:,} participants, 12 conditions (8 per trial), {contents} contents, 10 trials, written"
    )
    times, more = many.seconds / (10 * few.seconds), f"the same for {10 * participants:,}"
    return [
        below(what, few.seconds, _LIMIT_S, "s", f" ({few.gigabytes:.1f} GB)"),
        below(f"{more}, beside ten times that", times, _LIMIT_TIMES, "times", f" ({many.seconds:.0f} s)"),
        below(f"{more}: most memory", many.gigabytes, _LIMIT_GB, "GB"),
    ]


_BATCHES, _BATCH_LIMIT_MS = 40, 10


def measure_batch(conditions: int = 100, contents: int = 4) -> list[Row]:
    """Return the time to make a batch of active pairs after thousands of votes: the median of many, one by one."""
    catalogue = _catalogue(contents, conditions)
    study = installed_study_model().model_validate(
        {
            "beholder": 1,
            "name": "active",
            "title": "Active",
            "method": "pair",
            "stimuli": "stimuli",
            "questions": [{"id": "quality", "text": "Which is better?", "scale": "pref2"}],
            "design": {"participants": 1000, "trials": 20, "pairs": "active"},
        }
    )
    planner = BatchPlanner(study, catalogue, find(study.method))
    tally = VoteTally(catalogue.conditions, {})
    rng = np.random.default_rng(1)
    strengths = rng.normal(0, 2, conditions)
    milliseconds = []
    for number in range(_BATCHES):
        for one, two in rng.integers(conditions, size=(100, 2)).tolist():
            has_won = rng.random() < 1 / (1 + np.exp(strengths[two] - strengths[one]))
            tally.wins[(one, two) if has_won else (two, one)] += one != two
        began = time.perf_counter()
        batch = DealtBatch(number + 2, "people", tally.votes, tally.digest)
        lists = planner.make(tally, batch, 100, Addition("batch", "", ""), 5 * number)
        milliseconds.append(1000 * (time.perf_counter() - began))
        for planned in lists:
            planner.take_note(planned)
    what = f"a batch of active pairs, {conditions} conditions, 5 lists of 20 trials"
    slowest = f" (slowest {max(milliseconds):.0f} ms)"
    return [below(what, float(np.median(milliseconds)), _BATCH_LIMIT_MS, "ms", slowest)]


def write_large(folder: Path, participants: int, contents: int) -> Spent:
    """Make and write a plan; return what that has cost."""
    catalogue = _catalogue(contents, 12)
    study = installed_study_model().model_validate(
        {
            "beholder": 1,
            "name": "large",
            "title": "Large",
            "method": "parallel",
            "stimuli": "stimuli",
            "questions": [{"id": "quality", "text": "How good is it?"}],
            "design": {"participants": participants, "trials": 10, "per_trial": 8, "contents": "once", "seed": 1},
        }
    )
    began = time.perf_counter()
    with no_collection():
        plan = make_plan(study, catalogue, find(study.method))
        write_plan(plan, catalogue, study_digest(study, catalogue), folder)
    return Spent(time.perf_counter() - began, most_memory() / 1e9)


def _alone(scratch: Path, participants: int, contents: int) -> Spent:
    command = [sys.executable, __file__, str(scratch / "large"), str(participants), str(contents)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return Spent(*json.loads(done.stdout))


def _catalogue(contents: int, conditions: int) -> Catalogue:
    names = tuple(f"condition{number:02}" for number in range(conditions))
    sources = tuple(f"content{number:03}" for number in range(contents))
    stimuli = tuple(
        Stimulus(
            f"{name}/{source}", source, name, "test", "video", f"{name}/{source}.mp4", "00", _PROBE, Path("clip.mp4")
        )
        for name in names
        for source in sources
    )
    return Catalogue(stimuli, names, sources)


if __name__ == "__main__":
    print(json.dumps(write_large(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
