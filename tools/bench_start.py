"""How long it takes to begin: the help of the command line, and a server of 400 stimuli."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench_process import serving_study
from bench_table import Row, below

_HELPS, _STARTS = 15, 3


def measure_help() -> Row:
    """Return `beholder --help` as a multiple of an interpreter that does nothing, each in turn."""
    bare, helping = [], []
    for _ in range(1 + _HELPS):
        bare.append(_seconds(["-c", "pass"]))
        helping.append(_seconds(["-m", "beholder", "--help"]))
    bare, helping = bare[1:], helping[1:]  # the first ones wrote the bytecode
    ratio, ms = statistics.median(helping) / statistics.median(bare), 1000 * statistics.median(helping)
    return below("`beholder --help` against a bare interpreter", ratio, 8, "times", f" ({ms:.0f} ms)")


def measure_start(study: Path, scratch: Path) -> Row:
    """Return the time from `beholder serve` to the first page, everything ingested and planned before."""
    times = []
    for _ in range(1 + _STARTS):
        with serving_study(study, str(scratch / "store-start")) as server:
            times.append(server.seconds_to_page)
    warm = statistics.median(times[1:])
    return below("warm start of `beholder serve`, 400 stimuli, to the first page", warm, 2, "s")


def _seconds(arguments: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began
