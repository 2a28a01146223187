"""The studies of a desk: where they are, their keys, and opening them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.desk.desk_study import OpenStudies, study_places
from beholder.errors import UserError
from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.testing import write_study


def test_a_folder_of_studies_is_all_of_them_with_a_key_each(tmp_path: Path, tiny: Path) -> None:
    for name in ("first", "second"):
        write_study(tmp_path / name, tiny)
    places = study_places([tmp_path, tmp_path / "first"])
    name = load_study(tmp_path / "first").name
    assert [place.key for place in places] == [name, f"{name}-2"]
    assert places[0].identity != places[1].identity
    with pytest.raises(UserError) as error:
        study_places([tmp_path / "third", tmp_path], store="elsewhere")
    assert [str(problem) for problem in error.value.problems] == [
        f"{tmp_path / 'third'}  holds no study.yaml. Allowed: a study file, or a folder with one. Name the folder of a "
        "study, or a folder of such folders.",
        "--store  is one store, for several studies. Allowed: one study with --store.",
    ]


async def test_a_study_is_opened_anew_when_its_store_appears(tmp_path: Path, tiny: Path) -> None:
    file = write_study(tmp_path, tiny)
    studies = OpenStudies(study_places([tmp_path]))
    (key,) = studies.places
    empty = await studies.find(key)
    assert empty is not None
    assert await empty.context.store.current() is None
    assert await studies.find("another") is None
    async with run_server(load_study(file), port=0):
        served = await studies.find(key)
        assert served is not None
        assert await served.context.store.current() is not None
        assert await studies.find(key) is served
    await studies.close()


async def test_the_address_of_a_stimulus_tells_nothing_of_it(tmp_path: Path, tiny: Path) -> None:
    studies = OpenStudies(study_places([write_study(tmp_path, tiny)]))
    study = await studies.find(next(iter(studies.places)))
    assert study is not None
    stimuli = await studies.stimuli(study)
    first = stimuli[0]
    address = study.media_address(first.id)
    token = address.rpartition("/")[2]
    assert not any(word in token for word in (first.condition, first.content, first.id))
    assert study.stimulus_of(token, stimuli) == first
    assert study.stimulus_of("0" * 32, stimuli) is None
    await studies.close()
