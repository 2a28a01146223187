"""The verb: a source is recognised and imported whole, or refused and nothing is left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beholder import import_study
from beholder.errors import UserError
from support.commands import command
from support.webmushra_source import MUSHRA, mushra_results, write_source


def test_the_command_says_what_was_made_and_where_the_report_is(tmp_path: Path) -> None:
    write_source(tmp_path / "root", results={"mushra.csv": mushra_results(2)})
    done = command("import", "root", "mine", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert (document["importer"], document["people"], document["missing"]) == ("webMUSHRA", 2, [])
    assert Path(document["page"]).name == "import-report.html"
    assert (tmp_path / "mine" / "study.yaml").is_file()


def test_a_folder_that_is_used_is_refused(tmp_path: Path) -> None:
    source = write_source(tmp_path / "root")
    with pytest.raises(
        UserError, match=r"root  is not empty\. Allowed: a new or an empty folder\. Choose another name\."
    ):
        import_study(source, source)


def test_a_refused_source_leaves_nothing(tmp_path: Path) -> None:
    source = write_source(tmp_path / "root", MUSHRA.replace("type: mushra\n      id: b", "type: spatial\n      id: b"))
    with pytest.raises(UserError) as refused:
        import_study(source, tmp_path / "mine")
    (problem,) = refused.value.problems
    assert problem.where == "configs/test.yaml:32"
    assert problem.what == "is a page of type spatial, sounds are placed in a room"
    assert problem.fix == "Import all the others with --partial; this one is kept under source in study.yaml."
    assert sorted(path.name for path in tmp_path.iterdir()) == ["root"]
    assert import_study(source, tmp_path / "mine", partial=True).counts["unsupported"] > 5


def test_stimuli_that_are_gone_are_named_and_their_ratings_still_imported(tmp_path: Path) -> None:
    source = write_source(tmp_path / "root", results={"mushra.csv": mushra_results(2)})
    for path in (source / "sounds").glob("old-*.wav"):
        path.unlink()
    done = import_study(source, tmp_path / "mine")
    assert (done.missing, done.answers) == (("sounds/old-a.wav", "sounds/old-b.wav"), 6)
    assert "2 stimuli were not found." in repr(done)
