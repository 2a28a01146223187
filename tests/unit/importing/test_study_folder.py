"""What is written of an imported study: valid YAML, files under safe names, and what is still missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.errors import UserError
from beholder.importing.contract import ImportedStimulus, ImportedStudy
from beholder.importing.study_folder import distinct, slug, write_study
from support.small_media import write_stimulus

KEYS: dict[str, Any] = {
    "name": "tones",
    "title": "Tones: a test",
    "method": "acr",
    "questions": [{"id": "quality", "text": "How good?", "scale": "acr5"}],
    "design": {"participants": 2},
}


def test_stimuli_get_safe_names_and_the_manifest_keeps_theirs(tmp_path: Path) -> None:
    write_stimulus(tmp_path / "x.wav", 2)
    write_stimulus(tmp_path / "y.wav", 3)
    stimuli = [
        ImportedStimulus("a:b", "con", tmp_path / "x.wav", "x.wav"),
        ImportedStimulus("a?b", "con", tmp_path / "y.wav", "y.wav", cells={"speaker": "1"}),
    ]
    written = write_study(tmp_path / "study", ImportedStudy(KEYS, stimuli), {"importer": "x"}, {"c#odd": 1})
    assert (written.problems, written.missing) == ((), ())
    assert (tmp_path / "study" / "stimuli.csv").read_text("utf-8").splitlines() == [
        "file,content,condition,role,speaker",
        "stimuli/con-/a-b.wav,a:b,con,,",
        "stimuli/con-/a-b-2.wav,a?b,con,,1",
    ]
    assert written.study is not None
    assert written.study.source == {"importer": "x", "unsupported": {"c#odd": 1}}
    assert written.catalogue is not None
    assert written.catalogue.by_id["con/a?b"].probe.duration_ms == 100


def test_a_stimulus_that_was_not_found_is_named_and_has_its_place_in_the_catalogue(tmp_path: Path) -> None:
    stimuli = [ImportedStimulus("a", "new", None, "https://example.org/a.wav?x=1")]
    written = write_study(tmp_path / "study", ImportedStudy(KEYS, stimuli), {}, {})
    assert written.missing == ("https://example.org/a.wav?x=1",)
    assert written.catalogue is not None
    assert [one.id for one in written.catalogue.stimuli] == ["new/a"]
    assert "stimuli/new/a.wav" in (tmp_path / "study" / "stimuli.csv").read_text("utf-8")


def test_a_study_that_is_not_valid_says_why(tmp_path: Path) -> None:
    written = write_study(tmp_path / "study", ImportedStudy({**KEYS, "method": "acrr"}, []), {}, {})
    assert written.study is None
    assert "method is acrr" in str(written.problems[0])


def test_names_are_made_of_any_text() -> None:
    assert slug("Codec Test (2)!") == "codec-test-2"
    assert slug("ü", "item") == "item"
    used: set[str] = set()
    assert [distinct("a", used) for _ in range(3)] == ["a", "a-2", "a-3"]


def test_two_stimuli_of_the_same_names_are_refused(tmp_path: Path) -> None:
    stimuli = [ImportedStimulus("a", "new", None, "a.wav"), ImportedStimulus("a", "new", None, "b.wav")]
    with pytest.raises(UserError, match=r"b\.wav  and a\.wav are both a under new\."):
        write_study(tmp_path / "study", ImportedStudy(KEYS, stimuli), {}, {})
