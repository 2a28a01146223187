"""A study to which people came who are to be forgotten, and what of them is on the disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

from beholder.recruiting.decisions import decide_study
from beholder.store.contract import Answer, LedgerEntry, Store
from beholder.store.open import open_store, read_rows
from support.decision_store import DecisionSetup, at, decision_setup, handed_in

SECRET = "What I wrote about my neighbour in Bonn"
PERSON = "5f3a9c0d1e2b3a4c5d6e7f80"


async def people_come(made: DecisionSetup) -> str:
    """Let one person come twice and another once; return the receipt of the first visit."""
    await made.come("s1", submission="sub-1", person=PERSON, code=made.code)
    await made.come("s2", None, person=PERSON, visit=2, trials=2)
    await made.come("other", submission="sub-2", person="somebody-else", code=made.code)
    said = Answer("s2", "trial:3", {"scores": {"q1": {"s1": 4}}, "comment": SECRET}, {}, 0, 1, "mouse", "t", at(0))
    await made.store.append([said])
    return await receipt_of(made.store, "s1")


async def receipt_of(store: Store, session: str) -> str:
    return next(str(row["receipt"]) for row in await read_rows(store, "ends") if row["session"] == session)


def prepare(folder: Path, url: str = "", *, signs: str = "") -> str:
    """Let people come, and somebody sign what is decided about them; return the receipt of the first."""

    async def work() -> str:
        async with decision_setup(folder, url=url) as made:
            receipt = await people_come(made)
            if signs:
                made.platform.listed = [handed_in(f"sub-{n}", made.code) for n in (1, 2)]
                await decide_study(made.context)
                await decide_study(made.context, sign=signs)
            return receipt

    return asyncio.run(work())


def write_down(folder: Path, *written: LedgerEntry) -> None:
    """Add to the ledger."""

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
