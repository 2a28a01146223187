"""Every contrast by several tests, as papers print it, and whether the tests agree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from beholder.reporting.material import Material
from beholder.reporting.pair_tests import CONTRASTS, agreement_of_tests, contrasts_sheet, paper_contrasts
from beholder.reporting.question_sections import PAIRS
from beholder.reporting.sheets import latex_table
from support.report_material import analysed_material, markup_text
from support.report_pages import made_up

QUALITY = {"good": 80.0, "fair": 70.0, "same": 69.0, "bad": 20.0}


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Material:
    contrasts = [["fair", "good"], ["same", "fair"]]
    questions = [{"id": name, "text": f"{name}?", "scale": "cont100"} for name in ("fit", "looks")]
    study = made_up(
        tmp_path_factory.mktemp("named"), QUALITY, contents=6, noise=12, questions=questions,
        analyse={"contrasts": contrasts},
    )  # fmt: skip
    return analysed_material(study)


def test_each_contrast_is_a_row_with_the_tests_of_papers(named: Material) -> None:
    part = named.parts[0]
    sheet = contrasts_sheet(named, part)
    assert sheet is not None
    assert sheet.heads == (
        "Condition", "minus", "Pages", "Mean difference", "p, paired t", "p, Wilcoxon", "Pages above", "p, sign",
        "p, clustered t",
    )  # fmt: skip
    assert [row[:2] for row in sheet.rows] == [("fair", "good"), ("same", "fair")]
    tests = named.results.also["tests"]
    own = tests[(tests["question"] == part.id) & (tests["condition"] == "fair") & (tests["other_condition"] == "good")]
    paired, sign = (own[own["test"] == name].iloc[0] for name in ("paired t", "sign"))
    half = (paired["ci_high"] - paired["ci_low"]) / 2
    assert sheet.rows[0][3] == f"−{abs(paired['estimate']):.1f} ± {half:.1f}"
    low, high = 100 * sign["ci_low"], 100 * sign["ci_high"]
    assert sheet.rows[0][6] == f"{100 * sign['estimate']:.0f} % ({low:.0f} to {high:.0f})"
    assert sheet.rows[0][4] == "< 0.001"
    assert sheet.rows[1][4].endswith(" †")


def test_named_contrasts_and_all_pairs_are_families_of_their_own(named: Material) -> None:
    text = markup_text(CONTRASTS(named, named.parts[0]))
    assert "Of 2 named contrasts, clear after correction over them: 1 by paired t, 1 by Wilcoxon" in text
    assert "Named contrasts, corrected over these 2: fit" in text
    assert "Of 6 pairs, clear after correction over them: 5 by paired t" in text
    assert "All pairs of conditions, corrected over all 6: fit" in text
    tests = named.results.also["tests"]
    own = tests[(tests["question"] == "fit") & (tests["test"] == "paired t")]
    is_named = own["p_holm"].notna()
    assert list(is_named) == [True, True, False, False, False, False]
    assert (own["all_p_holm"][is_named] >= own["p_holm"][is_named]).all()
    assert own["all_clear"].notna().all()


def test_a_paper_has_both_families_with_a_column_for_the_question(named: Material) -> None:
    sheets = paper_contrasts(named)
    assert list(sheets) == ["tests", "tests_all"]
    assert [row[0] for row in sheets["tests"].rows] == ["fit", "fit", "looks", "looks"]
    assert len(sheets["tests_all"].rows) == 12
    latex = latex_table(sheets["tests"])
    assert "Question & Condition & minus & n & Diff." in latex
    assert r" $\pm$ " in latex
    assert r"\dag{}" in latex


def test_without_named_contrasts_there_is_one_family(tmp_path: Path) -> None:
    material = analysed_material(made_up(tmp_path, {"good": 80.0, "bad": 20.0}, contents=4))
    assert list(paper_contrasts(material)) == ["tests"]
    text = markup_text(CONTRASTS(material, material.parts[0]))
    assert "Of 1 pair, clear after correction over it: 1 by paired t, 1 by Wilcoxon, 1 by sign and " in text
    assert "Named contrasts" not in text
    untested = replace(material, results=replace(material.results, also={}))
    assert CONTRASTS(untested, untested.parts[0]) is None
    assert paper_contrasts(untested) == {}


def test_tests_that_agree_are_said_to(tmp_path: Path) -> None:
    material = analysed_material(made_up(tmp_path, {"good": 80.0, "bad": 20.0}, contents=8))
    text = markup_text(agreement_of_tests(material, material.parts[0]))
    assert text == "The tests agree on 1 of 1 pair. They see the same condition ahead in every one."


@pytest.mark.variant
def test_pairs_that_the_study_is_not_about_are_not_among_those_on_which_tests_agree(tmp_path: Path) -> None:
    quality = {"good": 80.0, "fair": 50.0, "bad": 20.0}
    material = analysed_material(made_up(tmp_path, quality, contents=8, analyse={"contrasts": [["good", "bad"]]}))
    text = markup_text(agreement_of_tests(material, material.parts[0]))
    assert text == "The tests agree on 1 of 1 pair. They see the same condition ahead in every one."
    assert "= no clear difference – not asked for" in markup_text(PAIRS(material, material.parts[0]))


def test_pairs_on_which_tests_do_not_agree_are_listed(tmp_path: Path) -> None:
    # Two contents: a test that is to hold for others can show nothing, those over pages can.
    material = analysed_material(made_up(tmp_path, {"good": 80.0, "fair": 75.0}, contents=2, noise=10))
    text = markup_text(agreement_of_tests(material, material.parts[0]))
    assert text.startswith("The tests agree on 0 of 1 pair.")
    assert "good fair – 0." in text
