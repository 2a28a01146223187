"""Accounts: argon2, roles that change at once, and names that nobody has."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.desk.access_file import AccessFile
from beholder.desk.accounts import accounts, add_account, remove_account, use_password
from beholder.desk.logins import find_session
from beholder.errors import UserError

WORDS = "four words are fine"


def test_a_password_is_kept_as_argon2_and_logs_in_with_the_role_that_is_there_now(tmp_path: Path) -> None:
    file = AccessFile(tmp_path / "desk.sqlite")
    add_account(file, "Ada", "viewer", WORDS, ["study-1"])
    kept = file.row("select password from accounts")
    assert kept is not None
    assert kept["password"].startswith("$argon2id$")
    begun = use_password(file, "Ada", WORDS, "Firefox")
    assert begun is not None
    secret, session = begun
    assert (session.viewer.role, session.studies) == ("viewer", frozenset({"study-1"}))
    assert use_password(file, "Ada", WORDS[:-1], "Firefox") is None
    assert use_password(file, "Bob", WORDS, "Firefox") is None
    add_account(file, "Ada", "decider", f"{WORDS} now")
    assert [(one.role, one.studies) for one in accounts(file)] == [("decider", None)]
    assert find_session(file, secret) is None, "a new password ends what began by the old one"
    assert remove_account(file, "Ada")
    assert not remove_account(file, "Ada")
    file.close()


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    file = AccessFile(tmp_path / "desk.sqlite")
    with pytest.raises(UserError) as error:
        add_account(file, "", "boss", "short")
    assert [str(problem) for problem in error.value.problems] == [
        "name  is empty. Allowed: up to 64 letters, figures, spaces and .@+'-_.",
        "role  is boss. Allowed: owner, decider, viewer.",
        "password  has 5 characters. Allowed: 12 to 200 characters. Four words are fine.",
    ]
    file.close()
