"""Conclusions under other choices of cleaning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from beholder.analysis import analyse
from beholder.analysis.result import read_results
from beholder.cleaning.ratings import read_ratings
from beholder.reporting.material import load_material
from beholder.reporting.methods_section import methods
from beholder.reporting.sensitivity import (
    equivalence_section,
    rating_rule_sentence,
    runs_section,
    runs_sentence,
    sensitivity_section,
    variance_section,
)
from support.report_material import analysed_material, markup_text
from support.report_pages import SPREAD, made_up


def _without(people: int, *, turned: bool = False) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return a change after which the first people are not used; turned, they say the opposite of the others."""

    def change(ratings: pd.DataFrame) -> pd.DataFrame:
        is_out = ratings["participant"].isin([f"p{person:03}" for person in range(people)])
        ratings.loc[is_out, "use"] = False
        ratings.loc[is_out, "reasons"] = "variance:same_answer"
        if turned:
            ratings.loc[is_out, "value"] = 100 - ratings.loc[is_out, "value"]
        return ratings

    return change


@pytest.mark.variant
def test_conclusions_that_do_not_hang_on_the_cleaning_are_said_to_hold(tmp_path: Path) -> None:
    far = {"natural": 85.0, "smooth": 60.0, "jerky": 45.0, "frozen": 20.0}
    text = markup_text(sensitivity_section(analysed_material(made_up(tmp_path, far, contents=8), _without(3))))
    assert text.startswith("No conclusion changes under 2 other choices of cleaning. Means of conditions move by 0.")
    assert "and the order of the conditions stays the same." in text
    assert "Without the rule “Spread of the answers” 24 768 6 of 6 0 0 0" in text
    assert "Spread of the answers 3 96 3.0" in text
    assert "Means by those who failed a rule Condition Used Spread of the answers" in text


def test_a_conclusion_that_hangs_on_the_cleaning_is_named(tmp_path: Path) -> None:
    text = markup_text(
        sensitivity_section(analysed_material(made_up(tmp_path, SPREAD, contents=8), _without(12, turned=True)))
    )
    assert text.startswith(
        "Some conclusions depend on the cleaning: they change with nobody left out and without the rule “Spread of the "
        "answers”."
    )


@pytest.mark.variant
def test_a_rule_over_ratings_is_named_with_the_scores_without_it(tmp_path: Path) -> None:
    def disagree(ratings: pd.DataFrame) -> pd.DataFrame:
        return _without(3)(ratings).replace({"reasons": {"variance:same_answer": "agreement:disagrees"}})

    text = markup_text(sensitivity_section(analysed_material(made_up(tmp_path, SPREAD, contents=8), disagree)))
    assert (
        "“Agreement with the others” judges people by how they rate what is tested, and in this study it costs the "
        "use: 3 participants left out by it alone."
    ) in text
    assert "Scores with and without rules over ratings Condition As cleaned Without “Agreement with the others”" in text


def test_a_noted_rule_over_ratings_says_whom_it_would_leave_out() -> None:
    choices = pd.DataFrame({"choice": ["as cleaned", "with consistency"], "participants": [20, 18]})
    assert rating_rule_sentence("consistency", choices) == (
        "“Scatter of the answers” judges people by how they rate what is tested, so it is only noted: with it 2 "
        "participants more would be left out."
    )


def test_a_margin_tells_what_is_shown_to_be_equivalent_and_the_methods_name_it(tmp_path: Path) -> None:
    quality = {"natural": 60.0, "smooth": 60.0, "jerky": 30.0}
    material = analysed_material(made_up(tmp_path, quality, contents=8, analyse={"margin": 10}))
    text = markup_text(equivalence_section(material, material.parts[0]))
    assert text.startswith(
        "1 of 3 pairs is shown to be equivalent within ±10 beyond these contents, 1 on these contents. Equivalence "
    )
    # Both pairs with jerky, for either population: it is far worse, and so the others are shown not to be.
    assert text.count("not shown") == 4
    said = next(one.text for one in methods(material) if one.title == "Analysis")
    assert (
        "Equivalence and non-inferiority within ±10 were tested by two one-sided tests at 5 % (Schuirmann, 1987). [Why "
        "this margin, and whether it was chosen before the first answer]."
    ) in said


def test_without_a_margin_nothing_is_said_of_equivalence(tmp_path: Path) -> None:
    material = analysed_material(made_up(tmp_path, SPREAD))
    assert equivalence_section(material, material.parts[0]) is None


def test_where_nothing_was_left_out_there_is_nothing_to_vary(tmp_path: Path) -> None:
    assert sensitivity_section(analysed_material(made_up(tmp_path, SPREAD))) is None


def test_no_usable_rating_has_no_sensitivity(tmp_path: Path) -> None:
    assert sensitivity_section(analysed_material(made_up(tmp_path, SPREAD), _without(24))) is None


def test_the_report_tells_sources_and_runs(tmp_path: Path) -> None:
    asked = [{"id": name, "text": name.title() + "?", "scale": "acr5"} for name in ("quality", "real")]
    study = made_up(tmp_path, {"no": 60, "01": 45}, participants=12, questions=asked)
    path = tmp_path / "clean" / "ratings.csv"
    table = read_ratings(path)
    first = set(table["participant"].unique()[:6])
    is_real = table["question"] == "real"
    run = table["participant"].isin(first).map({True: 1, False: 2}).mask(is_real, 1)
    table.assign(run=run, use=table["use"].map({True: "true", False: "false"})).to_csv(path, index=False)
    analyse(study)
    material = load_material(study)
    sources, agreed = variance_section(material), runs_section(material)
    assert sources is not None
    assert "Of all that ratings differ by, over 2 questions, <b>" in sources
    assert agreed is not None
    assert "The runs do not differ clearly (F(1, 10) = " in agreed
    assert "Real?" not in agreed
    assert set(read_results(tmp_path).also["runs"]["run"]) == {"", "1"}


@pytest.mark.parametrize(
    ("p", "equivalent", "said"),
    [
        (0.5, ["yes"], "The runs do not differ clearly (F(2, 9) = 1.00, p = 0.500), and they are equivalent within "
         "±0.2 points."),
        (0.5, ["yes", "yes", "undecided"], "The runs do not differ clearly (F(2, 9) = 1.00, p = 0.500). That does not "
         "make them the same: 2 of 3 pairs can be called equivalent within ±0.2 points."),
        (0.0001, ["yes", "no", "no"], "The runs differ (F(2, 9) = 1.00, p < 0.001); 1 of 3 pairs is equivalent within "
         "±0.2 points."),
        (0.01, ["yes"] * 3, "The runs differ (F(2, 9) = 1.00, p = 0.010), and every two are equivalent within ±0.2 "
         "points."),
    ],
)  # fmt: skip
def test_what_is_said_of_runs(p: float, equivalent: list[str], said: str) -> None:
    pairs = pd.DataFrame({"equivalent": equivalent, "margin": 0.2})
    assert runs_sentence({"note": "", "df": 2.0, "df_error": 9.0, "statistic": 1.0, "p": p}, pairs) == said


def test_what_is_said_of_runs_without_a_test() -> None:
    assert runs_sentence({"note": "one rater in each run"}, pd.DataFrame()) == "No test: one rater in each run."
