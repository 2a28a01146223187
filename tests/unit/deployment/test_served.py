"""What the Beholder on the machine is asked: who is inside, what is owed to whom, and to stop arrivals."""

from __future__ import annotations

from pathlib import Path

import httpx

from beholder.clock import utc_now
from beholder.deployment.served import answer, people
from beholder.methods import load_study
from beholder.server.moderation import Pauses
from beholder.server.process import run_server
from beholder.store.contract import End
from beholder.store.open import open_store
from beholder.testing import write_study


async def come(client: httpx.AsyncClient) -> str:
    """Let a person open the page and agree; return the session."""
    arrival = (await client.post("/api/arrive", json={"study": "tiny", "params": {}, "device": {}, "token": ""})).json()
    sent = {"answer": {"agree": True}, "events": [], "tab": "t1", "shown_ms": 1, "sent_ms": 2}
    head = {"authorization": f"Bearer {arrival['token']}"}
    (await client.put(f"/api/answers/{arrival['step']['key']}", json=sent, headers=head)).raise_for_status()
    return str(arrival["token"].split(".")[1])


async def served(folder: Path, tiny: Path) -> Path:
    """Return a study that was served, in which one person has finished and waits for money, and one is inside."""
    study = write_study(folder, tiny, recruit={"mode": "link", "reward": "1.20 GBP"})
    async with (
        run_server(load_study(study), port=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        done = await come(client)
        await server.store.append([End(done, "completed", "", "C1", "R1", utc_now())])
        await come(client)
    return study


async def test_a_machine_tells_who_is_inside_and_what_is_owed_and_stops_arrivals(tmp_path: Path, tiny: Path) -> None:
    assert await people(str(tmp_path / "study.yaml")) == {"counts": {}}
    study = await served(tmp_path, tiny)
    counts = (await people(str(study)))["counts"]
    assert (counts["live"], counts["completed"]) == (1, 1)
    (owed,) = (await answer("owed", str(study)))["owed"]
    assert "decide" in owed["fix"], "whoever is inside is waited for, and not owed anything yet"
    for _ in range(2):
        assert await answer("stop-arrivals", str(study)) == {}
    async with open_store(tmp_path / "store", write=False) as store:
        entries = await store.ledger.entries()
    assert "nobody can begin" in Pauses(entries).notice(load_study(study))


async def test_a_study_that_cannot_be_read_is_an_answer(tmp_path: Path) -> None:
    (told,) = (await answer("owed", str(tmp_path / "study.yaml")))["problems"]
    assert told["what"] == "is not there"
