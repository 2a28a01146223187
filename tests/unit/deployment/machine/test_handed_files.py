"""Files that a person edits go to the machine and come home, and nothing else is written by them."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from beholder.deployment.machine.handed_files import forget_handed, put_handed, read_handed


def test_what_is_edited_at_home_is_there_and_comes_back_as_it_is(tmp_path: Path) -> None:
    home, there = tmp_path / "home", tmp_path / "there"
    for name, text in {"decide/decisions.csv": "é,1\n", "pay/more/a b.csv": "2\n", "store/facts.sqlite": "no"}.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, "utf-8")
    files = read_handed(home)
    assert sorted(files) == ["decide/decisions.csv", "pay/more/a b.csv"]
    there.mkdir()
    put_handed(there, files)
    assert read_handed(there) == files
    assert stat.S_IMODE((there / "decide" / "decisions.csv").stat().st_mode) == 0o600
    (there / "decide" / "mine").touch()
    forget_handed(there, files)
    assert [path.relative_to(there).as_posix() for path in there.rglob("*")] == ["decide", "decide/mine"]


@pytest.mark.parametrize("name", ["../x", "decide/../../x", "/etc/x", "study.yaml", ""])
def test_a_file_that_would_be_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"^"):
        put_handed(tmp_path, {name: ""})
    assert list(tmp_path.iterdir()) == []
