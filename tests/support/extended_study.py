"""A study in memory with complete and partial sessions, and its extension."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from beholder.cleaning.screening import JudgedPopulation, judge_tables
from beholder.cleaning.shortfall import Shortfall, VoteCell
from beholder.extension.shortfall import ShortfallLists, ShortfallPlanner
from beholder.methods import find
from beholder.methods.contract import Method, Trial
from beholder.planning.builder import make_plan
from beholder.planning.model import PlannedList
from beholder.planning.serialization import list_from_json, list_to_json
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from beholder.study.serialization import resolved_yaml
from support.answered_trials import PLAYED

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


@dataclass
class World:
    """A plan, and the tables of its sessions."""

    study: Study
    catalogue: Catalogue
    method: Method
    lists: list[PlannedList]
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def finish(self, number: int, *, leaves_out: Callable[[Trial], bool] = lambda _: False) -> None:
        """Add a session that finishes a list; cleaning excludes the trials that were not watched."""
        session = f"s{len(self.tables['sessions'])}"
        at = START + timedelta(hours=len(self.tables["sessions"]))
        who = {"session": session, "participant": f"p-{session}", "digest": "d1", "run": 1, "mode": "link"}
        self.tables["sessions"].append(who | {"visit": 1, "device": {}, "at": at})
        self.tables["claims"].append({"session": session, "list": number, "at": at})
        rng = np.random.default_rng(number)
        for trial in self.lists[number - 1].trials:
            percept = {f"{asked.id}.{slot.id}": float(rng.random()) for asked in trial.asked for slot in trial.slots}
            scales = {asked.id: asked.scale for asked in trial.asked}
            for where, target in trial.targets.items():
                scale = scales[where.partition(".")[0]]
                percept[where] = (target.value - scale.min) / (scale.max - scale.min)
            share = 0.1 if leaves_out(trial) else 1.0
            played = dict(PLAYED) | {"coverage": share, "furthest_ms": 4000 * share, "watched_ms": 4000 * share}
            answer = self.method.respond(trial, percept, rng)
            self.tables["answers"].append(
                {
                    "session": session, "key": trial.id, "answer": answer, "shown_ms": 0.0, "sent_ms": 9000.0,
                    "playback": {slot.id: dict(played) for slot in trial.slots}, "input": "mouse", "tab": "t", "at": at,
                }
            )  # fmt: skip
        end = {"session": session, "outcome": "completed", "reason": "", "code": "", "receipt": "", "at": at}
        self.tables["ends"].append(end)

    def lose(self, number: int) -> None:
        """Add a session that finishes a list without any usable rating."""
        self.finish(number, leaves_out=lambda _: True)

    def judge(self) -> JudgedPopulation:
        return judge_tables(self.study, self.tables)

    def short(self) -> Shortfall:
        return self.maker().shortfall(self.judge())

    def maker(self) -> ShortfallPlanner:
        return ShortfallPlanner(self.study, self.catalogue, self.method, self.lists)

    def extend(self) -> ShortfallLists:
        """Add lists for the shortfall, as the verb does."""
        maker, judging = self.maker(), self.judge()
        extension = maker.make_up(maker.shortfall(judging), judging)
        for planned in (*extension.repeated, *extension.recombined):
            self.add(replace(planned, number=len(self.lists) + 1))
        return extension

    def add(self, planned: PlannedList) -> None:
        """Add a list in its stored form."""
        written = list_to_json(planned)
        self.lists.append(list_from_json(written))
        self.tables["lists"].append({"plan_digest": "p1", "list": planned.number, "trials": written})

    def votes(self) -> Counter[VoteCell]:
        return Counter(self.short().used)


def begin(study: Study, catalogue: Catalogue, folder: Path) -> World:
    """Return a study without sessions."""
    study._folder = folder
    method = find(study.method)
    tables: dict[str, list[dict[str, Any]]] = {
        "studies": [{"digest": "d1", "plan_digest": "p1", "study": study.name, "yaml": resolved_yaml(study)}],
        "stimuli": [
            {
                "digest": "d1", "stimulus": s.id, "content": s.content, "condition": s.condition, "role": s.role,
                "medium": s.medium, "sha256": s.sha256, "probe": {"duration_ms": 4000}, "factors": {},
            }
            for s in catalogue.stimuli
        ],
        **{name: [] for name in ("lists", "sessions", "claims", "answers", "ends", "erasures")},
    }  # fmt: skip
    world = World(study, catalogue, method, [], tables)
    for planned in make_plan(study, catalogue, method).lists:
        world.add(planned)
    return world


def finish_all(world: World, numbers: Sequence[int], lost: Collection[int] = ()) -> None:
    for number in numbers:
        (world.lose if number in lost else world.finish)(number)
