"""The verb: `beholder dimensions` writes tables, figures and a page, and says what is wrong in exact words."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from beholder.cli import cli
from beholder.dimensionality.text import Dimensions
from beholder.errors import UserError
from support.dimensions_page import answers, score_table


def ask(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["dimensions", *(str(one) for one in arguments)])


def test_it_writes_tables_figures_notes_and_a_page_beside_the_first(dimensions: Dimensions) -> None:
    assert dimensions.page is not None
    folder = dimensions.page.parent
    assert folder.name == "dimensions"
    assert folder.parent.joinpath("a.csv").is_file()
    assert {path.stem for path in folder.glob("*.csv")} == {
        "profile", "correlations", "components", "loadings", "consistency", "shorter", "spread", "relation", "table",
        "metrics", "split_means", "split_correlations",
    }  # fmt: skip
    assert {path.stem for path in folder.glob("figures/*.svg")} >= {"profile", "correlations-condition", "spread"}
    notes = json.loads((folder / "notes.json").read_text("utf-8"))
    assert notes["questions"] == ["real", "trust", "warm", "mood"]
    assert notes["words"] == list(dimensions.words)
    assert set(notes["analyses"]) == set(dimensions.tables)


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
