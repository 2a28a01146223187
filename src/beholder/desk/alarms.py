"""Alarms sent while nobody looks: what `monitor` would say, by webhook or mail to where the study names.

Each alarm is sent once when it begins, and again after six hours if it still holds. Conditions have code names in it
for as long as the study is blinded.
"""

from __future__ import annotations

import asyncio
import logging
import os
import smtplib
import ssl
from collections.abc import Iterable
from contextlib import aclosing
from datetime import datetime, timedelta
from email.message import EmailMessage
from email.utils import localtime, make_msgid
from urllib.parse import unquote, urlsplit

import httpx

from beholder.desk.context import Desk
from beholder.desk.documents.study_facts import CodeNames
from beholder.errors import Problem, UserError
from beholder.recruiting.monitor_snapshot import MonitorSnapshot
from beholder.store.open import read_rows

AGAIN = timedelta(hours=6)
SMTP = "BEHOLDER_SMTP"
_QUIET_S = 60.0
_PATIENCE_S = 20.0
_log = logging.getLogger("beholder.desk")


class NewAlarms:
    """Tells which alarms are new: they began, or still hold after six hours."""

    def __init__(self) -> None:
        self._sent: dict[str, datetime] = {}

    def take(self, alarms: Iterable[str], now: datetime) -> list[str]:
        """Return those that are due, and remember that they are sent."""
        # Numbers in a sentence change all the time, and make no other alarm of it.
        held = {_without_numbers(words): words for words in alarms}
        self._sent = {key: at for key, at in self._sent.items() if key in held}
        due = [key for key in held if key not in self._sent or now - self._sent[key] >= AGAIN]
        self._sent |= dict.fromkeys(due, now)
        return [held[key] for key in due]

    def forget(self, alarms: Iterable[str]) -> None:
        """Let alarms be due again: they could not be sent."""
        for words in alarms:
            self._sent.pop(_without_numbers(words), None)


def _without_numbers(words: str) -> str:
    return "".join("0" if letter.isdigit() else letter for letter in words)


async def send_alarms(to: str, study: str, alarms: list[str]) -> None:
    """Send alarms to a web address, as JSON with a `text`, or by mail; raise OSError or HTTPError where it fails."""
    text = "\n".join([f"{study}:", *(f"- {words}" for words in alarms)])
    if "://" in to:
        async with httpx.AsyncClient(timeout=_PATIENCE_S) as client:
            reply = await client.post(to, json={"text": text, "study": study, "alarms": alarms})
            reply.raise_for_status()
    else:
        await asyncio.to_thread(_mail, to, f"Beholder: {study}", text)


def require_mail(to: str) -> None:
    """Raise UserError for an address of mail where nothing says how mail is sent."""
    if "://" in to or _smtp() is not None:
        return
    fix = f"Set {SMTP} to the server that takes your mail, such as smtps://user:password@smtp.example.org."
    raise UserError(Problem("alarms", f"is {to}, and nothing says how mail is sent from here", "", fix))


def _smtp() -> str | None:
    url = os.environ.get(SMTP, "")
    try:
        parts = urlsplit(url)
        return url if parts.scheme in ("smtp", "smtps") and parts.hostname and parts.port != 0 else None
    except ValueError:  # a port that is no number
        return None


def _mail(to: str, subject: str, text: str) -> None:
    parts = urlsplit(_smtp() or "")
    message = EmailMessage()
    message["Subject"], message["To"] = subject, to
    # In a web address an @ is written %40, as in smtps://ada%40example.org:secret@smtp.example.org.
    name, password = unquote(parts.username or ""), unquote(parts.password or "")
    message["From"] = sender = name if "@" in name else to
    message["Date"] = localtime()
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2])
    message.set_content(text)
    host, context = parts.hostname or "", ssl.create_default_context()
    if parts.scheme == "smtps":
        server: smtplib.SMTP = smtplib.SMTP_SSL(host, parts.port or 465, timeout=_PATIENCE_S, context=context)
    else:
        server = smtplib.SMTP(host, parts.port or 25, timeout=_PATIENCE_S)
    with server:
        if parts.scheme == "smtp" and server.has_extn("starttls"):
            server.starttls(context=context)
        if name:
            server.login(name, password)
        server.send_message(message)


async def keep_sending(desk: Desk, key: str, to: str) -> None:
    """Send the alarms of a study as they begin, until cancelled; what does not go is tried at the next snapshot."""
    new = NewAlarms()
    async with aclosing(desk.streams[key].snapshots(_QUIET_S)) as snapshots:
        async for snapshot in snapshots:
            if snapshot is None or snapshot.population == "robots":
                continue
            due = new.take(await _alarms(desk, key, snapshot), snapshot.at)
            if not due:
                continue
            try:
                await send_alarms(to, snapshot.study, due)
            except (OSError, httpx.HTTPError, smtplib.SMTPException) as error:
                _log.warning("alarms of %s could not be sent: %s", key, error)
                new.forget(due)


async def _alarms(desk: Desk, key: str, snapshot: MonitorSnapshot) -> list[str]:
    study = await desk.studies.find(key)
    if study is None:
        return []
    is_blinded = not await desk.is_unblinded(study)
    rows = await read_rows(study.context.store, "stimuli")
    names = CodeNames.of(study.study, rows, study.context.store.secret, is_blinded=is_blinded)
    return [names.text(words) for words in snapshot.alarms]
