"""Configurations of the toolkits become keys of a study; what is secret in them is repeated nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder import import_study
from beholder.errors import UserError
from beholder.importing import ImportedFolder
from beholder.methods import load_study
from support.imported_folders import import_document
from support.toolkit_sources import MASTER, PARSER, write_p910


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> ImportedFolder:
    folder = tmp_path_factory.mktemp("p910")
    return import_study(write_p910(folder / "batch", suffix=".wav"), folder / "mine")


def test_configurations_become_the_keys_of_a_study(imported: ImportedFolder) -> None:
    study = load_study(imported.studies[0])
    assert (study.method, study.title, study.playback.size) == ("acr", "Rate videos", "70%")
    assert [one.name for one in study.conditions] == ["01", "02"]
    assert (study.design.trials, study.design.participants, study.design.sessions_per_participant) == (4, 4, 1)
    written = imported.studies[0].read_text("utf-8")
    for part in (
        "warn_mbps: 50", "min_hz: 30", "- 1280", "- desktop", "colour: true", "brightness: true", "sessions: 30",
        'each: "0.10 USD"', "best: 20", 'reward: "0.50 USD"', "min_used: 0.6", "max_failed: 0",
    ):  # fmt: skip
        assert part in written, part


def test_addresses_and_keys_of_storages_are_repeated_nowhere(imported: ImportedFolder) -> None:
    for name in ("study.yaml", "import-report.json", "import-report.html"):
        text = (imported.folder / name).read_text("utf-8")
        assert "a-key-that-nobody-may-see" not in text
        assert "somebody@example.org" not in text
        assert "AMADE1" not in text


def test_settings_that_cannot_be_are_broken_with_their_line(tmp_path: Path) -> None:
    source = write_p910(tmp_path / "batch", suffix=".wav")
    changed = MASTER.replace("70%", "huge").replace("per_session:4", "per_session:many").replace(".mp4", ".wav")
    (source / "master.cfg").write_text(changed, "utf-8")
    (source / "acr_result_parser.cfg").write_text(PARSER, "utf-8")
    broken = [(one["line"], one["what"]) for one in import_document(import_study(source, tmp_path / "mine"))["broken"]]
    assert broken == [
        (2, "is many, not a number from 1 to 1000"), (19, "is huge, not max-height, no-scale or a percentage"),
    ]  # fmt: skip


def test_a_configuration_that_is_none_is_refused_with_its_line(tmp_path: Path) -> None:
    source = write_p910(tmp_path / "batch", suffix=".wav")
    (source / "master.cfg").write_text("video_player: 70%\n", "utf-8")
    with pytest.raises(UserError) as refused:
        import_study(source, tmp_path / "mine")
    assert refused.value.problems[0].where == "master.cfg:1"
    assert refused.value.problems[0].what.startswith("is no configuration: ")
