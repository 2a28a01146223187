"""What the tests cost, in processor time of all processes that they start, and whether that is more than agreed."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100

ROUNDS_OF_THE_SUITE = 36_000
"""How much all tests may take, in rounds of `one_round`: a tenth more than they did when this was agreed."""


def processor_s() -> float:
    """Return the processor time of this process and of every one below it, whether it has ended or not (Linux)."""
    spent = os.times()
    total = spent.user + spent.system + spent.children_user + spent.children_system
    for process in _below(os.getpid()):
        try:
            _, _, fields = (Path("/proc") / str(process) / "stat").read_text().rpartition(")")
        except OSError:
            continue
        # Time of its own and of its children that have ended, each in user's and in system's mode: fields 14 to 17.
        total += sum(map(int, fields.split()[11:15])) / TICK
    return total


def _below(process: int) -> list[int]:
    found = [process]
    for one in found:
        try:
            for thread in (Path("/proc") / str(one) / "task").iterdir():
                found += map(int, (thread / "children").read_text().split())
        except OSError:
            continue
    return found[1:]


def one_round() -> float:
    """Return how long a small piece of work takes here, so that slow and fast machines can be held to one budget."""
    return min(_timed_work() for _ in range(5))


def _timed_work() -> float:
    begun = time.process_time()
    table: dict[str, list[int]] = {}
    for number in range(150_000):
        table.setdefault(str(number % 1000), []).append(number)
    return time.process_time() - begun


def table_of(spent_s: Mapping[str, float], round_s: float) -> list[str]:
    """Return the lines that tell what each folder of tests took, and whether all are more than agreed."""
    total, budget = sum(spent_s.values()), ROUNDS_OF_THE_SUITE * round_s
    dearest = sorted(spent_s.items(), key=lambda entry: -entry[1])
    lines = [f"{seconds:7.1f} s  {folder}" for folder, seconds in dearest if seconds >= total / 100]
    lines += [f"{total:7.1f} s  all tests together; {budget:.0f} s of a processor like this were agreed"]
    if total > budget:
        lines += [
            "The suite has grown beyond what was agreed: see which tests are dear, make them cheaper, or mark those as",
            "variants whose promise another test keeps (docs/decisions/0053-what-make-test-leaves-out.md).",
        ]
    return lines
