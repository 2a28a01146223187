"""A plan survives being written and read, and its digest knows design from text."""

from __future__ import annotations

import json
from pathlib import Path

from beholder.planning import read_plan
from beholder.planning.folder import write_plan
from support.tiny_plans import tiny_catalogue, tiny_plan


def test_a_written_plan_is_read_back(tmp_path: Path) -> None:
    plan = tiny_plan()
    write_plan(plan, tiny_catalogue(), "digest", tmp_path)
    assert read_plan(tmp_path) == plan
    assert read_plan(tmp_path, plan.plan_digest) == plan
    assert sorted(path.name for path in (tmp_path / "plan").iterdir()) == [
        "balance.csv",
        "lists.csv",
        "lists.jsonl",
        "plan.json",
    ]
    counts = json.loads((tmp_path / "plan" / "plan.json").read_text())
    assert {key: counts[key] for key in ("digest", "seed", "lists", "trials", "stimuli")} == {
        "digest": "digest",
        "seed": 1,
        "lists": 5,
        "trials": 20,
        "stimuli": 12,
    }
    assert (tmp_path / "plan" / "balance.csv").read_text().splitlines()[0] == (
        "count,cells,least,most,difference,promised"
    )


def test_a_plan_of_another_digest_or_torn_is_no_plan(tmp_path: Path) -> None:
    assert read_plan(tmp_path) is None
    write_plan(tiny_plan(), tiny_catalogue(), "digest", tmp_path)
    assert read_plan(tmp_path, "another") is None
    lists = tmp_path / "plan" / "lists.jsonl"
    lists.write_bytes(lists.read_bytes()[:-20])
    assert read_plan(tmp_path) is None
    (tmp_path / "plan" / "plan.json").write_text("{")
    assert read_plan(tmp_path) is None


def test_writing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        write_plan(tiny_plan(), tiny_catalogue(), "digest", tmp_path / folder)
    for name in ("plan.json", "lists.jsonl", "balance.csv"):
        assert (tmp_path / "one" / "plan" / name).read_bytes() == (tmp_path / "two" / "plan" / name).read_bytes()
