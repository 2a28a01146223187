"""Stopping at a look: by what is decided, precise or hopeless, in words that say why."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from beholder.analysis.stopping_rules import StopDecision, look_note, rule_words, stop_decision
from beholder.analysis.tests import Claim
from beholder.stats.sequential import anytime_look, planned_look
from beholder.study.design import Design


def pair(condition: str, p_holm: float, difference: float = 1.0, se: float = 0.5, **keys: Any) -> dict[str, Any]:
    row = {
        "condition": condition, "other_condition": "old", "mean_difference": difference, "se": se,
        "ci_low": difference - 2 * se, "ci_high": difference + 2 * se, "p_holm": p_holm,
        "these_low": difference - se, "these_high": difference + se, "these_p_holm": p_holm / 10, "note": "",
        "contents": 4,
    }  # fmt: skip
    return row | keys


def decided(*rows: dict[str, Any], people: int = 40, claim: Claim = "beyond", **stop: Any) -> StopDecision:
    design = Design.model_validate({"looks": [20, 40, 60], "stop": stop})
    return stop_decision(pd.DataFrame(rows), planned_look(people, design.looks), design, claim)


def test_it_stops_when_all_contrasts_are_clear() -> None:
    assert decided(pair("a", 0.01), pair("b", 0.2)) == ("", "1 of 2 contrasts is clear beyond these contents")
    assert decided(pair("a", 0.01), pair("b", 0.02)) == ("decided", "all 2 contrasts are clear beyond these contents")
    assert decided(pair("a", 0.01)) == ("decided", "a − old is clear beyond these contents")
    assert decided(pair("a", 0.5), pair("b", 0.5)).words == "none of 2 contrasts is clear beyond these contents"


def test_or_when_any_is_or_never_for_that_reason() -> None:
    assert decided(pair("a", 0.01), pair("b", 0.2), decided="any").reason == "decided"
    assert decided(pair("a", 0.01), decided="none") == ("", "a − old is clear beyond these contents")


def test_the_claim_of_the_study_decides() -> None:
    assert decided(pair("a", 0.2)).reason == ""
    assert decided(pair("a", 0.2), claim="these") == ("decided", "a − old is clear on these contents")


def test_one_content_says_nothing_of_others() -> None:
    assert decided(pair("a", 0.01, contents=1)).words == "a − old is clear on this content"


@pytest.mark.parametrize(
    "why",
    ["not a named contrast: not corrected for", "anchor: not corrected for", "hidden reference: not corrected for"],
)
def test_pairs_that_the_study_is_not_about_do_not_count(why: str) -> None:
    other = pair("b", float("nan"), note=f"{why}: not corrected for")
    assert decided(pair("a", 0.01), other).words == "a − old is clear beyond these contents"
    assert decided(other) == ("", "no contrast is asked about")


def test_a_contrast_without_a_test_is_not_clear() -> None:
    untested = pair("b", float("nan"), se=float("nan"), note="never compared")
    assert decided(pair("a", 0.01), untested).reason == ""
    assert decided(untested, futility=0.5).reason == "", "nothing is known of its chance"


def test_it_stops_when_every_interval_is_narrow_enough() -> None:
    rows = pair("a", 0.2, se=0.1), pair("b", 0.2, se=0.15)
    assert decided(*rows, precision=0.25).reason == ""
    assert decided(*rows, precision=0.3) == (
        "precise", "no interval reaches further than 0.3 to either side, and 0.3 is asked for",
    )  # fmt: skip


def test_it_stops_when_there_is_no_hope_left() -> None:
    assert decided(pair("a", 0.9, difference=0.02), futility=0.1) == (
        "futile",
        "the chance that anything more is clear with 60 people is < 1 % at best; a − old is not clear beyond these "
        "contents",
    )
    assert decided(pair("a", 0.06, difference=1.0), futility=0.1).reason == ""
    # Contents that differ stay: more people do not help, where they would if all of the error were theirs.
    row = pair("a", 0.2, difference=0.7, these_low=0.69, these_high=0.71)
    assert decided(row, futility=0.1).reason == "futile"


def test_the_last_look_is_the_last() -> None:
    assert decided(pair("a", 0.2), people=60) == (
        "last",
        "it is the last one; a − old is not clear beyond these contents",
    )
    assert decided(pair("a", 0.01), people=60).reason == "decided"


def test_the_notes_tell_the_look_and_what_follows() -> None:
    design = Design.model_validate({"looks": [20, 40, 60]})
    table = pd.DataFrame([pair("a", 0.01), pair("b", 0.2)])
    note = look_note(table, planned_look(20, design.looks), design, "beyond")
    assert note["words"] == "Look 1 of 3, 20 people: it goes on, as 1 of 2 contrasts is clear beyond these contents."
    assert (note["number"], note["looks"], note["stops"], note["is_last"]) == (1, 3, False, False)
    assert note["level"] > 0.999
    assert "words" not in look_note(table, anytime_look(20, 60), design, "beyond")


def test_the_rules_are_told_as_they_were_set() -> None:
    stop = {"decided": "any", "precision": 0.3, "futility": 0.1, "budget": "80 GBP"}
    assert rule_words(Design.model_validate({"looks": [20, 40], "stop": stop}), "these") == (
        "any contrast was clear on these contents, no interval of a contrast reached further than 0.3 to either side, "
        "the chance that any further contrast would be clear was below 10 % or more people would have cost more than "
        "80 GBP"
    )
    assert rule_words(Design.model_validate({"looks": [20, 40], "stop": {"decided": "none"}}), "beyond") == ""
