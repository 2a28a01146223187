"""Power decides as the analysis of the real study does, for one data set and for many at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.analysis.means import conditions
from beholder.analysis.pairs import pairs
from beholder.analysis.ratings import RowOrder, tidy
from beholder.analysis.ratings_table import fill_columns
from beholder.analysis.tests import corrected_tests as corrected_as_told
from beholder.methods.contract import Study
from beholder.sample_size.design import PlannedStudy, plan_for
from beholder.sample_size.tests import ContrastOutcomes, contrast_outcomes
from beholder.simulation.memory import simulate_sheet
from beholder.simulation.truth import Population
from beholder.stats.clustered import Cells, Floats, difference_of, differences_of, mean_of, means_of
from beholder.stats.tests import holm
from support.method_studies import catalogue_of, make_catalogue, make_study
from support.power_worlds import CONTENTS, world_of
from support.variants import cases


def table_of(session: PlannedStudy, values: Floats) -> pd.DataFrame:
    """Return values of a sheet as clean/ratings.csv has them."""
    sheet, world = session.sheet, session.world
    stimuli = world.catalogue.stimuli
    others = [stimuli[row] if row >= 0 else None for row in sheet.other]
    return pd.DataFrame(
        {
            "participant": [f"p{number}" for number in sheet.list],
            "stimulus": [stimuli[row].id for row in sheet.stimulus],
            "content": [sheet.contents[code] for code in sheet.content],
            "condition": [sheet.conditions[code] for code in sheet.condition],
            "role": [
                "hidden_reference" if stimuli[row].role == "reference" else stimuli[row].role for row in sheet.stimulus
            ],
            "other_stimulus": [other.id if other and sheet.is_compared else "" for other in others],
            "other_condition": [other.condition if other and sheet.is_compared else "" for other in others],
            "question": [world.questions[code] for code in sheet.question],
            "kind": sheet.kind,
            "method": world.method.name,
            "value": values,
        }
    )


def both(session: PlannedStudy) -> tuple[ContrastOutcomes, pd.DataFrame, pd.DataFrame]:
    """Return what power says of two data sets, and the pairs and conditions that `analyse` says of the second."""
    sheet, world = session.sheet, session.world
    truths = [world.draw_contents(session.truth, row) for row in range(2)]
    values = np.stack(
        [simulate_sheet(sheet, one, Population(), repetition=row).value for row, one in enumerate(truths)]
    )
    roles = {one.condition: one.role for one in world.catalogue.by_cell.values()}
    order = RowOrder(
        conditions=world.catalogue.conditions,
        questions=world.questions,
        references=frozenset(name for name, role in roles.items() if role == "reference"),
        settings=world.study.analyse,
    )
    ratings = tidy(fill_columns(table_of(session, values[1])), order)
    corrected = corrected_as_told(ratings)
    clear = corrected.table[corrected.table["test"] == "clustered t"]["clear"].to_numpy(float)
    return (
        contrast_outcomes(sheet, values, world.rules(sheet)),
        pairs(ratings).table.assign(clear=clear),
        conditions(ratings).table,
    )


REFERENCE = [{"name": "original", "role": "reference"}, "one", "two", "three"]
TWO = [{"id": "quality", "text": "How good?"}, {"id": "harm", "text": "How bad?"}]
STUDIES: Mapping[str, Study] = {
    "parallel": make_study("parallel", ["a", "b", "c"], design={"participants": 6, "trials": 4, "per_trial": 2}),
    "parallel, named": make_study(
        "parallel", ["a", "b", "c"], design={"trials": 4}, questions=TWO, checks={"attention": {"per_session": 1}},
        analyse={"contrasts": [["c", "a"]], "family": "study"},
    ),
    "acr, few trials": make_study("acr", ["a", "b", "c", "d"], design={"trials": 3}),
    "acr": make_study("acr", ["a", "b"], design={"trials": 8, "sessions_per_participant": 1}),
    "pair": make_study("pair", ["a", "b", "c"], design={"trials": 8}, options={"tie": True}),
    "pair, star": make_study("pair", ["a", "b", "c"], design={"trials": 6, "pairs": {"star": "b"}}),
    "ccr": make_study("ccr", ["a", "b", "c"], design={"trials": 8}),
    "dcr": make_study("dcr", REFERENCE, design={"trials": 8}),
    "mushra": make_study(
        "mushra", [*REFERENCE, "low"], design={"trials": 4}, options={"anchors": ["low"], "strict": False}
    ),
    "likert": make_study(
        "likert", ["a", "b"], design={"trials": 4},
        questions=[{"id": "good", "text": "Good.", "scale": "agree5"},
                   {"id": "bad", "text": "Bad.", "scale": "agree5", "keyed": "-"}],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", cases(STUDIES, ("parallel, named", "acr, few trials", "pair, star", "mushra", "likert"))
)
def test_power_decides_as_the_analysis_of_the_real_study(name: str) -> None:
    study = STUDIES[name]
    roles = {condition.name: condition.role for condition in study.conditions}
    roles |= {"low": "anchor"} if "low" in roles else {}
    catalogue = catalogue_of(study, contents=CONTENTS)
    if "low" in roles:
        catalogue = make_catalogue(list(roles), contents=CONTENTS, roles=roles)
    session = plan_for(world_of(study, catalogue, difference=2 if study.method in ("pair", "ccr") else None), 7)
    judged, table, means = both(session)
    names, questions, row = session.sheet.conditions, session.world.questions, 1
    assert int(table["p"].notna().sum()) == int((~np.isnan(judged.p[row])).sum()) > 0
    for place, test in enumerate(judged.tests):
        key = (questions[test.question], names[test.one], names[test.other])
        mine = table[(table["question"] == key[0]) & (table["condition"] == key[1])]
        expected = mine[mine["other_condition"] == key[2]].iloc[0]
        numbers = [judged.estimate[row, place], judged.p[row, place], judged.p_holm[row, place]]
        wanted = [expected["mean_difference"], expected["p"], expected["p_holm"]]
        np.testing.assert_allclose(numbers, np.array(wanted, float), rtol=1e-9, atol=1e-12)
        np.testing.assert_equal(judged.clear[row, place], expected["clear"])
    for place, (question, condition) in enumerate(judged.groups):
        mine = means[(means["question"] == questions[question]) & (means["condition"] == names[condition])]
        expected = mine.iloc[0]
        # The analysis cuts intervals at the ends of the scale, where planning needs the whole width.
        half, ends = (
            (expected["ci_high"] - expected["ci_low"]) / 2,
            [(one.min, one.max) for one in session.sheet.scales],
        )
        is_cut = any(expected["ci_low"] == low or expected["ci_high"] == high for low, high in ends)
        half = max(half, judged.mean_half[row, place]) if is_cut else half
        numbers = [judged.mean[row, place], judged.mean_half[row, place]]
        np.testing.assert_allclose(numbers, [expected["mean"], half], rtol=1e-9, atol=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_many_data_sets_at_once_are_each_as_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = (_cells(rng, rows=3) for _ in range(2))
    means, apart = means_of(one), differences_of(one, other)
    for row in range(3):
        alone = [cells._replace(value=cells.value[row]) for cells in (one, other)]
        for many, single in ((means, mean_of(alone[0])), (apart, difference_of(alone[0], alone[1]))):
            numbers_of_row = [float(np.broadcast_to(numbers, 3)[row]) for numbers in many[:7]]
            assert repr(numbers_of_row) == repr([float(number) for number in single[:7]])
            assert many[7:] == single[7:]


def _cells(rng: np.random.Generator, rows: int) -> Cells:
    size = int(rng.integers(1, 30))
    values = np.round(rng.normal(0, 1, (rows, size)), 1) * rng.integers(0, 2, (rows, 1))
    return Cells(values, rng.integers(0, rng.integers(1, 8), size), rng.integers(0, rng.integers(1, 6), size))


def test_holm_takes_every_row_as_a_family() -> None:
    p = np.array([[0.01, 0.04, np.nan, 0.03], [0.5, np.nan, np.nan, 0.2], [np.nan] * 4])
    np.testing.assert_array_equal(holm(p), [holm(row) for row in p])
