"""Who may see a study on Prolific: names of filters, groups, earlier studies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.errors import Problem, RecruitError
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.fake.http import Refusal
from beholder.recruiting.prolific.filters import COUNTRIES, Audience, filters_of
from beholder.store.contract import LedgerEntry
from beholder.store.open import open_store
from beholder.study.model import Study
from beholder.testing.stores.facts import NOON
from support.prolific_problems import launch_problems
from support.prolific_rehearsal import JOB, RECRUIT, prolific, study_in

KNOWN: list[dict[str, Any]] = [
    {"filter_id": "current-country-of-residence", "type": "select",
     "choices": {"0": "United Kingdom", "1": "United States", "45": "Germany", "60": "Côte d'Ivoire"}},
    {"filter_id": "fluent-languages", "type": "select", "choices": {str(n): f"Language {n}" for n in range(40)}},
    {"filter_id": "age", "type": "range", "min": 18, "max": 100},
    {"filter_id": "approval_rate", "type": "range", "min": 1, "max": 100},
    {"filter_id": "handedness", "type": "select", "choices": {"0": "Left", "1": "Right"}},
]  # fmt: skip


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
    lines = await launch_problems(tmp_path / "second", fake, recruit=RECRUIT | {"groups": ["beholder panel-b", "01"]})
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


async def test_people_of_earlier_studies_are_kept_out(tmp_path: Path) -> None:
    fake = FakeProlific()
    earlier = study_in(tmp_path / "earlier")
    async with prolific(earlier, fake) as recruiter:
        first = await recruiter.publish((await recruiter.draft(replace(JOB, key="earlier-1-0000"))).id)
        person = fake.people.take(first.id).start().finish().submission.person
    async with open_store(earlier.folder / "store") as store:
        drafted = [LedgerEntry("draft", "done", NOON, provider_ref=ref) for ref in (first.id, "walk/1")]
        await store.ledger.append([*drafted, LedgerEntry("publish", "done", NOON, provider_ref="f" * 24)])
    (tmp_path / "nobody").mkdir()
    study = study_in(tmp_path / "study", recruit=RECRUIT | {"exclude": ["../earlier", "../nobody"]})
    async with prolific(study, fake) as recruiter:
        posting = await recruiter.publish((await recruiter.draft(JOB)).id)
    assert fake.studies.find(posting.id).body["filters"] == [
        {"filter_id": "previous_studies_blocklist", "selected_values": [first.id]}
    ]
    with pytest.raises(Refusal, match="not for this participant"):
        fake.people.take(posting.id, person)
