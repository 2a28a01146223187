"""Rating sheets: which methods have them, and lists taken in turn."""

from __future__ import annotations

import pytest

from beholder.simulation.rating_sheet import RatingSheet, sheet_of
from beholder.simulation.truth import truth_of
from support.rehearsed_studies import ONE_BY_ONE, STUDIES, planned_study, rehearsed


@pytest.mark.parametrize("name", [*STUDIES, *ONE_BY_ONE])
def test_which_methods_are_answered_at_once(name: str) -> None:
    study, catalogue, method, plan = planned_study(name)
    sheet = sheet_of(plan, study, catalogue, method, truth_of(study, catalogue, method))
    assert isinstance(sheet, RatingSheet) == (name in STUDIES)
    assert len(rehearsed(name).ratings)


@pytest.mark.parametrize("many", [1, 3, 7, 16])
def test_lists_are_taken_in_turn(many: int) -> None:
    table = rehearsed("parallel", participants=many).ratings
    assert table["participant"].nunique() == many
    if many > 7:
        per = [table[table["participant"] == f"1-{n}"][["trial", "stimulus", "slot"]] for n in (1, 8)]
        assert per[0].reset_index(drop=True).equals(per[1].reset_index(drop=True))
