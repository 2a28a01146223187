"""What reviewers of artefacts ask for: never met because nobody looked."""

from __future__ import annotations

from dataclasses import replace

from beholder.bundling.criteria import BundleState, criteria

FULL = BundleState(
    True, True, 0, 0, True, True, {"identifier": "https://doi.org/10.1/2", "license": {"@id": "x"}}, False
)


def answers(state: BundleState) -> dict[str, str]:
    return {one.asks: one.answer for one in criteria(state)}


def test_a_full_bundle_meets_what_a_program_can_see() -> None:
    given = answers(FULL)
    assert given.pop("in a public archive, under an address that stays") == "for people"
    assert given.pop("others get them from data of their own") == "for people"
    assert set(given.values()) == {"met"}


def test_what_is_missing_is_not_met() -> None:
    empty = BundleState(False, False, 3, 1, False, False, {}, False)
    kept = {"what it is and how it is used is written down", "it keeps to formats that others read"}
    for asks, answer in answers(empty).items():
        if asks not in kept and asks != "others get them from data of their own":
            assert answer == "not met", asks


def test_answers_of_robots_are_no_result_to_reproduce() -> None:
    (found,) = [one for one in criteria(replace(FULL, is_simulated=True)) if one.badge == "Results reproduced"]
    assert (found.answer, found.why) == ("not met", "These are answers of robots: there is no result to reproduce.")
    (rest,) = [one for one in criteria(replace(FULL, unchecked=2)) if one.badge == "Results reproduced"]
    assert "2 files could not be checked." in rest.why
