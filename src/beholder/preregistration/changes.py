"""What differs between two versions of a study, key by key, and between a plan and what people met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from beholder.cleaning.facts import LEFT_OUT, TAKEN_IN, Facts, Rows
from beholder.preregistration.registration import Registration, participation, reference_of, registrations_in
from beholder.study.model import Study
from beholder.study.serialization import canonical, digest
from beholder.study.texts import Which, study_text

Part: TypeAlias = Literal["size", "exclusions", "hypotheses", "analyses", "texts", "design", "people"]
PARTS: Mapping[Part, str] = {
    "size": "Number and stopping",
    "exclusions": "Exclusions",
    "hypotheses": "Hypotheses",
    "analyses": "Analyses",
    "texts": "Texts and questions",
    "design": "Design",
    "people": "Recruiting",
}
"""What each part is called, in the order in which deviations are told."""
_PART_OF: tuple[tuple[str, Part], ...] = (
    ("design.participants", "size"), ("design.votes", "size"), ("design.looks", "size"), ("design.stop", "size"),
    ("recruit.places", "size"), ("recruit.closes", "size"), ("budget", "size"),
    ("checks", "exclusions"), ("clean", "exclusions"), ("qualification", "exclusions"), ("training", "exclusions"),
    ("analyse.contrasts", "hypotheses"), ("analyse.margin", "hypotheses"), ("analyse.claim", "hypotheses"),
    ("analyse.family", "hypotheses"), ("analyse", "analyses"),
    ("title", "texts"), ("texts", "texts"), ("questions", "texts"), ("before", "texts"), ("during", "texts"),
    ("after", "texts"), ("ending", "texts"), ("language", "texts"), ("contact", "texts"),
    ("recruit", "people"), ("family", "people"), ("retention", "people"),
)  # fmt: skip
"""The first key that a key begins with says its part; all others are of the design."""
NOT_PLANNED = ("source", "deploy", "backup", "media", "publication")
"""Where a study is served and copied to, and what is said of its publication: nothing of these is a plan."""
_LONGEST = 90
_NOTHING = "–"


class StudyChange(NamedTuple):
    """One key of the study that is not what it was."""

    key: str
    before: str
    after: str

    @property
    def part(self) -> Part:
        """The part of a preregistration that it belongs to."""
        return next((part for key, part in _PART_OF if f"{self.key}.".startswith(f"{key}.")), "design")


def study_changes(before: Study, after: Study) -> list[StudyChange]:
    """Return every key that differs, in the order of the study file."""
    old, new = (one.model_dump(mode="json", exclude={*NOT_PLANNED, "preset"}) for one in (before, after))
    return list(_changes("", old, new))


def _changes(key: str, before: Any, after: Any) -> Iterator[StudyChange]:
    before, after = _named(before), _named(after)
    if before == after:
        if isinstance(before, Mapping) and list(before) != list(after):
            yield StudyChange(key, ", ".join(before), ", ".join(after))
        return
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        yield StudyChange(key, _text(before), _text(after))
        return
    for name in dict.fromkeys([*before, *after]):
        inner = f"{key}.{name}" if key else str(name)
        yield from _changes(inner, before.get(name), after.get(name))


def _named(value: Any) -> Any:
    """Return a list of things with ids or names as a map, so that one more does not change all after it."""
    if not isinstance(value, list) or not value or not all(isinstance(one, Mapping) for one in value):
        return value
    for name in ("id", "name"):
        names = [one.get(name) for one in value]
        if None not in names and len(set(names)) == len(names):
            return {one[name]: {key: inner for key, inner in one.items() if key != name} for one in value}
    return value


def _text(value: Any) -> str:
    """Return a value as one reads it in YAML, on one line."""
    if value is None or value == []:
        return _NOTHING
    text = " ".join(value.split()) if isinstance(value, str) else canonical(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


# What was recorded of a study, beside what it is now


def planned_study(plan: Mapping[str, Any], study: Study) -> Study | None:
    """Return the study as a plan holds it; None where this version cannot read it."""
    return stored_study(str(plan["yaml"]), study)


def stored_study(text: str, study: Study) -> Study | None:
    """Return a study from its text in a plan or a store; None where this version cannot read it."""
    from beholder.methods import find
    from beholder.planning.growth import earlier_study

    return earlier_study(text, study, find(study.method))


def text_digests(study: Study) -> dict[str, str]:
    """Return the SHA-256 of each text that participants read on a page of its own."""
    texts = {which: study_text(study, which) for which in get_args(Which)}
    return {which: sha256(text.encode()).hexdigest() for which, text in texts.items() if text is not None}


def stimuli_digest(hashes: Mapping[str, str]) -> str:
    """Return the digest of all stimuli, from the hashes of their files."""
    return digest(dict(hashes))


# What people met, beside the plan: only `clean` reads the store, and a report reads account.json


def registered_account(study: Study, tables: Mapping[str, Rows], facts: Facts) -> dict[str, Any] | None:
    """Return the versions of the plan and what was served otherwise, as JSON; None without a preregistration."""
    versions = registrations_in(tables.get("ledger", ()), facts.run)
    if not versions:
        return None
    taken_part = participation(tables, facts.run)
    reference = reference_of(versions, taken_part.first_at)
    acts = Counter(visit.act.reason for visit in facts.visits if visit.act is not None)
    return {
        "versions": [one.json() for one in versions],
        "reference": reference.version,
        "first_at": taken_part.first_at,
        "served": _served(study, reference, tables, facts),
        "left_out": acts[LEFT_OUT],
        "taken_in": acts[TAKEN_IN],
    }


def _served(study: Study, reference: Registration, tables: Mapping[str, Rows], facts: Facts) -> list[dict[str, Any]]:
    """Return each study text with its sessions and everything in it that is not as planned."""
    planned = planned_study(reference.plan, study)
    sessions = Counter(visit.digest for visit in facts.visits)
    hashes: dict[str, dict[str, str]] = {digest: {} for digest in facts.yaml}
    for row in tables["stimuli"]:
        if row["digest"] in hashes:
            hashes[row["digest"]][str(row["stimulus"])] = str(row["sha256"])
    rows = []
    for served, text in facts.yaml.items():
        other = stored_study(text, study)
        rows.append(
            {
                "digest": served,
                "sessions": sessions[served],
                "is_same": served == reference.plan["study_digest"],
                "has_same_stimuli": stimuli_digest(hashes[served]) == reference.plan["stimuli"]["digest"],
                "changes": None if planned is None or other is None else [*map(list, study_changes(planned, other))],
            }
        )
    return rows
