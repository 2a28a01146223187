"""What differs between two versions of a study, and between a plan and what people met."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.cleaning.screening import facts_of
from beholder.preregistration.changes import StudyChange, planned_study, registered_account, study_changes
from beholder.study.model import Study
from beholder.study.serialization import resolved_yaml
from support.cleaning_store import ASKING, add, make_study, store
from support.registered_studies import plan_of, registered

TWO = [{"id": "quality", "text": "How good?", "scale": "acr5"}, {"id": "fit", "text": "Does it fit?", "scale": "acr5"}]


def changed(folder: Path, **keys: Any) -> list[StudyChange]:
    return study_changes(make_study(folder), make_study(folder, **keys))


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({}, []),
        ({"title": "Other"}, [("title", "Cleaned", "Other", "texts")]),
        ({"design": {"participants": 30}}, [("design.participants", "20", "30", "size")]),
        ({"clean": {"outliers": True}}, [("clean.outliers", "false", "true", "exclusions")]),
        ({"analyse": {"margin": 0.5}}, [("analyse.margin", "–", "0.5", "hypotheses")]),
        ({"analyse": {"dmos": "a"}}, [("analyse.dmos", "–", "a", "analyses")]),
        ({"design": {"seed": 2}}, [("design.seed", "1", "2", "design")]),
        ({"recruit": {"mode": "link", "reward": "2.00 GBP"}}, [("recruit.reward", "–", "2.00 GBP", "people")]),
        ({"preset": "p910", "source": {"was": "elsewhere"}}, []),
    ],
)
def test_every_key_that_differs_is_told_with_its_part(
    tmp_path: Path, keys: dict[str, Any], told: list[tuple[str, str, str, str]]
) -> None:
    assert [(*one, one.part) for one in changed(tmp_path, **keys)] == told


def test_one_question_more_changes_no_other_and_order_is_a_change_of_its_own(tmp_path: Path) -> None:
    (more,) = changed(tmp_path, questions=TWO)
    assert (more.key, more.before, more.part) == ("questions.fit", "–", "texts")
    one, other = make_study(tmp_path, questions=TWO), make_study(tmp_path, questions=TWO[::-1])
    assert study_changes(one, other) == [StudyChange("questions", "quality, fit", "fit, quality")]


def test_a_long_value_is_cut(tmp_path: Path) -> None:
    (one,) = changed(tmp_path, title="x" * 300)
    assert len(one.after) == 90
    assert one.after.endswith("…")


def test_a_plan_that_cannot_be_read_is_no_study(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    assert planned_study({"yaml": resolved_yaml(study)}, study) is not None
    assert planned_study({"yaml": "beholder: 2"}, study) is None


# What people met


def account(study: Study, planned: Study, **changes: Any) -> dict[str, Any]:
    tables = store(study)
    add(tables, "s1")
    tables["ledger"] = [registered(plan_of(planned, tables, **changes))]
    found = registered_account(study, tables, facts_of(study, tables))
    assert found is not None
    return found


def test_what_was_served_is_held_against_the_plan(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    same = account(study, study)
    assert (same["reference"], same["first_at"], same["left_out"]) == (1, "2026-11-15T09:01:00.000+00:00", 0)
    row = {"digest": "d1", "sessions": 1, "is_same": True, "has_same_stimuli": True, "changes": []}
    assert same["served"] == [row]
    other = account(make_study(tmp_path, title="Other", checks=ASKING), study, study_digest="d0")["served"][0]
    assert other["is_same"] is False
    assert {key for key, _, _ in other["changes"]} == {"title", "checks.quota.sessions", "checks.gold", "checks.trap"}


def test_a_study_without_a_preregistration_has_no_such_account(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    tables = store(study)
    add(tables, "s1")
    assert registered_account(study, tables, facts_of(study, tables)) is None
