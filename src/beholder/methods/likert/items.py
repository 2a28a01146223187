"""Ready-made sets of statements, in our own wording: scores are not interchangeable with published ones.

The ids are those of the avatar paper (Templates A and B), so that a study with a licence to other wording can give its
own text for each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from beholder.methods.contract import Question, Stimulus


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

    def question(self) -> Question:
        """Return the item as a question on its usual scale."""
        fields = self._asdict()
        del fields["about"]
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
    return Item(**{**written, "ticks": tuple(written.get("ticks", ()))})


def _read_sets() -> Mapping[str, ItemSet]:
    sets = json.loads((Path(__file__).parent / "words" / "en.json").read_text("utf-8"))
    return {
        name: ItemSet(
            tuple(map(_read_item, written["items"])),
            written.get("scenario", ""),
            tuple(map(_read_item, written.get("extras", ()))),
            written.get("shows_driving_video", False),
        )
        for name, written in sets.items()
    }


ITEM_SETS = _read_sets()


def items_of_set(name: str | None, extra: tuple[str, ...] = ()) -> tuple[Item, ...]:
    """Return the items of a set, and those of its extras that are named."""
    if name is None:
        return ()
    item_set = ITEM_SETS[name]
    return (*item_set.items, *(item for item in item_set.extras if item.id in extra))


def applies_to(item: Item, stimulus: Stimulus) -> bool:
    """Return whether a stimulus has what an item is about."""
    has_sound = stimulus.medium == "audio" or (stimulus.medium == "video" and stimulus.probe.audio_codec != "")
    has_picture = stimulus.medium in ("video", "image")
    return {"all": True, "picture": has_picture, "sound": has_sound}[item.about]
