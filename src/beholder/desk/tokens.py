"""Tokens: keys of programs for the HTTP API of a desk, with limited scopes and an end."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from beholder.desk.access_file import AccessFile, as_list, digest, from_list, new_id, new_secret, stored_time
from beholder.desk.logins import DeskSession
from beholder.desk.shares import end_of
from beholder.desk.viewer import SCOPES, Viewer
from beholder.errors import Problem, UserError
from beholder.types import Json

_PREFIX = "bhd_"
"""By which programs that look for lost keys find ours."""
_LONGEST_LABEL = 100
TOKEN_SCOPES = tuple(scope for scope in SCOPES if scope != "access")
"""A token makes no other credentials."""
_SEEN_EVERY = timedelta(minutes=1)


@dataclass(frozen=True)
class Token:
    """The key of a program: what it is for, what it may, and until when."""

    id: str
    label: str
    scopes: tuple[str, ...]
    made_by: str
    made_at: datetime
    ends_at: datetime
    used_at: datetime | None
    is_for_all: bool
    """Whether it holds for every study of the desk."""

    def to_json(self) -> dict[str, Json]:
        """Return it as it is listed; the key itself is not kept."""
        return {
            "id": self.id, "name": self.label, "scopes": list(self.scopes), "made_by": self.made_by,
            "made_at": self.made_at.isoformat(), "until": self.ends_at.isoformat(),
            "used_at": self.used_at.isoformat() if self.used_at else None, "all_studies": self.is_for_all,
        }  # fmt: skip


def make_token(
    file: AccessFile,
    *,
    label: str,
    scopes: Collection[str],
    until: str,
    made_by: str,
    studies: Collection[str] | None = None,
) -> tuple[str, Token]:
    """Return a new token, which is seen once, and what is kept of it; raise UserError with all that is wrong.

    `studies` are the identities of those for which it holds; None for all.
    """
    problems = []
    if not label.strip() or len(label) > _LONGEST_LABEL:
        problems.append(Problem("name", "is empty or too long", f"what it is for, in up to {_LONGEST_LABEL} letters"))
    if not scopes or not set(scopes) <= set(TOKEN_SCOPES):
        shown = ", ".join(sorted(set(scopes) - set(TOKEN_SCOPES))) or "empty"
        problems.append(Problem("scopes", f"are {shown}", ", ".join(TOKEN_SCOPES)))
    ends = end_of(until, file.now(), problems)
    if problems or ends is None:
        raise UserError(problems)
    secret, now = _PREFIX + new_secret(), file.now()
    ordered = tuple(scope for scope in SCOPES if scope in scopes)
    token = Token(new_id(), label.strip(), ordered, made_by, now, ends, None, studies is None)
    file.insert(
        "tokens", id=token.id, digest=digest(secret), label=token.label, role="viewer", scopes=as_list(ordered),
        studies=as_list(studies), made_by=made_by, made_at=stored_time(now), ends_at=stored_time(ends),
    )  # fmt: skip
    return secret, token


def find_token(file: AccessFile, secret: str) -> DeskSession | None:
    """Return who asks with a token, as a session without a browser; None where it has ended or never was."""
    row = file.row(
        "select * from tokens where digest = ? and revoked_at is null and ends_at > ?", digest(secret), file.at
    )
    if row is None:
        return None
    token, now = _token(row), file.now()
    if token.used_at is None or now - token.used_at >= _SEEN_EVERY:
        file.write("update tokens set used_at = ? where id = ?", stored_time(now), token.id)
    name = f"{token.made_by} ({token.label})"
    viewer = Viewer(name, "viewer", scopes=frozenset(token.scopes))
    studies = from_list(row["studies"])
    return DeskSession(f"token-{token.id}", "token", viewer, studies, token.made_at, now, token.ends_at)


def open_tokens(file: AccessFile) -> list[Token]:
    """Return the tokens that hold now, the newest first."""
    rows = file.rows("select * from tokens where revoked_at is null and ends_at > ? order by made_at desc", file.at)
    return [_token(row) for row in rows]


def revoke_token(file: AccessFile, token: str) -> bool:
    """Revoke a token; return whether there was one."""
    return file.write("update tokens set revoked_at = ? where id = ? and revoked_at is null", file.at, token) > 0


def _token(row: dict[str, Any]) -> Token:
    scopes = from_list(row["scopes"]) or frozenset()
    used = row["used_at"]
    return Token(
        row["id"], row["label"], tuple(scope for scope in SCOPES if scope in scopes), row["made_by"],
        datetime.fromisoformat(row["made_at"]), datetime.fromisoformat(row["ends_at"]),
        datetime.fromisoformat(used) if used else None, row["studies"] is None,
    )  # fmt: skip
