"""The study folder of a bundle: the researcher's own text, without what is not handed on."""

from __future__ import annotations

from pathlib import Path

from beholder.bundling.study_files import copy_study, handed_on, without_places
from beholder.methods import load_study
from beholder.study.model import Study
from beholder.study.serialization import resolved_yaml
from beholder.testing import write_study
from support.bundled_study import TEXT


def test_keys_are_taken_out_by_their_lines_and_the_rest_stays_as_written(study: Study, tmp_path: Path) -> None:
    copied = copy_study(study, study.folder / "study.yaml", tmp_path / "copy")
    text = (tmp_path / "copy" / "study.yaml").read_text("utf-8")
    assert text == TEXT.replace("deploy: {to: ada@machine.example.org}\n", "\n")
    assert copied.left_out == ("deploy",)
    assert (tmp_path / "copy" / "consent.md").is_file()
    assert copied.study.deploy is None


def test_lists_of_people_and_other_studies_do_not_come_along(tmp_path: Path, tiny: Path) -> None:
    (tmp_path / "earlier").mkdir()
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "banned.txt").write_text("5f3a\n", "utf-8")
    recruit = {
        "mode": "panel",
        "id_parameter": "who",
        "exclude": ["../earlier"],
        "block": "banned.txt",
        "codes": {"completed": "C7"},
    }
    study = load_study(write_study(folder, tiny, recruit=recruit))
    copied = copy_study(study, study.folder / "study.yaml", tmp_path / "copy")
    assert copied.left_out == ("recruit.block", "recruit.exclude")
    assert copied.study.model_dump() == handed_on(study)[0].model_dump()
    assert not (tmp_path / "copy" / "banned.txt").exists()


def test_a_study_text_in_the_store_stays_as_it_was_unless_something_has_to_go(study: Study) -> None:
    text = resolved_yaml(study)
    assert "machine.example.org" not in without_places(text)
    assert without_places("name: a\nmethod: acr\n") == "name: a\nmethod: acr\n"
    assert "publication" not in without_places(text, ["publication"])
