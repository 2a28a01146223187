"""Votes in place of participants, chains of lists for people who come again, and sessions that are short."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from beholder.cleaning.shortfall import voted_stimuli
from beholder.cli import cli
from beholder.errors import PlanError, StudyError
from beholder.methods import find, load_study
from beholder.planning.builder import make_plan
from beholder.planning.list_counts import rated_units, votes_range
from beholder.planning.model import Plan
from beholder.study.model import installed_study_model
from beholder.testing import write_study
from support.plans import assert_promises, make_catalogue, problems_of
from support.variants import variant
from support.vote_plans import vote_plan, vote_study

ACR = find("acr")
REFERENCE: dict[str, Any] = {"roles": {0: "reference"}}
SOME_MISSING: dict[str, Any] = {"missing": frozenset({(0, 1), (2, 2), (2, 3)})}


def met_twice(plan: Plan, sessions: int) -> Iterator[object]:
    """Yield what comes twice in lists that follow one another."""
    assert plan.units is not None
    for first in range(0, len(plan.lists), sessions):
        seen: set[object] = set()
        for one in plan.lists[first : first + sessions]:
            for trial in one.rated:
                for unit in rated_units(trial, is_pair=plan.units.kind == "pair"):
                    if unit in seen:
                        yield unit
                    seen.add(unit)


@pytest.mark.parametrize(
    ("method", "contents", "conditions", "more", "design", "lists", "votes"),
    [
        ("acr", 12, 10, {}, {"votes": 30, "trials": 10}, 360, (30, 30)),
        ("acr", 7, 5, SOME_MISSING, {"votes": 11, "trials": 8}, 44, (11, 11)),
        ("acr", 5, 3, {}, {"votes": 1, "trials": 4}, 4, (1, 2)),
        ("parallel", 20, 8, {}, {"votes": 13, "trials": 5, "per_trial": 3, "contents": "once"}, 140, (13, 14)),
        ("parallel", 4, 5, {}, {"votes": 6, "trials": 2, "per_trial": 3, "always": ("condition0",)}, 24, (6, 12)),
        ("pair", 6, 5, {}, {"votes": 7, "trials": 11, "contents": "free"}, 39, (7, 8)),
        ("acr-hr", 12, 5, REFERENCE, {"votes": 20, "trials": 9}, 160, (20, 40)),
    ],
)
def test_lists_are_as_many_as_the_votes_take_and_no_more(
    method: str,
    contents: int,
    conditions: int,
    more: dict[str, Any],
    design: dict[str, Any],
    lists: int,
    votes: tuple[int, int],
) -> None:
    catalogue = make_catalogue(contents, conditions, **more)
    plan = vote_plan(method, catalogue, **design)
    assert (len(plan.lists), votes_range(plan)) == (lists, votes)
    assert_promises(plan, catalogue)


def test_a_reference_beside_two_that_are_compared_is_no_part_of_their_vote() -> None:
    written = vote_study("pair", votes=3, trials=4).model_dump() | {"method": "abx", "options": {"mode": "closest"}}
    catalogue = make_catalogue(4, 3, roles={2: "reference"})
    plan = make_plan(installed_study_model().model_validate(written), catalogue, find("abx"))
    assert (len(plan.lists), votes_range(plan)) == (3, (3, 3))
    assert {len(voted_stimuli(trial, True)) for planned in plan.lists for trial in planned.trials} == {1}


def test_votes_that_attention_takes_away_are_made_up_for() -> None:
    catalogue = make_catalogue(12, 6)
    design: dict[str, Any] = {"votes": 10, "trials": 6, "per_trial": 4, "contents": "once"}
    without = vote_plan("parallel", catalogue, **design)
    asking = vote_plan("parallel", catalogue, {"attention": {"per_session": 3}}, **design)
    assert (len(without.lists), votes_range(without)) == (30, (10, 10))
    assert 30 < len(asking.lists) <= 45, "an eighth of all ratings, and what is uneven of it"
    assert votes_range(asking)[0] >= 10


@settings(max_examples=40, deadline=None)
@given(
    contents=st.integers(2, 9),
    conditions=st.integers(1, 6),
    trials=st.integers(1, 8),
    sessions=st.integers(1, 6),
    participants=st.integers(1, 12),
    kind=st.sampled_from(["apart", "free", "once"]),
    seed=st.integers(0, 5),
    holes=st.sets(st.tuples(st.integers(0, 8), st.integers(1, 5)), max_size=4),
)
def test_nobody_meets_a_stimulus_twice_in_a_chain(
    contents: int,
    conditions: int,
    trials: int,
    sessions: int,
    participants: int,
    kind: str,
    seed: int,
    holes: set[tuple[int, int]],
) -> None:
    catalogue = make_catalogue(contents, conditions, missing=frozenset(holes))
    study = vote_study(
        "acr",
        participants=participants,
        trials=trials,
        sessions_per_participant=sessions,
        contents=kind,
        seed=seed,
    )
    try:
        plan = make_plan(study, catalogue, ACR)
    except PlanError as error:
        (problem,) = error.problems
        assume("design.trials is" not in problem.what)
        fewer = re.search(r"1?(?: to )?(\d+) with", problem.allowed)
        assert fewer is not None, problem
        sessions = int(fewer[1])
        nearest = study.design.model_copy(update={"sessions_per_participant": sessions})
        plan = make_plan(study.model_copy(update={"design": nearest}), catalogue, ACR)
    assert len(plan.lists) == participants * sessions
    assert not list(met_twice(plan, sessions))
    assert_promises(plan, catalogue)


@pytest.mark.parametrize(
    ("method", "contents", "conditions", "more", "design"),
    [
        ("acr", 12, 10, {}, {"trials": 10, "sessions_per_participant": 12}),
        ("parallel", 7, 8, {}, {"trials": 4, "sessions_per_participant": 3, "per_trial": 4, "contents": "once"}),
        (
            "parallel",
            20,
            4,
            {},
            {"trials": 5, "sessions_per_participant": 4, "per_trial": 3, "always": ("condition0",)},
        ),
        ("pair", 6, 5, {}, {"trials": 10, "sessions_per_participant": 6, "contents": "free"}),
        ("acr-hr", 12, 5, REFERENCE, {"trials": 9, "sessions_per_participant": 3}),
        ("acr", 7, 5, SOME_MISSING, {"trials": 8, "sessions_per_participant": 4}),
    ],
)
@pytest.mark.parametrize("lists", [{"votes": 5}, variant({"participants": 11})])
def test_chains_of_every_kind_keep_what_is_promised(
    method: str, contents: int, conditions: int, more: dict[str, Any], design: dict[str, Any], lists: dict[str, Any]
) -> None:
    catalogue = make_catalogue(contents, conditions, **more)
    plan = vote_plan(method, catalogue, **design, **lists)
    assert not list(met_twice(plan, design["sessions_per_participant"]))
    assert_promises(plan, catalogue)
    assert votes_range(plan)[0] >= lists.get("votes", 0)


MESSAGES = [
    (
        "acr", 6, 4, {}, {"trials": 10, "sessions_per_participant": 4},
        "study.yaml  design.sessions_per_participant is 4, but 4 sessions of 10 trials are 40 trials, there are 24 "
        "stimuli of 6 contents, and nobody may meet the same one twice. Allowed: 1 to 2 with 10 trials, or "
        "design.trials 1 to 6 with 4 sessions.",
    ),
    (
        "acr", 2, 1, {}, {"sessions_per_participant": 5},
        "study.yaml  design.sessions_per_participant is 5, but 5 sessions of 2 trials are 10 trials, there are 2 "
        "stimuli of 2 contents, and nobody may meet the same one twice. Allowed: 1 with 2 trials.",
    ),
    (
        "parallel", 5, 6, {}, {"trials": 5, "per_trial": 3, "sessions_per_participant": 3},
        "study.yaml  design.sessions_per_participant is 3, but 3 sessions of 5 trials are 15 trials, there are 5 "
        "contents, each with stimuli for 2 trials, and nobody may meet the same one twice. Allowed: 1 to 2 with 5 "
        "trials, or design.trials 1 to 3 with 3 sessions.",
    ),
    (
        "pair", 2, 3, {}, {"trials": 4, "sessions_per_participant": 2, "contents": "free"},
        "study.yaml  design.sessions_per_participant is 2, but 2 sessions of 4 trials are 8 trials, there are 6 pairs "
        "of 2 contents, and nobody may meet the same one twice. Allowed: 1 with 4 trials, or design.trials 1 to 3 "
        "with 2 sessions.",
    ),
    (
        "acr-hr", 6, 3, REFERENCE, {"trials": 9, "sessions_per_participant": 3},
        "study.yaml  design.sessions_per_participant is 3, but 3 sessions of 9 trials are 27 trials, there are 6 "
        "contents, each with its reference, and nobody may meet the same one twice. Allowed: 1 to 2 with 9 trials, or "
        "design.trials 6 with 3 sessions.",
    ),
    (
        "acr", 6, 4, {}, {"votes": 100_000, "trials": 10},
        "study.yaml  design.votes is 100000, which takes 240000 lists of 10 trials, more than 100000. Allowed: 1 to "
        "41666. Make design.trials larger.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("method", "contents", "conditions", "more", "design", "told"), MESSAGES)
def test_what_cannot_be_is_told_with_what_can(
    method: str, contents: int, conditions: int, more: dict[str, Any], design: dict[str, Any], told: str
) -> None:
    assert problems_of(vote_study(method, **design), make_catalogue(contents, conditions, **more), find(method)) == told


def test_votes_and_participants_are_told_with_both_lines(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path, tiny, design={"participants": 20, "trials": 3, "votes": 30})
    with pytest.raises(StudyError) as caught:
        load_study(study)
    fix = "Allowed: one of the two. Take one of them out."
    assert [str(problem) for problem in caught.value.problems] == [
        f"study.yaml:15  design.participants is 20, and design.votes is 30. {fix}",
        f"study.yaml:17  design.votes is 30, and design.participants is 20. {fix}",
    ]


def checked(study: Path) -> list[str]:
    result = CliRunner().invoke(cli, ["check", str(study)])
    assert result.exit_code == 0, result.output
    return result.output.splitlines()


def test_check_tells_lists_and_votes(tmp_path: Path, tiny: Path) -> None:
    rated = {"method": "acr", "questions": [{"id": "quality", "text": "How good is it?"}]}
    study = write_study(tmp_path, tiny, **rated, design={"votes": 5, "trials": 6})
    assert "14 lists of 6 trials give each stimulus 5 to 6 ratings." in checked(study)
    often = {"participants": 5, "trials": 4, "sessions_per_participant": 4}
    study = write_study(tmp_path / "often", tiny, **rated, design=often)
    assert "20 lists of 4 trials give each stimulus 5 ratings." in checked(study)
    assert "With 4 sessions each that takes 5 participants; more where some take fewer." in checked(study)
    planned = CliRunner().invoke(cli, ["plan", str(study)]).output
    assert planned.startswith("20 lists, 4 for each of 5 participants; seed 1.\n")
    assert load_study(study).checks.rule("quota").sessions == 4, "what a person may take counts"  # type: ignore[union-attr]
    pairs = {"method": "pair", "questions": [{"id": "preference", "text": "Which one?"}]}
    study = write_study(tmp_path / "pairs", tiny, **pairs, design={"votes": 2, "trials": 6})
    assert "8 lists of 6 trials give each pair 2 ratings." in checked(study)
    assert not [line for line in checked(study) if "pairs of conditions" in line], "all are compared"
    few = {"participants": 4, "trials": 4, "pairs": {"sparse": 2}}
    assert "4 of 6 pairs of conditions are compared." in checked(
        write_study(tmp_path / "sparse", tiny, **pairs, design=few)
    )


def test_check_warns_of_a_long_session_and_says_how_many_trials_fit(tmp_path: Path, tiny: Path) -> None:
    items = [{"id": f"q{n}", "text": "How good is it?", "scale": "acr5"} for n in range(30)]
    study = write_study(tmp_path, tiny, method="acr", questions=items, design={"trials": 12, "participants": 4})
    warnings = [line for line in checked(study) if line.startswith("Warning")]
    assert warnings == [
        "Warning: study.yaml:103  design.trials is 12, and a session takes about 25 minutes. Allowed: up to 7 for a "
        "session under 15 minutes. With design.sessions_per_participant people can come again."
    ]
    asked = [{"id": f"q{n}", "text": "How old are you?", "type": "number"} for n in range(110)]
    study = write_study(tmp_path / "asked", tiny, design={"trials": 2, "participants": 4}, after=asked)
    assert [line for line in checked(study) if line.startswith("Warning")] == [
        "Warning: study.yaml:15  design.trials is 2, and a session takes about 18 minutes, 17 of them without any "
        "trial. Shorten what comes before and after the trials."
    ]
