"""Our own words to participants, from web/words/<language>.json."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import resources

from beholder.stimuli.catalogue import Stimulus
from beholder.study.model import Study
from beholder.study.pages import Example, Page
from beholder.study.texts import instruction_pages, markdown, study_text


def read_words(language: str) -> Mapping[str, str]:
    """Return the words that the server says, with English where a language lacks one."""
    folder = resources.files("beholder.web") / "words"
    english = json.loads((folder / "en.json").read_text("utf-8"))["server"]
    own = folder / f"{language}.json"
    return {**english, **json.loads(own.read_text("utf-8")).get("server", {})} if own.is_file() else english


def check_words(language: str) -> Mapping[str, Mapping[str, str]]:
    """Return our words about each check, `words/<language>/<check>.json`, with English where a language lacks one."""
    folder = resources.files("beholder.web") / "words"
    found: dict[str, dict[str, str]] = {}
    for name in dict.fromkeys(("en", language)):
        place = folder / name
        for file in sorted(place.iterdir(), key=lambda file: file.name) if place.is_dir() else ():
            check = file.name.removesuffix(".json")
            found[check] = {**found.get(check, {}), **json.loads(file.read_text("utf-8"))}
    return found


def step_texts(study: Study, words: Mapping[str, str], examples: Sequence[Stimulus] = ()) -> dict[str, str]:
    """Return the texts of the steps as safe HTML: the study's where it has one, else ours.

    The instructions are `instructions`, `instructions:2` and so on, a page each; `help` is all of them.
    """
    texts = {name: study_text(study, name) or words[f"text_{name}"] for name in ("consent", "pause", "thanks")}
    ours = ("screened_out", "wrong_device", "no_consent", "failed_checks", "withdrawn", "technical")
    texts |= {name: words[f"text_{name}"] for name in ours}
    own = "text_instructions_p910" if study.preset == "p910" else "text_instructions"
    pages = list(instruction_pages(study)) or [Page(text=words[own])]
    if captions := [Example(file=one.file, caption=one.caption) for one in examples if one.caption]:
        pages.append(Page(text=words["text_examples"], examples=tuple(captions)))
    for number, page in enumerate(pages, 1):
        texts["instructions" if number == 1 else f"instructions:{number}"] = page.text
    # Where they can no longer be played, the captions still say what to look for.
    texts["help"] = "\n\n".join(
        part for page in pages for part in (page.text, "\n".join(f"- {one.caption}" for one in page.examples)) if part
    )
    return {name: markdown(text) for name, text in texts.items()}
