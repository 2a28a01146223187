"""Time marks analysed: rates by hand, peaks where marks are, agreement, and who is far off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.time_marks import (
    MARK_AGREEMENT,
    MARK_CONTRASTS,
    MARK_DENSITY,
    MARK_PEAKS,
    MARK_RATES,
    MARKERS,
    MarkData,
    far_off,
)
from beholder.stats.clustered import Cells, mean_of
from beholder.study.cleaning import MarkAnalysis

PEOPLE, CONTENTS, LENGTH_S = 6, ("one", "two", "three"), 6.0
EVERY = (MARK_RATES, MARK_CONTRASTS, MARK_DENSITY, MARK_PEAKS, MARK_AGREEMENT, MARKERS)


def marked(times: dict[tuple[str, str], dict[int, list[tuple[float, str]]]], **settings: float) -> Ratings:
    """Return ratings with marks: by content and condition, those of each person as time and label."""
    votes = pd.DataFrame([
        {"participant": f"p{one}", "content": content, "condition": condition, "value": 3.0 + one % 2}
        for one in range(PEOPLE) for content in CONTENTS for condition in ("good", "bad")
    ])  # fmt: skip
    marks: list[dict[str, Any]] = []
    viewings: list[dict[str, Any]] = []
    for place, row in enumerate(votes.to_dict("records")):
        where = {"participant": row["participant"], "session": row["participant"], "position": str(place),
                 "content": row["content"], "condition": row["condition"], "slot": "s1",
                 "stimulus": f"{row['condition']}/{row['content']}"}  # fmt: skip
        own = times.get((row["content"], row["condition"]), {}).get(int(row["participant"][1:]), [])
        marks += [{**where, "seconds": at, "label": label} for at, label in own]
        viewings.append({**where, "length_s": LENGTH_S, "marks": len(own)})
    columns = ["participant", "session", "position", "content", "condition", "slot", "stimulus", "seconds", "label"]
    data = MarkData(pd.DataFrame(marks, columns=columns), pd.DataFrame(viewings), MarkAnalysis(**settings))
    return replace(as_ratings(votes), marks=data)


def table(analysis: Any, ratings: Ratings) -> Any:
    result = analysis.compute(ratings)
    assert result is not None
    assert list(analysis.faults(result.table)) == []
    return result.table


@pytest.fixture
def ratings() -> Ratings:
    """Four of six mark `bad/one` at 2 s, and one of them something else; two mark `bad/two` at 5 s."""
    seen = {one: [(2.0 + one / 20, "blur")] for one in range(4)}
    seen[3].append((4.0, "noise"))
    return marked({("one", "bad"): seen, ("two", "bad"): {0: [(5.0, "blur")], 5: [(5.1, "blur")]}})


def test_without_marks_in_the_study_there_are_no_tables(ratings: Ratings) -> None:
    assert all(analysis.compute(replace(ratings, marks=None)) is None for analysis in EVERY)


def test_rates_are_marks_per_minute_clustered_as_means_are(ratings: Ratings) -> None:
    found = table(MARK_RATES, ratings).set_index(["condition", "label"])
    assert list(found.index) == [
        ("bad", ""), ("good", ""), ("bad", "blur"), ("good", "blur"), ("bad", "noise"), ("good", "noise"),
    ]  # fmt: skip
    whole = found.loc["bad", ""]
    assert (whole["viewings"], whole["marks"], whole["participants"], whole["contents"]) == (18, 7, 6, 3)
    assert whole["marked"] == pytest.approx(6 / 18)
    assert whole["rate"] == pytest.approx(7 / (18 * LENGTH_S / 60))
    counts = {("one", 0): 1, ("one", 1): 1, ("one", 2): 1, ("one", 3): 2, ("two", 0): 1, ("two", 5): 1}
    cells = [
        (10.0 * counts.get((content, one), 0), one, place) for place, content in enumerate(CONTENTS) for one in range(6)
    ]
    value, person, content = (np.array(part) for part in zip(*cells, strict=True))
    expected = mean_of(Cells(value.astype(float), person, content))
    assert whole["ci_high"] == pytest.approx(expected.high)
    assert whole["ci_low"] == pytest.approx(max(0.0, expected.low))
    nothing = found.loc["good", ""]
    assert (nothing["rate"], nothing["note"]) == (0, "no mark: no interval")
    assert np.isnan(nothing["ci_high"])


def test_differences_between_conditions_are_paired(ratings: Ratings) -> None:
    found = table(MARK_CONTRASTS, ratings)
    first = found.iloc[0]
    assert (first["condition"], first["other_condition"], first["label"]) == ("bad", "good", "")
    assert first["difference"] == pytest.approx(7 / (18 * LENGTH_S / 60))
    assert first["ci_low"] < first["difference"] < first["ci_high"]


def test_peaks_are_where_two_or_more_people_marked(ratings: Ratings) -> None:
    found = table(MARK_PEAKS, ratings)
    whole = found[found["label"] == ""]
    assert [(row.content, row.condition, row.marks, row.participants) for row in whole.itertuples()] == [
        ("one", "bad", 4, 4), ("two", "bad", 2, 2),
    ]  # fmt: skip
    assert list(whole["seconds"]) == pytest.approx([2.075, 5.05], abs=0.06)
    assert list(whole["share"]) == pytest.approx([4 / 6, 2 / 6])
    assert set(found["label"]) == {"", "blur"}


def test_the_lag_is_taken_off_densities_and_peaks() -> None:
    early = {("one", "bad"): {0: [(2.0, "blur")], 1: [(2.0, "blur")], 2: [(0.1, "blur")], 3: [(0.2, "blur")]}}
    peaks = table(MARK_PEAKS, marked(early, lag=0.4))
    assert sorted(peaks["seconds"]) == pytest.approx([0.025, 1.625], abs=0.06)
    density = table(MARK_DENSITY, marked(early, lag=0.4))
    mine = density[(density["content"] == "one") & (density["condition"] == "bad")]
    assert mine["density"].sum() * 0.1 == pytest.approx(4 / 6, rel=0.01)
    assert len(mine) == 60


def test_agreement_is_high_where_all_mark_alike_and_needs_three_stimuli_for_an_interval() -> None:
    alike = {(content, "bad"): {one: [(2.0 + one / 50, "blur")] for one in range(6)} for content in CONTENTS}
    found = table(MARK_AGREEMENT, marked(alike)).set_index("condition")
    assert found.loc["", "kappa"] > 0.9
    assert found.loc["", "kappa_low"] <= found.loc["", "kappa"] <= found.loc["", "kappa_high"]
    assert np.isnan(found.loc["good", "kappa"])
    few = table(MARK_AGREEMENT, marked({("one", "bad"): {0: [(2.0, "b")], 1: [(2.0, "b")]}})).set_index("condition")
    assert not np.isnan(few.loc["", "kappa"])
    assert np.isnan(few.loc["", "kappa_low"])


def test_who_marks_far_more_than_all_others_is_told_and_nobody_else() -> None:
    usual = [2.0, 3.0, 2.5, 4.0, 3.5, 2.0, 3.0, 2.8, 3.1]
    assert far_off(np.array([*usual, 60.0])).tolist() == [False] * 9 + [True]
    assert not far_off(np.array(usual)).any()
    assert not far_off(np.array([0.0] * 9 + [5.0])).any()  # most mark alike: nothing says how far is far
    assert not far_off(np.array([1.0, 60.0])).any()


def test_people_are_counted_with_all_that_they_saw(ratings: Ratings) -> None:
    found = table(MARKERS, ratings).set_index("participant")
    assert found.loc["p3"].to_dict() == {"viewings": 6, "marks": 2, "rate": pytest.approx(2 / 0.6), "far": False}
    assert found.loc["p4", "marks"] == 0


def test_one_participant_or_one_content_has_numbers_without_what_cannot_be_known() -> None:
    whole = marked({("one", "bad"): {0: [(2.0, "blur")]}})
    assert whole.marks is not None
    for column, value in (("participant", "p0"), ("content", "one")):
        kept = {name: part[part[column] == value] for name, part in vars(whole.marks).items() if name != "settings"}
        found = {one.name: table(one, replace(whole, marks=replace(whole.marks, **kept))) for one in EVERY}
        assert found["mark_rates"]["rate"].notna().all()
        assert found["mark_agreement"]["kappa_low"].isna().all()
    alone = replace(whole.marks, **{
        name: part[(part["participant"] == "p0") & (part["content"] == "one")]
        for name, part in vars(whole.marks).items() if name != "settings"
    })  # fmt: skip
    assert table(MARK_RATES, replace(whole, marks=alone))["ci_low"].isna().all()


def test_where_nobody_marked_anything_every_table_is_there() -> None:
    ratings = marked({})
    assert table(MARK_PEAKS, ratings).empty
    assert set(table(MARK_RATES, ratings)["rate"]) == {0.0}
    assert table(MARK_DENSITY, ratings)["density"].max() == 0
    assert table(MARK_AGREEMENT, ratings)["kappa"].isna().all()
