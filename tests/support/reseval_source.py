"""Folders as ReSEval leaves them: a configuration, files to evaluate, and tables of people who were made up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from support.small_media import write_stimulus

CONFIGURATION: dict[str, Any] = {
    "name": "my-test",
    "datatype": "audio",
    "test": "ab",
    "local": True,
    "storage": "aws",
    "database": "aws",
    "server": "heroku",
    "crowdsource": {
        "platform": "mturk",
        "title": "Listen to speech",
        "description": "A short test",
        "keywords": "audio, speech",
        "filter": {"countries": ["US", "GB"], "approved_tasks": 1000, "approval_rating": 95},
        "payment": {"base": 0.25, "completion": 1.25},
        "duration": {"total": 86400, "assignment": 1750, "autoapprove": 3600},
    },
    "participants": 4,
    "samples_per_participant": 2,
    "random_seed": 0,
    "welcome_text": "# Welcome\nTake **part**.",
    "survey_instructions": "Listen to both.",
    "prescreen_questions": [
        {"name": "age", "type": "free-response", "text": "Your age?", "placeholder": "40"},
        {
            "name": "Language", "type": "multiple-choice", "text": "Do you speak English?", "answers": ["Yes", "No"],
            "correct_answer": "Yes",
        },
    ],
    "followup_questions": [
        {"name": "remark", "type": "free-response", "text": "Anything else?", "correct_answer": "no"},
    ],
    "listening_test": {"instructions": "Count the tones", "num_questions": 2, "retries": 1},
}  # fmt: skip
"""A test of two conditions, with everything that a configuration may hold."""
ENDINGS = {"audio": ".wav", "video": ".mp4", "image": ".png", "text": ".txt"}
STEMS = ("one", "two")
CONDITIONS = {"ab": ("new", "old"), "abx": ("new", "old"), "mos": ("new", "old-2"), "mushra": ("new", "old", "worse")}
WORDS = "The storm came at noon."


def responses_of(test: str) -> tuple[str, str]:
    """Return what two people answer on every page, as the tool writes it."""
    return {
        "ab": ("new", "old"), "abx": ("new", "old"), "mos": ("new-5", "old-2-3"), "mushra": ("090070020", "080050010"),
        "wordselect": ("01000", "00000"),
    }[test]  # fmt: skip


def write_reseval(folder: Path, test: str = "ab", medium: str = "audio", *more: Sequence[object], **keys: Any) -> Path:
    """Write a test with its files, and results of three people: two who finished, and one who left after a page.

    `more` are further rows of responses.csv, `keys` change the configuration.
    """
    folder.mkdir(parents=True)
    configuration = {**CONFIGURATION, "test": test, "datatype": medium, **keys}
    (folder / "config.yaml").write_text(yaml.safe_dump(configuration, sort_keys=False), "utf-8")
    _write_files(folder / "files", test, ENDINGS[medium])
    tables = folder / "my-test" / "tables"
    first, second = responses_of(test)
    rows = [
        (stem, who, place, said) for who, said in (("p1", first), ("p2", second)) for place, stem in enumerate(STEMS)
    ]
    write_table(
        tables / "responses.csv",
        ("Stem", "Participant", "OrderAsked", "Response"),
        [*rows, ("two", "p3", 0, first), *more],
    )
    write_table(tables / "conditions.csv", ("Condition",), [(name,) for name in CONDITIONS.get(test, ())])
    write_table(tables / "files.csv", ("Stem", "Extension", "Uses"), [(stem, ENDINGS[medium], 0) for stem in STEMS])
    people = [
        ("p1", "31", "Yes", "none", "a&b)c[d$e1", "2022-05-01 10:00:00"),
        ("p2", "25", "6", "", "a&b)c[d$e2", "2022-05-01 11:00:00"),
        ("p3", "40", "Yes", "", "a&b)c[d$e3", "2022-05-02 09:00:00"),
        ("p4", "50", "No", "", "a&b)c[d$e4", "2022-05-02 09:30:00"),
    ]
    head = ("ID", "age", "Language", "remark", "CompletionCode", "DateTaken")
    write_table(tables / "participants.csv", head, people)
    (folder / "my-test" / "results.json").write_text('{"conditions": {}}', "utf-8")
    return folder


def write_table(path: Path, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a table as pandas does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in (head, *rows)), "utf-8")


def _write_files(folder: Path, test: str, ending: str) -> None:
    if test == "wordselect":
        for strength, stem in enumerate(STEMS, 2):
            write_stimulus(folder / f"{stem}{ending}", strength)
            if ending == ".txt":
                (folder / f"{stem}.txt").write_text(WORDS, "utf-8")
            (folder / f"{stem}-words.txt").write_text(f"{WORDS}\n", "utf-8")
        return
    names = [*CONDITIONS[test], *(["reference"] if test == "abx" else [])]
    for place, (name, stem) in enumerate((name, stem) for name in names for stem in STEMS):
        write_stimulus(folder / name / f"{stem}{ending}", 1 + place)
