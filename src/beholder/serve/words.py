"""Our own words to participants, from web/words/<language>.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources

from beholder.study.model import Study
from beholder.study.texts import markdown, study_text


def read_words(language: str) -> Mapping[str, str]:
    """Return the words that the server says, with English where a language lacks one."""
    folder = resources.files("beholder.web") / "words"
    english = json.loads((folder / "en.json").read_text("utf-8"))["server"]
    own = folder / f"{language}.json"
    return {**english, **json.loads(own.read_text("utf-8")).get("server", {})} if own.is_file() else english


def step_texts(study: Study, words: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of the steps as safe HTML: the study's where it has one, else ours."""
    own = ("consent", "instructions", "pause", "thanks")
    texts = {name: study_text(study, name) or words[f"text_{name}"] for name in own}
    ours = ("screened_out", "no_consent", "withdrawn", "technical")
    return {name: markdown(text) for name, text in (texts | {name: words[f"text_{name}"] for name in ours}).items()}
