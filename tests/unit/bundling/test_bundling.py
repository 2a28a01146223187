"""The three verbs of the package, by their public names."""

from __future__ import annotations

import json

import beholder
from beholder.bundling.archive_contents import Bundled
from beholder.store.open import read_tables
from beholder.study.model import Study
from support.bundled_study import files_of


def test_the_verbs_are_functions_of_beholder() -> None:
    assert {"bundle", "rerun", "verify"} <= set(beholder.__all__)


def test_a_bundle_is_a_look_at_peoples_ratings(study: Study, public: Bundled) -> None:
    assert public.path.name in public._repr_html_()
    ledger = read_tables(str(study.folder / "store"), ("ledger",))["ledger"]
    looks = [row["evidence"] for row in ledger if row["kind"] == "look"]
    assert [one["command"] for one in looks] == ["bundle"], "the same ratings are looked at once"
    (kept,) = [
        json.loads(line)["evidence"]
        for line in files_of(public.path)["facts/ledger.jsonl"].decode().splitlines()
        if json.loads(line)["kind"] == "look"
    ]
    assert kept == {name: value for name, value in looks[0].items() if name != "by"}
