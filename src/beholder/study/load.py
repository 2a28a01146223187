"""A study from its file: every problem at once, each with its line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from beholder.errors import Problem, StudyError, did_you_mean
from beholder.study.checks import PLACED
from beholder.study.consistency import inconsistencies
from beholder.study.document import Document, Place
from beholder.study.fault import FaultsError
from beholder.study.kind import NUMBERS, Kind, kind_of, listed
from beholder.study.model import Study
from beholder.study.presets import preset, with_clean_preset
from beholder.study.reader import Reader, shown, sides_of
from beholder.study.reserved import is_reserved_value
from beholder.study.scale import SCALES
from beholder.types import Json

_Model = TypeVar("_Model", bound=BaseModel)
_LENGTHS = ("too_short", "too_long", "missing")
"""How pydantic calls a list that is too short or too long; of one with a fixed length the rest is missing."""


class Rules(Protocol):
    """What loading needs to know of a method."""

    name: ClassVar[str]
    scales: ClassVar[tuple[str, ...]]
    Options: ClassVar[type[BaseModel]]
    defaults: ClassVar[Mapping[str, Json]]


def build_study(document: Document, rules: Rules | None, found: Iterable[Problem] = ()) -> Study:
    """Return the study that a document describes under the rules of its method.

    Raises `StudyError` with all problems, those already `found` among them. Without rules, which is when the
    method is unknown, everything else is still looked at.
    """
    reader = Reader(document)
    for problem in found:
        reader.found.append((document.line(("method",)), problem))
    kind = Kind(model=Study, given={"options": kind_of(rules.Options)} if rules else {})
    data = reader.read(kind)
    written = data
    data = _beneath(data, preset(data.get("preset")))
    if rules is not None:
        data = _beneath(data, rules.defaults)
    data = with_clean_preset(data, written, PLACED)
    _read_scales(data, rules, reader)
    for fault in inconsistencies(data, document.folder):
        reader.refuse(fault.place, fault.what, fault.allowed, fault.fix)
    if rules is not None:
        data["options"] = _options(data.get("options", {}), rules, reader)
    study = _validated(Study, data, reader, kind, ())
    if reader.found or study is None:
        raise StudyError(dict.fromkeys(problem for _, problem in sorted(reader.found, key=lambda pair: pair[0])))
    study._folder = document.folder
    study._lines = document.lines()
    return study


def _beneath(data: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data with defaults where nothing was written, map by map."""
    merged = dict(data)
    for key, value in defaults.items():
        if key not in merged:
            merged[key] = value
        elif isinstance(value, Mapping) and isinstance(merged[key], Mapping):
            merged[key] = _beneath(merged[key], value)
    return merged


def _read_scales(data: dict[str, Any], rules: Rules | None, reader: Reader) -> None:
    """Put the scale in place of its name, and the method's own where none is written."""
    if not isinstance(data.get("questions"), list):
        return
    questions = data["questions"] = list(data["questions"])
    names = [name for name in (rules.scales if rules else SCALES) if name in SCALES]
    for index, question in enumerate(questions):
        if not isinstance(question, dict):
            continue
        place: Place = ("questions", index, "scale")
        scale = question.get("scale")
        if scale is None and names:
            questions[index] = {**question, "scale": names[0]}
        elif isinstance(scale, str) and scale not in names:
            _refuse_scale(scale, names, rules, place, reader)
            questions[index] = {key: value for key, value in question.items() if key != "scale"}


def _refuse_scale(scale: str, names: list[str], rules: Rules | None, place: Place, reader: Reader) -> None:
    allowed = f"{listed([*names, '{min, max, step, labels, look}'])}"
    if scale in SCALES and rules is not None:
        reader.drop(place, f"is {scale}, which {rules.name} does not use", allowed)
    else:
        reader.drop(place, f"is {shown(scale)}, which is not a scale", allowed, did_you_mean(scale, names))


def _options(written: Any, rules: Rules, reader: Reader) -> Any:
    """Return the options of the method as they would be written, defaults filled."""
    options = _validated(rules.Options, written, reader, kind_of(rules.Options), ("options",))
    return written if options is None else options.model_dump(mode="json", by_alias=True)


def _validated(model: type[_Model], data: Any, reader: Reader, kind: Kind, start: Place) -> _Model | None:
    """Return the model made of the data, or None when the reader was told what is wrong."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        refused = frozenset(reader.refused)
        for detail in error.errors(include_url=False):
            _refuse(detail, reader, kind, start, data, refused)
        return None


def _refuse(detail: Any, reader: Reader, kind: Kind, start: Place, data: Any, refused: frozenset[Place]) -> None:
    """Tell the reader one error of pydantic in our words, unless it follows from what was told already."""
    found = _place(detail["loc"], kind, data)
    if found is None:
        return
    place, below, value = found
    place = start + place
    if any(place[: len(told)] == told for told in refused):
        return
    if detail["type"] == "too_short" and isinstance(value, list) and len(value) >= detail["ctx"]["min_length"]:
        return  # what is wrong with its items was told
    cause = detail.get("ctx", {}).get("error")
    if isinstance(cause, FaultsError):
        if not any(lost[: len(place)] == place for lost in reader.dropped):
            for fault in cause.faults:
                reader.note(place + fault.place, fault.what, fault.allowed, fault.fix)
    elif detail["type"] == "value_error":
        reader.note(place, f"is refused: {cause}", below.words())
    elif isinstance(value, list) and detail["type"] in _LENGTHS:
        least = detail.get("ctx", {}).get("min_length", 0)
        allowed = f"a list of {least} or more" if least > 1 and not below.says else below.words()
        reader.refuse(place, f"is a list of {len(value)}" if value else "is empty", allowed)
    elif detail["type"] == "missing":
        reader.refuse(place, "is missing", below.words())
    elif is_reserved_value(place, value):
        reader.refuse(place, f"is {shown(value)}, which is not in this version", below.words())
    else:
        near = [str(choice) for choice in below.choices]
        said = "is empty" if value in ("", None, []) else f"is {shown(value)}"
        reader.refuse(place, said, below.words(), did_you_mean(str(value), near) if near else _as_list(value, below))


def _as_list(value: object, kind: Kind) -> str:
    """Return how to write as a list what was written as text: one of its words, or two sides of a screen."""
    if not isinstance(value, str) or kind.item is None:
        return ""
    if sides := sides_of(value):
        return f"Write {sides}." if kind.item.scalars & NUMBERS else ""
    return f"Write [{value}]." if value in kind.item.choices else ""


def _place(loc: Place, kind: Kind, data: Any) -> tuple[Place, Kind, Any] | None:
    """Return the place of an error, what may stand there, and what does; None where the error is about nothing there.

    pydantic's own way may lead on into a short form (`conditions.0.name` of a plain name) or through the
    branches of a union; the place ends where the file does. Where a map is written in place of `true`, what counts
    is what is wrong with the map.
    """
    place: Place = ()
    for step in loc:
        keys = kind.keys()
        if isinstance(step, str) and step in keys and isinstance(data, Mapping):
            place, kind, data = (*place, step), keys[step], data.get(step)
        elif isinstance(step, int) and kind.item is not None and isinstance(data, list | tuple) and step < len(data):
            place, kind, data = (*place, step), kind.item, data[step]
        elif kind.model is not None and bool in kind.scalars and isinstance(data, Mapping):
            # The branch of the map is named by its model, maybe within a validator.
            if str(step).rstrip("]").rpartition(" ")[2] != kind.model.__name__:
                return None
        else:
            break
    return place, kind, data
