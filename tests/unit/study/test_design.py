"""Training examples as the researcher writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.errors import StimuliError
from beholder.methods import load_study
from beholder.stimuli.ingestion import load_catalogue
from beholder.testing import write_study


def test_two_training_examples_of_one_name_are_told_by_their_keys(tmp_path: Path, tiny: Path) -> None:
    file = {"file": "stimuli/natural/greeting.mp4"}
    study = load_study(write_study(tmp_path, tiny, training={"items": [file, file]}))
    with pytest.raises(StimuliError) as raised:
        load_catalogue(study)
    (problem,) = (str(one).partition("  ")[2] for one in raised.value.problems)
    assert problem == (
        "training.items.1 is content greeting under condition training again, as training.items.0 is. "
        "Allowed: one file for each content and condition. "
        "Write another training.items.1.content or training.items.1.condition."
    )


def test_one_example_that_is_not_shown_is_counted_as_one(tmp_path: Path, tiny: Path) -> None:
    assert warnings(tmp_path, tiny, ["role", "expected"], ["training", "3"], training=False) == [
        "training is false, so 1 stimulus with role training is not shown."
    ]


@pytest.mark.parametrize(
    ("columns", "cells", "message"),
    [
        (["role", "expcted"], ["training", "3"], "column expcted is a factor and does nothing. Did you mean expected?"),
        (["role", "Mesage"], ["training", ""], "column Mesage is a factor and does nothing. Did you mean message?"),
        (["roles"], ["test"], "column roles is a factor and does nothing. Did you mean role?"),
        (["role", "bitrate"], ["", "500"], None),
        (["role", "roles"], ["", "lead"], None),
    ],
)
def test_a_column_whose_name_is_nearly_known_is_told(
    tmp_path: Path, tiny: Path, columns: list[str], cells: list[str], message: str | None
) -> None:
    assert warnings(tmp_path, tiny, columns, cells) == ([message] if message else [])


def warnings(tmp_path: Path, tiny: Path, columns: list[str], cells: list[str], **keys: Any) -> list[str]:
    """Return the warnings about a manifest with one line more than the study needs."""
    path = write_study(tmp_path, tiny, stimuli={"manifest": "list.csv"}, **keys)
    files = sorted((tmp_path / "stimuli").glob("*/*.mp4"))
    blank = [""] * len(columns)
    rows = [["file", "content", "condition", *columns]]
    rows += [[file.relative_to(tmp_path).as_posix(), file.stem, file.parent.name, *blank] for file in files]
    rows.append([rows[1][0], "more", rows[1][2], *cells])
    (tmp_path / "list.csv").write_text("".join(f"{','.join(row)}\n" for row in rows), "utf-8")
    messages = [str(one).partition("  ")[2] for one in load_catalogue(load_study(path)).warnings]
    return [one for one in messages if "is missing" not in one]
