"""`make zoo`: send cheats and honest robots through every preset, and write the table of who is caught.

Each preset is a real server that gets real requests; what comes of them is judged by `beholder clean`.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from beholder.aio import block_on
from beholder.cleaning import clean
from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.simulation.cheats import Cheat
from beholder.simulation.crowd import Crowd, send_robots
from beholder.simulation.truth import IDEAL
from zoo.studies import ARENAS, BLIND, HONEST, OTHER, REFUSED
from zoo.table import Kind, Preset, block

PAGE = Path(__file__).resolve().parents[2] / "docs" / "trust.md"
BEGIN, END = "<!-- written by make zoo -->", "<!-- end of zoo -->"
_TENTH = 10
"""Kinds that the server refuses do the same every time: a tenth of the sessions shows it."""
_FEWEST = 10
_SEED = 3
"""Not 1: the presets were chosen by looking at what came of that."""


@dataclass
class _Told:
    """Says on standard error how far a preset is, in tenths."""

    name: str
    tenths: int = field(default=0)

    def __call__(self, done: int, total: int) -> None:
        if 10 * done // total > self.tenths:
            self.tenths = 10 * done // total
            print(f"{self.name}: {done} of {total} robots", file=sys.stderr, flush=True)


def kinds_of(sessions: int) -> dict[str, int]:
    """Return how many robots of each kind are sent."""
    few = min(sessions, max(_FEWEST, sessions // _TENTH))
    return dict.fromkeys((*HONEST, *BLIND, *OTHER), sessions) | dict.fromkeys(REFUSED, few)


def visit(name: str, folder: Path, kinds: dict[str, int], seed: int) -> Preset:
    """Send robots through the study of a preset, clean what they left, and return what came of each kind."""
    arena, count = ARENAS[name], sum(kinds.values())
    folder.mkdir(parents=True, exist_ok=True)
    study = arena.write(folder, count)

    async def send() -> Crowd:
        async with run_server(load_study(study), port=0) as server:
            mixture = ",".join(f"{kind}:{many}" for kind, many in kinds.items())
            return await send_robots(
                server.service.served,
                server.store,
                server.address,
                count,
                raters=mixture,
                people=IDEAL,  # rates of rules, without the chance that contents bring
                seed=seed,
                progress=_Told(name),
            )

    crowd = block_on(send())
    loaded = load_study(study)
    found = _counted(crowd, clean(study, robots=True).folder)
    written, otherwise = yaml.safe_load(study.read_text("utf-8")), {}
    for words, rules in arena.otherwise.items():
        checks = {name: {**_options(written, name), **more} for name, more in rules.items()}
        changed = {**written, "checks": {**written.get("checks", {}), **checks}}
        study.write_text(yaml.safe_dump(changed, sort_keys=False), "utf-8")
        otherwise[words] = _counted(crowd, clean(study, robots=True).folder)
    return Preset(arena.says, arena.made_for, found, loaded, otherwise)


def _options(written: Mapping[str, Any], rule: str) -> Mapping[str, Any]:
    """Return the options of a rule as they are written."""
    found = written.get("checks", {}).get(rule)
    return found if isinstance(found, dict) else {}


def _counted(crowd: Crowd, folder: Path) -> tuple[Kind, ...]:
    """Return what `clean` made of the sessions of each kind."""
    of = {robot.session: kind for robot, kind in zip(crowd.robots, crowd.kinds, strict=True)}
    found = {kind: Kind(kind) for kind in (*HONEST, *BLIND, *OTHER, *REFUSED) if kind in crowd.kinds}
    for robot, kind in zip(crowd.robots, crowd.kinds, strict=True):
        found[kind].robots += 1
        if isinstance(robot, Cheat):
            found[kind].tried += robot.tried
            found[kind].taken += robot.taken
    for row in _rows(folder / "sessions.csv"):
        one = found[of[row["session"]]]
        one.sessions += 1
        one.unused += row["use"] == "false"
        one.unpaid += row["accept"] == "false"
    for row in _rows(folder / "verdicts.csv"):
        one = found[of[row["session"]]]
        one.judged[row["check"]] += row["verdict"] != "unknown"
        one.failed[row["check"]] += row["verdict"] == "fail"
    return tuple(found.values())


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def main() -> int:
    parser = argparse.ArgumentParser(description="Send the zoo through every preset, and write docs/trust.md.")
    parser.add_argument("--sessions", type=int, default=200, help="Sessions of each kind in each preset.")
    parser.add_argument("--seed", type=int, default=_SEED)
    parser.add_argument("--only", nargs="*", choices=tuple(ARENAS), help="Print these; write nothing.")
    parser.add_argument("--date", default=f"{datetime.now(UTC):%Y-%m-%d}", help="Written above the tables.")
    asked = parser.parse_args()
    began = time.perf_counter()
    names, kinds = asked.only or tuple(ARENAS), kinds_of(asked.sessions)
    with (
        tempfile.TemporaryDirectory(prefix="beholder-zoo-", ignore_cleanup_errors=True) as scratch,
        ProcessPoolExecutor(max_workers=min(len(names), os.cpu_count() or 1)) as pool,
    ):
        work = [pool.submit(visit, name, Path(scratch) / name, kinds, asked.seed) for name in names]
        presets = [one.result() for one in work]
    made = block(presets, asked.date, asked.sessions, asked.seed)
    print(made)
    print(f"\n{time.perf_counter() - began:.0f} s", file=sys.stderr)
    if not asked.only:
        PAGE.write_text(put(PAGE.read_text("utf-8"), made), "utf-8", newline="\n")
    return 0


def put(page: str, made: str, begin: str = BEGIN, end: str = END) -> str:
    """Return a page with the tables between their marks made anew."""
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{made}\n{end}{after}"


if __name__ == "__main__":
    sys.exit(main())
