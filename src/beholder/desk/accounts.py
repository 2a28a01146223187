"""Accounts: people who log in to a desk by a password, with a role, for all of its studies or for some."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from beholder.desk.access_file import AccessFile, as_list, from_list
from beholder.desk.logins import DeskSession, begin_session
from beholder.desk.viewer import ROLES, Role
from beholder.errors import Problem, UserError

SHORTEST_PASSWORD = 12
LONGEST_PASSWORD = 200
_NAME = re.compile(r"\w[\w .@+'-]{0,63}")
_HASHER = PasswordHasher(time_cost=1, memory_cost=47_104, parallelism=1)
"""Argon2id with 46 MiB and one pass, one of the settings of equal strength that OWASP names for servers."""


@cache
def _nobodys() -> str:
    """Return the hash of a password of nobody: looking at it takes as long as at one that somebody has."""
    return _HASHER.hash("nobody has this password")


@dataclass(frozen=True)
class Account:
    """Somebody who may log in."""

    name: str
    role: Role
    has_password: bool
    studies: frozenset[str] | None
    """The identities of the studies that they may see; None for all of the desk."""
    made_at: datetime


def add_account(
    file: AccessFile, name: str, role: str, password: str, studies: Collection[str] | None = None
) -> Account:
    """Add an account, or give one that is there another role and password; raise UserError with all that is wrong.

    Sessions that somebody began before with another password end.
    """
    problems = []
    if not _NAME.fullmatch(name):
        problems.append(Problem("name", f"is {name or 'empty'}", "up to 64 letters, figures, spaces and .@+'-_"))
    if role not in ROLES:
        problems.append(Problem("role", f"is {role or 'empty'}", ", ".join(ROLES)))
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        allowed = f"{SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters"
        problems.append(Problem("password", f"has {len(password)} characters", allowed, "Four words are fine."))
    if problems:
        raise UserError(problems)
    remove_account(file, name)
    hashed = _HASHER.hash(password)
    file.insert("accounts", name=name, role=role, password=hashed, studies=as_list(studies), made_at=file.at)
    return next(one for one in accounts(file) if one.name == name)


def remove_account(file: AccessFile, name: str) -> bool:
    """Remove an account, with every session that it began; return whether there was one."""
    file.write("delete from sessions where name = ? and kind = 'password'", name)
    return file.write("delete from accounts where name = ?", name) > 0


def accounts(file: AccessFile) -> list[Account]:
    """Return the accounts, by name."""
    return [
        Account(
            row["name"], row["role"], row["password"] is not None, from_list(row["studies"]),
            datetime.fromisoformat(row["made_at"]),
        )
        for row in file.rows("select * from accounts order by name")
    ]  # fmt: skip


def use_password(file: AccessFile, name: str, password: str, browser: str) -> tuple[str, DeskSession] | None:
    """Return the secret of a new session, and the session, for the password of an account; else None.

    Of a name that nobody has, it takes as long to say so.
    """
    row = file.row("select * from accounts where name = ?", name)
    hashed = row["password"] if row is not None and row["password"] else _nobodys()
    is_right = _is_right(hashed, password[:LONGEST_PASSWORD])
    if row is None or not row["password"] or not is_right:
        return None
    if _HASHER.check_needs_rehash(hashed):
        file.write("update accounts set password = ? where name = ?", _HASHER.hash(password), name)
    return begin_session(file, "password", name, row["role"], browser, studies=from_list(row["studies"]))


def _is_right(hashed: str, password: str) -> bool:
    try:
        return _HASHER.verify(hashed, password)
    except (VerificationError, InvalidHashError):
        return False
