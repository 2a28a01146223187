"""What reviewers of research artefacts ask for, and whether a bundle has it.

The levels are those of ACM's Artifact Review and Badging (version 1.1), in our words: a badge is given by people, and a
program only says what it could see. Nothing here is met because nobody looked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

Answer: TypeAlias = Literal["met", "not met", "for people"]
ACM = "ACM Artifact Review and Badging, version 1.1"


class Criterion(NamedTuple):
    """One thing that is asked for, and the answer."""

    badge: str
    asks: str
    answer: Answer
    why: str


@dataclass(frozen=True)
class BundleState:
    """What was seen of a bundle."""

    is_intact: bool
    is_computed: bool
    """Whether its results could be computed anew."""
    different: int
    """Files that came out otherwise."""
    unchecked: int
    has_stimuli: bool
    has_lock: bool
    crate: Mapping[str, Any]
    """The root of its RO-Crate metadata."""
    is_simulated: bool


def criteria(state: BundleState) -> tuple[Criterion, ...]:
    """Return every criterion with its answer."""
    return tuple(Criterion(badge, asks, *answer(state)) for badge, asks, answer in _CRITERIA)


_Answered: TypeAlias = tuple[Answer, str]


def _is(holds: bool, yes: str, no: str) -> _Answered:
    return ("met", yes) if holds else ("not met", no)


def _available(state: BundleState) -> _Answered:
    where = state.crate.get("identifier")
    if not where:
        return "not met", "The bundle names no DOI: `publication.doi` in study.yaml says it."
    return "for people", f"It names {where}. That it is there, and stays there, nobody here can see."


def _licensed(state: BundleState) -> _Answered:
    return _is(bool(state.crate.get("license")), "It names a licence.",
               "It names no licence: `publication.licence` in study.yaml says it.")  # fmt: skip


def _documented(state: BundleState) -> _Answered:
    return "met", "README.md says what each part is, and study.yaml is the study itself."


def _consistent(state: BundleState) -> _Answered:
    return _is(state.is_intact, "Every file has the bytes that its checksum says.",
               "Files were changed, are missing or were added after the checksums were made.")  # fmt: skip


def _complete(state: BundleState) -> _Answered:
    if state.has_stimuli:
        return "met", "Stimuli, study, plan, facts and results are there."
    return "not met", "Of the stimuli there are hashes alone: a repetition needs their files from elsewhere."


def _exercisable(state: BundleState) -> _Answered:
    return _is(state.is_computed, "Cleaning, analysis and report ran from the facts alone.",
               "Its results could not be computed from its facts.")  # fmt: skip


def _pinned(state: BundleState) -> _Answered:
    return _is(
        state.has_lock, "software/requirements.txt has every version.", "It does not say which versions computed it."
    )


def _standard(state: BundleState) -> _Answered:
    return "met", "CSV, JSON, SVG and HTML, described by RO-Crate; no program of ours is needed to read them."


def _reproduced(state: BundleState) -> _Answered:
    if state.is_simulated:
        return "not met", "These are answers of robots: there is no result to reproduce."
    if not state.is_computed or state.different:
        return "not met", "Some results came out otherwise."
    rest = f" {state.unchecked} files could not be checked." if state.unchecked else ""
    who = "Whoever runs this has reproduced them, if they are not the authors."
    return "met", f"Every number and figure that could be checked came out the same.{rest} {who}"


def _replicated(state: BundleState) -> _Answered:
    return "for people", "It takes other participants: `beholder rerun`, then `beholder compare`."


_CRITERIA: tuple[tuple[str, str, Callable[[BundleState], _Answered]], ...] = (
    ("Artifacts available", "in a public archive, under an address that stays", _available),
    ("Artifacts evaluated: functional", "what it is and how it is used is written down", _documented),
    ("Artifacts evaluated: functional", "it is what it says it is, unchanged", _consistent),
    ("Artifacts evaluated: functional", "everything that the results rest on is there", _complete),
    ("Artifacts evaluated: functional", "it runs, and gives results", _exercisable),
    ("Artifacts evaluated: reusable", "others may use it", _licensed),
    ("Artifacts evaluated: reusable", "it can be set up again as it was", _pinned),
    ("Artifacts evaluated: reusable", "it keeps to formats that others read", _standard),
    ("Results reproduced", "others get the same results from the same data", _reproduced),
    ("Results replicated", "others get them from data of their own", _replicated),
)
