"""The demo: samples of a fitting medium for every method, and what was planted beside what was found."""

from __future__ import annotations

import asyncio
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from beholder.analysis.result import Results
from beholder.cli.study import cli
from beholder.errors import RecruitError, StudyError
from beholder.methods import find, load_study, method_folder, names
from beholder.recruiting.fake.demo import put_on_prolific
from beholder.stimuli.samples import medium_of
from beholder.store.contract import LedgerEntry
from beholder.store.open import open_store
from beholder.testing import write_study
from beholder.testing.stores.facts import study_record
from beholder.workflow.demo import demo, planted_values

COLUMNS = ["question", "kind", "condition", "other_condition", "value", "keyed", "scale_min", "scale_max"]
TRUTH = {"natural": 0.9, "frozen": 0.1}


def results(rows: list[tuple[object, ...]], kinds: dict[str, str]) -> Results:
    ratings = pd.DataFrame(rows, columns=COLUMNS)
    found = ratings[["question", "condition"]].drop_duplicates()
    none = pd.DataFrame()
    return Results(none, found, none, none, ratings, none, {"kinds": kinds})


def test_a_planted_score_stands_on_its_scale_and_is_turned_where_the_statement_is() -> None:
    found = results(
        [
            ("quality", "score", "natural", "", 4, None, 1, 5),
            ("quality", "score", "frozen", "", 2, None, 1, 5),
            ("like", "score", "natural", "", 4, 4, 1, 5),
            ("creepy", "score", "natural", "", 1, 5, 1, 5),
            ("creepy", "score", "frozen", "", 3, 3, 1, 5),
        ],
        {"quality": "score", "like": "score", "creepy": "score"},
    )
    assert planted_values(found, TRUTH) == {
        ("quality", "natural"): "4.60",
        ("quality", "frozen"): "1.40",
        ("like", "natural"): "4.60",
        ("creepy", "natural"): "1.40",
        ("creepy", "frozen"): "4.60",
    }


def test_where_no_score_can_be_planted_the_quality_is_told() -> None:
    found = results(
        [
            ("better", "choice", "natural", "frozen", 1, None, -1, 1),
            ("better", "choice", "unknown", "frozen", 1, None, -1, 1),
            ("same", "correct", "natural", "frozen", 1, None, 0, 1),
        ],
        {"better": "choice", "same": "correct"},
    )
    assert planted_values(found, TRUTH) == {
        ("better", "natural"): "quality 0.90",
        ("better", "unknown"): "",
        ("same", "natural"): "0.80 apart",
    }


def test_where_only_correct_answers_are_asked_for_the_heading_says_what_is_planted() -> None:
    found = results([("same", "correct", "natural", "frozen", 1, None, 0, 1)], {"same": "correct"})
    assert found.is_identification
    assert planted_values(found, TRUTH) == {("same", "natural"): "0.80"}


@pytest.mark.parametrize("method", names())
def test_every_method_has_samples_of_a_medium_that_it_shows(method: str, tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    folder = method_folder(method, "a test")
    path.write_text((folder / "example.yaml").read_text("utf-8"), "utf-8")
    for text in (folder / "texts").iterdir():
        (tmp_path / "texts").mkdir(exist_ok=True)
        (tmp_path / "texts" / text.name).write_bytes(text.read_bytes())
    study = load_study(path)
    assert medium_of([condition.name for condition in study.conditions]) in find(method).media
    put_on_prolific(path)
    study = load_study(path)
    assert study.recruit.mode == "prolific"
    assert study.playback.watch == "none"
    assert any(question.correct for question in study.before)


def test_a_folder_with_another_method_is_refused(tmp_path: Path, tiny: Path) -> None:
    write_study(tmp_path / "shown", tiny)
    with pytest.raises(StudyError) as caught:
        demo("acr", tmp_path / "shown")
    assert str(caught.value) == (
        f"{tmp_path / 'shown'}  holds a study of method parallel, and acr is asked for. "
        "Choose another folder with --folder."
    )


def test_a_folder_with_people_from_elsewhere_is_refused(tmp_path: Path, tiny: Path) -> None:
    write_study(tmp_path / "shown", tiny)
    with pytest.raises(StudyError) as caught:
        demo(folder=tmp_path / "shown", prolific=True)
    assert str(caught.value) == (
        f"{tmp_path / 'shown'}  holds a study whose people come by link. Choose another folder with --folder."
    )


@pytest.fixture(scope="module")
def on_prolific(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Path:
    """A small study that the demonstration goes on with, and that is over in a moment."""
    folder = tmp_path_factory.mktemp("prolific") / "shown"
    write_study(
        folder,
        tiny,
        recruit={"mode": "prolific", "reward": "2.00 GBP", "screen_out": "0.30 GBP", "minutes": 10},
        budget="60 GBP",
        playback={"watch": "none"},
        design={"participants": 8, "trials": 2, "seed": 3},
        before=[{"id": "eyes", "text": "Do you see well?", "type": "single", "options": ["yes", "no"],
                 "correct": ["yes"]}],
        clean={"bonus": {"quantity": {"sessions": 1, "each": "0.10 GBP"}}},
        contact="lab@example.org",
    )  # fmt: skip
    return folder


def shown(folder: Path) -> Result:
    return CliRunner().invoke(cli, ["demo", "--prolific", "--exit", "--port", "0", "--folder", str(folder)])


def test_a_study_goes_its_whole_way_on_a_prolific_of_play_money_and_ledger_and_wallet_agree(on_prolific: Path) -> None:
    said = shown(on_prolific)
    assert said.exit_code == 0, said.output
    for words in (
        "launch   Published for up to ",
        "people   Person 2 finished, and handed in without a code.\n",
        "people   Person 4 left half way, and returned the place.\n",
        "people   Person 10 did not fit, and was paid for coming.\n",
        "close    Closed. ",
        "\nNothing waits for a person.\n",
        " people who came to 8 places:\n",
        "approved                8    16.00 GBP\n"
        "did not fit             1     0.30 GBP\n"
        "bonuses                 8     0.80 GBP\n"
        "fees and tax                  6.76 GBP\n"
        "in all                       23.86 GBP\n",
        "Wallet: 1000.00 GBP before, 976.14 GBP after.\n",
        "Ledger and wallet agree: every payment is in both, once.\n",
    ):
        assert words in said.output, said.output
    again = shown(on_prolific)
    assert again.exit_code == 0, again.output
    assert "close    This study is closed already; close/summary.md says what was paid.\n" in again.output
    assert "Report: " in again.output
    assert "Wallet" not in again.output


def test_a_demonstration_that_was_interrupted_cannot_go_on(on_prolific: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(on_prolific, tmp_path / "cut", ignore=shutil.ignore_patterns("store"))

    async def interrupt() -> None:
        async with open_store(folder / "store") as store:
            await store.begin(study_record())
            await store.ledger.append([LedgerEntry("draft", "planned", datetime.now(UTC))])

    asyncio.run(interrupt())
    with pytest.raises(RecruitError) as caught:
        demo(folder=folder, prolific=True)
    assert str(caught.value) == (
        f"{folder}  holds a demonstration that was interrupted, and its play money is gone. "
        "Choose another folder with --folder, or delete it."
    )
