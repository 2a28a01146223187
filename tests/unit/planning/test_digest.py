"""The digest of a plan distinguishes design from text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.planning.digest import plan_digest, study_digest
from support.pair_plans import table_study
from support.plans import make_catalogue
from support.tiny_plans import tiny_catalogue, tiny_study


def test_texts_change_the_study_digest_but_not_the_plan_digest() -> None:
    catalogue = tiny_catalogue()
    before, after = tiny_study(), tiny_study(text="How fine?", title="Other")
    assert plan_digest(before, catalogue) == plan_digest(after, catalogue)
    assert study_digest(before, catalogue) != study_digest(after, catalogue)


@pytest.mark.parametrize("changed", [{"scale": "acr5"}, {"seed": 2}, {"participants": 6}, {"breaks": None}])
def test_the_design_changes_the_plan_digest(changed: dict[str, Any]) -> None:
    assert plan_digest(tiny_study(**changed), tiny_catalogue()) != plan_digest(tiny_study(), tiny_catalogue())


def test_other_stimuli_change_both_digests() -> None:
    study = tiny_study()
    assert plan_digest(study, tiny_catalogue("11")) != plan_digest(study, tiny_catalogue())
    assert study_digest(study, tiny_catalogue("11")) != study_digest(study, tiny_catalogue())


def test_a_table_that_changes_is_another_plan_and_its_spelling_is_not(tmp_path: Path) -> None:
    catalogue = make_catalogue(2, 3)
    first = "condition,other\ncondition0,condition1\ncondition1,condition2\n"
    digests = [
        plan_digest(table_study(tmp_path, text), catalogue)
        for text in (first, first.replace(",", ";"), first + "condition0,condition2\n")
    ]
    assert digests[0] == digests[1] != digests[2]
