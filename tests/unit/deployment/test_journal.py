"""The journal: what is going to be done is on disk before it is, and a torn line is of nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.deployment.journal import Journal, one_at_a_time
from beholder.errors import DeployError, Problem

SETTINGS = {"to": "ada@lab", "address": "https://study.example.org"}


def test_a_step_is_written_before_it_is_done_and_after(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    record = journal.begin(SETTINGS)
    with journal.step(record.id, "study", {"version": "v1"}) as known:
        assert [(entry.step, entry.event) for entry in Journal(tmp_path).entries()] == [
            ("begin", "done"), ("study", "planned"),
        ]  # fmt: skip
        assert journal.current().open == ("study",)  # type: ignore[union-attr]
        known["more"] = 1
    current = journal.current()
    assert current is not None
    assert (current.open, current.done["study"]) == ((), {"version": "v1", "more": 1})


def test_a_second_begin_goes_on_with_the_first(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    first, again = journal.begin(SETTINGS), journal.begin(SETTINGS)
    assert first.id == again.id
    assert len(journal.entries()) == 1
    other = journal.begin({**SETTINGS, "address": "https://other.example.org"})
    assert (other.id, other.settings["address"]) == (first.id, "https://other.example.org")
    journal.write(first.id, "end", "done")
    assert journal.current() is None
    assert journal.begin(SETTINGS).id != first.id


def test_a_torn_last_line_is_of_an_act_that_was_not_begun(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    record = journal.begin(SETTINGS)
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole + b'{"at": "2027-01-')
    assert [entry.step for entry in journal.entries()] == ["begin"]
    journal.write(record.id, "claim", "planned")
    assert [entry.step for entry in journal.entries()] == ["begin", "claim"]


def test_a_step_that_fails_says_so_and_is_open_still(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    record = journal.begin(SETTINGS)
    with pytest.raises(DeployError), journal.step(record.id, "serve"):
        raise DeployError(Problem("disk", "is full there"))
    assert journal.entries()[-1].facts == {"problems": ["disk  is full there."]}
    assert journal.current().open == ("serve",)  # type: ignore[union-attr]


def test_a_file_that_is_no_journal_is_told_with_its_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.begin(SETTINGS)
    journal.path.write_bytes(b"nonsense\n" + journal.path.read_bytes())
    with pytest.raises(DeployError) as refused:
        journal.entries()
    assert str(refused.value) == (
        f"{journal.path}:1  is not a journal. Put back the file as it was; it says what is deployed where."
    )


def test_one_command_at_a_time_works_on_a_deployment(tmp_path: Path) -> None:
    busy = pytest.raises(DeployError, match=r"another command works on this deployment \(process \d+ on ")
    with one_at_a_time(Journal(tmp_path)), busy, one_at_a_time(Journal(tmp_path)):
        pass
    with one_at_a_time(Journal(tmp_path)):
        pass
