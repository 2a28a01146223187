"""Every column of answers becomes something, or is told with a reason."""

from __future__ import annotations

import pytest

from beholder import import_study
from beholder.cleaning import clean
from beholder.importing import ImportedFolder
from support.imported_folders import import_document, read_rows
from support.toolkit_sources import write_p910


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> ImportedFolder:
    folder = tmp_path_factory.mktemp("p910")
    return import_study(write_p910(folder / "batch", suffix=".wav"), folder / "mine")


def test_gender_is_an_answer_and_a_year_of_birth_is_left_out(imported: ImportedFolder) -> None:
    people = read_rows(clean(imported.studies[0]).folder / "participants.csv")
    assert {row["answer_gender"] for row in people} == {"F", "M", ""}
    told = {one["column"]: one["why"] for one in import_document(imported)["unsupported"] if "column" in one}
    assert told["Answer.2_birth_year"] == "left out: a year of birth helps to tell who somebody is"
    assert told["Answer.cmp1"].startswith("which image was where is not stored")
