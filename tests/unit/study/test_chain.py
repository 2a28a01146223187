"""The file of a chain."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import StudyError
from beholder.study.chain import load_chain


def write(folder: Path, studies: str) -> Path:
    (folder / "first").mkdir()
    (folder / "second").mkdir()
    path = folder / "chain.yaml"
    path.write_text(f"beholder: 1\nchain: both\nbudget: 20 GBP\nstudies:\n{studies}", "utf-8")
    return path


def test_a_chain_is_read_in_the_order_of_its_studies(tmp_path: Path) -> None:
    chain = load_chain(write(tmp_path, "  - study: first\n  - {study: second, asks: inconclusive}\n"))
    assert [(one.study, one.asks) for one in chain.studies] == [("first", "everything"), ("second", "inconclusive")]


def test_all_problems_of_a_chain_are_reported_with_their_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "  - {study: first, asks: inconclusive}\n  - study: third\n  - study: ../second\n")
    with pytest.raises(StudyError) as caught:
        load_chain(path)
    assert [problem.where for problem in caught.value.problems] == ["chain.yaml:5", "chain.yaml:6", "chain.yaml:7"]
