"""What a participant costs: measured with a crowd on each store, and kept in a file beside the docs."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from beholder.testing import write_study
from bench.crowd import CrowdRun

FILE = Path(__file__).resolve().parents[2] / "docs" / "scaling" / "measured.json"


@dataclass(frozen=True)
class StoreCost:
    """What one store and its server cost, for each session of a study."""

    kind: str
    people: int
    """At once."""
    sessions: int
    answers: int
    """Of each session."""
    requests: int
    """Of each session, media included."""
    pause_s: tuple[float, float]
    """Between two answers."""
    server_ms: float
    """Processor time of the server for each session."""
    database_ms: float
    """Processor time of PostgreSQL for each session; that of SQLite is the server's."""
    p99_ms: float
    """Of answers."""
    errors: int
    kilobytes: float
    """Memory of the server for each session that it has served, from half of them to the end."""
    open_kilobytes: float
    """Memory of the server for each person who is connected."""
    bytes_an_answer: float
    """By which the store grows, events, sessions and leases included."""
    client_cores: float
    list_kilobytes: float
    """Memory of each process of a server for one list of the plan."""
    list_trials: int
    machine: str

    @property
    def answer_ms(self) -> float:
        """Processor time of the server for one answer, with its share of everything else of a session."""
        return self.server_ms / self.answers

    @property
    def people_per_core(self) -> float:
        """How many people keep one core busy, where each answers at this pace."""
        return 1000 * sum(self.pause_s) / 2 / self.answer_ms


_LISTS, _TRIALS = (20, 1020), 16
_QUESTION = {"id": "quality", "text": "How good is it?", "scale": "cont100"}
_HELD = """
import sys, psutil
from beholder.methods import load_study
from beholder.server.process import load_served
served = load_served(load_study(sys.argv[1]), "http://here")
print(psutil.Process().memory_info().rss)
"""


def list_kilobytes(folder: Path) -> float:
    """Return the memory that one list of a plan takes in a process that serves it."""
    held = []
    for lists in _LISTS:
        design = {"participants": lists, "trials": _TRIALS, "seed": 3}
        study = write_study(folder / f"lists{lists}", method="acr", questions=[_QUESTION], design=design)
        for _ in range(2):  # the first one makes the plan, which takes more
            ran = subprocess.run([sys.executable, "-c", _HELD, str(study)], capture_output=True, text=True, check=True)
        held.append(int(ran.stdout))
    return (held[1] - held[0]) / 1024 / (_LISTS[1] - _LISTS[0])


def cost_of(run: CrowdRun, pause_s: tuple[float, float], list_kb: float) -> StoreCost:
    """Return what a run tells of the cost of a session."""
    done = run.waits.completed
    return StoreCost(
        kind=run.kind,
        people=run.people,
        sessions=done,
        answers=round(run.answers / done),
        requests=round(run.waits.count / done),
        pause_s=pause_s,
        server_ms=1000 * run.server_cpu_s / done,
        database_ms=1000 * run.database_cpu_s / done,
        p99_ms=run.waits.p99_ms("answer"),
        errors=len(run.waits.faults),
        kilobytes=max(0.0, 1024 * (run.after.megabytes - run.before.megabytes) / done),
        open_kilobytes=max(0.0, 1024 * (run.half.megabytes - run.before.megabytes) / run.people),
        bytes_an_answer=run.store_bytes / run.answers,
        client_cores=run.client_cpu_s / run.seconds,
        list_kilobytes=list_kb,
        list_trials=_TRIALS,
        machine=f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}",
    )


def write_costs(costs: list[StoreCost]) -> None:
    """Keep costs, in place of earlier ones of the same stores."""
    kept = {cost.kind: cost for cost in (*read_costs(), *costs)}
    text = json.dumps([asdict(kept[kind]) for kind in sorted(kept, reverse=True)], indent=1)
    FILE.write_text(f"{text}\n", "utf-8")


def read_costs() -> list[StoreCost]:
    """Return the costs that were measured last; none where nothing was."""
    if not FILE.is_file():
        return []
    return [StoreCost(**{**one, "pause_s": tuple(one["pause_s"])}) for one in json.loads(FILE.read_text("utf-8"))]
