"""Tokens: what is kept of one, and when it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.desk.access_file import AccessFile
from beholder.desk.tokens import find_token, make_token, open_tokens, revoke_token
from beholder.errors import UserError
from support.desk_browsers import DeskClock


def test_a_token_holds_until_its_day_or_until_it_is_revoked(tmp_path: Path) -> None:
    clock = DeskClock()
    file = AccessFile(tmp_path / "desk.sqlite", clock.now)
    secret, token = make_token(file, label="nightly", scopes=["now"], until="2026-11-21", made_by="Ada")
    other, second = make_token(file, label="other", scopes=["now"], until="2026-11-22", made_by="Ada", studies=["a"])
    found = find_token(file, secret)
    assert found is not None
    assert (found.viewer.name, found.viewer.scopes, found.kind) == ("Ada (nightly)", frozenset({"now"}), "token")
    assert [(one.label, one.used_at, one.is_for_all) for one in open_tokens(file)] == [
        ("nightly", clock.at, True), ("other", None, False),
    ]  # fmt: skip
    assert secret not in str(token.to_json())
    assert find_token(file, secret[:-1]) is None
    assert revoke_token(file, second.id)
    assert not revoke_token(file, second.id)
    assert find_token(file, other) is None
    clock.move(days=2)
    assert find_token(file, secret) is None
    file.close()


def test_a_token_makes_no_other_credentials(tmp_path: Path) -> None:
    file = AccessFile(tmp_path / "desk.sqlite", DeskClock().now)
    with pytest.raises(UserError) as error:
        make_token(file, label="x", scopes=["access"], until="2026-11-21", made_by="Ada")
    assert str(error.value) == (
        "scopes  are access. Allowed: now, people, replay, decisions, results, study, moderate, decide, pay, unblind."
    )
    file.close()
