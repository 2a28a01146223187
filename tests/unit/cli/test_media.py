"""`beholder media`: what probing prints."""

from __future__ import annotations

import json
import re
from pathlib import Path

from click.testing import CliRunner

from beholder.cli import cli
from beholder.testing import write_study
from support.commands import command
from support.s3_server import S3Server


def test_probing_prints_one_record_for_each_file(tiny: Path) -> None:
    clip = sorted((tiny / "stimuli").rglob("*.mp4"))[0]
    result = CliRunner().invoke(cli, ["media", "probe", str(clip), "--json"])
    assert result.exit_code == 0, result.output
    assert [Path(record["file"]).name for record in json.loads(result.output)["files"]] == [clip.name]


def test_upload_says_what_is_there_and_what_was_uploaded(tmp_path: Path, tiny: Path, s3: S3Server) -> None:
    to = s3.new_folder()
    study = write_study(tmp_path / "study", tiny, media={"to": to, "copies": 4})
    first = command("media", "upload", cwd=study.parent)
    assert first.returncode == 0, first.stderr
    assert re.fullmatch(rf"{to}: 64 of 64 copies \([0-9.]+ MB in all\)\.\nUploaded and verified: 64\.\n", first.stdout)
    document = json.loads(command("media", "upload", "--json", cwd=study.parent).stdout)
    assert list(document) == ["address", "copies", "bytes", "missing", "surplus", "uploaded"]
    assert (document["copies"], document["uploaded"], document["missing"], document["surplus"]) == (64, 0, [], [])


def test_upload_without_a_place_says_how_to_name_one(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny)
    refused = command("media", "upload", cwd=study.parent)
    assert refused.returncode == 2
    assert "tiny names no place for its media. Write media: s3://bucket/folder; without it," in " ".join(
        refused.stderr.split()
    )
