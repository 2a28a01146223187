"""`runs`: a study taken several times."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import beholder
from beholder.testing import write_study
from beholder.workflow.runs import people_by_run
from support.commands import command


def test_runs_have_other_people_and_other_plans_and_end_with_the_page_on_how_well_they_agree(
    tmp_path: Path, tiny: Path
) -> None:
    study = write_study(tmp_path / "study", tiny, method="acr", design={"participants": 3, "trials": 5, "seed": 3})
    written, messages = study.read_text("utf-8"), list[str]()
    lab = pd.DataFrame({"condition": ["natural", "smooth", "jerky", "frozen"], "mean": [4.5, 4.0, 2.0, 1.0]})
    lab.to_csv(tmp_path / "lab.csv", index=False)
    repeated = beholder.runs(
        study, 2, against=f"lab={tmp_path / 'lab.csv'}", simulate=True, draw=False, out=tmp_path / "out",
        news=lambda one: messages.append(one.words) if one.stage != "rehearsal" else None,
    )  # fmt: skip
    assert study.read_text("utf-8") == written
    assert messages == ["Run 1 of 2.", "Run 2 of 2."]
    assert [one.notes["run"] for one in repeated.results] == [1, 2]
    assert people_by_run(repeated) == "2 runs of 3, 3 participants, nobody in two of them."
    first, second = (one.ratings.groupby("session", sort=False)["stimulus"].agg(list) for one in repeated.results)
    assert list(first) != list(second)
    sides = repeated.comparison.agreement[["side", "other_side"]].drop_duplicates().values.tolist()
    assert sides == [["run 1", "run 2"], ["lab", "run 1"], ["lab", "run 2"]]
    assert repeated.comparison.page == tmp_path / "out" / "index.html"
    assert "These ratings" not in repr(repeated)
    assert "The ratings of run 1 and run 2 come from robots." in repr(repeated)
    assert repeated.waiting == ()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--runs", "1"], "--runs  is 1. Allowed: 2 to 1,000. Run a study once with `beholder run`.\n"),
        (["--runs", "0"], "--runs  is 0. Allowed: 2 to 1,000.\n"),
        (
            ["--runs", "2", "--against", "lab.csv"],
            "lab.csv  is not there. Give another file.\n",
        ),
        (
            ["--against", "lab.csv"],
            "--against  is lab.csv, without --runs. Give the number of runs too, or `beholder compare` afterwards.\n",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_told_before_anybody_comes(study: Path, options: list[str], told: str) -> None:
    result = command("run", "--simulate", *options, cwd=study.parent)
    assert (result.returncode, result.stderr) == (2, told)
    assert not (study.parent / "store").exists()
