"""Data sets in the format of sureal, with people who were made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.small_media import write_stimulus

CONTENTS = ("park", "street")
LEVELS = {"": 5, "_low": 2, "_mid": 4}
PEOPLE = ("ann", "bob", "cyd")


def write_sureal(folder: Path, *, with_references: bool = True, suffix: str = ".wav", **changes: Any) -> Path:
    """Write a data set of scores as JSON, with its files; `changes` are put over its keys."""
    references: list[dict[str, Any]] = []
    assets: list[dict[str, Any]] = []
    for number, content in enumerate(CONTENTS):
        references.append({"content_id": number, "content_name": content, "path": f"files/{content}{suffix}"})
        for strength, (name, level) in enumerate(LEVELS.items(), 2):
            write_stimulus(folder / "files" / f"{content}{name}{suffix}", strength + 3 * number)
            if name or with_references:
                scores: dict[str, Any] = {person: min(5, level + (person == "bob")) for person in PEOPLE}
                scores["cyd"] = [level, level]  # rated twice
                path = f"files/{content}{name}{suffix}"
                assets.append({"asset_id": len(assets), "content_id": number, "path": path, "os": scores})
    data = {
        "dataset_name": "Made up",
        "yuv_fmt": "notyuv",
        "ref_score": 5,
        "ref_videos": references,
        "dis_videos": assets,
    }
    (folder / "dataset.json").write_text(json.dumps({**data, **changes}), "utf-8")
    return folder


PAIRS = """\
import os
dataset_name = 'Pairs'
yuv_fmt = 'notyuv'
ref_score = 5.0
ref_dir = 'files'
ref_videos = [{'content_id': 0, 'content_name': 'park', 'path': ref_dir + '/park.wav'}]
dis_videos = [
  {'content_id': 0, 'asset_id': 0, 'path': ref_dir + '/park_low.wav',
   'os': {('ann', 1): 0, ('bob', 1): 0.5, ('cyd', 9): 1}},
  {'content_id': 0, 'asset_id': 1, 'path': ref_dir + '/park_mid.wav', 'os': {('cyd', 0): 1}},
]
"""


def write_sureal_pairs(folder: Path, text: str = PAIRS) -> Path:
    """Write a data set of comparisons as Python."""
    for strength, name in enumerate(LEVELS, 2):
        write_stimulus(folder / "files" / f"park{name}.wav", strength)
    (folder / "dataset.py").write_text(text, "utf-8")
    return folder
