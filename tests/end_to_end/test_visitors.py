"""Who says to be somebody else, or makes somebody up: attacks on sessions, places and codes, over real HTTP."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx

from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.server.tokens import panel_key
from beholder.store.contract import LedgerEntry
from beholder.store.open import read_rows
from beholder.store.sqlite.database_files import FACTS
from beholder.store.sqlite.study import remove_unanswered
from beholder.testing import write_study
from support.visitor import Site, Visitor

OTHER_DEVICE = (
    "This study was begun with your id in another browser or on another device. Please continue there. To continue "
    "here, copy the address of the study from that browser and open it here: it is a link of your own. If that is not "
    "possible, please write to the researchers and tell them your id: they can send you that link. Write to them too "
    "if it was not you who began."
)
NO_KEY = (
    "The address of this page is not complete, so we cannot let you in. Please open the study with the whole link that "
    "you were given, or from the page of the platform."
)


@asynccontextmanager
async def serving(folder: Path, tiny: Path, recruit: dict[str, Any]) -> AsyncIterator[Site]:
    playback = {"watch": "none"}
    study = load_study(write_study(folder / "study", tiny, recruit=recruit, playback=playback))
    async with (
        run_server(study, port=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        yield Site(server.service, server.store, server.address, client)


async def told(visitor: Visitor) -> tuple[int, str, str]:
    """Return the status, the code and the text of a refused arrival, which gives nothing else away."""
    response = await visitor.arrive()
    error = response.json()["error"]
    assert set(response.json()) == {"error"}
    assert set(error) <= {"code", "message", "where", "allowed", "return_url"}
    return response.status_code, error["code"], error["message"]


# A session that goes while its page is open


async def test_who_agrees_in_the_moment_in_which_the_visit_is_removed_is_asked_to_come_again(
    tmp_path: Path, tiny: Path
) -> None:
    async with serving(tmp_path, tiny, {"mode": "link"}) as site:
        ada = Visitor(site, participant="ada")
        await ada.arrive()
        (row,) = await read_rows(site.store, "sessions")
        # By another connection: the server still knows the session when the answer comes, as in that moment.
        with closing(sqlite3.connect(tmp_path / "study" / "store" / FACTS)) as other, other:
            removed = remove_unanswered(other, [row["participant"]], row["at"] + timedelta(days=1), row["at"])
        assert [one.session for one in removed] == [row["session"]]
        reply = await ada.answer({"agree": True})
        assert (reply.status_code, reply.json()["error"]["code"]) == (401, "unknown_token")


# Somebody else's session


async def test_an_id_alone_opens_nobodys_session_on_another_device(server: Site) -> None:
    ada = Visitor(server, participant="ada")
    await ada.until_trial()
    thief = Visitor(server, participant="ada")
    for token in ("", "tiny.guess.guess", ada.token[:-1] + "x", (await _somebody(server)).token):
        thief.token = token
        assert await told(thief) == (403, "other_device", OTHER_DEVICE)
    assert (await ada.send("GET", "/api/step")).json() == ada.step
    assert len([row async for row in server.store.rows("erasures")]) == 0
    for params, token in (({"participant": "ada"}, ada.token), ({"resume": ada.token}, "")):
        own = Visitor(server, **params)
        own.token = token
        assert (await own.arrive()).status_code == 200
        assert (own.token, own.step) == (ada.token, ada.step)


async def test_whoever_opens_the_link_of_another_first_has_nothing_of_their_session(server: Site) -> None:
    thief, ada = Visitor(server, participant="ada"), Visitor(server, participant="ada")
    assert (await thief.arrive()).status_code == 201
    assert (await ada.arrive()).status_code == 201
    assert thief.token != ada.token
    await ada.answer({"agree": True})
    await thief.send("POST", "/api/withdraw", {})
    assert (await ada.send("GET", "/api/step")).json() == ada.step, "withdrawing an empty session takes nothing away"
    assert (await ada.arrive()).json()["step"] == ada.step, "her browser goes on by her link"
    assert (await told(Visitor(server, participant="ada")))[0] == 403


async def test_opening_a_link_very_often_makes_no_end_of_sessions(server: Site) -> None:
    replies = [(await Visitor(server, participant="ada").arrive()).status_code for _ in range(25)]
    assert replies == [201] * 21 + [403] * 4
    assert (await server.store.counts(server.service.now()))["arrived"] == 21


async def test_after_the_end_an_id_alone_shows_neither_code_nor_receipt(tmp_path: Path, tiny: Path) -> None:
    async with serving(tmp_path, tiny, {"mode": "panel", "id_parameter": "pid"}) as site:
        ada = await _finished(site, pid="ada", key=panel_key(site.store.secret))
        assert ada.step["code"]
        assert ada.step["receipt"]
        thief = Visitor(site, **ada.params)
        assert (await told(thief))[:2] == (403, "finished")
        assert (await ada.arrive()).json()["step"]["code"] == ada.step["code"], "her own browser shows it again"


async def _somebody(server: Site) -> Visitor:
    other = Visitor(server, participant="eve")
    await other.arrive()
    return other


async def _finished(site: Site, **params: str) -> Visitor:
    """Return a person who has answered everything."""
    one = Visitor(site, **params)
    await one.arrive()
    while one.step["kind"] != "end":
        if one.step["kind"] == "trial":
            (await one.answer(one.scores())).raise_for_status()
        else:
            (await one.answer({"agree": True} if one.step["kind"] == "consent" else {})).raise_for_status()
    return one


# Prolific


async def test_an_address_that_prolific_has_signed_is_no_reason_to_refuse(tmp_path: Path, tiny: Path) -> None:
    async with serving(tmp_path, tiny, {"mode": "prolific", "reward": "2.00 GBP", "minutes": 10}) as site:
        await site.store.ledger.append([LedgerEntry("draft", "done", site.service.now(), provider_ref="posting")])
        ids = {"PROLIFIC_PID": "ann", "STUDY_ID": "posting", "SESSION_ID": "s1"}
        assert (await Visitor(site, **ids, prolific_token="x" * 1700).arrive()).status_code == 201
        assert (await told(Visitor(site, **ids, other="x" * 1700)))[:2] == (422, "bad_answer")


# A panel


async def test_a_panel_lets_in_whoever_has_its_key_and_tells_others_kindly(tmp_path: Path, tiny: Path) -> None:
    async with serving(tmp_path, tiny, {"mode": "panel", "id_parameter": "pid", "visit_parameter": "v"}) as site:
        key = panel_key(site.store.secret)
        for guess in ({}, {"key": ""}, {"key": "guess"}, {"key": key[:-1]}, {"key": f"{key}x"}):
            for number in range(3):
                assert await told(Visitor(site, pid=f"p{number}", v="1", **guess)) == (403, "no_key", NO_KEY)
        assert [row async for row in site.store.rows("sessions")] == []
        assert await site.store.platform_visits() == []
        start = site.start_address
        assert start == f"{site.address}/s/tiny?key={key}&pid={{{{id}}}}&v={{{{visit}}}}"
        assert (await Visitor(site, pid="p1", v="1", key=f" {key} ").arrive()).status_code == 201


async def test_who_guesses_an_id_of_a_panel_gets_neither_a_session_nor_a_code(tmp_path: Path, tiny: Path) -> None:
    async with serving(tmp_path, tiny, {"mode": "panel", "id_parameter": "pid", "visit_parameter": "v"}) as site:
        key = panel_key(site.store.secret)
        ada = Visitor(site, pid="1001", v="7", key=key)
        await ada.arrive()
        await ada.answer({"agree": True})
        for visit in ("7", "8", ""):
            assert await told(Visitor(site, pid="1001", v=visit, key=key)) == (403, "other_device", OTHER_DEVICE)
        assert (await told(Visitor(site, pid="1002", v="7", key=key)))[1] == "other_posting"
