"""Every tutorial works as it is written: its files, commands and Python, one after the other, in an empty folder."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from support.commands import command
from support.data import ROOT
from support.variants import cases

TUTORIALS = sorted([*(ROOT / "docs").glob("tutorial-*.md"), ROOT / "docs" / "quick-start.md"])
_BLOCK = re.compile(r"(?:^\*\*`([^`]+)`\*\*\n\n)?^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_WAITS = {"preview", "serve", "pip", "arena"}
"""What waits for people, or is the installation."""


def lines(text: str) -> Iterator[list[str]]:
    """Yield the commands of a block in the shell's words."""
    for line in text.splitlines():
        if line.startswith("$ "):
            yield shlex.split(line.removeprefix("$ "), comments=True)


@pytest.mark.parametrize("name", cases([page.stem for page in TUTORIALS], ["quick-start", "tutorial-table"]))
def test_a_tutorial_works_as_it_is_written(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "docs" / f"{name}.md"
    monkeypatch.setattr("webbrowser.open", lambda _link: True)
    folder = tmp_path
    text = page.read_text("utf-8")
    for file, kind, block in _BLOCK.findall(text.partition("\n## With your own stimuli")[0]):
        if file:
            (folder / file).write_text(block, "utf-8")
        elif kind == "python":
            with chdir(folder):
                exec(compile(block, page.name, "exec"), {})
        for words in lines(block) if kind == "console" else ():
            if words[0] == "cd":
                folder = (folder / words[1]).resolve()
            elif not {words[0], *words[1:2]} & _WAITS:
                done = command(*words[1:], cwd=folder)
                assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    made = re.findall(r"^\| `([^`]+)` \|", text.partition("\n## What you have now\n")[2], re.MULTILINE)
    assert made or page.stem == "quick-start"
    assert [name for name in made if not (folder / name).is_file()] == []
