"""Ready-made sets of statements, in our own wording, in a published one that a study brings, or in words of its own.

The ids are those of the avatar paper (Templates A and B). Scores of other words are not interchangeable.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field, model_validator

from beholder.methods.contract import (
    Fault,
    Problem,
    Question,
    ShownText,
    Stimulus,
    Study,
    StudyPart,
    Text,
    did_you_mean,
    english_name,
    raise_faults,
    read_items,
)


class Item(NamedTuple):
    """One statement, or a list of things to tick."""

    id: str
    text: str
    keyed: Literal["+", "-"] = "+"
    ticks: tuple[str, ...] = ()
    about: Literal["all", "picture", "sound"] = "all"
    """What a stimulus must have for this to be asked."""
    label: str | None = None
    turned: str | None = None
    """What figures and tables call it, and what they call its scores where they are turned round."""
    published: tuple[str, ...] = ()
    """Digests of the statement as the avatar paper has it, by which its wording is recognised."""

    def question(self) -> Question:
        """Return the item as a question on its usual scale."""
        fields = self._asdict()
        del fields["about"], fields["published"]
        return Question.model_validate({**fields, "scale": "agree5"})


@dataclass(frozen=True)
class ItemSet:
    """Statements that belong together; `extras` are asked only if the study names them."""

    items: tuple[Item, ...]
    scenario: str = ""
    extras: tuple[Item, ...] = ()
    shows_driving_video: bool = False
    """The stimulus is shown beside the reference of its content: the video that drives the avatar."""


def _read_item(written: Mapping[str, Any]) -> Item:
    lists = {name: tuple(written.get(name, ())) for name in ("ticks", "published")}
    return Item(**{**written, **lists})


@cache
def item_sets(language: str) -> Mapping[str, ItemSet]:
    """Return the sets of items in the words of a language; ids, keys and names in tables are the same in all."""
    sets = read_items(Path(__file__).parent / "words", language)
    return {
        name: ItemSet(
            tuple(map(_read_item, written["items"])),
            written.get("scenario", ""),
            tuple(map(_read_item, written.get("extras", ()))),
            written.get("shows_driving_video", False),
        )
        for name, written in sets.items()
    }


ITEM_SETS = item_sets("en")


def items_of_set(name: str | None, extra: tuple[str, ...] = (), language: str = "en") -> tuple[Item, ...]:
    """Return the items of a set, and those of its extras that are named."""
    if name is None:
        return ()
    item_set = item_sets(language)[name]
    return (*item_set.items, *(item for item in item_set.extras if item.id in extra))


def applies_to(item: Item, stimulus: Stimulus) -> bool:
    """Return whether a stimulus has what an item is about."""
    has_sound = stimulus.medium == "audio" or (stimulus.medium == "video" and stimulus.probe.audio_codec != "")
    has_picture = stimulus.medium in ("video", "image")
    return {"all": True, "picture": has_picture, "sound": has_sound}[item.about]


# The wording of a set

_SHOWN = 12
"""Digits of a digest that tell statements apart."""


class ItemWording(StudyPart):
    """Other words for the statements of item sets, by their ids: one file serves several sets."""

    source: Text | None = Field(default=None, description="Where the words are from, as the report names it.")
    scenario: ShownText | None = Field(
        default=None, description="The line above the statements; the set's own when left out."
    )
    statements: Mapping[str, ShownText] = Field(description="From the id of an item to its text.")

    @model_validator(mode="after")
    def _known_items(self) -> ItemWording:
        known = list(dict.fromkeys(item.id for one in ITEM_SETS.values() for item in (*one.items, *one.extras)))
        unknown = [name for name in self.statements if name not in known]
        faults = [
            Fault("is not the id of an item", ", ".join(known), did_you_mean(name, known), ("statements", name))
            for name in unknown
        ]
        empty = Fault("is empty", "a text for one item at least", "", ("statements",))
        raise_faults(faults if self.statements else [empty])
        return self


def wording_of(study: Study) -> ItemWording | None:
    """Return the wording that a study brings; None where it brings none."""
    written: Any = study.options.get("wording")
    return ItemWording.model_validate(written) if isinstance(written, Mapping) else None


def worded_items(study: Study) -> tuple[Item, ...]:
    """Return the items of the study's set in the words that it brings, as far as it does."""
    items = items_of_set(study.options.get("items"), tuple(study.options.get("extra", ())), study.language)
    wording = wording_of(study)
    if wording is None:
        return items
    return tuple(item._replace(text=wording.statements.get(item.id, item.text)) for item in items)


def wording_problems(study: Study) -> Iterator[Problem]:
    """Yield a wording without a set, or without any statement of it."""
    wording, name = wording_of(study), study.options.get("items")
    if wording is None:
        return
    if name is None:
        yield Problem("options.wording", "has words for item sets, and options.items is left out", ", ".join(ITEM_SETS))
        return
    mine = [item.id for item in items_of_set(name, tuple(study.options.get("extra", ())))]
    if not set(mine) & set(wording.statements):
        yield Problem("options.wording", f"has no statement of items: {name}", ", ".join(mine))


def origin_of(study: Study, question: Question, text: str) -> str:
    """Return in a sentence whose words a statement has: scores of other words are not interchangeable.

    Empty without an item set, where all words are the study's own.
    """
    name = study.options.get("items")
    if name is None:
        return ""
    item_set = item_sets(study.language)[name]
    item = next((one for one in (*item_set.items, *item_set.extras) if one.id == question.id), None)
    if item is None:
        return "The study's own wording."
    if same_words(text, item.text):
        return (
            "Our wording." if study.language == "en" else f"Our wording in {english_name(study.language)}, unreviewed."
        )
    if item.published and statement_digest(text) in item.published:
        return "The published wording."
    wording = wording_of(study)
    if wording is None or not same_words(text, wording.statements.get(item.id, "")):
        return "The study's own wording."
    if item.published:
        named = f", although its file names {wording.source}" if wording.source else ""
        return f"The study's own wording, not the published one{named}."
    return f"The published wording of {wording.source}." if wording.source else "The study's own wording."


def statement_digest(text: str) -> str:
    """Return the digest of the letters of a statement: published statements are known by it, not kept."""
    return hashlib.sha256(letters_of(text).encode()).hexdigest()[:_SHOWN]


def same_words(one: str, other: str) -> bool:
    """Return whether two statements have the same letters and digits, whatever their spaces, signs and marks."""
    return letters_of(one) == letters_of(other)


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, small."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())
