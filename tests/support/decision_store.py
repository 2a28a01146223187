"""A store of a study with participants from a platform, and a platform that lists given submissions."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

import yaml

from beholder.recruiting.context import RecruitContext
from beholder.recruiting.contract import DecisionRow, Submission, Verb
from beholder.recruiting.decisions import decide_study
from beholder.server.entrances import shared_codes
from beholder.server.tokens import pseudonym, receipt_code
from beholder.store.contract import (
    Answer,
    End,
    Fact,
    LedgerEntry,
    PlatformIdentity,
    PlatformVisit,
    Session,
    Store,
    StudyRecord,
)
from beholder.store.open import open_store
from beholder.study.model import Study
from beholder.study.recruitment import Mode
from beholder.types import Outcome
from support import cleaning_store as cleaning
from support.answered_trials import PLAYED
from support.cleaning_store import ASKED, QUALITY, START

RECRUIT = {"mode": "prolific", "reward": "2.00 GBP", "screen_out": "0.30 GBP", "minutes": 10}
CHECKS = {"trap": {"per_session": 2, "reject_after": 2}, "gold": {"per_session": 1}}
POSTING = "posting-1"
FILE = "decide/decisions.csv"
DECIDE = "Run `beholder decide`, sign it with `--sign NAME`, then `beholder pay --send`."
"""The message of closing about a row without a signature."""
CARELESS = (1, 1)
"""Both traps answered wrongly."""


class Platform:
    """A recruiter that only lists the submissions of a test."""

    notes: tuple[str, ...] = ()
    is_rehearsal = False

    def __init__(self, mode: Mode, submissions: Sequence[Submission] | None) -> None:
        self.mode = mode
        self.can: frozenset[Verb] = frozenset() if submissions is None else frozenset({"submissions"})
        self.manual: Mapping[Verb, str] = {}
        self.listed = list(submissions or ())

    async def submissions(self, id: str) -> Sequence[Submission]:
        assert id == POSTING
        return self.listed

    async def close(self) -> None: ...

    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(f"nothing is sent by deciding, and {name} was")


def make_study(folder: Path, **keys: Any) -> Study:
    """Return a study with two trapping trials, which say what to answer, and a gold one."""
    return cleaning.make_study(folder, **{"recruit": RECRUIT, "checks": CHECKS} | keys)


@dataclass
class DecisionSetup:
    """A study, its store, and a platform with given submissions."""

    context: RecruitContext
    store: Store
    platform: Platform
    days: float = 0
    came: int = field(default=0)

    @property
    def code(self) -> str:
        """The completion code."""
        return shared_codes(self.context.study, self.store.secret)["completed"]

    async def come(
        self,
        name: str,
        outcome: Outcome | None = "completed",
        *,
        submission: str | None = None,
        person: str | None = None,
        obeys: tuple[float, float] = (ASKED, ASKED),
        gold: float = 5,
        trials: int | None = None,
        visit: int = 1,
        mode: Mode | None = None,
        code: str = "",
        run: int = 1,
    ) -> str:
        """Add a participant with answers and return the pseudonym; `submission` is the id of the visit."""
        mode = mode or self.context.study.recruit.mode
        platform_id = person or f"pid-{name}"
        who = pseudonym(self.store.secret, mode, platform_id)
        at = START + timedelta(hours=self.came)
        self.came += 1
        await self.store.arrive(Session(name, who, "d1", run, mode, visit, {}, at))
        if submission is not None or person is not None:
            coming = PlatformVisit(name, POSTING, submission) if submission else None
            await self.store.identify(PlatformIdentity(who, mode, platform_id), coming)
        if outcome in ("screened_out", "wrong_device", "no_consent"):
            trials = 0
        else:
            await self.store.claim(name, now=at, until=at + timedelta(days=99), per_list=None)
        given: list[float] = list(QUALITY.values())
        given[3:3], given[6:6] = [obeys[0]], [obeys[1]]
        answered = [*given, gold][:trials]
        facts: list[Fact] = []
        for place, value in enumerate(answered, 1):
            answer = {"scores": {"q1": {"s1": value}}}
            moment = at + timedelta(minutes=place)
            facts.append(Answer(name, f"trial:{place}", answer, {"s1": PLAYED}, 0, 12_000, "mouse", "t", moment))
        if outcome is not None:
            ended = at + timedelta(minutes=20)
            receipt = receipt_code(self.store.secret, name)
            facts.append(End(name, outcome, "", code, receipt, ended))
        if facts:
            await self.store.append(facts)
        return who

    async def entries(self, kind: str) -> list[LedgerEntry]:
        return [one for one in await self.store.ledger.entries() if one.kind == kind]


@asynccontextmanager
async def decision_setup(
    folder: Path, *submissions: Submission, listed: bool = True, url: str = "", **keys: Any
) -> AsyncIterator[DecisionSetup]:  # fmt: skip
    """Yield a study with participants, on a platform with these submissions or without a list.

    `url` is the address of its store, if that is not in its folder.
    """
    study = make_study(folder, **keys)
    tables = cleaning.store(study)
    stimuli = [{name: row[name] for name in row if name != "digest"} for row in tables["stimuli"]]
    lists = [row["trials"] for row in tables["lists"]]
    # As written, without defaults, because it is parsed for every judged session.
    text = yaml.safe_dump(study.model_dump(mode="json", exclude_unset=True))
    record = StudyRecord("d1", "p1", study.name, text, "beholder 0", stimuli, lists, START)
    async with open_store(url or folder / "store") as store:
        await store.begin(record)
        if listed:
            draft = LedgerEntry("draft", "done", START, provider_ref=POSTING, evidence={"key": "k", "places": 4})
            await store.ledger.append([draft])
        platform = Platform(study.recruit.mode, submissions if listed else None)
        setup = DecisionSetup(None, store, platform)  # type: ignore[arg-type]
        setup.context = RecruitContext(study, store, url or str(folder / "store"), platform, lambda: at(setup.days))
        yield setup


def at(days: float) -> datetime:
    return START + timedelta(days=1 + days)


def handed_in(id: str, code: str = "", status: Any = "awaiting_review", **keys: Any) -> Submission:
    """Return a submission, by the person whose session has the name."""
    return Submission(id, keys.pop("person", f"pid-{id}"), status, code, **keys)


def run(
    folder: Path, work: Callable[[DecisionSetup], Awaitable[Any]], *listed: Submission, **keys: Any
) -> Any:  # fmt: skip
    """Return the result of an operation on such a study."""

    async def inside() -> Any:
        async with decision_setup(folder, *listed, **keys) as context:
            return await work(context)

    return asyncio.run(inside())


async def decide(setup: DecisionSetup, **keys: Any) -> dict[str, DecisionRow]:
    """Return the rows of a decision by submission."""
    return {row.submission: row for row in (await decide_study(setup.context, **keys)).rows}


def edit(folder: Path, submission: str, **cells: str) -> None:
    """Change cells of one line of the file."""
    path = folder / FILE
    lines = list(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))
    for line in lines:
        if line["submission"] == submission:
            line.update(cells)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(lines[0]))
    writer.writeheader()
    writer.writerows(lines)
    path.write_text(text.getvalue(), "utf-8")


def read(folder: Path) -> list[dict[str, str]]:
    """Return the lines of the file."""
    return list(csv.DictReader(io.StringIO((folder / FILE).read_text("utf-8"), newline="")))


async def three_participants(setup: DecisionSetup) -> list[str]:
    """Add three participants: one finished, one in progress, one with two sessions."""
    done = await setup.come("session-done", person="pid-1")
    open_ = await setup.come("session-open", None, person="pid-2", trials=7)
    await setup.come("twice-first", "screened_out", person="pid-3")
    twice = await setup.come("twice-later", person="pid-3", visit=2, gold=1)
    return [done, open_, twice]


def write_study_file(folder: Path, **keys: Any) -> None:
    """Write the study next to its store, as the command line reads it."""
    (folder / "stimuli").mkdir(exist_ok=True)
    text = yaml.safe_dump(make_study(folder, **keys).model_dump(mode="json", exclude_unset=True))
    (folder / "study.yaml").write_text(text, "utf-8")
