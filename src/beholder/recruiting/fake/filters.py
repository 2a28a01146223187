"""Filters of the fake platform: the catalogue, validation, and whom a filter admits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from beholder.recruiting.fake.http import Refusal
from beholder.recruiting.fake.state import FakePerson

if TYPE_CHECKING:
    pass


_COUNTRIES = {
    "0": "United Kingdom",
    "1": "United States",
    "7": "Austria",
    "21": "Canada",
    "45": "Germany",
    "83": "Ireland",
    "61": "France",
    "85": "Italy",
    "110": "Mexico",
    "140": "Poland",
    "160": "South Africa",
    "166": "Spain",
}
_LANGUAGES = {
    "19": "English", "23": "French", "26": "German", "58": "Spanish", "33": "Italian", "48": "Polish",
}  # fmt: skip
_SPOKEN = {"7": "26", "21": "23", "45": "26", "61": "23", "85": "33", "110": "58", "140": "48", "166": "58"}
"""The language that people of a country speak beside English, where there is one."""
_AGES = (19, 24, 30, 38, 47, 58, 66, 74)
_BLOCKED_GROUPS, _ALLOWED_GROUPS = "participant_group_blocklist", "participant_group_allowlist"
BLOCKED_STUDIES, _ALLOWED_STUDIES = "previous_studies_blocklist", "previous_studies_allowlist"
_BLOCKED_PEOPLE, _ALLOWED_PEOPLE = "custom_blocklist", "custom_allowlist"
_RANGES = {
    "age": ("Age", 18, 100),
    "approval_rate": ("Approval rate", 0, 100),
    "approval_numbers": ("Number of previous submissions", 0, 10000),
}
_CHOICES = {
    "current-country-of-residence": ("Current Country of Residence", _COUNTRIES),
    "fluent-languages": ("Fluent languages", _LANGUAGES),
}
_LISTS = {
    _BLOCKED_GROUPS: ("Participant group blocklist", "ParticipantGroupID"),
    _ALLOWED_GROUPS: ("Participant group allowlist", "ParticipantGroupID"),
    BLOCKED_STUDIES: ("Exclude participants from previous studies", "StudyID"),
    _ALLOWED_STUDIES: ("Include participants from previous studies", "StudyID"),
    _BLOCKED_PEOPLE: ("Custom blocklist", "ParticipantID"),
    _ALLOWED_PEOPLE: ("Custom allowlist", "ParticipantID"),
}
USUAL_ANSWERS: Mapping[str, Any] = {
    "age": 30, "approval_rate": 100, "approval_numbers": 250,
    "current-country-of-residence": "0", "fluent-languages": ("19",),
}  # fmt: skip
"""Profile answers of a person who has no others."""

PROFILES: Sequence[Mapping[str, Any]] = tuple(
    {
        "age": age,
        "current-country-of-residence": country,
        "fluent-languages": tuple(dict.fromkeys(("19", _SPOKEN.get(country, "19")))),
    }
    for age in _AGES
    for country in _COUNTRIES
)
"""Profile answers of the people of a rehearsal, who come from every country, one after the other."""

Memberships = Mapping[str, Mapping[str, set[str]]]
"""Members by kind of id (`ParticipantGroupID`, `StudyID`) and id."""


def catalogue() -> list[dict[str, Any]]:
    """Return every filter as the API lists it."""
    return [
        *(
            _filter_json(id_, title, "range", data_type="integer", min=low, max=high)
            for id_, (title, low, high) in _RANGES.items()
        ),
        *(
            _filter_json(id_, title, "select", data_type="ChoiceID", choices=dict(names))
            for id_, (title, names) in _CHOICES.items()
        ),
        *(_filter_json(id_, title, "select", data_type=kind, choices={}) for id_, (title, kind) in _LISTS.items()),
    ]


def _filter_json(id_: str, title: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"filter_id": id_, "title": title, "description": "", "type": kind, "question": title, **more}


def check_filters(filters: Sequence[Mapping[str, Any]], memberships: Memberships) -> list[str]:
    """Return problems of filters: unknown ids, unknown choices, ranges without numbers."""
    problems = []
    for one in filters:
        id_ = one["filter_id"]
        if id_ in ("and", "or"):
            problems += check_filters(one["selected_filters"], memberships)
        elif id_ in _RANGES:
            bounds = (one.get("selected_range") or {}).values()
            if not bounds or any(isinstance(bound, str) for bound in bounds):
                problems.append(f"Filter {id_} needs a selected_range of numbers.")
        elif id_ in _CHOICES:
            wrong = [value for value in one.get("selected_values", []) if value not in _CHOICES[id_][1]]
            if wrong or not one.get("selected_values"):
                problems.append(f"Filter {id_} has no choices {wrong}.")
        elif id_ in _LISTS:
            known = memberships.get(_LISTS[id_][1])
            wrong = [value for value in one.get("selected_values", []) if known is not None and value not in known]
            if wrong:
                problems.append(f"Filter {id_} names ids that do not exist: {wrong}.")
        else:
            problems.append(f"There is no filter {id_}.")
    return problems


def lets_in(filters: Sequence[Mapping[str, Any]], person: FakePerson, memberships: Memberships) -> bool:
    """Return whether all filters admit a person."""
    return all(_admits(one, person, memberships) for one in filters)


def _admits(one: Mapping[str, Any], person: FakePerson, memberships: Memberships) -> bool:
    id_ = one["filter_id"]
    if id_ in ("and", "or"):
        results = [_admits(inner, person, memberships) for inner in one["selected_filters"]]
        return all(results) if id_ == "and" else any(results)
    if id_ in _RANGES:
        value, chosen = _answer(person, id_), one["selected_range"]
        return bool(chosen.get("lower", value) <= value <= chosen.get("upper", value))
    values = one["selected_values"]
    if id_ in _CHOICES:
        answer = _answer(person, id_)
        return bool(set((answer,) if isinstance(answer, str) else answer) & set(values))
    kind = _LISTS[id_][1]
    listed = (
        set(values) if kind == "ParticipantID" else set().union(*(memberships[kind].get(one, ()) for one in values))
    )
    return bool((person.id in listed) != id_.endswith("blocklist"))


def _answer(person: FakePerson, id_: str) -> Any:
    return person.about.get(id_, USUAL_ANSWERS[id_])


def count_eligible(filters: Sequence[Mapping[str, Any]], people: Sequence[FakePerson], memberships: Memberships) -> int:
    """Return how many people filters admit; the API says 0 for fewer than 25."""
    problems = check_filters(filters, memberships)
    if problems:
        raise Refusal({"filters": problems})
    eligible = sum(lets_in(filters, person, memberships) for person in people)
    return eligible if eligible >= 25 else 0
