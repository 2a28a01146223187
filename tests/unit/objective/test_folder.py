"""The folder of metrics: values from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

import beholder
from beholder.objective.regions import read_values
from support.metric_tables import CONDITIONS


def test_values_from_elsewhere_are_held_beside_ratings(rated: Path, tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    rows: list[str] = []
    for place, condition in enumerate(CONDITIONS):
        rows += [f"{condition},c{content},{place + content / 10},{7 - place - content / 5}" for content in range(4)]
    wide.write_text("condition,content,sharp,LPIPS\n" + "\n".join(rows) + "\n", "utf-8")
    long = tmp_path / "fvd.csv"
    said = [f"{condition},FVD,{500 - 10 * place}" for place, condition in enumerate(CONDITIONS)]
    long.write_text("condition,metric,value\n" + "\n".join([*said[:-1], f"{CONDITIONS[-1]},FVD,inf"]) + "\n", "utf-8")
    found = beholder.metrics(rated, values=[wide, long])
    table = found.correlations.set_index(["level", "metric"])
    assert table["n"].to_dict() == {
        ("stimulus", "sharp"): 28, ("stimulus", "LPIPS"): 28,
        ("condition", "sharp"): 7, ("condition", "LPIPS"): 7, ("condition", "FVD"): 6,
    }  # fmt: skip
    assert table["pearson"]["stimulus", "sharp"] > 0.9
    assert table["pearson"]["stimulus", "LPIPS"] < -0.9
    assert table["pearson"]["condition", "FVD"] < -0.95
    assert found.values["note"].to_list().count("infinite") == 1
    assert found.page == tmp_path / "metrics" / "index.html"
    assert re.fullmatch(
        r"(sharp|LPIPS) agrees best with what people said: r = −?0\.9\d \(.* to .*\) over 28 stimuli; (sharp|LPIPS) "
        r"−?0\.9\d\.",
        found.words[0],
    )
    page = found.page.read_text("utf-8")
    assert found.words[0] in page
    assert "Größe 2" in page
    assert (
        "nan" not in re.sub(r"<svg.*?</svg>|<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL).lower()
    )
    assert repr(found).startswith(found.words[0])
    assert "<table" in found._repr_html_()
    # Its own values can be read again.
    names = found.values[["stimulus", "content", "condition"]].drop_duplicates()
    pd.testing.assert_frame_equal(read_values(found.page.parent / "values.csv", names, {}), found.values)
