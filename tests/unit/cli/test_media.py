"""`beholder media`: what probing prints."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from beholder.cli import cli


def test_probing_prints_one_record_for_each_file(tiny: Path) -> None:
    clip = sorted((tiny / "stimuli").rglob("*.mp4"))[0]
    result = CliRunner().invoke(cli, ["media", "probe", str(clip), "--json"])
    assert result.exit_code == 0, result.output
    assert [Path(record["file"]).name for record in json.loads(result.output)["files"]] == [clip.name]
