"""The rules stuffing, copied and side_pattern: what is planted is noted, and nothing is taken out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beholder.checks.ballots import Copied, SidePattern, Stuffing
from beholder.checks.registry import study_rules
from beholder.cleaning import Cleaned
from beholder.cleaning.tables import clean_tables
from beholder.methods import find
from beholder.methods.contract import Trial
from beholder.planning.builder import make_plan
from beholder.planning.serialization import list_to_json
from beholder.study.serialization import resolved_yaml
from beholder.testing import check_rule
from support.answered_trials import PLAYED
from support.cleaning_store import START, decided, rows
from support.method_studies import catalogue_of, make_study

RULES = ("stuffing", "copied", "side_pattern")
STRENGTH = {"a": 0.0, "b": 0.4, "c": 0.8, "d": -0.5}
PEOPLE, TRIALS = 40, 30

Choose = Callable[[Trial, np.random.Generator], str]


def honest(trial: Trial, rng: np.random.Generator) -> str:
    """Return the slot that somebody prefers."""
    one, other = trial.slots
    logit = STRENGTH[one.stimulus.partition("/")[0]] - STRENGTH[other.stimulus.partition("/")[0]]
    return one.id if rng.random() < 1 / (1 + np.exp(-logit)) else other.id


def friend(trial: Trial, rng: np.random.Generator) -> str:
    """Return the slot of condition d, where it is there."""
    return next((slot.id for slot in trial.slots if slot.stimulus.startswith("d/")), honest(trial, rng))


def cleaned(
    folder: Path, odd: Mapping[int, Choose | Sequence[str]], checks: Mapping[str, Any] | None = None, **keys: Any
) -> Cleaned:
    """Return what cleaning makes of 40 people with 30 comparisons each; every list is given twice."""
    study = make_study(
        "pair", tuple(STRENGTH), design={"participants": PEOPLE // 2, "trials": TRIALS, "seed": 4},
        checks=dict.fromkeys(RULES, True) if checks is None else checks, **keys,
    )  # fmt: skip
    study._folder = folder
    catalogue = catalogue_of(study, contents=[f"c{place:02}" for place in range(10)])
    plan = make_plan(study, catalogue, find("pair"))
    tables: dict[str, list[dict[str, Any]]] = {
        "studies": [{"digest": "d1", "plan_digest": "p1", "study": study.name, "yaml": resolved_yaml(study)}],
        "stimuli": [
            {"digest": "d1", "stimulus": name, "content": name.partition("/")[2], "condition": name.partition("/")[0],
             "role": "test", "medium": "video", "sha256": "", "probe": {"duration_ms": 4000}, "factors": {}}
            for name in sorted({slot.stimulus for one in plan.lists for trial in one.trials for slot in trial.slots})
        ],
        "lists": [{"plan_digest": "p1", "list": one.number, "trials": list_to_json(one)} for one in plan.lists],
        **{name: [] for name in ("sessions", "claims", "answers", "ends", "erasures")},
    }  # fmt: skip
    for number in range(PEOPLE):
        planned = plan.lists[number % len(plan.lists)]
        rng, name, at = np.random.default_rng(number), f"s{number:02}", START + timedelta(hours=number)
        row = {"session": name, "participant": f"p{number:02}", "digest": "d1", "run": 1, "mode": "link", "visit": 1}
        tables["sessions"].append(row | {"device": {}, "at": at})
        tables["claims"].append({"session": name, "list": planned.number, "at": at})
        how = odd.get(number, honest)
        for place, trial in enumerate(planned.trials, 1):
            better = how(trial, rng) if callable(how) else how[(place - 1) % len(how)]
            tables["answers"].append(
                {"session": name, "key": f"trial:{place}", "answer": {"choices": {"q1": {"better": better}}},
                 "playback": {slot.id: dict(PLAYED) for slot in trial.slots}, "shown_ms": 0.0, "sent_ms": 15_000.0,
                 "input": "mouse", "tab": "t", "at": at + timedelta(minutes=place)}
            )  # fmt: skip
        end = {"session": name, "outcome": "completed", "reason": "", "code": "", "receipt": ""}
        tables["ends"].append(end | {"at": at + timedelta(minutes=TRIALS)})
    return clean_tables(study, tables)


def verdicts(result: Cleaned, rule: str) -> dict[str, tuple[str, dict[str, Any]]]:
    own = [row for row in rows(result, "verdicts") if row["check"] == rule]
    return {row["session"]: (row["verdict"], json.loads(row["evidence"])) for row in own}


def found_by(result: Cleaned, rule: str) -> set[str]:
    return {session for session, (say, _) in verdicts(result, rule).items() if say == "fail"}


@pytest.mark.parametrize("rule", RULES)
def test_the_rules_keep_the_contract(rule: str) -> None:
    check_rule(rule)


def test_what_is_planted_is_noted_with_its_numbers_and_costs_nothing(tmp_path: Path) -> None:
    copy = _choices(tmp_path / "first", 0)
    result = cleaned(tmp_path / "second", {20: copy, 3: friend, 4: friend, 5: friend, 9: ("s1", "s2")})
    assert found_by(result, "copied") == {"s00", "s20"}
    shared = verdicts(result, "copied")["s20"][1]
    assert shared == {"other": "p00", "shared": 30, "alike": 30, "expected": pytest.approx(16, abs=2)}
    assert found_by(result, "side_pattern") == {"s09"}
    assert verdicts(result, "side_pattern")["s09"][1] == {"choices": 30, "share": 0.0, "every": 1}
    assert found_by(result, "stuffing") == {"s03", "s04", "s05"}
    evidence = verdicts(result, "stuffing")["s03"][1]
    assert (evidence["condition"], evidence["won"]) == ("d", evidence["votes"])
    assert evidence["expected"] < evidence["won"] / 2
    assert all(use == "true" for _, use, _ in decided(result).values())
    assert "3 sessions voted for one condition far more often than its strength explains: d (3)." in _account(result)
    assert "2 sessions hold the same votes on the same pairs as that of somebody else" in _account(result)


def _choices(folder: Path, number: int) -> list[str]:
    """Return what an honest person chooses."""
    result = cleaned(folder, {})
    own = [row for row in rows(result, "ratings") if row["session"] == f"s{number:02}"]
    return [row["slot"] if float(row["value"]) > 0 else ({"s1": "s2", "s2": "s1"}[row["slot"]]) for row in own]


def _account(result: Cleaned) -> str:
    return (result.folder / "account.md").read_text("utf-8") + (result.folder / "account.json").read_text("utf-8")


def test_honest_people_are_not_found(tmp_path: Path) -> None:
    result = cleaned(tmp_path, {})
    assert [found_by(result, rule) for rule in RULES] == [set(), set(), set()]


def test_with_flag_those_who_are_found_are_not_used(tmp_path: Path) -> None:
    result = cleaned(tmp_path, {9: ("s1", "s2")}, {"side_pattern": {"action": "flag"}})
    assert {session for session, (_, use, _) in decided(result).items() if use == "false"} == {"s09"}


def test_an_arena_has_them_without_a_word() -> None:
    assert [rule.implied({"design": {"arena": {}}}) for rule in (Stuffing, Copied, SidePattern)] == [{}, {}, {}]
    assert Stuffing.implied({"design": {"trials": 3}}) is None
    assert not set(RULES) & {rule.name for rule in study_rules(make_study("pair"))}
