"""A laboratory without a browser: numbers, stations, keys, and the page of the operator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.cli.printing import live_printer
from beholder.methods import find
from beholder.recruiting.contract import PlatformRefused
from beholder.recruiting.manual import LabRecruiter
from beholder.server import ServerStatus
from beholder.server.app import make_app
from beholder.server.assets import Assets
from beholder.server.lab import Seats, own_address
from beholder.server.participants import lab_key
from beholder.server.service import StudyService
from beholder.store.contract import LedgerEntry
from beholder.store.open import open_store
from beholder.testing import write_study
from support.clock_service import NOON, Clock, Person
from support.message_studies import serving

DESIGN = {"participants": 6, "trials": 2, "per_trial": 2, "seed": 3}


@dataclass
class Room:
    """A laboratory with its operator."""

    host: StudyService
    clock: Clock
    client: httpx.AsyncClient

    async def ask(self, path: str, place: str = "operator", **body: Any) -> httpx.Response:
        """Ask as the operator or as a station; with a body it is a POST."""
        headers = {"authorization": f"Bearer {lab_key(self.host.store.secret, place)}"}
        if body:
            return await self.client.post(f"/api/lab{path}", json=body, headers=headers)
        return await self.client.get(f"/api/lab{path}", headers=headers)

    async def station(self, number: int = 1) -> dict[str, Any]:
        page: dict[str, Any] = (await self.ask(f"/stations/{number}", str(number))).json()
        return page

    async def next(self, number: int = 1, after: int | None = None) -> dict[str, Any]:
        page: dict[str, Any] = (await self.ask(f"/stations/{number}", after=after)).json()
        return page

    async def person(self, number: int = 1) -> Person:
        """Return the participant at a station, as they begin or come back."""
        at = await self.station(number)
        person = Person(self.host, self.clock)
        person.params = {"resume": at["resume"]} if at["resume"] else {"seat": at["seat"]}
        return await person.come()


@asynccontextmanager
async def room(folder: Path, tiny: Path, **keys: Any) -> AsyncIterator[Room]:
    """Give a room with two stations; entered again with the same folder, it is as after a power cut."""
    study = folder / "study" / "study.yaml"
    if not study.is_file():
        write_study(study.parent, tiny, **{"design": DESIGN, "recruit": {"mode": "lab", "stations": 2}, **keys})
    async with serving(study, folder / "store") as (host, clock):
        transport = httpx.ASGITransport(make_app(host, Assets(find("parallel"))))
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            yield Room(host, clock, client)


async def finish(person: Person, until: str = "end", seconds: float = 30) -> None:
    while person.key != until:
        person.clock.wait(seconds=seconds)
        said = await person.host.answer(person.token, person.key, await person.answers())
        person.step = said["step"]  # type: ignore[assignment]


async def test_numbers_count_up_over_all_stations_and_each_is_a_session(tmp_path: Path, tiny: Path) -> None:
    async with room(tmp_path, tiny) as lab:
        assert (await lab.station()) == {
            "station": 1, "number": None, "state": "free", "previous": None, "seat": None, "resume": None,
        }  # fmt: skip
        assert [(await lab.next(1))["number"], (await lab.next(2))["number"]] == [1, 2]
        first, second = await lab.person(1), await lab.person(2)
        assert first.session != second.session
        await finish(first)
        assert (await lab.next(1, after=1))["number"] == 3
        rows = [row async for row in lab.host.store.rows("sessions")]
        assert [row["mode"] for row in rows] == ["lab", "lab"]
        links = await lab.host.store.platform_identities()
        assert {(link.platform, link.platform_id) for link in links} == {("lab", "1"), ("lab", "2")}
        assert {link.participant for link in links} == {row["participant"] for row in rows}


async def test_the_operator_sees_how_far_everybody_is(tmp_path: Path, tiny: Path) -> None:
    async with room(tmp_path, tiny) as lab:
        await lab.next(1)
        person = await lab.person(1)

        async def row() -> tuple[Any, ...]:
            seen = (await lab.ask("")).json()["stations"][0]
            return seen["state"], seen["kind"], seen["place"], seen["minutes"], seen["outcome"]

        assert await row() == ("under_way", "consent", None, 0, None)
        await finish(person, until="trial:2", seconds=120)
        assert await row() == ("under_way", "trial", [2, 2], 6, None)
        lab.clock.wait(minutes=1)
        await finish(person)
        lab.clock.wait(minutes=30)
        assert await row() == ("ended", None, None, 7, "completed")
        seen = (await lab.ask("")).json()
        assert (seen["completed"], seen["finished"], seen["lists"]) == (1, 1, 6)
        assert seen["addresses"] == list(lab.host.context.entrance.addresses("").values())[1:]


async def test_a_power_cut_brings_back_the_same_participant_at_the_same_step(tmp_path: Path, tiny: Path) -> None:
    async with room(tmp_path, tiny) as lab:
        await lab.next(2)
        await lab.next(1)
        person = await lab.person(1)
        await finish(person, until="trial:2")
    async with room(tmp_path, tiny) as lab:
        at = await lab.station(1)
        assert (at["number"], at["state"], at["place"]) == (2, "under_way", [2, 2])
        lab.clock.wait(hours=1)
        back = await lab.person(1)
        assert (back.session, back.key) == (person.session, "trial:2")
        assert (await lab.station(2))["state"] == "ready"
        await finish(back)
        assert (await lab.next(1, after=2))["number"] == 3


async def test_a_number_of_another_study_is_somebody_else(tmp_path: Path, tiny: Path) -> None:
    async with room(tmp_path, tiny) as lab:
        await lab.next(1)
        await finish(await lab.person(1), until="trial:1")
    (tmp_path / "store").rename(tmp_path / "study" / "store")
    recruit = {"mode": "lab", "exclude": ["../../study"]}
    async with room(tmp_path / "other", tiny, recruit=recruit) as lab:
        await lab.next(1)
        assert (await lab.person(1)).key == "consent"


async def test_another_run_begins_with_free_stations_and_numbers_count_on(tmp_path: Path, tiny: Path) -> None:
    async with room(tmp_path, tiny) as lab:
        await lab.next(1)
        person = await lab.person(1)
        await finish(person, until="trial:2")
    study = tmp_path / "study" / "study.yaml"
    first = study.read_text("utf-8")
    study.write_text(first + "run: 2\n", "utf-8")
    async with room(tmp_path, tiny) as lab:
        assert [at["state"] for at in (await lab.ask("")).json()["stations"]] == ["free", "free"]
        assert (await lab.next(1))["number"] == 2
        assert (await lab.person(1)).key == "consent"
    study.write_text(first, "utf-8")
    async with room(tmp_path, tiny) as lab:
        assert (await lab.station(1))["number"] == 1
        assert (await lab.person(1)).session == person.session
        assert (await lab.next(2))["number"] == 3, "a number is never given twice, whatever the run"


async def test_pressed_twice_the_next_participant_is_one(tmp_path: Path, tiny: Path) -> None:
    async with room(tmp_path, tiny) as lab:
        await asyncio.gather(*(lab.next(1) for _ in range(5)))
        assert (await lab.next(1, after=1))["number"] == 1, "nobody has begun under this number"
        await finish(await lab.person(1))
        answers = await asyncio.gather(*(lab.next(1, after=1) for _ in range(5)))
        assert {answer["number"] for answer in answers} == {2}
        assert (await lab.next(2))["number"] == 3


async def test_a_slip_of_the_operator_can_be_taken_back(tmp_path: Path, tiny: Path) -> None:
    async with room(tmp_path, tiny) as lab:
        await lab.next(1)
        person = await lab.person(1)
        assert (await lab.next(1, after=1))["previous"] == 1
        assert (await lab.ask("/stations/1", back=1)).json()["number"] == 1
        back = await lab.person(1)
        assert back.session == person.session
        await finish(back)
        assert (await lab.next(1, after=1))["number"] == 3, "a number is never given twice"
        assert (await lab.station(1))["previous"] is None
        refused = await lab.ask("/stations/2", back=1)
        assert (refused.status_code, refused.json()["error"]["message"]) == (422, "Participant 1 did not sit here")


async def test_without_a_key_nothing_opens(tmp_path: Path, tiny: Path) -> None:
    async with room(tmp_path, tiny) as lab:
        await lab.next(1)
        cases = [
            await lab.client.get("/api/lab"),
            await lab.client.get("/api/lab", headers={"authorization": "Bearer wrong"}),
            await lab.ask("", "1"),
            await lab.ask("/stations/1", "2"),
            await lab.ask("/stations/1", "2", after=1),
            await lab.ask("/stations/1", "1", back=1),
        ]
        assert {answer.status_code for answer in cases} == {401}
        response = await lab.client.post("/api/arrive", json={"study": "tiny", "params": {}, "device": {}})
        assert (response.status_code, response.json()["error"]["code"]) == (403, "lab")
        assert response.json()["error"]["message"] == (
            "This study takes place in a laboratory. Please ask the experimenter for a station."
        )
        for params in ({"participant": "ann"}, {"seat": "1.forged"}, {"seat": "99"}):
            asked = await lab.client.post("/api/arrive", json={"study": "tiny", "params": params, "device": {}})
            assert asked.status_code == 403
        assert [row async for row in lab.host.store.rows("sessions")] == []


async def test_what_is_not_there_is_said(tmp_path: Path, tiny: Path) -> None:
    async with room(tmp_path, tiny) as lab:
        assert (await lab.client.get("/lab/2")).status_code == 200
        for path in ("/lab/0", "/lab/3"):
            gone = await lab.client.get(path)
            assert gone.json()["error"] == {
                "code": "not_found", "message": "There is no such station", "where": "station", "allowed": "1 to 2",
            }  # fmt: skip
        odd = await lab.ask("/stations/1", after="one")
        assert odd.json()["error"]["message"] == "The body does not say who comes next"


async def test_outside_of_a_laboratory_there_is_none(tmp_path: Path, tiny: Path) -> None:
    async with room(tmp_path, tiny, recruit={"mode": "link"}) as lab:
        for path in ("/lab", "/lab/1", "/api/lab"):
            assert (await lab.client.get(path)).status_code == 404


async def test_pages_of_a_laboratory_load_nothing_from_elsewhere(tmp_path: Path, tiny: Path) -> None:
    async with room(tmp_path, tiny) as lab:
        for path in ("/lab", "/lab/1"):
            page = await lab.client.get(path)
            policy = page.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "http" not in policy
            assert "//" not in page.text.replace("<!doctype html>", "")


async def test_the_end_has_a_receipt_and_no_code(tmp_path: Path, tiny: Path) -> None:
    async with room(tmp_path, tiny) as lab:
        await lab.next(1)
        person = await lab.person(1)
        await finish(person)
        assert (person.step["outcome"], person.step["code"], person.step["return_url"]) == ("completed", None, None)
        assert person.step["receipt"]


async def test_two_servers_of_one_store_never_give_the_same_number(tmp_path: Path, tiny: Path) -> None:
    async with open_store(tmp_path / "store") as store:
        one, other = Seats(store), Seats(store)
        await asyncio.gather(
            *(seats.next(place, None, NOON) for place, seats in enumerate((one, other, one, other), 1))
        )
        assert sorted([(await one.numbers_at(place))[-1] for place in range(1, 5)]) == [1, 2, 3, 4]
        assert [await one.numbers_at(place) for place in range(1, 5)] == [
            await other.numbers_at(place) for place in range(1, 5)
        ]
        await store.ledger.append([LedgerEntry("publish", "done", NOON)])
        await one.next(5, None, NOON)
        assert await other.numbers_at(5) == [5]


def test_serving_prints_an_address_for_everybody(capsys: pytest.CaptureFixture[str]) -> None:
    places = {"Operator": "http://here/lab?key=a", "Station 1": "http://here/lab/1?key=b"}
    live_printer()(
        ServerStatus(
            "http://here/s/tiny", "http://here/s/tiny?preview=c", {"completed": 3, "finished": 2, "lists": 20}, places
        )
    )
    assert capsys.readouterr().out == (
        "Operator:     http://here/lab?key=a\n"
        "Station 1:    http://here/lab/1?key=b\n"
        "Preview:      http://here/s/tiny?preview=c\n"
        "Ctrl-C stops; nothing is lost.\n"
        "finished 3  lists 2 of 20\n"
    )
    live_printer()(ServerStatus("http://here/s/tiny", "http://here/s/tiny?preview=c", {}))
    assert capsys.readouterr().out.startswith("Participants: http://here/s/tiny\nPreview:      http://here/s/tiny?")
    live_printer()(ServerStatus("http://here/s/tiny", "http://here/s/tiny?preview=c", {}, is_personal=True))
    assert capsys.readouterr().out.startswith(
        "Participants: by a link of their own; `beholder launch` writes launch/links.csv\nPreview:      http://here/"
    )
    live_printer()(
        ServerStatus("http://here/s/tiny", "http://here/s/tiny?preview=c", {}, shut="Closed on 2026-11-15: ...")
    )
    assert capsys.readouterr().out.startswith("Closed on 2026-11-15: ...\nPreview:      http://here/s/tiny?")


def test_a_machine_knows_its_own_address() -> None:
    assert len(own_address().split(".")) == 4


async def test_the_laboratory_pays_by_hand(tmp_path: Path, tiny: Path) -> None:
    async with room(tmp_path, tiny) as lab:
        recruiter = LabRecruiter(lab.host.served.study, lab.host.store)
        assert recruiter.mode == "lab"
        with pytest.raises(PlatformRefused, match=r"Pay in the laboratory whoever is in pay/payments\.csv"):
            await recruiter.approve(["lab-1"])
        with pytest.raises(PlatformRefused, match="Nobody is rejected in a laboratory"):
            await recruiter.reject("lab-1", "OTHER", "")
