"""Alarms: each once when it begins, by webhook or mail, without names of conditions."""

from __future__ import annotations

import asyncio
import json
import smtplib
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from beholder.desk.alarms import NewAlarms, require_mail, send_alarms
from beholder.errors import UserError
from support.desk_browsers import BEGAN
from support.smtp_server import mail_server


def test_an_alarm_is_new_when_it_begins_after_six_hours_and_when_it_did_not_go() -> None:
    new = NewAlarms()
    assert new.take(["3 of 10 left at the consent."], BEGAN) == ["3 of 10 left at the consent."]
    assert new.take(["4 of 11 left at the consent."], BEGAN + timedelta(hours=1)) == [], "only its numbers changed"
    later = BEGAN + timedelta(hours=6)
    assert new.take(["5 of 12 left at the consent.", "Paused."], later) == ["5 of 12 left at the consent.", "Paused."]
    new.forget(["Paused."])
    assert new.take(["5 of 12 left at the consent.", "Paused."], later) == ["Paused."]
    assert new.take([], later) == []
    assert new.take(["Paused."], later) == ["Paused."], "it ended, and began again"


async def test_a_webhook_gets_the_alarms_as_text_and_as_a_list() -> None:
    got: list[bytes] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Hook) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        await send_alarms(f"http://127.0.0.1:{server.server_port}/hook", "walks", ["Paused."])
        await asyncio.to_thread(thread.join)
    assert json.loads(got[0]) == {"text": "walks:\n- Paused.", "study": "walks", "alarms": ["Paused."]}


async def test_mail_reaches_a_real_server_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    alarms = ["3 of 10 left at “Größe”.", f"Paused. {'Nobody can begin until it is resumed. ' * 30}".strip(), ".hidden"]
    with mail_server() as server:
        monkeypatch.setenv("BEHOLDER_SMTP", f"smtp://127.0.0.1:{server.port}")
        await send_alarms("ada@example.org", "Wälder", alarms)
        monkeypatch.setenv("BEHOLDER_SMTP", f"smtp://lab%40example.org:p%40ss%2Fword@127.0.0.1:{server.port}")
        await send_alarms("ada@example.org", "Wälder", ["Paused."])
        server.refuses = True
        with pytest.raises(smtplib.SMTPException):
            await send_alarms("nobody@example.org", "Wälder", ["Paused."])
    first, second = server.mails
    assert server.recipients == ["ada@example.org"] * 2
    assert server.senders[:2] == ["ada@example.org", "lab@example.org"], "who logs in as an address sends from it"
    assert server.logins[0] == ("lab@example.org", "p@ss/word")
    assert (first["subject"], first["to"], second["from"]) == ("Beholder: Wälder", "ada@example.org", "lab@example.org")
    assert first["date"] is not None
    assert str(first["message-id"]).endswith("@example.org>")
    assert first.get_content().splitlines() == ["Wälder:", *(f"- {words}" for words in alarms)]


def test_mail_needs_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BEHOLDER_SMTP", raising=False)
    require_mail("https://hooks.example.org/1")
    for url in ("", "smtp.example.org", "smtp://", "smtp://smtp.example.org:mail", "https://smtp.example.org"):
        monkeypatch.setenv("BEHOLDER_SMTP", url)
        with pytest.raises(UserError) as error:
            require_mail("ada@example.org")
    assert str(error.value) == (
        "alarms  is ada@example.org, and nothing says how mail is sent from here. Set BEHOLDER_SMTP to the server that "
        "takes your mail, such as smtps://user:password@smtp.example.org."
    )
    monkeypatch.setenv("BEHOLDER_SMTP", "smtp://localhost")
    require_mail("ada@example.org")
