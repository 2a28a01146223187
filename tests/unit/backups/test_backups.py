"""The verb `backup`: one now, and what is there."""

from __future__ import annotations

from pathlib import Path

import beholder
from support.backed_up_store import key_in
from support.taken_study import TakenStudy


def test_a_backup_is_made_now_and_listed(taken: TakenStudy, tmp_path: Path) -> None:
    folder, _ = taken
    text = (folder / "study.yaml").read_text("utf-8")
    backup = f"backup: {{to: {tmp_path / 'to'}, key: {key_in(tmp_path).public}}}"
    (folder / "study.yaml").write_text(f"{text}\n{backup}\n", "utf-8")
    empty = beholder.backup(folder, make=False)
    assert empty.words == (f"No backup at {tmp_path / 'to'} yet.",)
    made = beholder.backup(folder)
    assert made.made is not None
    assert made.made.sessions == 3
    assert made.words[0].startswith("Made and verified: ")
    assert made.words[-1] == f"1 backup at {tmp_path / 'to'}."
    assert beholder.backup(folder, make=False).backups == [made.made]
    assert "1 backup at" in repr(made)
