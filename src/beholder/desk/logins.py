"""Logging in: one-time links, which a command prints, and the sessions of browsers, which end and can be revoked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from beholder.desk.access_file import AccessFile, as_list, digest, from_list, new_id, new_secret, stored_time
from beholder.desk.viewer import ROLE_SCOPES, Role, Viewer

LINK_LASTS = timedelta(minutes=15)
SESSION_LASTS = timedelta(hours=12)
"""However busy it is; the next morning somebody logs in again."""
IDLE = timedelta(hours=2)
"""How long a session holds from which nothing comes. An open page asks all the time."""
_SEEN_EVERY = timedelta(seconds=30)
_LONGEST_BROWSER = 200


@dataclass(frozen=True)
class DeskSession:
    """The session of one browser: who it is, which studies they see, and until when."""

    id: str
    kind: str
    """How it began: link, password or share; or `token`, where a program asks, without a session."""
    viewer: Viewer
    studies: frozenset[str] | None
    """The identities of the studies that it may see; None for all of this desk."""
    begun_at: datetime
    seen_at: datetime
    ends_at: datetime
    browser: str = ""
    share: str | None = None
    """The id of the share by which it began, with which it ends."""
    stays_blinded: bool = False
    """Whether code names stay for it although the study is unblinded."""

    def sees(self, identity: str) -> bool:
        """Return whether it may see a study at all."""
        return self.studies is None or identity in self.studies


def make_link(file: AccessFile, name: str, role: Role = "owner") -> str:
    """Return the code of a new one-time link, which logs somebody in as `name` within a quarter of an hour."""
    code = new_secret()
    file.write("delete from links where ends_at <= ?", file.at)
    file.insert("links", digest=digest(code), name=name, role=role, ends_at=stored_time(file.now() + LINK_LASTS))
    return code


def use_link(file: AccessFile, code: str, browser: str) -> tuple[str, DeskSession] | None:
    """Return the secret of a new session, and the session, for a code that nobody has used before; else None."""
    found = file.rows("delete from links where digest = ? and ends_at > ? returning name, role", digest(code), file.at)
    return begin_session(file, "link", found[0]["name"], found[0]["role"], browser) if found else None


def begin_session(
    file: AccessFile,
    kind: str,
    name: str,
    role: Role,
    browser: str,
    *,
    scopes: Collection[str] | None = None,
    studies: Collection[str] | None = None,
    share: str | None = None,
    ends_at: datetime | None = None,
) -> tuple[str, DeskSession]:
    """Return the secret of a new session, and the session. Every log-in has a new one, whatever the browser sent."""
    secret, now = new_secret(), file.now()
    ends = min(now + SESSION_LASTS, ends_at or now + SESSION_LASTS)
    session = DeskSession(
        new_id(), kind, Viewer(name, role, scopes=ROLE_SCOPES[role] if scopes is None else frozenset(scopes)),
        None if studies is None else frozenset(studies), now, now, ends, browser[:_LONGEST_BROWSER], share,
    )  # fmt: skip
    file.write("delete from sessions where ends_at <= ? or seen_at <= ?", file.at, stored_time(now - IDLE))
    file.insert(
        "sessions", id=session.id, digest=digest(secret), kind=kind, name=name, role=role, scopes=as_list(scopes),
        studies=as_list(studies), share=share, begun_at=stored_time(now), seen_at=stored_time(now),
        ends_at=stored_time(ends), browser=session.browser,
    )  # fmt: skip
    return secret, session


_OF_SESSIONS = """
select sessions.*, shares.blinded as blinded, accounts.role as current, accounts.studies as now_studies
from sessions left join shares on shares.id = sessions.share left join accounts on accounts.name = sessions.name
where sessions.ends_at > ? and sessions.seen_at > ?
  and (share is null or (shares.revoked_at is null and shares.ends_at > ?))
  and (kind <> 'password' or accounts.name is not null)
"""
"""Sessions that hold: a share that was revoked, and an account that was removed, end theirs."""


def find_session(file: AccessFile, secret: str) -> DeskSession | None:
    """Return the session of a browser by its secret; None where it has ended, was revoked, or never was."""
    now = file.now()
    found = file.row(
        f"{_OF_SESSIONS} and sessions.digest = ?", file.at, stored_time(now - IDLE), file.at, digest(secret)
    )
    if found is None:
        return None
    session = _session(found)
    if now - session.seen_at >= _SEEN_EVERY:
        file.write("update sessions set seen_at = ? where id = ?", stored_time(now), session.id)
        session = replace(session, seen_at=now)
    return session


def open_sessions(file: AccessFile) -> list[DeskSession]:
    """Return the sessions that hold now, the newest first."""
    query = f"{_OF_SESSIONS} order by sessions.begun_at desc"
    return [_session(row) for row in file.rows(query, file.at, stored_time(file.now() - IDLE), file.at)]


def end_session(file: AccessFile, session: str) -> bool:
    """End a session by its id; return whether there was one."""
    return file.write("delete from sessions where id = ?", session) > 0


def _session(row: Mapping[str, Any]) -> DeskSession:
    is_account = row["kind"] == "password"
    role: Role = row["current"] if is_account else row["role"]
    scopes = from_list(row["scopes"])
    begun_at, seen_at, ends_at = (datetime.fromisoformat(row[name]) for name in ("begun_at", "seen_at", "ends_at"))
    return DeskSession(
        row["id"], row["kind"], Viewer(row["name"], role, scopes=ROLE_SCOPES[role] if scopes is None else scopes),
        from_list(row["now_studies"] if is_account else row["studies"]), begun_at, seen_at, ends_at, row["browser"],
        row["share"], bool(row["blinded"]),
    )  # fmt: skip


# Slow-down after wrong tries


class Tries:
    """How soon somebody may try again: after three wrong tries each one doubles the wait, to a quarter of an hour.

    Tries are counted for each address, for each name, and for all together, so that neither many addresses nor many
    names help. Only the last of the three slows a stranger down where somebody else is attacked, and never for long.
    """

    FREE, FREE_IN_ALL, LONGEST_S, LONGEST_IN_ALL_S = 3, 100, 900.0, 5.0

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._wrong: dict[str, tuple[int, float]] = {}

    def wait_s(self, address: str, name: str) -> float:
        """Return for how many seconds nothing is looked at; 0 where somebody may try."""
        now = self._clock()
        return max(0.0, *(self._next_at(key) - now for key in _keys(address, name)))

    def count(self, address: str, name: str) -> None:
        """Count a wrong try."""
        now = self._clock()
        if len(self._wrong) > 10_000:
            self._wrong = {key: one for key, one in self._wrong.items() if now - one[1] < self.LONGEST_S}
        for key in _keys(address, name):
            number, at = self._wrong.get(key, (0, now))
            self._wrong[key] = (number + 1 if now - at < self.LONGEST_S else 1, now)

    def forget(self, address: str, name: str) -> None:
        """Forget the wrong tries of somebody who is in now."""
        for key in _keys(address, name)[:2]:
            self._wrong.pop(key, None)

    def _next_at(self, key: str) -> float:
        number, at = self._wrong.get(key, (0, 0.0))
        free, longest = (self.FREE, self.LONGEST_S) if key else (self.FREE_IN_ALL, self.LONGEST_IN_ALL_S)
        return at + min(longest, 2.0 ** min(number - free, 30)) if number >= free else 0.0


def _keys(address: str, name: str) -> tuple[str, str, str]:
    return f"address {address}", f"name {name.casefold()}", ""
