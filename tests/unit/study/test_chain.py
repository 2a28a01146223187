"""The file of a chain."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import StudyError
from beholder.study.chain import load_chain
from support.chain_files import CHAIN, write_chain


def write(folder: Path, studies: str) -> Path:
    (folder / "first").mkdir()
    (folder / "second").mkdir()
    path = folder / "chain.yaml"
    path.write_text(f"beholder: 1\nchain: both\nbudget: 20 GBP\nstudies:\n{studies}", "utf-8")
    return path


def test_a_chain_is_read_in_the_order_of_its_studies(tmp_path: Path) -> None:
    chain = load_chain(write(tmp_path, "  - study: first\n  - {study: second, asks: inconclusive}\n"))
    assert [(one.study, one.asks) for one in chain.studies] == [("first", "everything"), ("second", "inconclusive")]


def test_studies_share_one_error_rate_in_equal_parts_unless_told_otherwise(tmp_path: Path) -> None:
    chain = load_chain(write(tmp_path, "  - study: first\n  - {study: second, share: 0.2}\n  - study: first\n"))
    assert chain.shares == (0.4, 0.2, 0.4)


def test_all_problems_of_a_chain_are_reported_with_their_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "  - {study: first, asks: inconclusive}\n  - study: third\n  - study: ../second\n")
    with pytest.raises(StudyError) as caught:
        load_chain(path)
    assert [problem.where for problem in caught.value.problems] == ["chain.yaml:5", "chain.yaml:6", "chain.yaml:7"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            CHAIN.replace("study: mos\n", "study: moss\n"),
            "chain.yaml:6  studies.0.study is moss, which is not there. Allowed: a study.yaml or its folder, beside "
            "this file.",
        ),
        (
            CHAIN.replace("- study: mos\n", "- {study: mos, asks: inconclusive}\n"),
            "chain.yaml:6  studies.0.asks is inconclusive, and no study comes before it. Allowed: everything.",
        ),
        (
            CHAIN.replace("200 GBP", "200"),
            "chain.yaml:4  budget is 200. Allowed: an amount above 0 and a currency of three capital letters, such as "
            "0.10 GBP.",
        ),
        (
            CHAIN.replace("asks:", "ask:"),
            "chain.yaml:7  studies.1.ask is not a known key. Allowed: study, asks, question and share. Did you mean "
            "asks?",
        ),
        (
            CHAIN.replace("study: mos\n", "{study: mos, share: 0.7}\n").replace("asks:", "share: 0.4, asks:"),
            "chain.yaml:5  studies have shares of 1.1 together. Allowed: at most 1. They share one error rate: lower "
            "some.",
        ),
        (
            CHAIN.replace("study: mos\n", "{study: mos, share: 1}\n"),
            "chain.yaml:7  studies.1 has no share: the others take the whole error rate. Allowed: shares of at most 1 "
            "together. Lower theirs, or give it one.",
        ),
    ],
)
def test_what_is_wrong_with_a_chain_is_said_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    for name in ("mos", "pairs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "study.yaml").touch()
    with pytest.raises(StudyError) as error:
        load_chain(write_chain(tmp_path, text))
    assert str(error.value) == message
