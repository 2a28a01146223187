"""The files of a ReSEval test: folders of conditions with the same files, or files with their words."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from beholder import import_study
from beholder.cleaning import clean
from beholder.errors import UserError
from support.reseval_source import write_reseval
from support.small_media import write_stimulus


def test_files_that_some_conditions_lack_are_told(tmp_path: Path) -> None:
    source = write_reseval(tmp_path / "root", "mushra")
    (source / "files" / "old" / "two.wav").unlink()
    write_stimulus(source / "files" / "worse" / "three.wav", 9)
    done = import_study(source, tmp_path / "mine")
    report = json.loads((tmp_path / "mine" / "import-report.json").read_text("utf-8"))
    assert report["warnings"][:2] == [
        "Condition old lacks two, which new has.",
        "Condition worse has three besides, which was never shown.",
    ]
    assert done.missing == ("old/two.wav",)
    assert "files/worse/three.wav" in [one.get("file") for one in report["unsupported"]]


def test_abx_needs_a_folder_called_reference_and_two_others(tmp_path: Path) -> None:
    source = write_reseval(tmp_path / "root", "abx")
    shutil.move(source / "files" / "reference", source / "files" / "original")
    with pytest.raises(UserError, match="has no folder called reference"):
        import_study(source, tmp_path / "mine")
    source = write_reseval(tmp_path / "other", "ab")
    shutil.copytree(source / "files" / "old", source / "files" / "third")
    with open(source / "my-test" / "tables" / "conditions.csv", "a", encoding="utf-8") as file:  # noqa: PTH123
        file.write("third\n")
    with pytest.raises(UserError, match=r"has 3 conditions: new, old, third\. Allowed: two conditions\."):
        import_study(source, tmp_path / "mine")


def test_results_of_files_that_are_gone_are_imported(tmp_path: Path) -> None:
    source = write_reseval(tmp_path / "root", "mos")
    shutil.rmtree(source / "files")
    done = import_study(source, tmp_path / "mine")
    assert done.missing == ("new/one.wav", "new/two.wav", "old-2/one.wav", "old-2/two.wav")
    assert clean(done.studies[0]).counts["ratings"] == 5


def test_contents_in_folders_of_their_own_keep_their_path(tmp_path: Path) -> None:
    source = write_reseval(tmp_path / "root", "mos")
    for path in sorted((source / "files").rglob("*.wav")):
        (path.parent / "deep").mkdir(exist_ok=True)
        path.rename(path.parent / "deep" / path.name)
    for name in ("responses.csv", "files.csv"):
        path = source / "my-test" / "tables" / name
        path.write_text(path.read_text("utf-8").replace("one,", "deep/one,").replace("two,", "deep/two,"), "utf-8")
    done = import_study(source, tmp_path / "mine")
    assert (done.missing, clean(done.studies[0]).counts["ratings"]) == ((), 5)


def test_words_come_with_their_files(tmp_path: Path) -> None:
    done = import_study(write_reseval(tmp_path / "root", "wordselect"), tmp_path / "mine")
    assert (tmp_path / "mine" / "transcripts" / "one.txt").read_text("utf-8") == "The storm came at noon.\n"
    assert done.problems == ()
