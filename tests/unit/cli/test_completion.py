"""Shell completion: the scripts, and what is completed."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from beholder.cli import cli
from beholder.cli.completion import method_lines
from beholder.methods import names
from support.commands import command


def completed(*words: str) -> list[str]:
    *before, incomplete = words
    return [item.value for item in ShellComplete(cli, {}, "beholder", "_X").get_completions(before, incomplete)]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_its_script(shell: str, tmp_path: Path) -> None:
    script = command("completion", shell, cwd=tmp_path).stdout
    assert f"_BEHOLDER_COMPLETE={shell}_complete" in script
    assert "beholder" in script


def test_commands_options_methods_and_examples_are_completed() -> None:
    assert completed("ch") == ["chain", "check"]
    assert completed("check", "--res") == ["--resolved"]
    assert completed("new", "mu") == ["mushra"]
    assert completed("completion", "") == ["bash", "zsh", "fish"]
    assert completed("examples", "run", "hem")


def test_studies_and_their_conditions_are_completed(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(study.parent.parent)
    assert completed("check", "") == ["study/study.yaml"]
    assert completed("better", "study", "") == ["natural", "smooth", "jerky", "frozen"]
    assert completed("better", "study/study.yaml", "natural", "j") == ["jerky"]
    study.write_text("conditions: [", "utf-8")
    assert completed("better", "study", "") == [], "a broken study completes nothing, and breaks nothing"
    study.write_text("conditions: " + 5000 * "[", "utf-8")
    assert completed("better", "study", "") == [], "nor does one that was made to break it"


def test_methods_are_listed_where_one_is_asked_for(tmp_path: Path) -> None:
    for name in ("new", "demo"):
        text = command(name, "--help", cwd=tmp_path).stdout
        assert all(f"\n  {method} " in text for method in names())
    assert all(method_lines().values())
    said = command("new", cwd=tmp_path).stderr
    assert said.startswith(f"beholder new  METHOD is missing. Allowed: {', '.join(names()[:-1])} or {names()[-1]}.")
    assert "Did you mean acr?" in command("new", "ACR", cwd=tmp_path).stderr


def test_a_new_study_needs_no_folder_name(tmp_path: Path) -> None:
    done = command("new", "pair", cwd=tmp_path)
    assert (tmp_path / "pair" / "study.yaml").is_file()
    assert "cd pair" in done.stdout
    assert "beholder run  " in done.stdout
