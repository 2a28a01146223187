"""Studies of the method mismatch in which texts belong to sounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from beholder.methods import load_study
from beholder.methods.contract import Catalogue, Study
from beholder.stimuli.companions import add_mismatched
from support.method_studies import QUESTION, make_catalogue

CONTENTS = tuple("abcdefgh")
TEXTS = {"a": "red", "b": "sea", "c": "oak", "d": "sun", "e": "ink", "f": "sky", "g": "ice", "h": "map"}


def in_folder(folder: Path, texts: dict[str, str] = TEXTS, **options: Any) -> Study:
    (folder / "texts").mkdir(exist_ok=True)
    for content, text in texts.items():
        (folder / "texts" / f"{content}.txt").write_text(text, "utf-8")
    written = {
        "beholder": 1, "name": "tiny", "title": "Tiny", "method": "mismatch", "stimuli": "stimuli",
        "options": {"texts": "texts", **options}, "conditions": ["good", "poor"], "questions": [QUESTION],
        "design": {"participants": 12, "trials": 6, "seed": 1},
    }  # fmt: skip
    (folder / "study.yaml").write_text(json.dumps(written), "utf-8")
    return load_study(folder)


def catalogue(study: Study, contents: tuple[str, ...] = CONTENTS, **probe: Any) -> Catalogue:
    made = make_catalogue(("good", "poor"), contents=contents, medium="audio", **probe)
    return add_mismatched(study, made, lambda _: [])
