"""What is told before anything is sent to Prolific: every message with its exact text."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.errors import Problem, RecruitError
from beholder.recruiting.contract import BonusRow, PlatformRefused
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.prolific.draft import DraftContext, draft_body, draft_problems
from beholder.recruiting.prolific.filters import COUNTRIES, Audience, filters_of
from beholder.recruiting.prolific.money import completion_codes
from beholder.study.model import Study
from beholder.study.recruitment import Sum
from support.prolific_rehearsal import JOB, RECRUIT, prolific, study_in

KNOWN: list[dict[str, Any]] = [
    {"filter_id": "current-country-of-residence", "type": "select",
     "choices": {"0": "United Kingdom", "1": "United States", "45": "Germany", "60": "Côte d'Ivoire"}},
    {"filter_id": "fluent-languages", "type": "select", "choices": {str(n): f"Language {n}" for n in range(40)}},
    {"filter_id": "age", "type": "range", "min": 18, "max": 100},
    {"filter_id": "approval_rate", "type": "range", "min": 1, "max": 100},
    {"filter_id": "handedness", "type": "select", "choices": {"0": "Left", "1": "Right"}},
]  # fmt: skip


async def told(folder: Path, fake: FakeProlific | None = None, **keys: Any) -> list[str]:
    """Return what drafting a study tells, and that nothing was put up."""
    fake = fake or FakeProlific()
    async with prolific(study_in(folder, **keys), fake) as recruiter:
        with pytest.raises(RecruitError) as error:
            await recruiter.draft(JOB)
    assert not fake.studies.all
    return str(error.value).splitlines()


def filter_messages(folder: Path, filters: dict[str, Any]) -> list[str]:
    with pytest.raises(RecruitError) as error:
        filters_of(study_in(folder, recruit=RECRUIT | {"filters": filters}), KNOWN, Audience())
    return str(error.value).splitlines()


def test_names_that_prolific_does_not_know_are_told_all_at_once(tmp_path: Path) -> None:
    filters = {
        "countries": ["germny", "XX", "de"],
        "languages": ["Klingon", "Languge 7"],
        "approval_rate": [0, 99],
        "approved_submissions": 20,
        "more": {"handednes": ["Left"], "age": ["young"], "handedness": ["Both"]},
    }
    where = "study.yaml:"
    assert [line.removeprefix(where).split("  ", 1)[1] for line in filter_messages(tmp_path, filters)] == [
        "recruit.filters.countries.0 is germny, which Prolific does not offer. Allowed: United Kingdom, United States, "
        "Germany, Côte d'Ivoire. Did you mean Germany?",
        "recruit.filters.countries.1 is XX, which Prolific does not offer. Allowed: United Kingdom, United States, "
        "Germany, Côte d'Ivoire. Write it as Prolific does, in English.",
        "recruit.filters.languages.0 is Klingon, which Prolific does not offer. Write it as Prolific does, in English.",
        "recruit.filters.languages.1 is Languge 7, which Prolific does not offer. Did you mean Language 7?",
        "recruit.filters.approval_rate is 0, beyond what Prolific knows. Allowed: 1 to 100.",
        "recruit.filters.approved_submissions needs the filter approval_numbers, which Prolific does not have. "
        "Allowed: approval_rate. Take it out, or use another in more.",
        "recruit.filters.more.handednes needs the filter handednes, which Prolific does not have. Allowed: handedness. "
        "Take it out, or use another in more.",
        "recruit.filters.more.age does not fit the filter age. Allowed: a range such as [1, 10].",
        "recruit.filters.more.handedness.0 is Both, which Prolific does not offer. Allowed: Left, Right. Write it as "
        "Prolific does, in English.",
    ]


def test_names_are_understood_however_they_are_written(tmp_path: Path) -> None:
    filters = {
        "countries": ["DE", "uk", "UNITED states", "1", "GB"],
        "approval_rate": 95,
        "more": {"handedness": ["left"], "age": [20, 30.5]},
    }
    study = study_in(tmp_path, recruit=RECRUIT | {"filters": filters})
    assert filters_of(study, KNOWN, Audience()) == [
        {"filter_id": "current-country-of-residence", "selected_values": ["45", "0", "1"]},
        {"filter_id": "approval_rate", "selected_range": {"lower": 95, "upper": 100}},
        {"filter_id": "handedness", "selected_values": ["0"]},
        {"filter_id": "age", "selected_range": {"lower": 20, "upper": 30.5}},
    ]


def test_two_letters_are_a_country_each() -> None:
    assert len(COUNTRIES) > 190
    assert all(len(letters) == 2 and letters.isupper() for letters in COUNTRIES)
    assert COUNTRIES["NO"] == "Norway"


async def test_groups_that_are_not_there_are_told_with_those_that_are(tmp_path: Path) -> None:
    fake = FakeProlific()
    async with prolific(study_in(tmp_path / "first", family="panel-a"), fake) as recruiter:
        await recruiter.exclude(["5f0f0f0f0f0f0f0f0f0f0f0f"])
    lines = await told(tmp_path / "second", fake, recruit=RECRUIT | {"groups": ["beholder panel-b", "01"]})
    assert [line.split("  ", 1)[1] for line in lines] == [
        "recruit.groups.0 is beholder panel-b, and the workspace on Prolific has no such group. Allowed: beholder "
        "panel-a. Did you mean beholder panel-a?",
        "recruit.groups.1 is 01, and the workspace on Prolific has no such group. Allowed: beholder panel-a.",
    ]
    async with prolific(
        study_in(tmp_path / "third", recruit=RECRUIT | {"block_groups": ["beholder panel-a"]}), fake
    ) as recruiter:
        posting = await recruiter.draft(JOB)
    assert fake.studies.find(posting.id).body["filters"] == [
        {"filter_id": "participant_group_blocklist", "selected_values": list(fake.groups.all)}
    ]


async def test_a_project_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    fake = FakeProlific()
    (line,) = await told(tmp_path, fake, recruit=RECRUIT | {"project": "mine"})
    assert line.split("  ", 1)[1] == (
        f"recruit.project is mine, which this token does not reach. Allowed: {fake.project} (Rehearsal). Write the id "
        "of one of them."
    )


async def test_a_currency_that_the_workspace_does_not_have_is_told(tmp_path: Path) -> None:
    lines = await told(tmp_path, FakeProlific(currency="USD"), budget="100 GBP")
    assert [line.split("  ", 1)[1] for line in lines] == [
        "recruit.reward is 2.00 GBP, and the workspace on Prolific pays in USD. Allowed: USD.",
        "budget is 100 GBP, and the workspace on Prolific pays in USD. Allowed: USD.",
    ]


async def test_a_draft_without_a_reward_is_told(tmp_path: Path) -> None:
    async with prolific(study_in(tmp_path), FakeProlific()) as recruiter:
        with pytest.raises(RecruitError) as error:
            await recruiter.quote(replace(JOB, reward=Sum(0, "GBP")))
    assert str(error.value).split("  ", 1)[1] == (
        "recruit.reward is left out, and on Prolific everybody is paid. Allowed: such as 2.00 GBP."
    )


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A draft that is fine."""
    codes = completion_codes(
        {"completed": "AAAA", "screened_out": "BBBB", "no_consent": "CCCC"},
        places=10,
        screen_out=Sum(30, "GBP"),
        group=None,
    )
    return draft_body(study_in(tmp_path_factory.mktemp("rules")), JOB, DraftContext("project", codes))


def test_a_draft_that_is_fine_has_no_problems(body: dict[str, Any]) -> None:
    assert draft_problems(body) == []


def test_everything_that_prolific_asks_in_prose_is_told_at_once(body: dict[str, Any]) -> None:
    wrong = deepcopy(body)
    wrong |= {"name": " ", "description": "", "reward": 30, "total_available_places": 0, "maximum_allowed_time": 28}
    wrong["external_study_url"] = "http://lab.example.org/s/walk?PROLIFIC_PID={{%PROLIFIC_PID%}}"
    done, out, _ = wrong["completion_codes"]
    done["actions"].append({"action": "AUTOMATICALLY_APPROVE"})
    wrong["completion_codes"] = [{**done, "code_type": "OTHER"}, out, {**out, "code_type": "OTHER"}]
    assert [str(problem) for problem in draft_problems(wrong)] == [
        "Prolific name  is empty. Allowed: a text that people read before they begin.",
        "Prolific description  is empty. Allowed: a text that people read before they begin.",
        "Prolific total_available_places  is 0. Allowed: a whole number, 1 or more.",
        "Prolific maximum_allowed_time  is 28 minutes for an estimate of 10. Allowed: 29 to 1439 minutes. Write "
        "recruit: {time_limit: 29 min} or longer, or leave it out.",
        "Prolific external_study_url  is http://lab.example.org/s/walk?PROLIFIC_PID={{%PROLIFIC_PID%}}. Allowed: "
        "https://. Serve the study over https and name it by --public-url.",
        "Prolific external_study_url  is without {{%STUDY_ID%}}, {{%SESSION_ID%}}. Allowed: {{%PROLIFIC_PID%}}, "
        "{{%STUDY_ID%}}, {{%SESSION_ID%}}.",
        "Prolific completion_codes  have none for those who completed. Allowed: one at least.",
        "Prolific completion_codes  have BBBB 2 times. Allowed: every code once.",
        "Prolific completion_codes  approve OTHER by themselves and by hand. Allowed: one of the two for a code.",
        "Prolific completion_codes  pay for 2 kinds of screen-out. Allowed: one at most.",
        "Prolific completion_codes  pay 30 to those who did not fit, and 30 to those who did. Allowed: 1 to 29. Write "
        "a smaller recruit: {screen_out: ..}.",
        "Prolific completion_codes  pay 30 to those who did not fit, and 30 to those who did. Allowed: 1 to 29. Write "
        "a smaller recruit: {screen_out: ..}.",
    ]


def test_a_rehearsal_may_be_on_this_machine(body: dict[str, Any]) -> None:
    here = body | {"external_study_url": body["external_study_url"].replace("https://lab.example.org", "http://[::1]")}
    assert len(draft_problems(here)) == 1
    assert draft_problems(here, is_any_address=True) == []


REFUSED = {
    "no rows": ([], "these bonuses have 0 rows, where 1 to 200 are taken at once"),
    "a row twice": (
        [BonusRow("a", Sum(5, "GBP"))] * 2,
        "these bonuses have a submission twice, and nobody could tell its two amounts apart afterwards",
    ),
    "nothing, in another currency": (
        [BonusRow("a", Sum(0, "GBP")), BonusRow("b", Sum(5, "USD"))],
        "these bonuses have an amount of nothing or less; amounts in USD, where the workspace pays in GBP",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
async def test_bonuses_that_nobody_could_settle_are_not_set_up(what: str, tmp_path: Path) -> None:
    rows, words = REFUSED[what]
    fake = FakeProlific()
    async with prolific(study_in(tmp_path), fake) as recruiter:
        with pytest.raises(PlatformRefused) as error:
            await recruiter.setup_bonus("study", rows)
    assert str(error.value) == words
    assert not any("bonus" in request for request in fake.requests)


async def test_a_rejection_that_says_too_little_is_not_sent(tmp_path: Path) -> None:
    fake = FakeProlific()
    async with prolific(study_in(tmp_path), fake) as recruiter:
        with pytest.raises(PlatformRefused) as error:
            await recruiter.reject("one", "OTHER", " too short ")
        assert str(error.value) == (
            "the message of a rejection has 9 characters, and Prolific asks for 100: say what was asked for and what "
            "was done instead"
        )
        with pytest.raises(PlatformRefused, match="BAD is no category of a rejection: TOO_QUICKLY, "):
            await recruiter.reject("one", "BAD", "x" * 120)  # type: ignore[arg-type]
    assert not fake.requests


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return study_in(tmp_path_factory.mktemp("plain"))


@settings(max_examples=30)
@given(names=st.lists(st.text(min_size=1).filter(str.strip), max_size=5))
def test_any_names_are_found_or_told(plain: Study, names: list[str]) -> None:
    filters = plain.recruit.filters.model_copy(update={"languages": tuple(names)})
    study = plain.model_copy(update={"recruit": plain.recruit.model_copy(update={"filters": filters})})
    found: list[Any] = []
    problems: tuple[Problem, ...] = ()
    try:
        found = filters_of(study, KNOWN, Audience())
    except RecruitError as error:
        problems = error.problems
    assert len(found) == (bool(names) and not problems)
    assert len(problems) <= len(names)
