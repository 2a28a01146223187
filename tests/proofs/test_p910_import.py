"""An imported batch of the P.910 toolkit is judged as the mapping that was proved, and its means are the toolkit's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from beholder import import_study
from beholder.analysis.scores import scores
from beholder.cleaning import Cleaned, clean
from beholder.cleaning.ratings import read_ratings
from beholder.cleaning.tables import clean_tables
from beholder.importing import ImportedFolder
from beholder.store.open import read_tables
from support.data import DATA
from support.imported_folders import read_rows
from support.p910_batch import Submission, read_batch
from support.p910_facts import batch_study, fact_tables

INPUT, PEER = DATA / "p910" / "input_acr", DATA / "p910" / "acr_B_default_bonus"


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> ImportedFolder:
    if not INPUT.is_dir():
        pytest.skip(f"p910/input_acr is not in {DATA}; set BEHOLDER_TEST_DATA")
    source = tmp_path_factory.mktemp("source")
    for name in ("hitapp_answers.csv", "amt_answers.csv", "result_parser_cond.cfg"):
        (source / name).write_bytes((INPUT / name).read_bytes())
    return import_study(source, source.parent / "imported")


@pytest.fixture(scope="module")
def cleaned(imported: ImportedFolder) -> Cleaned:
    return clean(imported.studies[0])


@pytest.fixture(scope="module")
def sessions(imported: ImportedFolder) -> dict[str, Submission]:
    """The submission of each imported session, which are stored in the order of the table."""
    stored = read_tables(imported.folder / "store", ("sessions",))["sessions"]
    return {row["session"]: one for row, one in zip(stored, read_batch(INPUT).submissions, strict=True)}


def test_every_submission_is_judged_as_by_the_mapping_that_was_proved(
    cleaned: Cleaned, sessions: dict[str, Submission], tmp_path: Path
) -> None:
    study = batch_study(tmp_path)
    proved = clean_tables(study, fact_tables(study, [*sessions.values()]))
    expected = {row["session"]: row for row in read_rows(proved.folder / "sessions.csv")}
    ours = read_rows(cleaned.folder / "sessions.csv")
    assert len(ours) == 202
    for row in ours:
        other = expected[sessions[row["session"]].session]
        assert [row[name] for name in ("accept", "use", "reasons")] == [
            other[name] for name in ("accept", "use", "reasons")
        ], sessions[row["session"]].id


def test_on_the_same_votes_every_mean_is_that_of_the_toolkit(cleaned: Cleaned, sessions: dict[str, Submission]) -> None:
    voted = {(row["workerid"], row["HITId"]) for row in read_rows(PEER / "answers_merged_votes_per_worker.csv")}
    verdicts = {row["assignment"]: row for row in read_rows(PEER / "answers_merged_data_cleaning_report.csv")}
    theirs = {
        session
        for session, one in sessions.items()
        if (row := verdicts.get(one.assignment)) is not None and (row["worker_id"], row["HITId"]) in voted
    }
    ratings = read_ratings(cleaned.folder / "ratings.csv")
    table = scores(ratings.assign(use=ratings["session"].isin(theirs))).table
    ours = table.set_index("src" + table["content"] + "_c" + table["condition"])
    peer = pd.read_csv(PEER / "answers_merged_votes_per_clip.csv")
    peer = peer.set_index(peer["short_file_name"].str.removesuffix("_v1.mp4"))
    assert len(peer) == 60
    ours = ours.loc[peer.index]
    assert (ours["n"] == peer["n"]).all()
    np.testing.assert_allclose(ours["mean"], peer["MOS"], atol=1e-9)
    np.testing.assert_allclose(ours["sd"], peer["std"], atol=1e-9)
