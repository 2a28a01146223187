"""Commands for analyses: how they answer, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import beholder
from beholder.analysis.ratings_table import fill_columns
from beholder.cli import cli
from beholder.errors import UserError
from support.commands import command


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of ten people: new is better than old, and like its twin."""
    folder, rng = tmp_path_factory.mktemp("analysed"), np.random.default_rng(2)
    means = {"new": 60.0, "twin": 60.0, "old": 50.0}
    rows = [
        (f"p{person}", f"c{content}", name, mean + rng.normal(0, 5))
        for person in range(10)
        for content in range(4)
        for name, mean in means.items()
    ]
    table = pd.DataFrame(rows, columns=["participant", "content", "condition", "value"])
    (folder / "clean").mkdir()
    fill_columns(table).to_csv(folder / "clean" / "ratings.csv", index=False)
    beholder.analyse(folder / "clean" / "ratings.csv", out=folder / "analyse")
    return folder


@pytest.mark.parametrize(
    ("pair", "code", "answer"), [(("new", "old"), 0, "Yes: "), (("old", "new"), 3, "No: "), (("new", "twin"), 4, "Und")]
)
def test_better_answers_by_its_exit_code_and_in_a_sentence(
    pair: tuple[str, str], code: int, answer: str, analysed: Path
) -> None:
    done = command("better", str(analysed), *pair, cwd=analysed)
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout == f"{beholder.better(analysed / 'study.yaml', *pair)}\n"
    assert done.stdout.startswith(answer)


def test_better_without_a_study_asks_the_one_that_is_here(analysed: Path, tmp_path: Path) -> None:
    (analysed / "study.yaml").touch()
    done = command("better", "new", "old", cwd=analysed)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{beholder.better(analysed, 'new', 'old')}\n"
    done = command("better", "study.yaml", "new", cwd=analysed)
    assert done.returncode == 2
    assert done.stderr.startswith("beholder better  B is missing.")
    done = command("better", "new", "old", cwd=tmp_path)
    assert done.stderr == (
        "study.yaml  is not there. Allowed: a study.yaml that was analysed, or its folder. Name it before the two "
        "conditions, or go to its folder.\n"
    )


def test_better_refuses_what_it_cannot_answer(analysed: Path, tmp_path: Path) -> None:
    done = command("better", "nowhere", "new", "old", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "nowhere  is not there. Allowed: a study.yaml that was analysed, or its folder.\n"
    done = command("better", str(analysed), "nwe", "old", "--question", "score", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith('better("nwe", "old")  ')


def test_better_of_a_fresh_study_says_that_nobody_has_taken_part(study: Path) -> None:
    done = command("better", "study.yaml", "smooth", "jerky", cwd=study.parent)
    first = "Run `beholder run` with people or `beholder run --simulate` with robots first"
    assert done.returncode == 2
    assert done.stderr == (
        f"store  holds no answers: nobody has taken part in this study yet. {first}, or name a store with "
        "`beholder clean --store`.\n"
    )
    (study.parent / "store").mkdir()
    done = command("better", "study.yaml", "smooth", "jerky", cwd=study.parent)
    assert done.stderr == "analyse  holds no results. Run `beholder clean` and `beholder analyse` first.\n"


@pytest.mark.parametrize("split", ["realistic", "realistic:", ":2", "realistic:nan", "realistic:high"])
def test_a_split_needs_a_question_and_a_number(split: str) -> None:
    result = CliRunner().invoke(cli, ["dimensions", "study.yaml", "--split", split])
    assert isinstance(result.exception, UserError)
    assert str(result.exception) == f"--split  is {split}. Allowed: a question, a colon and a number, as realistic:2."
