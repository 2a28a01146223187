"""The list of erasures: grows only, names nobody in readable form, and loses nothing to writers at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.backups.destinations import FolderDestination
from beholder.backups.erasure_list import (
    ErasureList,
    StoreErasures,
    erased_among,
    read_list,
    store_erasures,
    update_list,
)
from beholder.errors import BackupError
from beholder.testing.stores.facts import NOON
from support.backed_up_store import STUDY, erase, fill

names = st.frozensets(st.sampled_from([f"session-{number}" for number in range(6)]))


@given(names, names)
def test_whatever_two_stores_have_erased_is_on_the_list_of_both(first: frozenset[str], second: frozenset[str]) -> None:
    one = ErasureList({}).with_erasures(StoreErasures(first, None))
    other = ErasureList({}).with_erasures(StoreErasures(second, NOON))
    both = one | other
    everybody = [f"session-{number}" for number in range(6)]
    assert erased_among(everybody, both) == sorted(first | second)
    assert not both.missing(StoreErasures(first | second, NOON)).count
    assert both.with_erasures(StoreErasures(first, None)) == both
    assert both.purged_at == NOON


def test_a_store_knows_what_was_erased_and_the_list_takes_it_without_naming_anybody(tmp_path: Path) -> None:
    ann, _ = fill(tmp_path / "store", "ann", "bob")
    place, scratch = FolderDestination(tmp_path / "to"), tmp_path
    assert update_list(place, STUDY, store_erasures(tmp_path / "store"), scratch).size == 0
    assert place.names() == []  # nothing to say
    erase(tmp_path / "store", ann)
    erased = store_erasures(tmp_path / "store")
    assert erased == StoreErasures(frozenset({ann}), None)
    listed = update_list(place, STUDY, erased, scratch)
    (name,) = place.names()
    text = (tmp_path / "to" / name).read_text("utf-8")
    assert "ann" not in text
    assert ann not in text
    assert listed.names(ann)
    assert not listed.names("s-bob-link-d1-1")
    assert read_list(place, STUDY, scratch) == listed
    assert update_list(place, STUDY, erased, scratch) == listed
    assert place.names() == [name]
    assert read_list(place, "other", scratch).size == 0


def test_versions_of_two_writers_at_once_become_one(tmp_path: Path) -> None:
    place, other = FolderDestination(tmp_path / "to"), FolderDestination(tmp_path / "other")
    update_list(place, STUDY, StoreErasures(frozenset({"a"}), NOON), tmp_path)
    update_list(other, STUDY, StoreErasures(frozenset({"b"}), NOON + timedelta(days=1)), tmp_path)
    (name,) = other.names()
    place.put(name, tmp_path / "other" / name)  # as if both had read an empty list
    assert len(place.names()) == 2
    listed = update_list(place, STUDY, StoreErasures(frozenset({"c"}), None), tmp_path)
    assert len(place.names()) == 1
    assert [one for one in "abcd" if listed.names(one)] == ["a", "b", "c"]
    assert listed.purged_at == NOON + timedelta(days=1)


def test_a_damaged_list_is_told_and_a_server_that_runs_writes_one_beside_it(tmp_path: Path) -> None:
    place = FolderDestination(tmp_path / "to")
    update_list(place, STUDY, StoreErasures(frozenset({"a"}), None), tmp_path)
    (name,) = place.names()
    (tmp_path / "to" / name).write_text('{"kind": "beholder erasures", "study": "walk"', "utf-8")
    with pytest.raises(BackupError, match="is damaged: it names who was erased and must not come back"):
        read_list(place, STUDY, tmp_path)
    assert update_list(place, STUDY, StoreErasures(frozenset({"a", "b"}), None), tmp_path).size == 2
    assert len(place.names()) == 2
    assert replace(StoreErasures(frozenset(), None), purged_at=NOON).count == 1
