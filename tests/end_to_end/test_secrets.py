"""Passwords, tokens and the secret of a store are in no output, log, file or traceback of ours."""

from __future__ import annotations

import logging
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import httpx
import pytest

import beholder
from beholder.cli import main
from beholder.errors import UserError
from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.server.tokens import robot_signature
from beholder.store.open import open_store
from beholder.testing import write_study
from support.postgresql_queries import sql
from support.s3_server import SECRET, S3Server
from support.visitor import Site, Visitor

PASSWORD, TOKEN = "planted-password", "planted-token"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run a command line in this process; return its exit code."""
    monkeypatch.setattr("sys.argv", ["beholder", *arguments])
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def files_with(folder: Path, *secrets: str) -> list[str]:
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and any(secret.encode() in path.read_bytes() for secret in secrets)
    ]


async def store_secret(url: str) -> str:
    async with open_store(url, write=False) as store:
        return store.secret.hex()


async def test_no_output_log_or_file_holds_a_password_a_token_or_the_secret_of_a_store(
    tmp_path: Path,
    tiny: Path,
    postgresql_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
    parts = urlsplit(postgresql_url)
    url = urlunsplit(parts._replace(netloc=f"{parts.username}:{PASSWORD}@{parts.netloc.rpartition('@')[2]}"))
    study = str(write_study(tmp_path / "study", tiny, design={"participants": 2, "trials": 2, "seed": 3}))
    assert run(monkeypatch, "simulate", study, "--store", url) == 0
    for verb in ("clean", "export", "doctor"):
        assert run(monkeypatch, verb, study, "--store", url, *(["--json"] if verb == "doctor" else [])) == 0, verb
    secret = await store_secret(url)
    said = capfd.readouterr()
    for known in (PASSWORD, TOKEN, secret):
        assert known not in said.out + said.err + caplog.text
    assert files_with(tmp_path, PASSWORD, TOKEN, secret) == []


@pytest.mark.parametrize("address", [f"ann:{PASSWORD}@127.0.0.1:1/x", f"ann:{PASSWORD}/1@127.0.0.1:1/x"])
def test_an_address_that_does_not_work_is_one_message_without_its_password(
    tmp_path: Path,
    tiny: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    address: str,
) -> None:
    study, url = str(write_study(tmp_path, tiny)), f"postgresql://{address}"
    for verb in ("serve", "clean", "export", "monitor", "doctor"):
        for more in ((), ("--json",)):
            assert run(monkeypatch, verb, study, "--store", url, *more) == 2, verb
            said = capfd.readouterr()
            assert "Traceback" not in said.err
            assert PASSWORD not in said.out + said.err + caplog.text, verb
    with pytest.raises(UserError) as refused:
        beholder.clean(study, store=url)
    assert PASSWORD not in "".join(traceback.format_exception(refused.value))


@asynccontextmanager
async def guarded_role(url: str) -> AsyncIterator[str]:
    """Let PostgreSQL ask a role of its own for its password; yield the address with a wrong one."""
    ((rules,),) = await sql(url, "SHOW hba_file")
    path, before = Path(rules), Path(rules).read_text()
    parts = urlsplit(url)
    wrong = urlunsplit(parts._replace(netloc=f"guarded:{PASSWORD}@{parts.netloc.rpartition('@')[2]}"))
    path.write_text(f"local all guarded scram-sha-256\nhost all guarded all scram-sha-256\n{before}")
    await sql(url, "CREATE ROLE guarded LOGIN PASSWORD 'right'")
    try:
        await sql(url, "SELECT pg_reload_conf()")
        with suppress(asyncpg.InvalidPasswordError):
            while True:  # until the server has read its rules
                await sql(wrong, "SELECT 1")
        yield wrong
    finally:
        path.write_text(before)
        await sql(url, "DROP ROLE guarded")
        await sql(url, "SELECT pg_reload_conf()")


async def test_a_wrong_password_is_one_message_that_does_not_repeat_it(
    tmp_path: Path,
    tiny: Path,
    postgresql_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    study = str(write_study(tmp_path, tiny))
    async with guarded_role(postgresql_url) as url:
        for verb in ("serve", "clean"):
            assert run(monkeypatch, verb, study, "--store", url) == 2, verb
            said = capfd.readouterr()
            assert said.out == ""
            assert " ".join(said.err.split()) == (
                f"postgresql://{urlsplit(url).path} cannot be opened (password authentication failed for user "
                '"guarded"). Check the address, and that the server runs and lets you in.'
            )
            assert PASSWORD not in caplog.text, verb


async def test_the_log_of_a_server_holds_nothing_that_people_say(
    server: Site, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    visitor = Visitor(server, participant="planted-person")
    await visitor.arrive()
    await visitor.answer({"agree": True})
    for answer in (
        "planted-answer",
        {"answers": {"field": "planted-answer"}},
        {"planted-answer": 1},
        [["planted-answer"]],
    ):
        assert (await visitor.answer(answer)).status_code == 422
    await visitor.send("POST", "/api/events", {"key": "planted-answer", "events": "planted-answer"})
    await visitor.send("POST", "/api/withdraw", {})
    await server.client.post("/api/forget", json={"receipt": "planted-answer"})
    assert "planted" not in caplog.text


def test_a_start_on_a_full_disk_is_one_message(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    resource = pytest.importorskip("resource")
    study = str(write_study(tmp_path, tiny))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, before[1]))
    try:
        assert run(monkeypatch, "serve", study, "--port", "0") == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    said = capfd.readouterr().err
    assert "Traceback" not in said
    assert "cannot be" in said
    assert len(said.strip().splitlines()) == 1


async def test_the_keys_of_a_bucket_are_in_no_output_log_file_or_page(
    tmp_path: Path,
    tiny: Path,
    s3: S3Server,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    s3.allow("*")
    path = write_study(tmp_path / "study", tiny, media={"to": s3.new_folder(), "copies": 4})
    study = str(path)
    for line in (("check",), ("media", "upload"), ("media", "upload", "--json"), ("check", "--resolved")):
        assert run(monkeypatch, *line, study) == 0, line
    async with run_server(load_study(path), port=0) as server, httpx.AsyncClient(base_url=server.address) as client:
        params = {"robot": "p", "signature": robot_signature(server.store.secret, "p")}
        arrival = await client.post("/api/arrive", json={"study": "tiny", "params": params, "device": {}})
        headers = {"authorization": f"Bearer {arrival.json()['token']}"}
        body = {"answer": {"agree": True}, "events": []}
        reply = await client.put("/api/answers/consent", json=body, headers=headers)
        received = [arrival.text, reply.text, (await client.get("/s/tiny")).text, (await client.get("/healthz")).text]
    assert "X-Amz-Signature" in reply.text
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "planted-other-key")
    assert run(monkeypatch, "media", "upload", study) == 2
    assert run(monkeypatch, "serve", study, "--port", "0") == 2
    said = capfd.readouterr()
    for known in (SECRET, "planted-other-key"):
        assert known not in said.out + said.err + caplog.text + "".join(received)
    assert files_with(tmp_path, SECRET, "planted-other-key") == []
