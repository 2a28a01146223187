"""The examples as a researcher meets them: found by name, copied, and refused with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

import beholder
from beholder.errors import UserError
from beholder.examples import copy_example, examples, run_example
from beholder.methods import load_study


def test_there_is_one_for_each_paper() -> None:
    assert list(examples()) == ["hemvip", "p910-acr", "avatar", "reseval"]


@pytest.mark.parametrize("name", ["hemvip", "p910-acr", "avatar", "reseval"])
def test_a_copy_has_every_study_file_and_nothing_of_ours(name: str, tmp_path: Path) -> None:
    folder = copy_example(name, tmp_path / name)
    studies = sorted(folder.rglob("*.yaml"))
    assert studies
    assert not [path for path in folder.rglob("*") if path.suffix == ".py" or path.name == "published"]
    for study in studies:
        assert load_study(study).contact == "researcher@example.org"


def test_an_unknown_name_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"hemvpi is no example.*hemvip, p910-acr, avatar, reseval.*hemvip"):
        run_example("hemvpi", tmp_path / "new")


def test_a_folder_that_is_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    for begin in (run_example, copy_example):
        with pytest.raises(UserError, match="exists already and is not empty"):
            begin("reseval", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_package_is_not_a_verb() -> None:
    assert "examples" not in beholder.__all__
