"""A batch of the P.910 crowdsourcing toolkit as the tables that `clean` judges.

Times of single trials, stalls and the focus of the window are missing, because the page did not measure them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from beholder.methods import find, load_study
from beholder.methods.contract import Asked, Slot, Target, Trial
from beholder.planning.model import PlannedList
from beholder.planning.serialization import list_to_json
from beholder.study.model import Study
from beholder.study.serialization import resolved_yaml
from support.p910_batch import Clip, Submission

Tables = dict[str, list[dict[str, Any]]]
_DIGEST, _PLAN = "d1", "p1"
_NEAR = 1
"""The tolerance of a vote on a gold clip."""


def batch_study(folder: Path, **clean: Any) -> Study:
    """Return the study of a batch: judged by `p910`, one trap missed costs the pay, five sessions a person count."""
    written = {
        "beholder": 1, "name": "p910-batch", "title": "Video quality", "method": "acr", "stimuli": "stimuli",
        "questions": [{"id": "quality", "text": "How good is the quality?", "scale": "acr5"}],
        "qualification": {"colour": True, "brightness": True},
        "checks": {"trap": True, "gold": True, "quota": {"sessions": 5}},
        "clean": {"preset": "p910", "accept": {"trap": {"max_failed": 0}}, **clean},
    }  # fmt: skip
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(written, sort_keys=False), "utf-8")
    return load_study(path)


def fact_tables(study: Study, submissions: Sequence[Submission]) -> Tables:
    """Return the rows of a store that holds these submissions, each with a list of its own."""
    questions = enumerate(find(study.method).questions(study), 1)
    asked = tuple(Asked(f"q{n}", one.id, "ask", one.text, one.scale) for n, one in questions)
    names = ("stimuli", "lists", "sessions", "claims", "posed", "answers", "ends", "erasures")
    tables: Tables = {name: [] for name in names}
    clips: dict[str, Clip] = {}
    for number, one in enumerate(submissions, 1):
        at = one.began_at
        row = {"session": one.session, "participant": one.worker, "digest": _DIGEST, "run": 1, "mode": "panel"}
        tables["sessions"].append(row | {"visit": 1, "device": {}, "at": at})
        clips |= {clip.stimulus: clip for clip in one.clips}
        if one.is_whole:
            trials = tuple(_trial(place, clip, asked) for place, clip in enumerate(one.clips, 1))
            planned = list_to_json(PlannedList(number, trials))
            tables["lists"].append({"plan_digest": _PLAN, "list": number, "trials": planned})
            tables["claims"].append({"session": one.session, "list": number, "at": at})
            end = {"session": one.session, "outcome": "completed", "reason": "", "code": "", "receipt": ""}
            tables["ends"].append(end | {"at": one.ended_at})
        for key, right, given in one.attempts():
            tables["posed"].append({"session": one.session, "key": key, "private": right or None, "at": at})
            tables["answers"].append(_answer(one, key, given))
        for place, clip in enumerate(one.clips, 1):
            vote = {"scores": {"q1": {"s1": int(clip.vote)}}}
            tables["answers"].append(_answer(one, f"trial:{place}", vote, {"s1": _played(clip)}))
    tables["stimuli"] = [_stimulus(clip) for clip in clips.values()]
    studies = {"digest": _DIGEST, "plan_digest": _PLAN, "study": study.name, "yaml": resolved_yaml(study)}
    return {"studies": [studies | {"software": "beholder", "at": submissions[0].began_at}], **tables}


def _trial(place: int, clip: Clip, asked: tuple[Asked, ...]) -> Trial:
    slot = Slot("s1", clip.stimulus, clip.role, None, True, None)
    targets = {}
    if clip.key is not None:
        is_trap = clip.role == "trap"
        targets = {"q1.s1": Target(clip.key, 0 if is_trap else _NEAR, "", is_trap)}
    return Trial(f"trial:{place}", clip.content, "rate", (slot,), asked, targets=targets)


def _played(clip: Clip) -> dict[str, Any]:
    """Return the playback that the page recorded: the duration of the last complete playback."""
    played: dict[str, Any] = {"plays": clip.plays, "duration_ms": clip.length_ms}
    if clip.ends:
        played |= {"coverage": 1.0, "furthest_ms": clip.length_ms, "whole_ms": clip.played_ms}
    return played


def _answer(one: Submission, key: str, answer: Any, playback: Mapping[str, Any] | None = None) -> dict[str, Any]:
    # All answers were submitted together, at the end.
    return {
        "session": one.session, "key": key, "answer": answer, "playback": playback or {}, "shown_ms": 0.0,
        "sent_ms": 0.0, "input": "", "tab": "", "at": one.ended_at,
    }  # fmt: skip


def _stimulus(clip: Clip) -> dict[str, Any]:
    return {
        "digest": _DIGEST, "stimulus": clip.stimulus, "content": clip.content, "condition": clip.condition,
        "role": clip.role, "medium": "video", "sha256": "", "probe": {"duration_ms": round(clip.length_ms)},
        "factors": {"url": clip.url},
    }  # fmt: skip
