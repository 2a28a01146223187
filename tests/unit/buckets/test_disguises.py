"""Disguised copies: many files for a stimulus, by keys that tell nothing; a session gets another one each time."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from pathlib import Path

import pytest

from beholder.buckets.connection import BucketError, DiskFolder
from beholder.buckets.disguises import (
    SECRET_FILE,
    DisguisedCopies,
    disguise,
    is_key,
    open_secret,
    read_secret,
    require_copies,
)
from beholder.methods import load_study
from beholder.methods.contract import Slot, Trial
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from beholder.testing import write_study
from support.hosted_study import ALL, COPIES, hosted_study

SECRET = bytes(range(32))


@pytest.fixture
def study(tmp_path: Path, tiny: Path) -> tuple[Study, Catalogue]:
    return hosted_study(tmp_path / "study", tiny, "copies")


@pytest.fixture
def copies(study: tuple[Study, Catalogue]) -> DisguisedCopies:
    return disguise(study[1], SECRET, COPIES)


def test_no_two_copies_have_the_same_key_bytes_or_within_a_stimulus_size(copies: DisguisedCopies) -> None:
    assert len(copies.by_key) == ALL
    assert all(map(is_key, copies.by_key))
    assert list(copies.by_key) == sorted(copies.by_key)
    hashes = {hashlib.sha256(b"".join(copy.file.read())).digest() for copy in copies.by_key.values()}
    assert len(hashes) == ALL
    for group in copies.by_file.values():
        assert len({copy.size for copy in group}) == COPIES
        assert {len(b"".join(copy.file.read())) for copy in group} == {copy.size for copy in group}


def test_the_same_secret_gives_the_same_copies_and_another_one_others(study: tuple[Study, Catalogue]) -> None:
    first, again, other = (disguise(study[1], secret, COPIES) for secret in (SECRET, SECRET, SECRET[::-1]))
    assert list(first.by_key) == list(again.by_key)
    assert not set(first.by_key) & set(other.by_key)


def test_with_another_stimulus_all_keys_are_new_so_that_no_date_tells_which_one_it_is(
    study: tuple[Study, Catalogue], copies: DisguisedCopies
) -> None:
    fewer = Catalogue(study[1].stimuli[:-1], study[1].conditions, study[1].contents)
    assert not set(disguise(fewer, SECRET, COPIES).by_key) & set(copies.by_key)


def test_a_session_gets_every_copy_once_before_it_gets_one_again(copies: DisguisedCopies) -> None:
    stimulus = next(iter(copies.of_stimulus))
    drawn = [copies.draw(stimulus, b"session", time).key for time in range(2 * COPIES)]
    assert len(set(drawn[:COPIES])) == COPIES
    assert drawn[COPIES:] == drawn[:COPIES]
    firsts = {copies.draw(stimulus, f"session {number}".encode(), 0).key for number in range(100)}
    assert len(firsts) == COPIES
    seconds = {tuple(copies.draw(stimulus, f"{number}".encode(), time).key for time in (0, 1)) for number in range(200)}
    assert len(seconds) == COPIES * (COPIES - 1), "one copy does not tell which one comes next"


def test_dates_and_sizes_of_neighbours_by_key_do_not_belong_together(copies: DisguisedCopies) -> None:
    stimuli = [copy.file.path.name for copy in copies.by_key.values()]
    assert sum(one == other for one, other in pairwise(stimuli)) < ALL / 4


def test_a_page_that_shows_a_file_more_often_than_there_are_copies_is_refused(
    study: tuple[Study, Catalogue], copies: DisguisedCopies
) -> None:
    def page(times: int) -> Trial:
        stimulus = next(iter(copies.of_stimulus))
        slots = tuple(Slot(f"s{number}", stimulus, "test", None, True, None) for number in range(1, times + 1))
        return Trial("1", "one", "rate", slots, ())

    require_copies(study[0], copies, [[page(COPIES)], []])
    with pytest.raises(BucketError, match=r"media\.copies is 4, and a page shows the same file 5 times\. Allowed: 5"):
        require_copies(study[0], copies, [[page(2), page(COPIES + 1)]])


# The secret


def test_the_secret_is_made_once_and_belongs_to_one_study(tmp_path: Path, study: tuple[Study, Catalogue]) -> None:
    place = DiskFolder(tmp_path / "copies")
    assert read_secret(place, study[0]) is None
    made = open_secret(place, study[0])
    assert len(made) == 32
    assert open_secret(place, study[0]) == made
    other = load_study(write_study(tmp_path / "other", tmp_path / "study", name="other", media="copies"))
    with pytest.raises(BucketError) as caught:
        open_secret(place, other)
    assert str(caught.value).partition("  ")[2] == (
        f"media holds the media of the study tiny. Allowed: a folder of its own. Such as {place.address}-other."
    )


def test_a_file_of_somebody_else_under_its_name_is_told(tmp_path: Path, study: tuple[Study, Catalogue]) -> None:
    place = DiskFolder(tmp_path)
    (tmp_path / SECRET_FILE).write_text("my diary")
    with pytest.raises(BucketError) as caught:
        read_secret(place, study[0])
    assert str(caught.value) == (
        f"{tmp_path}  holds a file 'secret' that is not ours. Name a folder of its own in `media`."
    )
