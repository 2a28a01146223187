"""The verb: `beholder dimensions` writes tables, figures and a page, and says what is wrong in exact words."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

import beholder
from beholder.analysis.items import item_consistency
from beholder.cli import cli
from beholder.dimensionality.text import Dimensions
from beholder.errors import UserError

CONDITIONS = ("no", "01", "NA", "Größe 2", "e")


def score_table(folder: Path, name: str, questions: tuple[str, ...], conditions: tuple[str, ...] = CONDITIONS) -> Path:
    rng = np.random.default_rng(len(questions))
    good = np.linspace(1, 4, len(conditions))
    rows = [
        (question, condition, round(float(mean), 2))
        for question in questions
        for condition, mean in zip(conditions, good + 0.2 * rng.normal(size=len(conditions)), strict=True)
    ]
    path = folder / f"{name}.csv"
    pd.DataFrame(rows, columns=["question", "condition", "mean"]).to_csv(path, index=False)
    return path


def answers(people: int, questions: tuple[str, ...], *, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    person, condition, content, question = np.indices((people, 4, 3, len(questions))).reshape(4, -1)
    good = rng.normal(size=(4, 3))
    return pd.DataFrame({
        "participant": [f"p{one}" for one in person], "content": [f"k{one}" for one in content],
        "condition": [f"c{one}" for one in condition], "question": [questions[one] for one in question],
        "value": 5 + good[condition, content] + 0.5 * rng.normal(size=len(person)),
    })  # fmt: skip


def ask(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["dimensions", *(str(one) for one in arguments)])


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Dimensions:
    folder = tmp_path_factory.mktemp("joined")
    a = score_table(folder, "a", ("real", "trust", "warm"))
    b = score_table(folder, "b", ("mood",), CONDITIONS[:4])
    pd.DataFrame({"condition": CONDITIONS, "psnr": [20.0, 25.0, 30.0, 31.0, 35.0]}).to_csv(
        folder / "values.csv", index=False
    )
    return beholder.dimensions(a, b, split=("real", 2), metrics=folder / "values.csv")


def test_it_writes_tables_figures_notes_and_a_page_beside_the_first(found: Dimensions) -> None:
    assert found.page is not None
    folder = found.page.parent
    assert folder.name == "dimensions"
    assert folder.parent.joinpath("a.csv").is_file()
    assert {path.stem for path in folder.glob("*.csv")} == {
        "profile", "correlations", "components", "loadings", "consistency", "shorter", "spread", "relation", "table",
        "metrics", "split_means", "split_correlations",
    }  # fmt: skip
    assert {path.stem for path in folder.glob("figures/*.svg")} >= {"profile", "correlations-condition", "spread"}
    notes = json.loads((folder / "notes.json").read_text("utf-8"))
    assert notes["questions"] == ["real", "trust", "warm", "mood"]
    assert notes["words"] == list(found.words)
    assert set(notes["analyses"]) == set(found.tables)


def test_the_page_begins_with_the_finding_and_holds_no_nan(found: Dimensions) -> None:
    assert found.page is not None
    page = found.page.read_text("utf-8")
    assert found.words[0].startswith("Four questions measure one thing for the most part: it holds ")
    assert page.index(found.words[0]) < page.index("All conditions")
    assert "nan" not in page.split("<script")[0].split("</style>")[1].lower().replace("finance", "")
    assert "Größe 2" in page


def test_names_stay_as_they_are(found: Dimensions) -> None:
    assert found.page is not None
    written = pd.read_csv(found.page.parent / "table.csv", dtype=str, keep_default_na=False)
    assert written["condition"].tolist() == list(CONDITIONS)
    assert written["mood"].tolist()[-1] == ""
    assert written["psnr"].tolist() == ["20", "25", "30", "31", "35"]


def test_it_reads_well_in_a_notebook(found: Dimensions) -> None:
    assert repr(found).splitlines()[0] == found.words[0]
    assert repr(found).splitlines()[-1] == f"Page: {found.page}"
    assert "–" in repr(found)
    assert found.words[0] in found._repr_html_()


def test_the_command_tells_the_finding(tmp_path: Path) -> None:
    path = score_table(tmp_path, "a", ("real", "trust"), ("x", "y"))
    told = ask(path, "--out", tmp_path / "out")
    assert told.exit_code == 0
    words = "Two questions: too little has answers to all of them to say what they measure together.\n"
    assert told.output.startswith(words)
    assert told.output.endswith(f"\nPage: {tmp_path / 'out' / 'index.html'}\n")


def problems(*arguments: object) -> list[str]:
    told = ask(*arguments)
    assert isinstance(told.exception, UserError)
    return str(told.exception).splitlines()


def test_problems_are_told_in_exact_words(tmp_path: Path) -> None:
    a = score_table(tmp_path, "a", ("real", "trust"))
    one = score_table(tmp_path, "one", ("real",))
    other = score_table(tmp_path, "other", ("mood",), ("x", "y"))
    assert problems(a, "--split", "real") == [
        "--split  is real. Allowed: a question, a colon and a number, as realistic:2."
    ]
    assert problems(a, "--split", "reel:2", "--of", "blue", "--components", "3") == [
        "split  is reel, which is not asked for a number. Allowed: real, trust. Did you mean real?",
        "of  is blue, which is not asked for a number. Allowed: real, trust.",
        "components  is 3. Allowed: from 1 to 2, the number of questions.",
    ]
    assert problems(one) == [
        "one  asks only real for a number. Allowed: two questions or more. Add a study with other questions about the "
        "same conditions."
    ]
    assert problems(a, other) == [
        "a  shares no condition with the others, as 01. Allowed: such as x. Conditions are joined by their names: "
        "give them the same in all.",
        "other  shares no condition with the others, as x. Allowed: such as 01. Conditions are joined by their names: "
        "give them the same in all.",
    ]
    picks = answers(3, ("real",)).assign(kind="pick", unit="", value=1.0)
    picks.to_csv(tmp_path / "picks.csv", index=False)
    assert problems(tmp_path / "picks.csv") == [
        "picks  has no question that was answered by numbers. Allowed: scores, or graded comparisons."
    ]
    missing = tmp_path / "missing.csv"
    assert len(problems(missing, tmp_path / "gone.csv")) == 2


def test_every_study_with_three_questions_says_whether_they_go_together() -> None:
    result = item_consistency(answers(8, ("real", "trust", "warm")))
    assert result is not None
    row = result.table.iloc[0]
    assert (row["questions"], row["n"], row["stimuli"], row["components"]) == (3, 96, 12, 1)
    assert 0.6 < row["alpha_low"] < row["alpha"] < row["alpha_high"] < 1
    assert row["alpha"] == pytest.approx(row["omega"], abs=0.02)


def test_fewer_questions_or_none_that_vary_say_nothing() -> None:
    assert item_consistency(answers(8, ("real", "trust"))) is None
    assert item_consistency(answers(8, ("real", "trust", "warm")).assign(value=3.0)) is None
    alone = answers(8, ("real", "trust", "warm"))
    alone = alone[(alone["condition"] == "c0") & (alone["content"] == "k0")]
    result = item_consistency(alone)
    assert result is not None
    assert result.table.iloc[0]["note"] == "too few stimuli, or they do not differ: no components"
