"""Answered trials in memory, with playback, durations and answers, for tests of rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from beholder.checks.contract import AnsweredTrial, Click, SessionEvidence
from beholder.methods import find
from beholder.methods.contract import Asked, Role, Slot, Target, Trial
from beholder.study.questions import SCALES

LENGTH = 4000
PLAYED: Mapping[str, Any] = {
    "plays": 1, "watched_ms": LENGTH, "coverage": 1.0, "furthest_ms": LENGTH, "stalls": 0, "dropped": 0, "frames": 100,
    "blurs": 0, "whole_ms": LENGTH, "ended_ms": LENGTH + 200, "stalled_ms": 0, "away": 0,
}  # fmt: skip


def ask(
    question: str = "quality", scale: str = "cont100", *, place: int = 1, purpose: Any = "ask", keyed: Any = "+"
) -> Asked:
    return Asked(f"q{place}", question, purpose, question, SCALES[scale], keyed)


def page(
    scores: Sequence[float],
    *,
    key: str = "trial:1",
    roles: Sequence[Role] = (),
    asked: Sequence[Asked] = (),
    stimuli: Sequence[str] = (),
    targets: Mapping[str, Target] | None = None,
    missing: Iterable[str] = (),
    draws: Mapping[str, Any] | None = None,
    played: Mapping[str, Any] | None = None,
    slots: Mapping[str, Mapping[str, Any]] | None = None,
    seconds: float | None = None,
    method: str = "parallel",
    together: bool = False,
) -> AnsweredTrial:
    """Return a page of scores: one for each slot, or (with several questions) for each question about one slot."""
    questions = tuple(asked) or (ask(),)
    count = len(scores) if len(questions) == 1 else 1
    names = [f"s{place}" for place in range(1, count + 1)]
    shown = [
        Slot(name, stimuli[place] if stimuli else f"{key}/{name}", roles[place] if roles else "test", "A", True, None)
        for place, name in enumerate(names)
    ]
    gone = frozenset(missing)
    given = {
        one.id: {
            slot: score
            for slot, score in zip(names, scores if count > 1 else [scores[place]], strict=True)
            if slot not in gone
        }
        for place, one in enumerate(questions)
    }
    answer: dict[str, Any] = {"scores": given} | (
        {"missing": dict.fromkeys(sorted(gone), "media_error")} if gone else {}
    )
    trial = Trial(key, "content", "rate", tuple(shown), questions, draws or {}, targets or {}, together)
    playback = {slot.id: {**PLAYED, **(played or {}), **(slots or {}).get(slot.id, {})} for slot in shown}
    spent = LENGTH * len(shown) + 2000 if seconds is None else 1000 * seconds
    return AnsweredTrial(
        key=key,
        trial=trial,
        answer=answer,
        judgements=find(method).judgements(trial, answer),
        playback=playback,
        lengths_ms=dict.fromkeys(playback, LENGTH),
        shown_ms=0,
        sent_ms=spent,
    )


def one(score: float = 3, **keys: Any) -> AnsweredTrial:
    """Return a trial with one stimulus on five points."""
    return page([score], asked=(ask(scale="acr5"),), method="acr", **keys)


def pair(value: float, *, key: str = "trial:1", gap: float = 1.0, turned: bool = False, **keys: Any) -> AnsweredTrial:
    """Return a comparison of a with b, one after the other; `value` is how much better a is."""
    names = ("b", "a") if turned else ("a", "b")
    slots = tuple(Slot(f"s{n}", name, keys.get("role", "test"), "A", True, None) for n, name in enumerate(names, 1))
    draws = {"judged": "a", "presentation": keys.get("presentation", "sequential"), "gap": gap, "tie": True}
    trial = Trial(key, "content", "rate", slots, (ask(scale="ccr7"),), draws, {}, keys.get("together", False))
    chosen = next(slot.id for slot in slots if slot.stimulus == ("a" if value > 0 else "b"))
    choice: dict[str, Any] = {"better": chosen, "grade": abs(value)} if value else {"better": "tie"}
    answer: Any = {"choices": {"q1": choice}}
    playback = {slot.id: {**PLAYED, **keys.get("played", {})} for slot in slots}
    lengths: dict[str, int | None] = dict.fromkeys(playback, LENGTH)
    return AnsweredTrial(key, trial, answer, find("ccr").judgements(trial, answer), playback, lengths, 0, 12_000)


def session(trials: Iterable[AnsweredTrial], **keys: Any) -> SessionEvidence:
    """Return the evidence of a finished session with these trials, numbered in order."""
    numbered = tuple(replace(one, key=f"trial:{place}") for place, one in enumerate(trials, 1))
    clicks = tuple(
        Click(one.question, one.raw_value, one.scale_min, one.scale_max, one.kind)
        for trial in numbered
        for one in trial.judgements
        if one.raw_value is not None
    )
    return SessionEvidence(keys.pop("outcome", "completed"), "whole", (), clicks, numbered, **keys)
