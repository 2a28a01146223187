"""Who may see a study on Prolific: filters, participant groups, and participants of earlier studies.

The study uses plain names; they are looked up in the filters that Prolific offers now.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from beholder.errors import Problem, RecruitError, did_you_mean
from beholder.recruiting.launch_record import postings_of, published_postings, runs_of
from beholder.recruiting.prolific.client import ProlificClient
from beholder.store.contract import Store
from beholder.store.open import open_store
from beholder.study.model import Study

_COUNTRIES, _LANGUAGES, _AGE = "current-country-of-residence", "fluent-languages", "age"
_APPROVAL_RATE, _APPROVED = "approval_rate", "approval_numbers"
_ONLY_GROUPS, _NO_GROUPS, _NO_STUDIES = (
    "participant_group_allowlist", "participant_group_blocklist", "previous_studies_blocklist",
)  # fmt: skip
_MANY = 12
"""Longer lists of choices are not written out in a problem."""


@dataclass(frozen=True)
class Audience:
    """Groups and studies that limit who may take part, by their ids on Prolific."""

    groups: Sequence[str] = ()
    block_groups: Sequence[str] = ()
    block_studies: Sequence[str] = ()


@dataclass
class _FilterSelection:
    """The filters to send, and problems with names that Prolific does not know."""

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
        by_name = {_normalise(label): choice for choice, label in choices.items()}
        values = []
        for place, name in enumerate(wanted):
            full_name = COUNTRIES.get(name.upper(), name) if id == _COUNTRIES and len(name) == 2 else name
            value = by_name.get(_normalise(full_name)) or (name if name in choices else None)
            if value is None:
                self.problems.append(
                    _unknown_value(self.study, f"{key}.{place}", name, full_name, list(choices.values()))
                )
            elif value not in values:
                values.append(value)
        self.filters.append({"filter_id": id, "selected_values": values})

    def range(self, key: str, id: str, lower: float | None, upper: float | None) -> None:
        """Add a filter by its least and greatest value; None stands for the platform's own limit."""
        filter = self._filter(key, id, "range")
        if filter is None:
            return
        least, most = filter.get("min"), filter.get("max")
        lower, upper = (least if lower is None else lower), (most if upper is None else upper)
        for bound in (lower, upper):
            if isinstance(bound, int | float) and (_exceeds(least, bound) or _exceeds(bound, most)):
                self.problems.append(
                    self.study.problem(key, f"is {bound:g}, beyond what Prolific knows", f"{least} to {most}")
                )
        chosen = {"lower": _whole(lower), "upper": _whole(upper)}
        ends = {end: value for end, value in chosen.items() if value is not None}
        self.filters.append({"filter_id": id, "selected_range": ends})

    def ids(self, key: str, id: str, values: Sequence[str]) -> None:
        """Add a filter whose values are ids."""
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
    """Return the filters of a study as Prolific expects them; raise RecruitError with every unknown name."""
    by_id = {str(filter["filter_id"]): filter for filter in known}
    selection, written = _FilterSelection(study, by_id), study.recruit.filters
    if written.countries:
        selection.select("recruit.filters.countries", _COUNTRIES, written.countries)
    if written.languages:
        selection.select("recruit.filters.languages", _LANGUAGES, written.languages)
    if written.age is not None:
        selection.range("recruit.filters.age", _AGE, *written.age)
    for key, id, value in (
        ("recruit.filters.approval_rate", _APPROVAL_RATE, written.approval_rate),
        ("recruit.filters.approved_submissions", _APPROVED, written.approved_submissions),
    ):
        if value is not None:
            selection.range(key, id, *(value if isinstance(value, tuple) else (value, None)))
    for id, values in written.more.items():
        _add_filter(selection, f"recruit.filters.more.{id}", id, values)
    selection.ids("recruit.groups", _ONLY_GROUPS, audience.groups)
    selection.ids("recruit.block_groups", _NO_GROUPS, audience.block_groups)
    selection.ids("recruit.block_studies", _NO_STUDIES, audience.block_studies)
    if selection.problems:
        raise RecruitError(selection.problems)
    return selection.filters


def _add_filter(selection: _FilterSelection, key: str, id: str, values: Sequence[str] | Sequence[float]) -> None:
    kind = str(selection.known.get(id, {}).get("type", "select"))
    numbers = [float(value) for value in values if not isinstance(value, str) or _is_number(value)]
    if kind == "range" and len(numbers) == len(values) == 2:
        selection.range(key, id, numbers[0], numbers[1])
    elif kind == "range":
        selection.problems.append(
            selection.study.problem(key, f"does not fit the filter {id}", "a range such as [1, 10]")
        )
    else:
        selection.select(key, id, [value if isinstance(value, str) else f"{value:g}" for value in values])


def _unknown_value(study: Study, key: str, written: str, full_name: str, labels: Sequence[str]) -> Problem:
    what = f"is {written}, which Prolific does not offer"
    by_name = {_normalise(label): label for label in labels}
    near = difflib.get_close_matches(_normalise(full_name), list(by_name), n=1, cutoff=0.6)
    fix = f"Did you mean {by_name[near[0]]}?" if near else "Write it as Prolific does, in English."
    return study.problem(key, what, ", ".join(labels) if len(labels) <= _MANY else "", fix)


def _normalise(name: str) -> str:
    """Return a name in the form in which names are compared: lower case, letters and digits only."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _exceeds(one: Any, other: Any) -> bool:
    return isinstance(one, int | float) and isinstance(other, int | float) and one > other


def _whole(value: float | None) -> float | None:
    """Return a number as Prolific expects it: an integer where it is whole."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# Countries by their two letters (ISO 3166-1), so that a study may say `DE` for Germany


_COUNTRY_TABLE = """
AD Andorra|AE United Arab Emirates|AF Afghanistan|AG Antigua and Barbuda|AL Albania|AM Armenia|AO Angola|AR Argentina
AT Austria|AU Australia|AZ Azerbaijan|BA Bosnia and Herzegovina|BB Barbados|BD Bangladesh|BE Belgium|BF Burkina Faso
BG Bulgaria|BH Bahrain|BI Burundi|BJ Benin|BN Brunei|BO Bolivia|BR Brazil|BS Bahamas|BT Bhutan|BW Botswana|BY Belarus
BZ Belize|CA Canada|CD Democratic Republic of the Congo|CF Central African Republic|CG Congo|CH Switzerland
CI Ivory Coast|CL Chile|CM Cameroon|CN China|CO Colombia|CR Costa Rica|CU Cuba|CV Cape Verde|CY Cyprus
CZ Czech Republic|DE Germany|DJ Djibouti|DK Denmark|DM Dominica|DO Dominican Republic|DZ Algeria|EC Ecuador|EE Estonia
EG Egypt|ER Eritrea|ES Spain|ET Ethiopia|FI Finland|FJ Fiji|FM Micronesia|FR France|GA Gabon|GB United Kingdom
GD Grenada|GE Georgia|GH Ghana|GM Gambia|GN Guinea|GQ Equatorial Guinea|GR Greece|GT Guatemala|GW Guinea-Bissau
GY Guyana|HK Hong Kong|HN Honduras|HR Croatia|HT Haiti|HU Hungary|ID Indonesia|IE Ireland|IL Israel|IN India|IQ Iraq
IR Iran|IS Iceland|IT Italy|JM Jamaica|JO Jordan|JP Japan|KE Kenya|KG Kyrgyzstan|KH Cambodia|KI Kiribati|KM Comoros
KN Saint Kitts and Nevis|KP North Korea|KR South Korea|KW Kuwait|KZ Kazakhstan|LA Laos|LB Lebanon|LC Saint Lucia
LI Liechtenstein|LK Sri Lanka|LR Liberia|LS Lesotho|LT Lithuania|LU Luxembourg|LV Latvia|LY Libya|MA Morocco|MC Monaco
MD Moldova|ME Montenegro|MG Madagascar|MH Marshall Islands|MK North Macedonia|ML Mali|MM Myanmar|MN Mongolia|MO Macao
MR Mauritania|MT Malta|MU Mauritius|MV Maldives|MW Malawi|MX Mexico|MY Malaysia|MZ Mozambique|NA Namibia|NE Niger
NG Nigeria|NI Nicaragua|NL Netherlands|NO Norway|NP Nepal|NR Nauru|NZ New Zealand|OM Oman|PA Panama|PE Peru
PG Papua New Guinea|PH Philippines|PK Pakistan|PL Poland|PR Puerto Rico|PS Palestine|PT Portugal|PW Palau|PY Paraguay
QA Qatar|RO Romania|RS Serbia|RU Russia|RW Rwanda|SA Saudi Arabia|SB Solomon Islands|SC Seychelles|SD Sudan|SE Sweden
SG Singapore|SI Slovenia|SK Slovakia|SL Sierra Leone|SM San Marino|SN Senegal|SO Somalia|SR Suriname|SS South Sudan
ST Sao Tome and Principe|SV El Salvador|SY Syria|SZ Eswatini|TD Chad|TG Togo|TH Thailand|TJ Tajikistan|TL Timor-Leste
TM Turkmenistan|TN Tunisia|TO Tonga|TR Turkey|TT Trinidad and Tobago|TV Tuvalu|TW Taiwan|TZ Tanzania|UA Ukraine
UG Uganda|UK United Kingdom|US United States|UY Uruguay|UZ Uzbekistan|VA Vatican City
VC Saint Vincent and the Grenadines|VE Venezuela|VN Vietnam|VU Vanuatu|WS Samoa|XK Kosovo|YE Yemen|ZA South Africa
ZM Zambia|ZW Zimbabwe
"""
COUNTRIES = {entry[:2]: entry[3:] for line in _COUNTRY_TABLE.split("\n") if line for entry in line.split("|")}
"""Names by two capital letters, including `UK`."""


# Participant groups: those that a study names, and the group of its family, which excludes earlier participants


class ProlificGroup(NamedTuple):
    """A group of the workspace."""

    id: str
    name: str


async def groups_in(workspace: str, client: ProlificClient) -> list[ProlificGroup]:
    """Return the groups of a workspace, without deleted ones."""
    listed = await client.get("/api/v1/participant-groups/", workspace_id=workspace, active="true")
    return [ProlificGroup(str(one["id"]), str(one["name"])) for one in listed["results"] if not one.get("is_deleted")]


def family_name(study: Study) -> str | None:
    """Return the name of the group of a study's family, or None."""
    return None if study.family is None else f"beholder {study.family}"


async def family_group(study: Study, workspace: str, client: ProlificClient) -> str | None:
    """Return the id of the family's group, created if necessary; None if the study has no family."""
    name = family_name(study)
    if name is None:
        return None
    if not (ids := await _groups_named(name, workspace, client)):
        description = f"Took part in a study of the family {study.family}"
        body = {"workspace_id": workspace, "name": name, "description": description}
        await client.send_idempotent("POST", "/api/v1/participant-groups/", body)
        ids = await _groups_named(name, workspace, client)
    # If a lost answer has led to two groups of one name, everybody uses the older one: ids grow with time.
    return min(ids)


async def _groups_named(name: str, workspace: str, client: ProlificClient) -> list[str]:
    return [group.id for group in await groups_in(workspace, client) if group.name == name]


def group_ids(study: Study, key: str, wanted: Sequence[str], groups: Sequence[ProlificGroup]) -> list[str]:
    """Return the ids of groups that a study names, by id or name; raise RecruitError with every unknown one."""
    by_word = {word: group.id for group in reversed(groups) for word in group}
    problems = [
        study.problem(
            f"{key}.{place}",
            f"is {word}, and the workspace on Prolific has no such group",
            ", ".join(group.name for group in groups),
            did_you_mean(word, [group.name for group in groups]),
        )
        for place, word in enumerate(wanted)
        if word not in by_word
    ]
    if problems:
        raise RecruitError(problems)
    return [by_word[word] for word in wanted]


# Earlier studies and other runs


_PROLIFIC_ID = re.compile(r"[0-9a-f]{24}")


async def earlier_postings(study: Study, store: Store) -> list[str]:
    """Return the ids on Prolific of other runs of a study, and of the studies whose folders `recruit.exclude` names.

    A folder without a store has no participants yet, and one that recruited elsewhere has no such id: the server
    checks both again at admission.
    """
    postings = await _other_runs(study, store)
    for folder in study.recruit.exclude:
        path = study.folder / folder / "store"
        if not path.exists():
            continue
        async with open_store(path, write=False) as other:
            entries = await other.ledger.entries()
        postings += [entry.provider_ref for entry in entries if entry.kind == "draft" and entry.event == "done"]
    return [posting for posting in dict.fromkeys(postings) if _PROLIFIC_ID.fullmatch(posting)]


async def _other_runs(study: Study, store: Store) -> list[str]:
    """Return the ids of postings of other runs that were published or visited; unseen drafts exclude nobody."""
    entries, visited = await store.ledger.entries(), {one.posting for one in await store.platform_visits()}
    postings: list[str] = []
    for run in runs_of(entries):
        if run != study.run:
            postings += [
                *published_postings(entries, run),
                *(one for one in postings_of(entries, run) if one in visited),
            ]
    return postings
