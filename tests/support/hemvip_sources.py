"""Folders as HEMVIP, its GENEA branches and the second HEMVIP leave them, with people who were made up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.small_media import write_stimulus

SYSTEMS = ("GT", "BA", "SA")
CLIPS = ("clip1", "clip2")
LEVELS: Mapping[str, int] = {"GT": 80, "BA": 30, "SA": 55}
QUESTIONS = [
    {"type": "number", "label": "Age", "name": "age", "min": 18, "max": 99},
    {"type": "likert", "name": "gender", "response": [{"value": "f", "label": "F"}, {"value": "m", "label": "M"}]},
]
PEOPLE = ("5f0000000000000000000001", "5f0000000000000000000002")
MARKERS = {"master": ("at", 5), "genea2022": ("attn_check_95",), "genea2023": ("x_att_Good",)}
CHECK_ANSWERS = {"master": 6, "genea2022": 94, "genea2023": 65}


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1), "utf-8")


def url(system: str, clip: str, suffix: str) -> str:
    return f"videos/{system}/{clip}{suffix}"


def write_hemvip(folder: Path, branch: str = "master", suffix: str = ".wav", **changes: Any) -> Path:
    """Write configurations of two people, their videos and their sessions; `branch` says how attention is asked for.

    `changes` are put over the first session.
    """
    for strength, system in enumerate(SYSTEMS, 2):
        for number, clip in enumerate(CLIPS):
            write_stimulus(folder / "videos" / system / f"{clip}{suffix}", strength + 3 * number)
    write_stimulus(folder / "videos" / "check" / f"asks{suffix}", 1)
    marker, *target = MARKERS[branch]
    sessions = []
    for number, person in enumerate(PEOPLE):
        pages, trials = [], []
        for place, clip in enumerate(CLIPS):
            order = SYSTEMS[number:] + SYSTEMS[:number]
            stimuli: list[list[Any]] = [[system, url(system, clip, suffix)] for system in order]
            answers: list[tuple[Any, str]] = [(system, str(LEVELS[system] + number)) for system in order]
            if place == 0:
                stimuli.append([marker, f"videos/check/asks{suffix}", *target])
                answers.append((marker, str(CHECK_ANSWERS[branch])))
            pages.append({
                "type": "video", "id": "subject_72", "name": f"Page {place} of 22", "content": "",
                "question": "How <b>human-like</b> are the movements?", "stimuli": stimuli, "strict": True,
                "showConditionNames": False,
            })  # fmt: skip
            trials.append({
                "id": "subject_72", "type": "video", "interaction": {"0": ["click", "x", 1_700_000_000.5 + place]},
                "responses": [
                    {"stimulus": name, "score": score, "comment": None, "time": 9000} for name, score in answers
                ],
            })  # fmt: skip
        config = {
            "testname": "Gestures", "testId": "g", "userId": "x", "stopOnErrors": True, "remoteService": "service",
            "showButtonPreviousPage": False, "language": "en",
            "pages": [
                {"type": "generic", "id": "first", "name": "Welcome", "content": "Watch <b>all</b> of them."},
                ["random", *pages], {"type": "finish", "name": "Thanks", "content": "", "questionnaire": QUESTIONS},
            ],
        }  # fmt: skip
        _write(folder / "configs" / "g" / f"config{number}.json", config)
        session = {
            "testId": "g", "userId": person, "config": f"config{number}.json", "navigator": "made up", "trials": trials,
            "participant": {"name": ["age", "gender"], "response": ["30", "fm"[number]]}, "ended": True,
        }  # fmt: skip
        sessions.append({**session, **(changes if number == 0 else {})})
    _write(folder / "output.json", sessions)
    return folder


def write_pairs(folder: Path, branch: str = "genea2022", suffix: str = ".mp4") -> Path:
    """Write a test of pairs: of 2022 with a choice of three, of 2023 with five."""
    for strength, system in enumerate(SYSTEMS[:2], 2):
        for number, clip in enumerate(CLIPS):
            write_stimulus(folder / "videos" / system / f"{clip}{suffix}", strength + 3 * number)
    scores: dict[str, list[list[Any]]] = {
        "genea2022": [[True, False], [False, True]], "genea2023": [[2, -2], [-1, 1]],
    }  # fmt: skip
    pages = [
        {"type": "videopc", "id": f"p{n}", "name": "x", "question": "Which fits better?",
         "stimuli": [[system, url(system, clip, suffix)] for system in SYSTEMS[:2]]}
        for n, clip in enumerate(CLIPS)
    ]  # fmt: skip
    _write(folder / "configs" / "p" / "all.json", {"testname": "Pairs", "remoteService": "x", "pages": pages})
    sessions = []
    for person in PEOPLE:
        trials = [
            {"id": f"p{n}", "type": "videopc", "responses": [
                {"stimulus": system, "score": score, "time": 100}
                for system, score in zip(SYSTEMS[:2], scores[branch][n], strict=True)
            ]}
            for n in range(2)
        ]  # fmt: skip
        sessions.append({"testId": "p", "userId": person, "trials": trials, "status": "DONE"})
    # Somebody who was shown a pair that did not play, and went back on the other page.
    again = {"id": "p0", "responses": [{"stimulus": one, "score": 99} for one in SYSTEMS[:2]]}
    sessions[1]["trials"] = [*sessions[1]["trials"], again]
    _write(folder / "sessions.json", sessions)
    return folder


def write_documents(folder: Path, dialect: int = 2025, suffix: str = ".mp4") -> Path:
    """Write what the second HEMVIP keeps: a document for each person."""
    system, content = ("systemname", "inputcode") if dialect == 2025 else ("teamid", "inputid")
    for strength, name in enumerate(SYSTEMS, 2):
        for number, clip in enumerate(CLIPS):
            write_stimulus(folder / "videos" / name / f"{clip}{suffix}", strength + 3 * number)
    documents = []
    for number, person in enumerate(PEOPLE):
        pages = []
        for place, (left, right) in enumerate((("GT", "BA"), ("SA", "GT"), ("BA", "SA"))):
            clip = CLIPS[place % 2]
            chosen = ("LeftClearlyBetter", "TheyAreEqual", "RightSlightlyBetter")[(place + number) % 3]
            kept = {"selected": {"value": chosen, "label": chosen}} if place else {
                "selected": {}, "actions": ["Play left", "Click TheyAreEqual", f"Click {chosen}"]
            }  # fmt: skip
            pages.append({
                "pageid": "p1", "type": "video", "name": "Page", "question": "Which one is better?", **kept,
                "videos": [{system: name, content: clip, "url": url(name, clip, suffix)} for name in (left, right)],
            })  # fmt: skip
        pages.append({
            "pageid": "check", "type": "check", "expected_vote": "TheyAreEqual",
            "selected": {"value": "TheyAreEqual" if number else "LeftClearlyBetter"},
        })  # fmt: skip
        documents.append({
            "_id": {"$oid": f"65{number}"}, "status": "completed", "name": "Pairwise", "prolific_userid": person,
            "completion_code": "C1", "pages": pages,
        })  # fmt: skip
    _write(folder / "studies.json", documents)
    return folder
