"""Small facts, and short ways to put them into a store and to find them again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from beholder.store.contract import (
    Answer,
    End,
    Session,
    SessionFacts,
    Store,
    StudyRecord,
    Table,
)
from beholder.types import Json, Mode, Outcome

Opener: TypeAlias = Callable[[str], AbstractAsyncContextManager[Store]]
"""Opens the store of a name for writing: an empty one the first time, the same one again after it was closed."""

NOON = datetime(2026, 5, 4, 12, 0, 0, 123456, tzinfo=UTC)
HOUR = timedelta(hours=1)
TABLES: tuple[Table, ...] = (
    "studies", "stimuli", "lists", "sessions", "claims", "posed", "answers", "events", "told", "ends", "erasures",
    "ledger",
)  # fmt: skip


def study_record(digest: str = "d1", plan: str = "p1", study: str = "walk", lists: int = 3) -> StudyRecord:
    """Return a small study as it begins."""
    stimulus: dict[str, Json] = {
        "stimulus": "a/b", "content": "b", "condition": "a", "role": "test", "medium": "video", "sha256": "00",
        "probe": {"ms": 9960, "fps": 29.97}, "factors": {"rate": "low"},
    }  # fmt: skip
    planned: list[Json] = [{"list": number, "trials": [["t1", {"x": None}]]} for number in range(1, lists + 1)]
    return StudyRecord(
        digest, plan, study, f"name: {study}\n# Grüße {digest}\n", "beholder 0", [stimulus], planned, NOON
    )


def visit(name: str, *, mode: Mode = "link", digest: str = "d1", number: int = 1, run: int = 1) -> Session:
    """Return a session of a participant of this name."""
    session = f"s-{name}-{mode}-{digest}-{number}"
    return Session(session, f"p-{name}", digest, run, mode, number, {"screen": [1920, 1080]}, NOON)


def answer(session: str, key: str = "trial:1", value: Json = 72, *, at: datetime = NOON) -> Answer:
    """Return an answer with one score."""
    scores: Json = {"scores": {"q1": {"s1": value}}}
    return Answer(session, key, scores, {"s1": {"plays": 1}}, 10.5, 2000.25, "mouse", "tab", at)


def end(session: str, outcome: Outcome = "completed") -> End:
    """Return an end."""
    return End(session, outcome, "", "C7", "R-1", NOON)


async def rows(store: Store, table: Table) -> list[dict[str, Any]]:
    """Return all rows of a table."""
    return [row async for row in store.rows(table)]


async def known(store: Store, session: str) -> SessionFacts:
    """Return the facts of a session that must be there."""
    facts = await store.session_facts(session)
    assert facts is not None, f"session {session} is not there"
    return facts


async def come(
    store: Store, name: str, *, mode: Mode = "link", digest: str = "d1", number: int = 1, run: int = 1
) -> str:
    """Return the id of a session that has just arrived."""
    session, _ = await store.arrive(visit(name, mode=mode, digest=digest, number=number, run=run))
    return session.session


async def claim(
    store: Store,
    session: str,
    *,
    now: datetime = NOON,
    until: datetime = NOON + HOUR,
    per_list: int | None = None,
    barred: Collection[int] = (),
    preferred: Collection[int] = (),
) -> int | None:
    """Claim with a lease of an hour."""
    return await store.claim(session, now=now, until=until, per_list=per_list, barred=barred, preferred=preferred)


async def expect(kind: type[Exception], doing: Awaitable[object], what: str) -> Exception:
    """Return the error that this must raise."""
    try:
        await doing
    except kind as error:
        return error
    raise AssertionError(f"{what} was accepted")
