"""Studies of texts with participants from a platform, without a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import Refused
from beholder.server.service import StudyService
from beholder.server.tokens import panel_key
from beholder.store.contract import LedgerEntry
from support.clock_service import NOON, Clock, Person
from support.message_studies import serving, write_asking

PROLIFIC: dict[str, Any] = {"mode": "prolific", "reward": "2.00 GBP", "minutes": 10}
PANEL: dict[str, Any] = {"mode": "panel", "id_parameter": "pid"}
POSTING = "5f00000000000000000000aa"


@asynccontextmanager
async def door(folder: Path, recruit: Mapping[str, Any], **keys: Any) -> AsyncIterator[tuple[StudyService, Clock]]:
    """Yield the service of a study with these recruitment settings, and its clock."""
    folder.mkdir(exist_ok=True)
    study = write_asking(folder, **{"checks": {}, "recruit": dict(recruit), **keys})
    async with serving(study, folder / "store") as (host, clock):
        yield host, clock


async def launch(host: StudyService) -> None:
    """Record that the study was launched on the platform."""
    await host.store.ledger.append([LedgerEntry("draft", "done", NOON, provider_ref=POSTING)])


async def act(host: StudyService, kind: str, person: Person, clock: Clock) -> None:
    """Record a moderation action in the ledger."""
    facts = await person.facts()
    clock.wait(seconds=1)
    session = person.session if kind == "release" else ""  # other actions concern the participant
    entry = LedgerEntry(kind, "done", clock(), participant=facts.session.participant, session=session, reason_text="-")
    await host.store.ledger.append([entry])


def prolific(person: str = "ann", visit: str = "s1", posting: str = POSTING) -> dict[str, str]:
    """Return the parameters that Prolific passes in the address."""
    return {"PROLIFIC_PID": person, "STUDY_ID": posting, "SESSION_ID": visit}


async def come(host: StudyService, clock: Clock, browser: Person | None = None, /, **params: str) -> Person:
    """Return a person who has opened the address with these parameters, in the browser of an earlier visit or anew.

    The address of a panel has its key, as `beholder launch` writes it.
    """
    person = Person(host, clock)
    person.params = {"key": panel_key(host.store.secret), **params} if "pid" in params else params
    person.token = browser.token if browser is not None else ""
    return await person.come()


async def refused(host: StudyService, clock: Clock, browser: Person | None = None, /, **params: str) -> Refused:
    """Return the reason of a refused admission."""
    with pytest.raises(Refused) as caught:
        await come(host, clock, browser, **params)
    assert caught.value.status == 403
    return caught.value


async def count(host: StudyService) -> int:
    """Return how many sessions are stored."""
    return len([row async for row in host.store.rows("sessions")])
