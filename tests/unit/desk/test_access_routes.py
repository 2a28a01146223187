"""Routes about who may come in: logging in and out, accounts, tokens, shares and sessions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from beholder.desk.accounts import add_account
from beholder.desk.logins import make_link
from beholder.testing import write_study
from support.desk_browsers import OWN, DeskBench, open_desk, problem_of

UNTIL = "2026-11-30"


@pytest_asyncio.fixture
async def bench(tmp_path: Path, tiny: Path) -> AsyncIterator[DeskBench]:
    """A desk with one study, `mine`."""
    write_study(tmp_path / "mine", tiny, name="mine")
    async with open_desk(tmp_path, tmp_path / "mine") as opened:
        yield opened


async def test_the_link_logs_in_once_and_the_page_is_there(bench: DeskBench) -> None:
    browser = bench.browser()
    page = await browser.get("/", headers={"accept": "text/html"})
    assert (page.status_code, "Log in" in page.text) == (401, True)
    code = make_link(bench.file, "Ada")
    reply = await browser.post("/api/login", json={"code": code})
    assert (reply.status_code, reply.json()["name"]) == (200, "Ada")
    cookie = reply.headers["set-cookie"].lower()
    assert all(rule in cookie for rule in ("httponly", "samesite=strict", "path=/"))
    assert (await browser.get("/")).status_code == 200
    again = await bench.browser().post("/api/login", json={"code": code})
    assert again.status_code == 401
    assert problem_of(again)["what"] == "has been used, or is too old"


async def test_another_host_and_another_origin_are_refused(bench: DeskBench) -> None:
    assert (await bench.browser("http://evil.example").get("/login")).status_code == 421
    browser = await bench.logged_in()
    for origin in ("http://localhost:8000", "https://evil.example", "null", ""):
        forged = await browser.post("/api/logout", headers={"origin": origin})
        assert (forged.status_code, problem_of(forged)["where"]) == (403, "Origin"), origin
    assert (await browser.get("/api/me")).status_code == 200, "it is logged in as before"
    assert (await browser.post("/api/logout")).status_code == 200
    assert (await browser.get("/api/me")).status_code == 401


async def test_a_log_in_has_a_session_of_its_own_whatever_the_browser_brings(bench: DeskBench) -> None:
    planted = {"cookie": "beholder_desk=planted"}
    reply = await bench.browser().post("/api/login", json={"code": make_link(bench.file, "Ada")}, headers=planted)
    assert reply.status_code == 200
    assert "planted" not in reply.headers["set-cookie"]
    assert (await bench.browser().get("/api/me", headers=planted)).status_code == 401
    browser = await bench.logged_in("Ada")
    before = browser.cookies["beholder_desk"]
    assert (await browser.post("/api/login", json={"code": make_link(bench.file, "Bob")})).status_code == 200
    assert (await browser.get("/api/me")).json()["name"] == "Bob"
    old = await bench.browser().get("/api/me", headers={"cookie": f"beholder_desk={before}"})
    assert old.status_code == 401, "the session before has ended"


async def test_wrong_tries_wait_and_then_a_right_one_is_let_in(bench: DeskBench) -> None:
    add_account(bench.file, "Ada", "viewer", "four words are fine")
    browser = bench.browser()
    right, wrong = ({"name": "Ada", "password": word} for word in ("four words are fine", "a guess that is wrong"))
    for _ in range(3):
        assert (await browser.post("/api/login", json=wrong)).status_code == 401
    slowed = await browser.post("/api/login", json=right)
    assert (slowed.status_code, slowed.headers["retry-after"]) == (429, "2"), "also the right one"
    bench.clock.move(seconds=2)
    assert (await browser.post("/api/login", json=right)).status_code == 200


async def test_a_share_shows_what_it_names_and_ends_with_every_session_when_it_is_revoked(bench: DeskBench) -> None:
    owner = await bench.logged_in()
    listed = (await owner.get("/api/studies/mine/shares")).json()
    assert {one["scope"] for one in listed["scopes"]} == {"now", "people", "replay", "decisions", "results", "study"}
    wanted = {"name": "Ethics board", "scopes": ["study"], "until": UNTIL}
    made = (await owner.post("/api/studies/mine/shares", json=wanted)).json()
    address, _, secret = made["link"].partition("/login#share=")
    assert address == OWN
    board, thief = bench.browser(), bench.browser()
    for client in (board, thief):
        assert (await client.post("/api/login", json={"share": secret})).json()["scopes"] == ["study"]
    assert (await board.get("/api/studies/mine/people")).status_code == 403
    gone = await owner.delete(f"/api/studies/mine/shares/{made['id']}")
    assert gone.status_code == 200
    assert (await thief.get("/api/me")).status_code == 401, "its session has ended"
    assert (await bench.browser().post("/api/login", json={"share": secret})).status_code == 401
    assert (await owner.get("/api/studies/mine/shares")).json()["shares"] == []
    assert (await owner.delete(f"/api/studies/mine/shares/{made['id']}")).status_code == 404


async def test_a_token_does_what_it_is_for_from_anywhere_and_makes_no_other(bench: DeskBench) -> None:
    owner = await bench.logged_in()
    made = await owner.post("/api/tokens", json={"name": "nightly", "scopes": ["now", "moderate"], "until": UNTIL})
    program = bench.browser(authorization=f"Bearer {made.json()['token']}", origin="")
    asked = await program.post("/api/studies/mine/acts", json={"kind": "release", "who": "nobody", "reason": "gone"})
    assert (asked.status_code, problem_of(asked)["what"]) == (422, "is nobody who came")
    assert (await program.get("/api/tokens")).status_code == 403
    assert (await program.get("/api/studies/mine/results")).status_code == 403
    refused = await owner.post("/api/tokens", json={"name": "more", "scopes": ["access"], "until": UNTIL})
    assert (refused.status_code, problem_of(refused)["where"]) == (422, "scopes")
    assert (await owner.delete(f"/api/tokens/{made.json()['id']}")).status_code == 200
    assert (await program.get("/api/me")).status_code == 401


async def test_an_owner_lists_and_ends_sessions_and_sets_accounts(bench: DeskBench) -> None:
    owner, other = await bench.logged_in(), await bench.logged_in("Bob", "viewer")
    added = await owner.post(
        "/api/accounts", json={"name": "Cy", "role": "decider", "password": "four words are fine", "studies": ["mine"]}
    )
    assert (added.status_code, added.json()["studies"]) == (200, ["mine"])
    wrong = await owner.post("/api/accounts", json={"name": "", "role": "boss", "password": "short"})
    assert [one["where"] for one in wrong.json()["problems"]] == ["name", "role", "password"]
    unknown = {"name": "Di", "role": "viewer", "password": "four words are fine", "studies": ["theirs"]}
    assert (await owner.post("/api/accounts", json=unknown)).status_code == 422
    third = bench.browser()
    await third.post("/api/login", json={"name": "Cy", "password": "four words are fine"})
    sessions = (await owner.get("/api/sessions")).json()["sessions"]
    assert {one["name"]: one["is_this"] for one in sessions} == {"Ada": True, "Bob": False, "Cy": False}
    bobs = next(one["id"] for one in sessions if one["name"] == "Bob")
    assert (await owner.delete(f"/api/sessions/{bobs}")).status_code == 200
    assert (await other.get("/api/me")).status_code == 401
    assert (await owner.delete("/api/accounts/Cy")).status_code == 200
    assert (await third.get("/api/me")).status_code == 401, "its account is gone"
