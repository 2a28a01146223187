"""The verb export: formats, populations, options and progress."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import beholder
from beholder.cli import cli
from beholder.errors import UserError
from beholder.study.model import Study
from support.export_store import rows


def test_a_rehearsal_can_be_exported_too(study: Study, tmp_path: Path) -> None:
    exported = beholder.export(study, out=tmp_path / "robots", robots=True)
    assert exported.population == "robots"
    assert exported.notes[0] == "These are robots, a rehearsal and not a result."
    assert {row["mode"] for row in rows(exported.folder, "sessions")} == {"robot"}


def test_an_unknown_format_and_a_missing_pyarrow_say_what_to_do(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError) as caught:
        beholder.export(study, format="parket")  # type: ignore[arg-type]
    assert str(caught.value) == "--format  is parket. Allowed: csv, parquet, psych-ds. Did you mean parquet?"
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError) as caught:
        beholder.export(study, format="parquet")
    assert str(caught.value) == "--format parquet  needs pyarrow. Install it with `pip install beholder[parquet]`."


def test_the_command_takes_the_same_options() -> None:
    options = {option for parameter in cli.commands["export"].params for option in parameter.opts}
    everywhere = {"--json", "--quiet", "-q"}
    assert options == {
        "study",
        "--store",
        "--out",
        "--format",
        "--robots",
        "--with-texts",
        "--p910",
        "--sureal",
        *everywhere,
    }


def test_progress_comes_to_its_end(study: Study, tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    beholder.export(study, out=tmp_path / "out", progress=lambda done, total: steps.append((done, total)))
    assert steps[0][0] == 0
    assert steps[-1][0] == steps[-1][1]
    assert steps == sorted(steps)
