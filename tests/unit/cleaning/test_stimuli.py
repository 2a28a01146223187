"""stimuli.csv: what was shown, and what its files hold."""

from __future__ import annotations

import asyncio
from pathlib import Path

import beholder
from beholder.stimuli.si_ti import SpatialTemporalInformation, keep_si_ti
from support.export_store import fill, make_study, rows

MEASURED = SpatialTemporalInformation(50, False, 61.2, 70.5, 8.1, float("nan"), 30.1, 35.2, 4.0, 9.5)


def test_every_stimulus_has_a_row_and_si_and_ti_where_they_were_measured(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    asyncio.run(fill(study))
    plain = rows(beholder.clean(study).folder, "stimuli")
    assert [row["stimulus"] for row in plain][:2] == ["NA/city", "NA/007"]
    assert plain[0]["fps"] == "25"
    assert "si_mean" not in plain[0]
    keep_si_ti(study.folder, {"f0": MEASURED, "another": MEASURED})
    table = rows(beholder.clean(study).folder, "stimuli")
    assert {(row["si_mean"], row["ti_max"], row["pq_ti_max"]) for row in table} == {("61.2", "", "9.5")}
    exported = rows(beholder.export(study).folder, "stimuli")
    assert {row["si_max"] for row in exported} == {"70.5"}
