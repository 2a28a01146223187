"""The words of the contract: ids of stimuli are those of the catalogue."""

from __future__ import annotations

from beholder.importing.contract import UNKNOWN, ImportedSession, ImportedStimulus


def test_a_stimulus_has_the_id_that_it_has_in_the_catalogue() -> None:
    assert ImportedStimulus("a", "new", None, "a.wav").id == "new/a"
    assert ImportedStimulus("a", "original", None, "a.wav", "reference").id == "original/a"
    assert ImportedStimulus("a", "new", None, "a.wav", "trap").id == "trap:new/a"


def test_nothing_is_known_of_a_session_unless_its_importer_says_so() -> None:
    assert ImportedSession("Ann", []).unknown == set(UNKNOWN) == {"order", "slots", "time", "date", "playback"}
