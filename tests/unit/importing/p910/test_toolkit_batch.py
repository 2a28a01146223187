"""A batch is read once, to know its clips, its people and its scale."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.importing.p910.clip_addresses import Clips
from beholder.importing.p910.toolkit_batch import ToolkitBatch
from beholder.importing.source_folder import SourceFolder
from support.toolkit_sources import url, write_p910


def look_at(folder: Path, method: str) -> ToolkitBatch:
    source = SourceFolder(write_p910(folder / "batch", method, suffix=".wav"))
    batch = ToolkitBatch(source, ["hitapp_answers.csv"], Clips())
    batch.look()
    return batch


def test_clips_have_roles_right_answers_and_lengths(tmp_path: Path) -> None:
    batch = look_at(tmp_path, "acr")
    assert batch.clips.roles[url("trap_src1_2", ".wav")] == "trap"
    assert batch.clips.expected == {url("trap_src1_2", ".wav"): {"": 2}, url("gold_src2_5", ".wav"): {"": 5}}
    assert batch.clips.durations[url("src1_c01_v1", ".wav")] == 100
    assert (len(batch.visits), len(batch.people), batch.trials, batch.highest) == (7, 3, 6, 5)
    assert batch.options == {"gender": ["M", "F"]}
    assert (batch.has_plates, batch.has_matrices) == (True, True)


@pytest.mark.parametrize(
    ("method", "pairs", "items"),
    [
        ("acr", "", ()),
        ("acr-hr", "hidden", ()),
        ("dcr", "compared", ()),
        ("avatar", "", ("realistic", "trust", "like")),
    ],
)
def test_columns_tell_how_clips_were_shown(tmp_path: Path, method: str, pairs: str, items: tuple[str, ...]) -> None:
    batch = look_at(tmp_path, method)
    assert (batch.pairs, batch.items, batch.has_order) == (pairs, items, False)
