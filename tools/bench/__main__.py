"""`make bench`: measure what was promised, print the table, write docs/benchmarks.md."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.analysis import measure_analyse
from bench.answers import measure_answers
from bench.cleaning import measure_clean
from bench.crowd import CROWD_NOTE, measure_crowd
from bench.desk import DESK_NOTE, measure_desk
from bench.first_page import measure_help, measure_page, measure_start
from bench.imports import measure_import
from bench.leases import LIMITS, measure_leases
from bench.media import measure_media
from bench.mixed_models import measure_mixed
from bench.planning import measure_batch, measure_plan
from bench.power import measure_power
from bench.rater_models import measure_models
from bench.rehearsal import measure_rehearse
from bench.report import measure_report
from bench.servers import write_many
from bench.table import Row, lines
from bench.votes_needed import measure_votes

_PARTS = (
    "start", "page", "answers", "media", "plan", "batch", "clean", "analyse", "mixed", "models", "report", "votes",
    "leases", "rehearse", "power", "crowd", "desk", "import",
)  # fmt: skip
_SERVED = {"start", "page", "answers"}
"""Parts that need a study with very many stimuli."""
_PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure what was promised.")
    parser.add_argument("--only", nargs="*", choices=_PARTS, help="Print these; write nothing.")
    parser.add_argument("--date", default=f"{datetime.now(UTC):%Y-%m-%d}", help="Written above the table.")
    asked = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="beholder-bench-", ignore_cleanup_errors=True) as name:
        scratch = Path(name)
        _compile_bytecode(scratch)
        rows = measure(scratch, asked.only or _PARTS)
    table = lines(rows)
    print("\n".join(table))
    print(f"\n{time.perf_counter() - began:.0f} s")
    if not asked.only:
        _PAGE.write_text("\n".join([*_head(asked.date), *table, *_foot()]) + "\n", "utf-8")
    return 0


def measure(scratch: Path, parts: Sequence[str]) -> list[Row]:
    """Return all lines of the table, one part after the other, never two at once."""
    study = write_many(scratch) if not _SERVED.isdisjoint(parts) else Path()
    measured: dict[str, Callable[[], list[Row]]] = {
        "start": lambda: [measure_help(), measure_start(study, scratch)],
        "page": lambda: measure_page(study, scratch),
        "answers": lambda: measure_answers(study, scratch),
        "media": lambda: measure_media(scratch),
        "plan": lambda: measure_plan(scratch),
        "batch": measure_batch,
        "clean": lambda: measure_clean(scratch),
        "analyse": lambda: [measure_analyse(scratch)],
        "mixed": measure_mixed,
        "models": measure_models,
        "report": lambda: measure_report(scratch),
        "votes": measure_votes,
        "leases": lambda: measure_leases(scratch),
        "rehearse": measure_rehearse,
        "power": measure_power,
        "crowd": lambda: measure_crowd(scratch),
        "desk": lambda: measure_desk(scratch),
        "import": lambda: [measure_import(scratch)],
    }
    rows: list[Row] = []
    for part in parts:
        print(f"measuring {part} …", file=sys.stderr)
        found = measured[part]()
        print("\n".join(lines(found)), file=sys.stderr)
        rows += found
    return rows


def _compile_bytecode(scratch: Path) -> None:
    """Let every process that we start find and keep bytecode, as `make setup` leaves it, whatever this shell says."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(scratch / "bytecode")


def _head(date: str) -> list[str]:
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return [
        "# Benchmarks",
        "",
        "Written by `make bench`; a number means something only beside the others of the same run.",
        "",
        f"Run of {date} on {machine}. Clients, servers and PostgreSQL share these cores.",
        "",
    ]


def _foot() -> list[str]:
    return [
        "",
        "- The phone is Chromium with its throttling on: 60 kB/s each way, and every request waits 150 ms beside;"
        " nothing is cached before, and the median of three visits counts.",
        "- Answers: `parallel`, 8 slots, an event log of about 4 kB each, 64 connections that answer trial after trial;"
        " token, flow, watch evidence, scores and the next step included. Each is acknowledged after its commit is on"
        " the disk. The servers take turns in short rounds, and the share is the median over rounds.",
        "- Storing nothing: the same granian, middleware, routing, reading and parsing of the body, then a reply of"
        " the same size. What makes all of these faster makes the share smaller.",
        "- Two processes: the processor time is that of both, and of the one that starts them.",
        "- Media: sounds of random samples, 16 connections in turns with nginx (one process, sendfile), which has the"
        " very same bytes in files; ours are put together for each slot. Ranges begin anywhere in the largest file.",
        "- Cleaning: `acr` with the rules of `preset: p910`; 12 clips, a trap and a gold clip in each submission, a"
        " list for each; SQLite. Every file of clean/ and analyse/ is written, also what each rule says of each trial."
        " Developers have pyarrow, which keeps text in less room; without this extra `analyse` takes 1.25 times.",
        "- Ratings in memory: the plan is made before; timed are the answers, the same as over HTTP, and the table with"
        " all columns of ratings.csv, which is not written.",
        "- Power: plans, answers, clustered tests and Holm's correction of 8 conditions on each of 10 pages, with as"
        " many repetitions again in which all conditions are equally good; one process.",
        LIMITS,
        CROWD_NOTE,
        DESK_NOTE,
        "- Processor time is that of the server's process. That of PostgreSQL comes on top; that of SQLite is in it.",
    ]


if __name__ == "__main__":
    sys.exit(main())
