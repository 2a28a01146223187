"""Reliability: the numbers of others, of two other implementations, and what happens where there is little to go by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from beholder.analysis import analyse
from beholder.analysis.reliability import RELIABILITY, reliability
from beholder.reporting.material import load_material
from beholder.reporting.reliability import reliability_section
from beholder.stats.reliability import (
    kendall_w,
)
from support.data import data_file
from support.rated_tables import ICCS, frame, measured, rated
from support.report_pages import made_up

# Numbers of others

REFERENCE = {
    **{name: name for name in ICCS}, "Kendall's W": "kendall_W", "alpha, ordinal": "kripp_alpha_ordinal",
    "alpha, interval": "kripp_alpha_interval", "SOS a": "sos_a_ddof1",
    "leave-one-out agreement": "mean_subject_spearman_vs_mos_excl",
}  # fmt: skip


def test_laboratory_ratings_give_the_known_numbers() -> None:
    known = pd.read_csv(data_file("evidence/reliability_reference.csv")).iloc[0]
    raw = pd.read_csv(data_file("ratings/vqeghd3_raw.csv"))
    table = measured(raw.rename(columns={"subject": "participant", "score": "value"}))
    assert set(table.index) == set(REFERENCE)
    for mine, theirs in REFERENCE.items():
        assert table["value"][mine] == pytest.approx(known[theirs], abs=1e-6), mine
    assert set(table["n"]) == {1728}
    assert set(table["participants"]) == {24}
    assert set(table["stimuli"]) == {72}
    assert table["note"]["Kendall's W"] == "chi-square(71) = 1283"
    assert table["note"]["ICC(A,k)"] == "k = 24"
    assert table["low"]["ICC(A,1)"] < table["value"]["ICC(A,1)"] < table["high"]["ICC(A,1)"]


# Properties


# Gaps


def test_sparse_ratings_say_what_they_rest_on() -> None:
    table = measured(frame(rated(30, 20, gaps=0.5)))
    gaps = "not everybody rated everything: from variance components, without an interval"
    assert table["note"]["ICC(A,1)"] == gaps
    assert table["low"][ICCS].isna().all()
    assert table["note"]["ICC(A,k)"].endswith(f"; {gaps}")
    assert "Kendall's W" not in table.index
    result = reliability(frame(rated(30, 20, gaps=0.5)))
    assert result is not None
    assert "rating: no Kendall's W, as no two participants rated everything." in result.note


def test_concordance_is_of_those_who_rated_everything() -> None:
    table = rated(12, 10)
    table[0, :4] = np.nan
    row = measured(frame(table)).loc["Kendall's W"]
    assert (row["participants"], row["n"]) == (6, 72)
    assert row["note"].endswith("6 of 10 participants rated everything")
    assert row["value"] == pytest.approx(kendall_w(table[:, 4:])[0])  # type: ignore[index]


# Little to go by

ODD = {
    "one participant": rated(12, 1),
    "one stimulus": rated(1, 12),
    "all the same": np.full((4, 4), 3.0),
    "one rating": np.array([[3.0]]),
    "two and two": np.array([[1.0, 5.0], [5.0, 1.0]]),
    "a straight-liner": np.column_stack([rated(12, 3), np.full(12, 3.0)]),
    "two parts without a common rater": np.block(
        [[rated(5, 4), np.full((5, 4), np.nan)], [np.full((5, 4), np.nan), rated(5, 4)]]
    ),
    "everybody rated something else": np.where(np.eye(6) == 1, 3.0, np.nan) + np.arange(6),
    "at the end of the scale": np.ones((5, 5)),
}


@pytest.mark.parametrize("name", ODD)
def test_little_to_go_by_gives_fewer_measures_and_a_reason(name: str) -> None:
    result = reliability(frame(ODD[name]))
    if result is None:
        return
    numbers = result.table[["value", "low", "high", "p"]].to_numpy(float)
    assert not np.isinf(numbers).any()
    assert result.table["value"].notna().all()
    assert list(result.table.columns) == RELIABILITY.names
    absent = set(REFERENCE) - set(result.table["measure"])
    assert all(measure.split("(")[0] in result.note.partition("chi-square.")[2] for measure in absent)


def test_nothing_is_told_where_nothing_can_be_measured() -> None:
    assert reliability(frame(ODD["at the end of the scale"])) is None
    assert reliability(frame(rated(12, 4)).assign(kind="choice", value=1.0)) is None
    assert reliability(frame(rated(12, 4)).assign(use=False)) is None


def test_names_of_any_kind_are_only_names() -> None:
    table = rated(12, 4)
    odd = {"p0": "no", "p1": "01", "p2": "NA", "p3": "Größe 2"}
    data = frame(table)
    renamed = data.assign(participant=data["participant"].map(odd), question="ja?")
    pd.testing.assert_frame_equal(measured(renamed).drop(columns="question"), measured(data).drop(columns="question"))


def test_the_same_ratings_give_the_same_intervals() -> None:
    data = frame(rated(20, 8, gaps=0.3))
    pd.testing.assert_frame_equal(measured(data), measured(data.sample(frac=1, random_state=1)))


# In the report


def report_page(folder: Path, **keys: Any) -> str:
    study = made_up(folder, {"ours": 70, "base": 50, "natural": 85}, **keys)
    analyse(study)
    section = reliability_section(load_material(study))
    assert section is not None
    return section


def test_the_report_says_in_words_what_the_numbers_mean(tmp_path: Path) -> None:
    page = report_page(tmp_path)
    table = pd.read_csv(tmp_path / "analyse" / "reliability.csv").set_index("measure")["value"]
    share = round(100 * table["ICC(A,1)"])
    assert f"{share} % of the differences between single ratings come from what was rated" in page
    assert f", the other {100 - share} % from who rated and from chance." in page
    assert f"Of the differences between means of 24 ratings each it is {round(100 * table['ICC(A,k)'])} %." in page
    assert "It grows with the number of raters, so it says little by itself." in page
    assert "Videos have 0.1 to 0.25" in page
    assert "Against none: p &lt; 0.001." in page
    assert page.count("<svg") == len(REFERENCE)


def test_several_questions_stand_in_one_table(tmp_path: Path) -> None:
    asked = [{"id": name, "text": f"How {name} is it?", "scale": "agree5"} for name in ("good", "clear")]
    page = report_page(tmp_path, questions=asked)
    assert "<caption>Reliability by question</caption>" in page
    assert "of the differences between single ratings come from what was rated" in page
    assert page.count("Kendall&#x27;s W. ") == 1
