"""The questions on the last page of webMUSHRA and of its forks, and the columns that results have for them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from beholder.importing.source_folder import number_in, plain_number
from beholder.importing.source_values import SourceValue
from beholder.importing.study_folder import distinct, slug
from beholder.types import Json

_TEXTS, _NUMBER, _CHOICE = ("text", "long_text"), "number", "likert"
"""What it calls the types of its questions."""
_EMAIL = re.compile(r"(?i)e[-_ ]?mail")


class QuestionnaireItem(NamedTuple):
    """One question: the column that results have for it, and what it is in the study."""

    column: str
    keys: dict[str, Any]
    values: tuple[str, ...] = ()
    """What results hold for each of its options."""
    is_number: bool = False

    @property
    def is_email(self) -> bool:
        """Whether its answer says who somebody is."""
        return _EMAIL.search(self.column) is not None

    def read(self, cell: str) -> Json:
        """Return an answer as our questionnaires hold it; None where it cannot be one."""
        if not cell:
            return None
        if self.is_number:
            value = number_in(cell)
            return None if value is None else plain_number(value)
        if self.values:
            return self.keys["options"][self.values.index(cell)] if cell in self.values else None
        return cell[:5000]


@dataclass(frozen=True)
class Questionnaire:
    """The questions on the last page."""

    items: tuple[QuestionnaireItem, ...]
    is_known: bool = True
    """Whether a configuration says so; else the columns of results are all that is known."""

    @classmethod
    def unknown(cls) -> Questionnaire:
        """Return the questionnaire of a test without one, or of which nothing is known."""
        return cls((), is_known=False)


def read_questionnaire(written: SourceValue | None) -> Questionnaire:
    """Return the questions on a last page; a page without the key has none."""
    items = []
    used: set[str] = set()
    for one in written if written is not None else ():
        kind, name = one.get("type"), one.get("name")
        column = name.mapped("column of results").text().strip() if name is not None else ""
        made = _item(one, kind.text() if kind is not None else "", column, used) if column else None
        if made is None:
            one.unsupported("a question of this type is not known")
        else:
            items.append(made)
    return Questionnaire(tuple(items))


def _item(one: SourceValue, kind: str, column: str, used: set[str]) -> QuestionnaireItem | None:
    keys: dict[str, Any] = {"id": distinct(slug(column, "item"), used), "text": column}
    if (label := one.get("label")) is not None and label.text().strip():
        keys["text"] = label.mapped("text of the question").text().strip()
    values: tuple[str, ...] = ()
    if kind in _TEXTS:
        keys["type"] = "text"
    elif kind == _NUMBER:
        keys["type"] = kind
        for end in ("min", "max"):
            if (value := one.get(end)) is not None and (limit := value.number()) is not None:
                keys[end] = plain_number(limit)
                value.mapped(end)
    elif kind == _CHOICE:
        options = [*(one.get("response") or ())]
        if len(options) < 2:
            return None
        keys["type"] = "single"
        shown = [_label(option) for option in options]
        values = tuple(option.get("value").text() if option.get("value") else "" for option in options)
        keys["options"] = shown
    else:
        return None
    type_ = one.get("type")
    assert type_ is not None
    type_.mapped(f"type {keys['type']}")
    optional = one.get("optional")
    if optional is not None and optional.mapped("required").flag():
        keys["required"] = False
    for key, value in one.items():
        if key == "default":
            value.unsupported("nothing is filled in for people")
    return QuestionnaireItem(column, keys, values, kind == _NUMBER)


def _label(option: SourceValue) -> str:
    value, label = option.get("value"), option.get("label")
    for one in (value, label):
        if one is not None:
            one.mapped("option")
    text = label.text().strip() if label is not None else ""
    return text or (value.text().strip() if value is not None else "") or "?"
