"""Our texts for participants: those of the server, of rules, and of a check with a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path


@cache
def read_words(language: str) -> Mapping[str, str]:
    """Return the texts of the server, in English where a language lacks one."""
    folder = resources.files("beholder.web") / "words"
    english = json.loads((folder / "en.json").read_text("utf-8"))["server"]
    own = folder / f"{language}.json"
    return {**english, **json.loads(own.read_text("utf-8")).get("server", {})} if own.is_file() else english


def check_words(language: str) -> Mapping[str, Mapping[str, str]]:
    """Return the texts of each rule, `words/<language>/<rule>.json`, in English where a language lacks one."""
    folder = resources.files("beholder.web") / "words"
    texts: dict[str, dict[str, str]] = {}
    for name in dict.fromkeys(("en", language)):
        place = folder / name
        for file in sorted(place.iterdir(), key=lambda file: file.name) if place.is_dir() else ():
            check = file.name.removesuffix(".json")
            texts[check] = {**texts.get(check, {}), **json.loads(file.read_text("utf-8"))}
    return texts


def folder_words(folder: Path, language: str) -> Mapping[str, str]:
    """Return the texts in a folder with a file for each language, in English where a language lacks one."""
    texts: dict[str, str] = {}
    for name in dict.fromkeys(("en", language)):
        file = folder / f"{name}.json"
        texts |= json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return texts
