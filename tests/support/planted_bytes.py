"""Sessions with bytes that occur nowhere else, and a search for them in every file of a store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from beholder.store.contract import (
    Answer,
    Events,
    PlatformIdentity,
    PlatformVisit,
    PosedAttempt,
    Store,
    StoredVerdict,
)
from beholder.testing.stores.facts import NOON, claim, session_of, study_record

MARK = "planted-"
"""How every planted text begins."""


async def plant(store: Store, name: str, *, trials: int = 12) -> str:
    """Add a session whose answers, comments, events, drafts, verdicts, device and identity hold planted texts."""
    await store.begin(study_record())
    text = f"{MARK}{name}-"
    came, _ = await store.arrive(replace(session_of(name), device={"browser": f"{text}device"}))
    session = came.session
    await claim(store, session)
    for number in range(trials):
        key, long = f"trial:{number}", f"{text}event " * (1 + 40 * (number % 3))
        await store.append(
            [
                Answer(session, key, {"comment": f"{text}answer {number}"}, {}, 0, 1, "mouse", f"{text}tab", NOON),
                Events(session, key, f"{text}tab", 0, [{"kind": "draft", "text": long}], NOON),
                StoredVerdict(session, key, "watch", "fail", f"{text}reason", {"said": f"{text}verdict"}, NOON),
                PosedAttempt(session, key, f"{text}seed", {"shown": f"{text}shown"}, {}, NOON),
            ]
        )
    visit = PlatformVisit(session, "post", f"{text}visit")
    await store.identify(PlatformIdentity(f"p-{name}", "prolific", f"{text}id"), visit)
    return session


def planted_in(folder: Path, name: str, *, besides: str = "") -> dict[str, int]:
    """Return how often texts planted for a name occur in each file under a folder, besides a folder in it."""
    mark = f"{MARK}{name}-".encode()
    counts = {
        str(path.relative_to(folder)): path.read_bytes().count(mark)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not (besides and besides in path.parts)
    }
    return {file: count for file, count in counts.items() if count}
