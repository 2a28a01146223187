"""The file of a desk: for its owner alone, without secrets in it, and not of something else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from beholder.desk.access_file import AccessFile, drop_desk, note_desk, noted_desks
from beholder.desk.logins import make_link, use_link
from beholder.errors import UserError


def test_it_is_for_its_owner_alone_and_holds_no_secret(tmp_path: Path) -> None:
    path = tmp_path / "config" / "desk.sqlite"
    file = AccessFile(path)
    code = make_link(file, "Ada")
    begun = use_link(file, code, "a browser")
    assert begun is not None
    secret, _ = begun
    waiting = make_link(file, "Bob")
    file.close()
    held = path.read_bytes()
    assert b"Ada" in held
    assert not any(one.encode() in held for one in (code, secret, waiting))
    if os.name == "posix":
        assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.skipif(os.name != "posix", reason="files have no mode there")
def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "desk.sqlite"
    AccessFile(path).close()
    path.chmod(0o644)
    with pytest.raises(UserError) as error:
        AccessFile(path)
    assert str(error.value) == (
        f"{path}  can be read by others. Allowed: a file for its owner alone. Run `chmod 600 {path}`; if others could "
        "read it, make passwords and tokens anew."
    )


def test_another_file_is_no_file_of_accounts(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("My notes, which are long enough to be no empty file.\n" * 40)
    path.chmod(0o600)
    with pytest.raises(UserError) as error:
        AccessFile(path)
    assert str(error.value) == (
        f"{path}  holds no accounts of a desk (file is not a database). Name another file with --accounts."
    )


def test_desks_that_run_are_noted(tmp_path: Path) -> None:
    file = AccessFile(tmp_path / "desk.sqlite")
    note_desk(file, "http://localhost:8800", {"walks": "/studies/walks/study.yaml"})
    assert noted_desks(file) == [("http://localhost:8800", {"walks": "/studies/walks/study.yaml"})]
    drop_desk(file, "http://localhost:8800")
    assert noted_desks(file) == []
    file.close()
