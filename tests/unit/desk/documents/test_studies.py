"""The page All my studies: how each stands, and what is due next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from beholder.desk.documents.studies import document
from beholder.store.contract import LedgerEntry
from beholder.study.recruitment import own_posting
from support.decision_store import DecisionSetup, at, run
from support.desk_studies import BLINDED, desk_study

LINK = {"mode": "link", "reward": "2.00 GBP"}


def told_after(folder: Path, work: Any) -> Any:
    async def inside(setup: DecisionSetup) -> Any:
        await work(setup)
        told: Any = await document([desk_study(setup.context)], BLINDED)
        return told["studies"][0]

    return run(folder, inside, listed=False, recruit=LINK)


def test_each_study_is_told_with_its_state_and_what_is_next(tmp_path: Path) -> None:
    async def nobody(setup: DecisionSetup) -> None: ...

    async def one(setup: DecisionSetup) -> None:
        await setup.come("a", mode="link")

    async def paused(setup: DecisionSetup) -> None:
        await one(setup)
        name = setup.context.study.name
        await setup.store.ledger.append([LedgerEntry("pause", "done", at(0), provider_ref=own_posting(name, 1))])

    async def closed(setup: DecisionSetup) -> None:
        await one(setup)
        await setup.store.ledger.append([LedgerEntry("close", "done", at(0))])

    async def robots(setup: DecisionSetup) -> None:
        await setup.come("r", mode="robot")

    async def all_(setup: DecisionSetup) -> None:
        for name in "abcd":
            await setup.come(name, mode="link")

    cases = {
        nobody: "new",
        one: "collecting",
        paused: "paused",
        closed: "closed",
        robots: "rehearsal",
        all_: "finished",
    }
    for place, (work, state) in enumerate(cases.items()):
        told = told_after(tmp_path / str(place), work)
        assert told["state"] == state, work
        assert told["next"]
        assert told["lists"]["planned"] == (4 if state != "new" else told["lists"]["planned"])
    assert told["completed"] == told["people"] == 4
    assert told["next"] == "Look at the decisions and sign them."
