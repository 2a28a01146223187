"""The texts of the examples of `beholder new`: those that are translated are those that the examples hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from beholder.translation.text_files import PACKAGE

EXAMPLES = sorted(PACKAGE.glob("methods/**/example.yaml"))
READ = ("text", "placeholder", "title")


def texts_of(study: dict[str, object]) -> dict[str, str]:
    """Return what participants read of an example, by its place; texts in files are files of their own."""
    found: dict[str, str] = {}

    def collect(value: object, place: str, key: str) -> None:
        if isinstance(value, dict):
            for name, below in value.items():
                collect(below, f"{place}.{name}" if place else str(name), "label" if key == "labels" else str(name))
        elif isinstance(value, list):
            for number, below in enumerate(value):
                collect(below, f"{place}.{number}", "option" if key == "options" else key)
        elif isinstance(value, str) and not value.endswith(".md"):
            is_read = key in (*READ, "option", "thanks") or (key == "label" and not place.startswith("conditions"))
            if is_read and not place.startswith("options"):
                found[place] = value

    collect(study, "", "")
    return found


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.parent.name)
def test_what_an_example_says_is_among_the_texts_to_translate(example: Path) -> None:
    words = json.loads((example.parent / "words" / "example" / "en.json").read_text("utf-8"))
    assert words == texts_of(yaml.safe_load(example.read_text("utf-8")))
