"""`beholder docs`: prints a section, or opens its page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import command


def test_a_section_is_printed(tmp_path: Path) -> None:
    lines = command("docs", "--print", "design.pairs", cwd=tmp_path).stdout.splitlines()
    assert lines[0] == "study-file.md#design: design"
    assert lines[2].startswith("| `pairs` | ")
    assert "Also:" in lines


def test_a_document_for_programs_opens_nothing(tmp_path: Path) -> None:
    told = json.loads(command("docs", "--json", cwd=tmp_path).stdout)
    assert (told["place"], told["others"]) == ("index.md", [])


def test_a_page_is_opened_or_its_address_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    opened: list[str] = []

    def nowhere(link: str) -> bool:
        opened.append(link)
        return False

    monkeypatch.setattr("webbrowser.open", nowhere)
    done = command("docs", "attention", cwd=tmp_path)
    assert done.stdout.splitlines()[0] == "Trust: who was there, and who only clicked: attention"
    (link,) = opened
    assert link.endswith("/trust.html#attention")
    assert f"There is no browser to open here. Look at it at {link}" in done.stderr
