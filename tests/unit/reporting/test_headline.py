"""The key finding of a question, with its uncertainty."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from beholder.cleaning.ratings import COLUMNS
from beholder.columns import names_of
from beholder.files import write_table
from beholder.reporting.headline import headline_section, key_finding
from beholder.reporting.material import Material
from beholder.reporting.methods_section import methods
from beholder.reporting.methods_text import plain_text
from support.headline_ratings import Value, around, flat, rated
from support.report_material import analysed_material
from support.report_pages import SPREAD, Page, made_up


def key_finding_of(material: Material) -> str:
    return key_finding(material, material.parts[0])


def swaying(who: int, what: int) -> float:
    """Return ratings on which people differ a lot, around 61.5."""
    return 56 + 8 * (who % 2) + 3 * (what % 2)


def mostly(who: int, what: int) -> float:
    """Return 1 for four of five, else 0."""
    return float((who + what) % 5 != 0)


def test_a_clear_lead_is_told_with_its_interval_and_its_distance(tmp_path: Path) -> None:
    material = rated(tmp_path, {"a": around(80, 4, 2), "b": around(60, 2, 2), "c": around(30, 1, 3)})
    assert key_finding_of(material) == (
        "a scores 80.0 (95 % interval 76.3 to 83.7), 20.0 points (18.6 to 21.4) above b, the next, p < 0.001: "
        "clear, also beyond these 6 contents."
    )


def test_a_lead_that_is_not_clear_says_from_which_it_is_not_told_apart(tmp_path: Path) -> None:
    material = rated(tmp_path, {"a": around(61), "b": swaying, "c": around(20)})
    assert key_finding_of(material) == (
        "b scores 61.5 (95 % interval 58.2 to 64.8), the highest, but is not told apart from a (difference +0.5 points "
        "(−2.2 to 3.2), p = 0.690). It is 41.5 points (38.8 to 44.2) above c, p < 0.001: clear, also beyond these 6 "
        "contents."
    )


def test_where_nothing_is_told_apart_it_says_what_is_not_ruled_out_and_not_that_all_are_equal(tmp_path: Path) -> None:
    two = key_finding_of(rated(tmp_path / "two", {"a": around(61), "b": swaying}))
    assert two == (
        "b and a are not told apart: 0.5 points (−2.2 to 3.2), p = 0.697. A difference of up to 3.2 points is not "
        "ruled out."
    )
    three = key_finding_of(rated(tmp_path / "three", {"a": around(61), "b": swaying, "c": around(61, 2, 1)}))
    assert three.startswith("No two of 3 conditions are told apart; the largest difference is between b and ")
    assert not re.search(r"equal|the same|no difference", f"{two} {three}")


def on_some(middle: float, spread: float) -> Value:
    """Return ratings that are above the middle on every other content, and below it on the others."""
    return lambda who, what: middle + spread * (-1) ** what + who % 3


@pytest.mark.variant
def test_what_is_clear_on_these_contents_only_is_told_in_two_steps(tmp_path: Path) -> None:
    values = {"a": on_some(60, 12), "b": on_some(50, 0)}
    material = rated(tmp_path / "two", values, contents=4)
    assert key_finding_of(material) == (
        "a and b are not told apart beyond these 4 contents: 10.0 points (−12.0 to 32.0), p = 0.245 (clear on these 4 "
        "contents; beyond them undecided). A difference of up to 32.0 points is not ruled out."
    )
    assert (
        "Called clear is what is clear beyond these 4 contents: 1 of 1 pair is clear on these 4 contents, none of them "
        "also beyond."
    ) in plain_text(methods(material))
    three = values | {"c": around(20)}
    assert key_finding_of(rated(tmp_path / "three", three, contents=4)).startswith(
        "a scores 61.0 (95 % interval 39.0 to 83.0), the highest, but is not told apart, beyond these 4 contents, from "
        "b (difference +10.0 points ("
    )
    # The nearest is not told apart anywhere, the one behind it is on these contents.
    near: Value = lambda who, what: on_some(59, 12)(who, what) + 6 * (-1) ** who  # noqa: E731
    four = {"a": on_some(60, 12), "b": near, "c": around(20), "d": on_some(50, 0)}
    assert "but is not told apart, beyond these 4 contents, from b and d (b: difference" in key_finding_of(
        rated(tmp_path / "four", four, contents=4)
    )
    material = rated(tmp_path / "these", values, contents=4, analyse={"claim": "these"})
    assert key_finding_of(material) == (
        "a scores 61.0 (95 % interval 60.5 to 61.5), 10.0 points (9.3 to 10.7) above b, p < 0.001: clear on these 4 "
        "contents; beyond them undecided."
    )
    assert Page(headline_section(material)).text.endswith(
        "Brackets: 95 % intervals for people like these, with these contents. p: t test clustered by participant, "
        "Holm-corrected; intervals are not."
    )


def test_the_hidden_reference_is_told_beside_the_best_under_test(tmp_path: Path) -> None:
    values = {"r": around(95, 1, 2), "a": around(80, 2, 1), "b": around(60)}
    conditions = [{"name": "r", "label": "Original", "role": "reference"}, "a", "b"]
    material = rated(tmp_path, values, roles={"r": "reference"}, conditions=conditions, method="mushra")
    assert key_finding_of(material) == (
        "a scores 80.0 (95 % interval 78.2 to 81.8), median 80.0 (77.0 to 83.0), 20.0 points (19.0 to 21.0) above b, "
        "p < 0.001: clear, also beyond these 6 contents. It is 15.0 points (13.9 to 16.1) below the reference, "
        "Original, p < 0.001: clear, also beyond these 6 contents."
    )
    foot = Page(headline_section(material)).text
    assert foot.endswith(
        "Brackets: 95 % intervals for people and contents like these. p: t test clustered by participant and content "
        "(5 to 11 degrees of freedom), Holm-corrected among the conditions under test; intervals are not."
    )


def test_one_degree_of_freedom_is_one(tmp_path: Path) -> None:
    values: dict[str, Value] = {
        "a": lambda who, what: (80, 71, 62, 50)[2 * who + what],
        "b": lambda who, what: (40, 62, 50, 33)[2 * who + what],
    }
    material = rated(tmp_path, values, people=2, contents=2)
    assert "(1 degree of freedom)" in Page(headline_section(material)).text


def test_only_named_contrasts_are_told(tmp_path: Path) -> None:
    values = {"a": around(80, 2, 2), "b": around(60), "c": around(30)}
    material = rated(tmp_path, values, analyse={"contrasts": [["b", "a"]]})
    assert key_finding_of(material) == (
        "a is 20.0 points (19.0 to 21.0) above b, p < 0.001: clear, also beyond these 6 contents."
    )


@pytest.mark.variant
def test_a_choice_is_told_as_the_share_that_was_won(tmp_path: Path) -> None:
    material = rated(tmp_path, {("a", "b"): lambda who, what: 2 * mostly(who, what) - 1}, kind="choice", method="pair")
    assert key_finding_of(material) == (
        "a was preferred to b in 79 % (66 to 92 %) of their comparisons, p = 0.002: clear, also beyond these 6 "
        "contents."
    )
    assert "A tie counts half." not in Page(headline_section(material)).text
    material = rated(
        tmp_path / "ties", {("a", "b"): lambda who, what: (who + what) % 3 - 1}, kind="choice", method="pair"
    )
    assert key_finding_of(material).startswith("a and b are not told apart: a won 50 % (")
    assert "A tie counts half." in Page(headline_section(material)).text


def test_grades_are_held_against_the_reference(tmp_path: Path) -> None:
    values: dict[str | tuple[str, str], Value] = {
        ("a", "r"): lambda who, what: -1 - (who % 2) * (what % 2),
        ("b", "r"): lambda who, what: -2 + mostly(who, what) / 2,
    }
    material = rated(tmp_path, values, kind="diff", method="ccr", roles={"r": "reference"})
    assert key_finding_of(material) == (
        "a is 1.25 points (0.98 to 1.52) below the reference, r, p < 0.001: clear, also beyond these 6 contents; 2 of "
        "2 are clearly worse than it."
    )


def test_correct_answers_are_held_against_guessing(tmp_path: Path) -> None:
    assert key_finding_of(rated(tmp_path / "clear", {("a", "b"): mostly}, kind="correct", method="abx")) == (
        "a or b: 79 % (95 % interval 64 to 90 %) of the answers were right, guessing gives 50 %: they were told apart."
    )
    half = key_finding_of(
        rated(tmp_path / "half", {("a", "b"): lambda who, what: float(who % 2)}, kind="correct", method="abx", people=8)
    )
    assert half == (
        "a or b: 50 % (95 % interval 8 to 92 %) of the answers were right, guessing gives 50 %, which is not ruled "
        "out; nor is a share of 92 %."
    )


@pytest.mark.parametrize(
    ("values", "keys", "said"),
    [
        (
            {"a": around(80)},
            {},
            "a scores 80.0 (95 % interval 78.8 to 81.2); there is no other condition under test.",
        ),
        (
            {"a": around(80), "b": around(20)},
            {"people": 1},
            "Only one person was counted. Scores describe this one person only: there is no interval and no test.",
        ),
        ({"a": flat(50), "b": flat(50)}, {}, "a and b are not told apart: 0.0 points (−5.0 to 5.0), p = 1.000."),
    ],
)
def test_little_to_tell_is_told_as_it_is(tmp_path: Path, values: dict[str, Value], keys: Any, said: str) -> None:
    assert key_finding_of(rated(tmp_path, values, **keys)).startswith(said)


def test_means_that_disagree_with_the_test_are_no_lead(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 50.0, "b": 50.0}, participants=1, contents=1)
    rows = [
        dict.fromkeys(names_of(COLUMNS), "")
        | {
            "digest": "d1", "participant": f"p{who}", "session": f"s{who}", "position": 1, "kind": "score",
            "method": "parallel", "question": "quality", "content": "c", "condition": name, "stimulus": f"{name}/c",
            "role": "test", "value": value, "scale_min": 0, "scale_max": 100, "use": True,
            "answered_at": "2026-11-14T09:00:00+00:00",
        }
        for who in range(40)
        for name, value in (("a", 40 + who % 2 if who < 20 else 90), *([("b", 50 + who % 5)] if who < 20 else []))
    ]  # fmt: skip
    write_table(tmp_path / "clean" / "ratings.csv", names_of(COLUMNS), rows)
    assert key_finding_of(analysed_material(study)) == (
        "Means and tests disagree: a has the highest mean, 65.3 (95 % interval 57.2 to 73.3), but with people "
        "and contents held equal b is 11.5 points (9.6 to 13.4) above a, p < 0.001: clear on this one content."
    )


@pytest.mark.variant
def test_of_many_questions_five_have_a_line_at_the_top(tmp_path: Path) -> None:
    asked = [{"id": f"q{n}", "text": f"Question {n}?", "scale": "cont100"} for n in range(7)]
    study = made_up(tmp_path, {"a": 80.0, "b": 40.0}, participants=6, questions=asked)
    text = Page(headline_section(analysed_material(study))).text
    assert text.startswith("Key findings Question 0? a scores ")
    assert "Question 4?" in text
    assert "Question 5?" not in text
    assert "And 2 more below." in text


def test_a_rehearsal_is_called_one_at_the_top_and_in_the_methods(tmp_path: Path) -> None:
    material = analysed_material(made_up(tmp_path, SPREAD, participants=6, population="robots"))
    assert Page(headline_section(material)).text.startswith("Rehearsal with robots, no result natural scores ")
    text = plain_text(methods(material))
    assert "All ratings are simulated: robots answered in place of participants, and nothing here is a result." in text
    assert "6 robots with 96 ratings are analysed." in text
    assert "ethics" not in text
