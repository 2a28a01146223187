"""The tables of a board: every vote, and what each table rests on."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from beholder.leaderboard.folder import BoardResult
from beholder.reporting.references import find_source


def test_every_vote_is_exported_with_its_draw_probability_and_nobody_s_name(board: BoardResult) -> None:
    given = pd.read_csv(board.page.parents[1] / "votes.csv")
    votes = pd.read_csv(board.page.parent / "votes.csv")
    assert len(votes) == len(given)
    assert votes["draw_probability"].tolist() == pytest.approx(given["draw_probability"].tolist())
    assert votes["person"].tolist()[0] == "p1"
    assert votes["person"].nunique() == given["participant"].nunique()
    won = np.where(given["value"] > 0, given["condition"], given["other_condition"])
    is_tie = given["value"] == 0
    assert (votes["preferred"].fillna("")[~is_tie] == won[~is_tie]).all()
    assert votes["preferred"][is_tie].isna().all()
    assert (votes["condition"] + votes["other_condition"] == given["condition"] + given["other_condition"]).all()


def test_every_source_of_the_board_is_in_the_bibliography(board: BoardResult) -> None:
    notes = json.loads((board.page.parent / "notes.json").read_text("utf-8"))
    cited = {one for table in notes["analyses"].values() for one in table["citation"].split("; ") if one}
    assert len(cited) > 8
    assert [one for one in cited if find_source(one) is None] == []
