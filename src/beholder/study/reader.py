"""Reading: plain values from the tree of a study file, by the types of the model, so that names stay text."""

from __future__ import annotations

import math
import re
from typing import Any, Final

from beholder.errors import Problem, closest, did_you_mean
from beholder.formats import listed
from beholder.study.value_kinds import NUMBERS, ValueKind
from beholder.study.yaml import ListNode, MapNode, Node, Place, Scalar, StudyDocument, core_value

_OMITTED: Final = object()
_LONGEST_SHOWN = 40
_MOST_KEYS = 8
"""Where a part has more keys, a message names the nearest only."""
_OTHER_WORDS = {
    "choices": "options", "answers": "options", "items": "options", "optional": "required: false", "path": "folder",
    "dir": "folder", "directory": "folder", "files": "folder", "regex": "pattern", "csv": "manifest",
    "break_every": "breaks", "pause": "breaks", "raters": "participants", "subjects": "participants",
    "listeners": "participants", "n": "participants", "question": "text", "prompt": "text", "wording": "text",
    "systems": "conditions", "models": "conditions", "media": "stimuli", "clips": "stimuli", "videos": "stimuli",
    "images": "stimuli", "audio": "stimuli", "email": "contact", "payment": "reward", "pay": "reward",
    "lang": "language", "replays": "max_plays", "plays": "max_plays", "mute": "sound: off",
    "shuffle": "order", "random_seed": "seed", "type": "method", "platform": "mode",
}  # fmt: skip
"""What other tools call a key, with the key, or what is to be written, here."""
_SIDES = re.compile(r"([1-9][0-9]*) ?[x×] ?([1-9][0-9]*)")


class StudyReader:
    """Reads plain values from a document and collects its problems."""

    def __init__(self, document: StudyDocument) -> None:
        self.document = document
        self.problems: list[tuple[int, Problem]] = list(document.problems)
        self.refused_places: set[Place] = set()
        """Places with a problem; no further ones are reported there."""
        self.dropped_places: set[Place] = set()
        """Places whose value is not handed on, so that the part around them may seem incomplete."""
        self._root: ValueKind | None = None

    def read(self, kind: ValueKind) -> dict[str, Any]:
        """Return the document as plain values."""
        self._root = kind
        return self._entries(self.document.root, kind, ())

    def drop(self, place: Place, what: str, allowed: str = "", fix: str = "") -> None:
        """Add a problem with a value that is not handed on."""
        self.dropped_places.add(place)
        self.refuse(place, what, allowed, fix)

    def refuse(self, place: Place, what: str, allowed: str = "", fix: str = "") -> None:
        """Add a problem with the value at a place, once for each place."""
        if place not in self.refused_places:
            self.refused_places.add(place)
            self.note(place, what, allowed, fix)

    def note(self, place: Place, what: str, allowed: str = "", fix: str = "") -> None:
        """Add a problem. `what` follows the dotted name of the place."""
        line = self.document.line(place)
        subject = f"{dotted(place)} {what}" if place else what
        self.problems.append((line, Problem(self.document.where(place), subject, allowed, fix)))

    def _value(self, node: Node, kind: ValueKind, place: Place) -> Any:
        if isinstance(node, Scalar):
            return self._scalar(node, kind, place)
        if isinstance(node, MapNode):
            return self._entries(node, kind, place)
        return self._items(node, kind, place)

    def _items(self, node: ListNode, kind: ValueKind, place: Place) -> list[Any]:
        item = kind.item or ValueKind(is_free=True)
        if kind.as_text:
            item = ValueKind(as_text=True)
        values = [self._value(part, item, (*place, index)) for index, part in enumerate(node.items)]
        for index, value in enumerate(values):
            if value is _OMITTED and (*place, index) not in self.refused_places:
                self.drop((*place, index), "is empty", item.words())
        # Omitted items keep their place, so that the numbers of the others stay right.
        return [None if value is _OMITTED else value for value in values]

    def _entries(self, node: MapNode, kind: ValueKind, place: Place) -> dict[str, Any]:
        keys = kind.keys()
        is_open = kind.model is None or kind.model.model_config.get("extra") == "allow"
        values: dict[str, Any] = {}
        for key, (_, part) in node.entries.items():
            here = (*place, key)
            if key not in keys and not is_open:
                fault = getattr(kind.model, "unfit", {}).get(key)
                if fault is None:
                    self._unknown(here, list(keys), node)
                else:
                    self.drop(here, fault.what, fault.allowed, fault.fix)
            else:
                below = (
                    ValueKind(as_text=True) if kind.as_text else keys.get(key, kind.value or ValueKind(is_free=True))
                )
                value = self._value(part, below, here)
                if value is not _OMITTED:
                    values[key] = value
        return values

    def _unknown(self, place: Place, keys: list[str], node: MapNode) -> None:
        """Add the problem of a key that is not known: the nearest keys, or the part that has it, or all keys."""
        if place[-1] == "<<":
            self.drop(place, "is a merge, which YAML 1.2 does not have", "keys", "Write the keys out.")
            return
        word, siblings = str(place[-1]), list(node.entries)
        before = siblings[siblings.index(word) - 1] if word in siblings[1:] else ""
        part = node.entries[before][1] if before else None
        if word.isdecimal() and isinstance(part, Scalar) and part.text.isdecimal():
            self.drop((*place[:-1], before), f"is {part.text},{word}", "numbers without commas",
                      f"Write {before}: {part.text}{word}.")  # fmt: skip
            return
        elsewhere = self._other_place(word, is_top=len(place) == 1)
        is_long = len(keys) > _MOST_KEYS
        meant = _OTHER_WORDS.get(word.lower(), "")
        if meant.partition(":")[0] in keys:
            elsewhere, fix = "", f"Write {meant} in its place."
            self.refused_places.add((*place[:-1], meant.partition(":")[0]))  # not missing, but called otherwise
        else:
            fix = elsewhere or did_you_mean(word, keys, most=3 if is_long else 1)
        allowed = "" if is_long and fix else listed(keys, "and") if keys else "no keys"
        self.drop(place, "is not a known key", allowed, fix)
        near = [] if elsewhere else closest(word, keys)
        if near and near[0] not in siblings:
            self.refused_places.add((*place[:-1], near[0]))  # not missing, but misspelt

    def _other_place(self, word: str, *, is_top: bool) -> str:
        """Return where in the document a key belongs, as a sentence; empty where it belongs nowhere."""
        keys = self._root.keys() if self._root is not None else {}
        if word in keys and not is_top:
            return f"{word} stands at the top of the file, not in here."
        parts = [name for name, kind in keys.items() if word in set(kind.keys())]
        return f"It is a key of {listed(parts)}." if parts else ""

    def _scalar(self, node: Scalar, kind: ValueKind, place: Place) -> Any:
        value = core_value(node.text) if node.plain else node.text
        if value is None:
            return self._empty(kind, place)
        if kind.wants_text or (kind.model is not None and not kind.scalars):
            return node.text
        if isinstance(value, float) and not math.isfinite(value):
            self.drop(place, f"is {node.text}", kind.words() or "a finite number")
            return _OMITTED
        if kind.scalars and not kind.is_free and not self._fits(value, kind):
            self.drop(place, f"is {quoted(node.text)}", kind.words(), _advice(value, kind, node))
            return _OMITTED
        return value

    def _empty(self, kind: ValueKind, place: Place) -> Any:
        if kind.is_container and not kind.is_nullable:
            return _OMITTED
        if kind.is_nullable or kind.is_free:
            return None
        self.drop(place, "is empty", kind.words())
        return _OMITTED

    @staticmethod
    def _fits(value: object, kind: ValueKind) -> bool:
        """Return whether pydantic may see this value: it would take `yes` and 1 for true, and true for 1."""
        if isinstance(value, bool):
            return bool in kind.scalars
        if isinstance(value, int | float):
            return bool(kind.scalars & NUMBERS)
        if bool in kind.scalars:  # true, false or a map of options: no text means either
            return str in kind.scalars
        return str in kind.scalars or kind.item is not None or kind.model is not None


def dotted(place: Place) -> str:
    """Return `questions.0.scale`."""
    return ".".join(str(step) for step in place)


def quoted(value: object) -> str:
    """Return a value as it is quoted in a message: short, on one line."""
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, dict):
        return "a map"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = " ".join(str(value).split())
    return f"{text[:_LONGEST_SHOWN]}..." if len(text) > _LONGEST_SHOWN else text or "empty"


def bracketed_sides(text: str) -> str:
    """Return `[1280, 720]` for `1280x720`, or nothing."""
    match = _SIDES.fullmatch(text)
    return f"[{match[1]}, {match[2]}]" if match else ""


def _advice(value: object, kind: ValueKind, node: Scalar) -> str:
    word = node.text.lower()
    if bool in kind.scalars and word in ("yes", "on", "no", "off", "true", "false"):
        return f"Write {'true' if word in ('yes', 'on', 'true') else 'false'}."
    keys = kind.keys()
    if (sides := bracketed_sides(node.text)) and "min" in keys:
        return f"Write {{min: {sides}}}."
    if kind.scalars & NUMBERS and not node.plain and isinstance(core_value(node.text), int | float):
        return "Take the quotes off."
    if kind.choices and isinstance(value, str):
        return did_you_mean(value, [str(choice) for choice in kind.choices])
    return ""
