"""The plan as answers to the questions of OSF and AsPredicted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from beholder.methods import find
from beholder.preregistration.templates import (
    AS_PREDICTED,
    HEADINGS,
    blank_headings,
    template_answers,
    with_words,
)
from beholder.study.model import Study
from support.cleaning_store import make_study
from support.method_studies import make_study as method_study
from support.registered_studies import plan_of


def answers(study: Study, people: int = 0, **plan: Any) -> dict[str, str]:
    empty: dict[str, list[dict[str, Any]]] = {"stimuli": [], "lists": [{}, {}, {}, {}]}
    return template_answers(study, find(study.method), plan_of(study, empty, **plan), people)


def of(tmp_path: Path, people: int = 0, plan: dict[str, Any] | None = None, **keys: Any) -> dict[str, str]:
    return answers(make_study(tmp_path, **keys), people, **(plan or {}))


def test_every_heading_is_answered_and_aspredicted_asks_for_nothing_else(tmp_path: Path) -> None:
    made = of(tmp_path)
    assert tuple(made) == HEADINGS
    assert all(made.values())
    assert {heading for headings in AS_PREDICTED.values() for heading in headings} <= set(HEADINGS)


def test_a_study_without_contrasts_is_called_exploratory(tmp_path: Path) -> None:
    made = of(tmp_path)
    assert "No hypothesis is tested: the study names no contrast, and all of it is exploratory." in made["Hypotheses"]
    assert "of all pairs of conditions, within each question" in made["Inference criteria"]
    assert made["Exploratory analysis"].startswith("All differences are exploratory")


def test_contrasts_are_hypotheses_with_margin_claim_and_family(tmp_path: Path) -> None:
    analyse = {"contrasts": [["a", "b"]], "margin": 0.3, "claim": "these", "family": "study"}
    conditions = [{"name": "a", "label": "Ours"}, {"name": "b", "role": "reference"}]
    made = of(tmp_path, analyse=analyse, conditions=conditions)
    assert made["Hypotheses"].splitlines() == [
        "- H1: Ours and b (reference) differ (Ours minus b (reference), two-sided).",
        "- Of each of them also: that the difference is within ±0.3 (equivalence), and that the first is not worse by "
        "0.3 or more (non-inferiority). [Why this margin]",
        "- [Which direction is expected, and why]",
    ]
    assert made["Inference criteria"] == (
        "A difference is clear where p < 0.05, two-sided, after Holm's correction of 1 named contrast, over the "
        "whole study. Claimed is what is clear on these contents; both are reported. Equivalence and non-inferiority: "
        "two one-sided tests at 5 %, corrected in the same way."
    )
    by_question = of(tmp_path, analyse={"contrasts": [["a", "b"]], "margin": {"quality": 1}}, questions=[
        {"id": "quality", "text": "Good?", "scale": "acr5"}, {"id": "fit", "text": "Fit?", "scale": "acr5"},
    ])  # fmt: skip
    assert "two-sided), in each of 2 questions." in by_question["Hypotheses"]
    assert "Of each of them also in quality: that the difference is within ±1" in by_question["Hypotheses"]


def test_number_looks_and_the_rules_that_stop_it_are_told(tmp_path: Path) -> None:
    plain = of(tmp_path)
    assert plain["Sample size"].startswith("4 participants who finish; whoever does not finish is replaced.")
    assert plain["Stopping rule"].startswith("Collection ends when all sessions are finished")
    design = {"looks": [20, 40], "stop": {"decided": "any", "precision": 0.3, "futility": 0.1, "budget": "80 GBP"}}
    looked = of(tmp_path, design=design)["Stopping rule"]
    assert looked == (
        "Results are looked at after 20 and 40 participants. All looks together have one error rate (O'Brien and "
        "Fleming's spending function). The study stops at a look where any contrast is clear beyond these contents, no "
        "interval of a contrast reaches further than 0.3 to either side, the chance that any further contrast will be "
        "clear is below 10 % or more people would cost more than 80 GBP."
    )
    assert "what 30 ratings of each stimulus" in of(tmp_path, design={"votes": 30})["Sample size"]
    assert of(tmp_path, design={"looks": [9], "stop": {"decided": "none"}})["Stopping rule"].endswith("last one only.")


def test_a_power_analysis_is_the_rationale(tmp_path: Path) -> None:
    power = {"words": ["Two conditions 5 points apart take 46."], "repetitions": 200, "seed": 1, "contents": "random"}
    assert of(tmp_path, plan={"power": power})["Sample size rationale"] == (
        "From 200 simulated studies of each size (contents random, seed 1): Two conditions 5 points apart take 46."
    )
    assert "beholder power" in of(tmp_path)["Sample size rationale"]


def test_exclusions_are_the_rules_with_their_thresholds(tmp_path: Path) -> None:
    made = of(
        tmp_path,
        checks={"gold": {"per_session": 1}, "smooth": {"action": "record"}},
        clean={"use": {"gold": {"max_failed": 2}}, "outliers": True, "rater": True},
        qualification={"headphones": True, "acuity": {"action": "flag"}},
        before=[{"id": "work", "text": "Your work?", "type": "single", "options": ["a", "b"], "correct": ["b"]}],
    )
    lines = made["Data exclusion"].splitlines()
    gold = next(line for line in lines if line.startswith("- Gold"))
    assert "A session that fails is not used." in gold
    assert any("Only noted." in line for line in lines), "what is recorded costs nothing"
    assert any(line.startswith("- Sessions of one person in use: At least 60 %") for line in lines)
    assert "- Votes further than 1.5 quartile ranges outside the quartiles of a stimulus are left out." in lines
    assert "- Nobody is left out by hand." in lines
    assert "Headphones" in made["Data collection procedures"]
    assert "Only those go on who answer “Your work?” with b." in made["Data collection procedures"]


def test_what_was_seen_already_is_left_to_people(tmp_path: Path) -> None:
    made = of(tmp_path, people=3)
    assert made["Existing data"].startswith("It is complicated: 3 people have taken part already.")
    assert "Registration prior to creation of data" in of(tmp_path)["Existing data"]


def test_comparisons_groups_given_and_active_plans_have_sentences_of_their_own() -> None:
    pairs = method_study("pair", design={"participants": 4, "pairs": "active"})
    made = answers(pairs, is_compared=True, trials=[2, 3])
    assert "drawn while answers come in" in made["Randomization"]
    assert made["Statistical models"].startswith("The difference of two conditions is the mean vote where they met")
    assert "A session has 2 to 3 rated trials" in made["Study design"]
    between = {"layout": {"grid": {}, "line": {"per_trial": 1}}}
    grouped = method_study("parallel", design={"participants": 4, "trials": 1, "between": between})
    assert "Between participants: layout (grid or line)." in answers(grouped)["Manipulated variables"]
    turned = method_study("likert", questions=[{"id": "odd", "text": "It is odd.", "scale": "agree5", "keyed": "-"}])
    assert answers(turned)["Transformations"] == "Answers to odd are turned round."


def test_words_of_ones_own_fill_the_blanks(tmp_path: Path) -> None:
    made = of(tmp_path)
    assert "Description" in blank_headings(made)
    filled = with_words(made, {"Description": "About codecs.", "Data collection procedures": "In May."})
    assert filled["Description"] == "About codecs."
    assert "[" not in filled["Data collection procedures"]
    assert filled["Data collection procedures"].endswith("\n\nIn May.")
    assert not {"Description", "Data collection procedures"} & set(blank_headings(filled))
