"""A deployment whose machine is gone for good is forgotten, with the words of who says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.deployment.journal import Journal
from beholder.deployment.removal import give_up
from beholder.errors import DeployError


def test_a_machine_that_is_gone_is_forgotten_in_words(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with pytest.raises(DeployError, match="knows no deployment of tiny"):
        give_up("tiny", journal, "it was stolen")
    record = journal.begin({"to": "ada@lab", "address": "https://study.example.org"})
    journal.write(record.id, "claim", "planned")
    with pytest.raises(DeployError, match=r"--lost  is 'gone'. Allowed: why, in three words or more; they are kept."):
        give_up("tiny", journal, "gone")
    gone = give_up("tiny", journal, "it was stolen")
    assert gone.words == (
        "ada@lab was not asked. What came at all is not here.",
        "Should it come back: what is in ~/.beholder/tiny there holds answers of people, and has to be removed.",
    )
    assert journal.current() is None
    assert journal.entries()[-1].facts == {"why": "it was stolen", "lost": True}
