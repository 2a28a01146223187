"""Whom Prolific shows a study to: the study's plain names, looked up among the filters that Prolific has now."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from beholder.errors import Problem, RecruitError
from beholder.recruit.prolific.countries import COUNTRIES
from beholder.study.model import Study

_COUNTRIES, _LANGUAGES, _AGE = "current-country-of-residence", "fluent-languages", "age"
_APPROVAL_RATE, _APPROVED = "approval_rate", "approval_numbers"
_ONLY_GROUPS, _NO_GROUPS, _NO_STUDIES = (
    "participant_group_allowlist", "participant_group_blocklist", "previous_studies_blocklist",
)  # fmt: skip
_MANY = 12
"""More choices than these are not written out."""


@dataclass(frozen=True)
class Audience:
    """What the study asks for that is not by names of its own: groups and studies by their ids."""

    groups: Sequence[str] = ()
    block_groups: Sequence[str] = ()
    block_studies: Sequence[str] = ()


@dataclass
class _Found:
    """Filters as they are sent, and what could not be found."""

    study: Study
    known: Mapping[str, Mapping[str, Any]]
    filters: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def select(self, key: str, id: str, wanted: Sequence[str]) -> None:
        """Add a filter by the labels, or the ids, of its choices."""
        filter = self._filter(key, id, "select")
        if filter is None:
            return
        choices = {str(choice): str(label) for choice, label in (filter.get("choices") or {}).items()}
        by_name = {_plain(label): choice for choice, label in choices.items()}
        values = []
        for place, name in enumerate(wanted):
            called = COUNTRIES.get(name.upper(), name) if id == _COUNTRIES and len(name) == 2 else name
            value = by_name.get(_plain(called)) or (name if name in choices else None)
            if value is None:
                self.problems.append(_unknown(self.study, f"{key}.{place}", name, called, list(choices.values())))
            elif value not in values:
                values.append(value)
        self.filters.append({"filter_id": id, "selected_values": values})

    def range(self, key: str, id: str, lower: float | None, upper: float | None) -> None:
        """Add a filter by its least and greatest value, one of which may be the platform's own."""
        filter = self._filter(key, id, "range")
        if filter is None:
            return
        least, most = filter.get("min"), filter.get("max")
        lower, upper = (least if lower is None else lower), (most if upper is None else upper)
        for bound in (lower, upper):
            if isinstance(bound, int | float) and (_beyond(least, bound) or _beyond(bound, most)):
                self.problems.append(
                    self.study.problem(key, f"is {bound:g}, beyond what Prolific knows", f"{least} to {most}")
                )
        chosen = {"lower": _whole(lower), "upper": _whole(upper)}
        ends = {end: value for end, value in chosen.items() if value is not None}
        self.filters.append({"filter_id": id, "selected_range": ends})

    def ids(self, key: str, id: str, values: Sequence[str]) -> None:
        """Add a filter whose values are ids that were looked up already."""
        if values and self._filter(key, id, "select") is not None:
            self.filters.append({"filter_id": id, "selected_values": list(dict.fromkeys(values))})

    def _filter(self, key: str, id: str, kind: str) -> Mapping[str, Any] | None:
        filter = self.known.get(id)
        if filter is None:
            near = difflib.get_close_matches(id, list(self.known), n=3, cutoff=0.4)
            what = f"needs the filter {id}, which Prolific does not have"
            self.problems.append(self.study.problem(key, what, ", ".join(near), "Take it out, or use another in more."))
            return None
        if filter.get("type") != kind:
            wanted = "a list of values" if filter.get("type") == "select" else "a range such as [1, 10]"
            self.problems.append(self.study.problem(key, f"does not fit the filter {id}", wanted))
            return None
        return filter


def filters_of(study: Study, known: Sequence[Mapping[str, Any]], audience: Audience) -> list[dict[str, Any]]:
    """Return the filters of a study as Prolific takes them; every name that it does not know raises RecruitError."""
    by_id = {str(filter["filter_id"]): filter for filter in known}
    found, written = _Found(study, by_id), study.recruit.filters
    if written.countries:
        found.select("recruit.filters.countries", _COUNTRIES, written.countries)
    if written.languages:
        found.select("recruit.filters.languages", _LANGUAGES, written.languages)
    if written.age is not None:
        found.range("recruit.filters.age", _AGE, *written.age)
    for key, id, value in (
        ("recruit.filters.approval_rate", _APPROVAL_RATE, written.approval_rate),
        ("recruit.filters.approved_submissions", _APPROVED, written.approved_submissions),
    ):
        if value is not None:
            found.range(key, id, *(value if isinstance(value, tuple) else (value, None)))
    for id, values in written.more.items():
        _more(found, f"recruit.filters.more.{id}", id, values)
    found.ids("recruit.groups", _ONLY_GROUPS, audience.groups)
    found.ids("recruit.block_groups", _NO_GROUPS, audience.block_groups)
    found.ids("recruit.block_studies", _NO_STUDIES, audience.block_studies)
    if found.problems:
        raise RecruitError(found.problems)
    return found.filters


def _more(found: _Found, key: str, id: str, values: Sequence[str] | Sequence[float]) -> None:
    kind = str(found.known.get(id, {}).get("type", "select"))
    numbers = [float(value) for value in values if not isinstance(value, str) or _is_number(value)]
    if kind == "range" and len(numbers) == len(values) == 2:
        found.range(key, id, numbers[0], numbers[1])
    elif kind == "range":
        found.problems.append(found.study.problem(key, f"does not fit the filter {id}", "a range such as [1, 10]"))
    else:
        found.select(key, id, [value if isinstance(value, str) else f"{value:g}" for value in values])


def _unknown(study: Study, key: str, written: str, called: str, labels: Sequence[str]) -> Problem:
    what = f"is {written}, which Prolific does not offer"
    by_name = {_plain(label): label for label in labels}
    near = difflib.get_close_matches(_plain(called), list(by_name), n=1, cutoff=0.6)
    fix = f"Did you mean {by_name[near[0]]}?" if near else "Write it as Prolific does, in English."
    return study.problem(key, what, ", ".join(labels) if len(labels) <= _MANY else "", fix)


def _plain(name: str) -> str:
    """Return a name as it is compared: small letters, no marks."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _beyond(one: Any, other: Any) -> bool:
    return isinstance(one, int | float) and isinstance(other, int | float) and one > other


def _whole(value: float | None) -> float | None:
    """Return a number as Prolific wants it: whole where it is whole."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
