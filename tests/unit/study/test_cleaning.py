"""The `analyse:` part of a study: what is refused, what follows from it, and that it may always change."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.analysis import analyse
from beholder.errors import StudyError
from beholder.methods import load_study
from beholder.planning.digest import plan_digest
from beholder.stimuli.ingestion import load_catalogue
from beholder.study.model import Study
from beholder.testing import write_study
from beholder.workflow.check import check
from support.report_pages import made_up

HEAD = """beholder: 1
name: asked
title: Asked
method: acr
stimuli: stimuli
conditions: [ours, baseline, 01]
questions: [{id: quality, text: x}]
"""
TWO = "Allowed: two conditions, such as [ours, baseline]."


def read(folder: Path, text: str) -> Study:
    path = folder / "study.yaml"
    path.write_text(HEAD + text, "utf-8")
    return load_study(path)


def refused(folder: Path, text: str) -> list[str]:
    with pytest.raises(StudyError) as error:
        read(folder, text)
    return [line.removeprefix("study.yaml:8  ") for line in str(error.value).splitlines()]


def test_all_pairs_within_each_question_when_left_out(tmp_path: Path) -> None:
    asked = read(tmp_path, "").analyse
    assert (asked.contrasts, asked.family, asked.claim, asked.crush) == ((), "question", "beyond", "none")


def test_contrasts_keep_their_names_and_their_order(tmp_path: Path) -> None:
    asked = read(tmp_path, "analyse: {contrasts: [[01, ours], [ours, baseline]], family: study}\n").analyse
    assert asked.contrasts == (("01", "ours"), ("ours", "baseline"))
    assert asked.family == "study"


def test_everything_wrong_with_contrasts_is_told_at_once(tmp_path: Path) -> None:
    text = "analyse: {contrasts: [[ours, ours], [ours, baseline], [baseline, ours], [our, 01]]}\n"
    assert refused(tmp_path, text) == [
        "analyse.contrasts.3.0 is our, which is not among the conditions. Allowed: ours, baseline or 01. Did you mean "
        "ours?",
        "analyse.contrasts.0 holds ours against itself. Allowed: two conditions. Name another one, or take it out.",
        "analyse.contrasts.2 holds baseline against ours, as does contrasts.1. Allowed: every pair once. Take one out.",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{contrasts: [[ours]]}", f"analyse.contrasts.0 is a list of 1. {TWO}"),
        ("{contrasts: [ours]}", f"analyse.contrasts.0 is ours. {TWO}"),
        ("{family: all}", "analyse.family is all. Allowed: question or study."),
        ("{claim: all}", "analyse.claim is all. Allowed: beyond or these."),
        ("{margin: 0}", "analyse.margin is 0. Allowed: a number above 0, or a map from question to number."),
        (
            "{dmos: our}",
            "analyse.dmos is our, which is not among the conditions. Allowed: ours, baseline or 01. Did you mean ours?",
        ),
        ("{crush: soft}", "analyse.crush is soft. Allowed: none, crush or clip."),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_by_its_key(tmp_path: Path, text: str, message: str) -> None:
    assert refused(tmp_path, f"analyse: {text}\n") == [message]


def test_conditions_of_files_are_known_when_the_study_is_checked(tmp_path: Path, tiny: Path) -> None:
    asked = {"contrasts": [["natural", "jerkyy"]]}
    path = write_study(tmp_path / "study", tiny, conditions=None, analyse=asked)
    with pytest.raises(StudyError) as error:
        check(path)
    known = ", ".join(sorted(load_catalogue(load_study(path)).conditions))
    line = load_study(path).where("analyse.contrasts.0.1")
    assert str(error.value) == (
        f"{line}  analyse.contrasts.0.1 is jerkyy, which is no condition. Allowed: {known}. Did you mean jerky?"
    )


@pytest.mark.parametrize(
    ("margin", "told"),
    [
        (100, "analyse.margin is 100, and the scale of quality is 100 wide: all would be equivalent. Allowed: a "
              "difference that does not matter, well below 100."),
        ({"quality": 120}, "analyse.margin.quality is 120, and the scale of quality is 100 wide: all would be "
                           "equivalent. Allowed: a difference that does not matter, well below 100."),
        ({"qualiti": 5}, "analyse.margin names qualiti, which is no question with a scale. Allowed: quality. Did you "
                         "mean quality?"),
    ],
)  # fmt: skip
def test_a_margin_is_of_a_question_and_narrower_than_its_scale(
    tmp_path: Path, tiny: Path, margin: object, told: str
) -> None:
    with pytest.raises(StudyError) as error:
        check(write_study(tmp_path / "study", tiny, analyse={"margin": margin}))
    assert str(error.value).partition("  ")[2] == told


def test_nothing_of_it_changes_the_plan(tmp_path: Path, tiny: Path) -> None:
    bare = load_study(write_study(tmp_path / "bare", tiny))
    asked = {"contrasts": [["natural", "jerky"]], "family": "study", "claim": "these", "margin": 5, "crush": "clip"}
    chosen = load_study(write_study(tmp_path / "chosen", tiny, analyse=asked))
    assert chosen.analyse != bare.analyse
    assert plan_digest(chosen, load_catalogue(chosen)) == plan_digest(bare, load_catalogue(bare))


def test_the_contrasts_of_a_study_are_those_of_its_results(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 40.0, "b": 50.0, "c": 60.0}, analyse={"contrasts": [["c", "a"]]})
    results = analyse(study)
    assert results.pairs["p_holm"].notna().tolist() == [True, False, False]
    assert tuple(results.pairs.loc[0, ["condition", "other_condition"]]) == ("c", "a")
    assert results.notes["correction"]["family"] == (
        "Holm's correction within each question over the named contrasts; other pairs are told, but not corrected for."
    )
