"""The desk's routes: nothing without a log-in, each for whom it is, and changes only from its own pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest_asyncio

from beholder.desk.accounts import add_account
from beholder.desk.shares import make_share
from beholder.desk.tokens import make_token
from beholder.testing import write_study
from support.desk_browsers import DeskBench, open_desk, problem_of

UNTIL = "2026-11-30"


@pytest_asyncio.fixture
async def bench(tmp_path: Path, tiny: Path) -> AsyncIterator[DeskBench]:
    """A desk with two studies: `mine` and `theirs`."""
    for name in ("mine", "theirs"):
        write_study(tmp_path / name, tiny, name=name)
    async with open_desk(tmp_path, tmp_path / "mine", tmp_path / "theirs") as opened:
        yield opened


async def described(bench: DeskBench) -> dict[str, dict[str, dict[str, object]]]:
    """Return the paths of the OpenAPI document, whose placeholders are filled in."""
    browser = await bench.logged_in()
    paths = (await browser.get("/api/openapi.json")).json()["paths"]
    values = dict.fromkeys(("person", "session", "token", "id", "name"), "x") | {"key": "mine", "path": "index.html"}
    return {path.format(**values): methods for path, methods in paths.items()}


async def ask(client: httpx.AsyncClient, method: str, path: str) -> httpx.Response:
    """Return the reply to a request; of a stream, without what comes later."""
    body = {"kind": "release", "who": "p1", "reason": "gone"} if path.endswith("/acts") else {}
    request = client.build_request(method.upper(), path, json=body if method == "post" else None)
    reply = await client.send(request, stream=True)
    await reply.aread()
    return reply


# Who may reach what


async def test_nothing_is_reached_without_a_log_in_but_the_page_that_asks_for_it(bench: DeskBench) -> None:
    paths = await described(bench)
    assert len(paths) == 24
    stranger = bench.browser()
    ended = await bench.logged_in("Bob")
    bench.clock.move(hours=13)
    stolen = {"authorization": "Bearer bhd_made-up"}
    for path, methods in paths.items():
        for method in methods.keys() - ({"post"} if path == "/api/login" else set()):
            for client, headers in ((stranger, {}), (ended, {}), (stranger, stolen)):
                client.headers.update(headers)
                reply = await ask(client, method, path)
                assert (reply.status_code, problem_of(reply)["where"]) == (401, "log-in"), (method, path)
            stranger.headers.pop("authorization")
    for path in ("/", "/static/index.html", "/static/login.js", "/web/run.js", "/mine/people", "/api/what", "/x.png"):
        assert (await stranger.get(path)).status_code == 401, path
    page = await stranger.get("/login")
    assert page.status_code == 200
    assert "script-src 'sha256-" in page.headers["content-security-policy"]


async def test_a_viewer_looks_and_changes_nothing(bench: DeskBench) -> None:
    viewer, decider = await bench.logged_in("Vi", "viewer"), await bench.logged_in("Dee", "decider")
    for path, methods in (await described(bench)).items():
        for method, operation in methods.items():
            if operation.get("x-needs") == "access":
                assert (await ask(viewer, method, path)).status_code == 403, path
                assert (await ask(decider, method, path)).status_code == 403, path
    for kind, name in (("release", "moderate"), ("sign", "decide"), ("pay", "pay"), ("unblind", "unblind")):
        refused = await viewer.post("/api/studies/mine/acts", json={"kind": kind, "reason": "I want to"})
        assert (refused.status_code, problem_of(refused)["where"]) == (403, name)
    refused = await decider.post("/api/studies/mine/acts", json={"kind": "unblind", "reason": "curious"})
    assert (refused.status_code, problem_of(refused)["what"]) == (403, "is not for Dee")


async def test_credentials_of_another_study_find_nothing_here(bench: DeskBench) -> None:
    theirs = bench.desk.studies.places["theirs"].identity
    secret, _ = make_share(
        bench.file, study="theirs", identity=theirs, label="Co-author", scopes=["now", "people", "replay", "study"],
        until=UNTIL, made_by="Ada",
    )  # fmt: skip
    shared = bench.browser()
    assert (await shared.post("/api/login", json={"share": secret})).status_code == 200
    token, _ = make_token(
        bench.file, label="script", scopes=["now", "people", "moderate"], until=UNTIL, made_by="Ada", studies=[theirs]
    )
    program = bench.browser(authorization=f"Bearer {token}")
    add_account(bench.file, "Tom", "owner", "four words are fine", studies=[theirs])
    owner = bench.browser()
    await owner.post("/api/login", json={"name": "Tom", "password": "four words are fine"})
    for client in (shared, program, owner):
        for path, methods in (await described(bench)).items():
            if path.startswith("/api/studies/mine/"):
                for method in methods:
                    reply = await ask(client, method, path)
                    assert reply.status_code in (403, 404), (method, path)
                    assert "mine" not in reply.text
    assert (await owner.get("/api/studies/mine/shares")).status_code == 404
    assert (await owner.get("/api/studies/theirs/shares")).status_code == 200


async def test_a_path_does_not_lead_out_of_its_folder(bench: DeskBench) -> None:
    owner = await bench.logged_in()
    for path in ("/static/..%2f..%2f..%2fpyproject.toml", "/static/%2e%2e/app.py", "/web/..%2f__init__.py"):
        assert (await owner.get(path)).status_code == 404, path
    for path in ("..%2fstudy.yaml", "storyboard/..%2f..%2fstudy.yaml", "plan/%2e%2e%2fstudy.yaml", "%2fetc%2fpasswd"):
        assert (await owner.get(f"/api/studies/mine/report/{path}")).status_code in (403, 404), path


async def test_replies_have_the_headers_that_keep_others_out(bench: DeskBench) -> None:
    owner = await bench.logged_in()
    for path in ("/", "/api/me", "/api/nothing", "/login"):
        headers = (await owner.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["referrer-policy"] == "no-referrer"
