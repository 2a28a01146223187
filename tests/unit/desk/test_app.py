"""The desk's routes: nothing without a log-in, and changes only from its own pages."""

from __future__ import annotations

from pathlib import Path

from beholder.desk.logins import make_link
from support.desk_browsers import open_desk, problem_of


async def test_the_link_logs_in_once_and_the_page_is_there(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as tested:
        browser = tested.browser()
        page = await browser.get("/", headers={"accept": "text/html"})
        assert (page.status_code, "Log in" in page.text) == (401, True)
        code = make_link(tested.file, "Ada")
        reply = await browser.post("/api/login", json={"code": code})
        assert (reply.status_code, reply.json()["name"]) == (200, "Ada")
        cookie = reply.headers["set-cookie"].lower()
        assert all(rule in cookie for rule in ("httponly", "samesite=strict", "path=/"))
        assert (await browser.get("/")).status_code == 200
        again = await tested.browser().post("/api/login", json={"code": code})
        assert again.status_code == 401
        assert problem_of(again)["what"] == "has been used, or is too old"


async def test_another_host_and_another_origin_are_refused(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as tested:
        assert (await tested.browser("http://evil.example").get("/login")).status_code == 421
        browser = await tested.logged_in()
        forged = await browser.post("/api/logout", headers={"origin": "http://localhost:8000"})
        assert forged.status_code == 403
        assert (await browser.get("/api/me")).status_code == 200, "it is logged in as before"
        assert (await browser.post("/api/logout")).status_code == 200
        assert (await browser.get("/api/me")).status_code == 401


async def test_a_log_in_begins_a_session_of_its_own_whatever_the_browser_brings(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as tested:
        browser = tested.browser()
        browser.cookies.set("beholder_desk", "planted", domain="localhost.local")
        await browser.post("/api/login", json={"code": make_link(tested.file, "Ada")})
        assert "planted" not in browser.cookies.values() or len(browser.cookies) > 1
        other = tested.browser()
        reply = await other.get("/api/me", headers={"cookie": "beholder_desk=planted"})
        assert reply.status_code == 401
