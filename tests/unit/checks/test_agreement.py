"""The check consistency: whose votes scatter far more than is usual is not used, and everybody is paid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.checks.agreement import Agreement, Consistency, rater_scatter, spearman
from beholder.checks.contract import Scatter, SessionEvidence, Verdict
from beholder.cleaning import Cleaned
from beholder.cleaning.tables import clean_tables
from beholder.errors import UserError
from beholder.methods import load_study
from beholder.stats.tests import robust_z
from support.answered_trials import one, session
from support.cleaning_store import QUALITY, add, decided, make_study, rows, store

RULE = Consistency(Consistency.Options())
INCONSISTENT = "consistency:inconsistent"


def judged(scatter: Scatter | None) -> Verdict:
    return RULE.judge(SessionEvidence("completed", "whole", scatter=scatter))


@pytest.mark.parametrize(
    ("scatter", "say", "reason"),
    [
        (Scatter(8, 10, 2.4), "pass", ""),
        (Scatter(8, 10, 2.5), "pass", ""),
        (Scatter(8, 10, 2.6), "fail", "inconsistent"),
        (Scatter(8, 10, -9.0), "pass", ""),
        (Scatter(8, 10, 476.0, 0.09), "pass", ""),
        (Scatter(8, 10, 2.6, 0.11), "fail", "inconsistent"),
        (Scatter(7, 10, None), "unknown", "too_few_ratings"),
        (Scatter(8, 9, 9.0), "unknown", "too_few_raters"),
        (Scatter(8, 10, None), "unknown", "all_alike"),
        (None, "unknown", "not_met"),
    ],
)
def test_only_a_scatter_far_above_the_usual_one_fails(scatter: Scatter | None, say: str, reason: str) -> None:
    verdict = judged(scatter)
    assert (verdict.verdict, verdict.reason, verdict.needed) == (say, reason, 2.5)


def test_a_verdict_says_what_it_rests_on() -> None:
    verdict = judged(Scatter(12, 40, 3.14159, 0.25))
    assert verdict.measured == 3.1416
    assert verdict.evidence == {"ratings": 12, "raters": 40, "scatter": 0.25}


def honest(number: int) -> dict[str, float]:
    """Return votes as somebody gives them who may be strict or kind, and is a point off here and there."""
    rng = np.random.default_rng(number)
    bias = rng.choice([-1, 0, 0, 1])
    near = {content: value + bias + rng.choice([-1, 0, 0, 0, 1]) for content, value in QUALITY.items()}
    return {content: float(np.clip(value, 1, 5)) for content, value in near.items()}


UPSIDE_DOWN = {content: float(6 - value) for content, value in QUALITY.items()}
"""As far from the others as can be."""


def cleaned(folder: Path, odd: Mapping[str, Mapping[str, Any]], *, people: int = 24, **keys: Any) -> Cleaned:
    """Return what cleaning makes of honest people and a few odd ones, each with one session."""
    study = make_study(folder, **{"clean": {"use": {"consistency": {"action": "flag"}}}, **keys})
    tables = store(study)
    for number in range(people):
        add(tables, f"s{number}", number=number % 4 + 1, votes=honest(number))
    for name, keys_of_session in odd.items():
        add(tables, name, **keys_of_session)
    return clean_tables(study, tables)


def reasons(result: Cleaned) -> dict[str, str]:
    return {session: why for session, (_, _, why) in decided(result).items() if why}


def test_who_scatters_is_not_used_and_paid(tmp_path: Path) -> None:
    result = cleaned(tmp_path, {"odd": {"votes": UPSIDE_DOWN}})
    assert decided(result)["odd"] == ("true", "false", INCONSISTENT)
    assert reasons(result) == {"odd": INCONSISTENT}
    assert {row["reasons"] for row in rows(result, "ratings") if row["session"] == "odd"} == {INCONSISTENT}


@pytest.mark.parametrize(
    "keys",
    [
        {"clean": {}},
        {"clean": {"use": {"consistency": {"z": 50}}}},
        {"clean": {"use": {"consistency": {"ratings": 11}}}},
        {"checks": {"consistency": {"z": 50}}, "clean": {}},
    ],
)
def test_it_is_off_when_nothing_is_written_and_its_thresholds_decide(tmp_path: Path, keys: Any) -> None:
    assert reasons(cleaned(tmp_path, {"odd": {"votes": UPSIDE_DOWN}}, **keys)) == {}


@pytest.mark.parametrize("keys", [{"checks": {"consistency": True}}, {"checks": {"consistency": {"ratings": 10}}}])
def test_checks_switches_it_on_as_well(tmp_path: Path, keys: Any) -> None:
    assert reasons(cleaned(tmp_path, {"odd": {"votes": UPSIDE_DOWN}}, clean={}, **keys)) == {"odd": INCONSISTENT}


def test_noted_only_it_costs_nothing(tmp_path: Path) -> None:
    result = cleaned(tmp_path, {"odd": {"votes": UPSIDE_DOWN}}, clean={"use": {"consistency": {"action": "record"}}})
    assert decided(result)["odd"] == ("true", "true", INCONSISTENT)


def test_nobody_is_judged_among_fewer_than_ten(tmp_path: Path) -> None:
    result = cleaned(tmp_path, {"odd": {"votes": UPSIDE_DOWN}}, people=8)
    verdicts = [row for row in rows(result, "verdicts") if row["check"] == "consistency"]
    assert {(row["verdict"], row["reason"]) for row in verdicts} == {("unknown", "too_few_raters")}
    assert reasons(result) == {}


def test_all_sessions_of_a_person_are_judged_together(tmp_path: Path) -> None:
    twice: dict[str, dict[str, Any]] = {
        "first": {"person": "odd", "votes": UPSIDE_DOWN},
        "second": {"person": "odd", "number": 2, "votes": UPSIDE_DOWN},
    }
    result = cleaned(tmp_path, twice, checks={"quota": {"sessions": 2}})
    assert reasons(result) == {"first": INCONSISTENT, "second": INCONSISTENT}
    mine = [row for row in rows(result, "verdicts") if row["check"] == "consistency" and row["session"] == "second"]
    assert '"ratings": 20' in mine[0]["evidence"] or '"ratings":20' in mine[0]["evidence"]


def test_what_other_rules_took_out_says_nothing_of_anybody(tmp_path: Path) -> None:
    result = cleaned(tmp_path, {"flat": {"votes": dict.fromkeys(QUALITY, 3.0)}})
    assert reasons(result) == {"flat": "variance:same_answer"}
    mine = [row for row in rows(result, "verdicts") if row["check"] == "consistency" and row["session"] == "flat"]
    assert (mine[0]["verdict"], mine[0]["reason"]) == ("unknown", "not_met")


def test_a_strict_person_does_not_scatter(tmp_path: Path) -> None:
    strict = {content: max(1.0, value - 1.0) for content, value in QUALITY.items()}
    assert reasons(cleaned(tmp_path, {"strict": {"votes": strict}})) == {}


def test_raters_who_all_say_the_same_are_alike(tmp_path: Path) -> None:
    study = make_study(tmp_path, clean={"use": {"consistency": True}})
    tables = store(study)
    for number in range(12):
        add(tables, f"s{number}")
    result = clean_tables(study, tables)
    assert reasons(result) == {}
    verdicts = [row for row in rows(result, "verdicts") if row["check"] == "consistency"]
    assert {(row["verdict"], row["reason"]) for row in verdicts} == {("unknown", "all_alike")}


def test_one_vote_beside_the_others_is_no_fault_where_nearly_all_agree(tmp_path: Path) -> None:
    study = make_study(tmp_path, clean={"use": {"consistency": True}})
    tables = store(study)
    for number in range(24):
        near = {content: float(value) for content, value in QUALITY.items()}
        near[list(near)[number % len(near)]] += number % 3 == 0
        add(tables, f"s{number}", votes={content: min(5.0, value) for content, value in near.items()})
    assert reasons(clean_tables(study, tables)) == {}


def test_without_ratings_nobody_has_a_scatter() -> None:
    assert rater_scatter([], 8) == {}


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"z": 0}, "checks.consistency.z is 0. Allowed: a number above 0."),
        ({"ratings": 1}, "checks.consistency.ratings is 1. Allowed: a whole number, 2 or more."),
    ],
)
def test_thresholds_that_cannot_be_are_refused(tmp_path: Path, rule: Any, message: str) -> None:
    path = tmp_path / "study.yaml"
    written = f"checks: {{consistency: {{{', '.join(f'{key}: {value}' for key, value in rule.items())}}}}}"
    head = "beholder: 1\nname: s\ntitle: S\nmethod: acr\nstimuli: stimuli\n"
    path.write_text(head + written, encoding="utf-8")
    with pytest.raises(UserError) as raised:
        load_study(path)
    assert message in str(raised.value)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=40), st.integers(1, 9), st.integers(-99, 99))
def test_robust_z_knows_neither_unit_nor_zero(values: list[int], unit: int, zero: int) -> None:
    plain, moved = robust_z(np.array(values, float)), robust_z(np.array(values, float) * unit + zero)
    assert (plain is None) == (moved is None)
    if plain is not None and moved is not None:
        np.testing.assert_allclose(plain, moved, atol=1e-9)
        assert np.median(plain) == pytest.approx(0)


def test_one_outlier_does_not_widen_the_deviation() -> None:
    scores = robust_z(np.array([1.0, 2, 3, 4, 1000]))
    assert scores is not None
    assert scores[-1] == pytest.approx(997 / 1.4826)


AGREEMENT = Agreement(Agreement.Options())


def test_the_rank_correlation_takes_ties_in_the_middle() -> None:
    from scipy import stats

    one, two = [1, 2, 2, 5, 3, 3, 3], [2.0, 1.0, 4.0, 4.0, 9.0, 3.0, 3.0]
    assert spearman(one, two) == pytest.approx(stats.spearmanr(one, two).statistic)
    assert spearman([1, 1], [1, 2]) is None


def votes(scores: list[float], **keys: Any) -> SessionEvidence:
    others = {(f"c{n}", "quality"): float(n) for n in range(len(scores))}
    return session([one(score, stimuli=[f"c{n}"]) for n, score in enumerate(scores)], others=others, **keys)


def test_whoever_goes_against_the_others_disagrees_and_that_is_only_noted_by_default() -> None:
    up = [1.0, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert AGREEMENT.judge(votes(up)).verdict == "pass"
    assert AGREEMENT.judge(votes(up[::-1])).reason == "disagrees"
    assert not AGREEMENT.is_costly
    assert Agreement(Agreement.Options(action="flag")).is_costly


def test_fewer_than_ten_shared_stimuli_and_flat_votes_tell_nothing_about_agreement() -> None:
    assert AGREEMENT.judge(votes([1, 2, 3, 4, 5, 4, 3, 2, 1])).reason == "too_few_shared"
    assert AGREEMENT.judge(votes([3.0] * 10)).reason == "same_answer"
    assert AGREEMENT.judge(replace(votes([1.0, 2] * 5), others={})).verdict == "unknown"
