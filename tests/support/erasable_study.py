"""A study with participants to be erased, and their traces on disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

from beholder.recruiting.decisions import decide_study
from beholder.store.contract import Answer, LedgerEntry, Store
from beholder.store.open import open_store, read_rows
from support.decision_store import DecisionSetup, at, decision_setup, handed_in

SECRET = "What I wrote about my neighbour in Bonn"
PERSON = "5f3a9c0d1e2b3a4c5d6e7f80"


async def people_come(setup: DecisionSetup) -> str:
    """Add two sessions of one person and one of another; return the receipt of the first."""
    await setup.come("s1", submission="sub-1", person=PERSON, code=setup.code)
    await setup.come("s2", None, person=PERSON, visit=2, trials=2)
    await setup.come("other", submission="sub-2", person="somebody-else", code=setup.code)
    answer = Answer("s2", "trial:3", {"scores": {"q1": {"s1": 4}}, "comment": SECRET}, {}, 0, 1, "mouse", "t", at(0))
    await setup.store.append([answer])
    return await receipt_of(setup.store, "s1")


async def receipt_of(store: Store, session: str) -> str:
    return next(str(row["receipt"]) for row in await read_rows(store, "ends") if row["session"] == session)


def prepare(folder: Path, url: str = "", *, signs: str = "") -> str:
    """Add participants and a signed decision about them; return the receipt of the first."""

    async def work() -> str:
        async with decision_setup(folder, url=url) as setup:
            receipt = await people_come(setup)
            if signs:
                setup.platform.listed = [handed_in(f"sub-{n}", setup.code) for n in (1, 2)]
                await decide_study(setup.context)
                await decide_study(setup.context, sign=signs)
            return receipt

    return asyncio.run(work())


def write_down(folder: Path, *written: LedgerEntry) -> None:
    """Append entries to the ledger."""

    async def work() -> None:
        async with open_store(folder / "store", write=False) as store:
            await store.ledger.append(written)

    asyncio.run(work())


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted((folder / "store").iterdir()))


def entries(folder: Path, kind: str) -> list[LedgerEntry]:
    async def work() -> list[LedgerEntry]:
        async with open_store(folder / "store", write=False) as store:
            return [one for one in await store.ledger.entries() if one.kind == kind]

    return asyncio.run(work())
