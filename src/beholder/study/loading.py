"""Loading: from the document to the model, with every problem at once, each with its line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, ClassVar, Protocol, TypeGuard, TypeVar

from pydantic import BaseModel, ValidationError

from beholder.errors import Problem, StudyError, did_you_mean
from beholder.formats import listed
from beholder.study.checks import CheckKinds
from beholder.study.consistency import inconsistencies
from beholder.study.design import Design, Level
from beholder.study.groups import GroupReader, group_data, group_study
from beholder.study.languages import (
    LANGUAGE,
    difference_faults,
    document_in_language,
    language_faults,
    missing_texts,
    with_first_answers,
    written_languages,
)
from beholder.study.model import Playback, Study, study_model
from beholder.study.parts import Fault, FaultsError, path_fault
from beholder.study.presets import preset, with_clean_preset
from beholder.study.questions import SCALES
from beholder.study.reader import StudyReader, bracketed_sides, dotted, quoted
from beholder.study.value_kinds import NUMBERS, InFile, ValueKind, field_kind, kind_of
from beholder.study.yaml import Place, StudyDocument, read_document
from beholder.types import Json

_Model = TypeVar("_Model", bound=BaseModel)
_LENGTHS = ("too_short", "too_long", "missing")
"""Error types of pydantic for lists of a wrong length; `missing` for those of a fixed length."""


class MethodRules(Protocol):
    """What loading needs to know about a method."""

    name: ClassVar[str]
    scales: ClassVar[tuple[str, ...]]
    Options: ClassVar[type[BaseModel]]
    defaults: ClassVar[Mapping[str, Json]]


_HEADING: Mapping[str, Any] = {"beholder": 1, "name": "study", "title": "A study", "language": "en"}
"""Keys on which no stimulus and no plan rests, with values to go on with where they are wrong."""


class HeadingError(StudyError):
    """Nothing is wrong in the study file but its heading; `study` is the rest, whose stimuli can be judged at once."""

    def __init__(self, problems: Iterable[Problem], study: Study) -> None:
        super().__init__(problems)
        self.study = study


def build_study(
    document: StudyDocument,
    rules: MethodRules | None,
    checks: CheckKinds,
    problems: Iterable[Problem] = (),
    methods: Sequence[str] = (),
    *,
    is_resolved: bool = False,
) -> Study:
    """Return the study that a document describes under the rules of its method, with these checks to choose from.

    Raises `StudyError` with all problems, including the `problems` that are known already. Without rules, for an
    unknown method, everything else is still checked. `methods` are the names to choose a method from.

    A study in several languages is read once for each, as its people read it; the first is that of tables. What is
    resolved (`resolved_yaml`) was complete: a text that is there once is the same in all of them.
    """
    codes = written_languages(document)
    if not codes:
        return _build_one(document, rules, checks, problems, methods)
    kind = _study_kind(rules, study_model(checks.rules, checks.page_checks), checks, methods)
    faults = [*language_faults(document), *(() if is_resolved else missing_texts(document, kind, codes))]
    found: dict[Problem, None] = {}
    studies: dict[str, Study] = {}
    first_data: dict[str, Any] = {}
    for code in dict.fromkeys(codes):
        try:
            read = document_in_language(document, kind, codes, code)
            studies[code] = _build_one(read, rules, checks, problems, methods, faults, first_data)
        except StudyError as error:
            found |= dict.fromkeys(error.problems)
        faults = []
    if not found:
        (first, *others) = studies.values()
        for other in others:
            for fault in difference_faults(first, other):
                where = document.where(fault.place)
                found[Problem(where, f"{dotted(fault.place)} {fault.what}", fault.allowed, fault.fix)] = None
    if found:
        raise StudyError(found)
    first._in_languages = {code: study for code, study in studies.items() if study is not first}
    return first


def _build_one(
    document: StudyDocument,
    rules: MethodRules | None,
    checks: CheckKinds,
    problems: Iterable[Problem],
    methods: Sequence[str],
    faults: Iterable[Fault] = (),
    first: dict[str, Any] | None = None,
) -> Study:
    """Return the study of a document in one language; `faults` are reported with its own problems.

    `first` is what is written in the first language, which is put into it by the first one that is read.
    """
    reader = StudyReader(document)
    for problem in problems:
        reader.problems.append((document.line(("method",)), problem))
    model = study_model(checks.rules, checks.page_checks)
    kind = _study_kind(rules, model, checks, methods)
    for fault in faults:
        reader.refuse(fault.place, fault.what, fault.allowed, fault.fix)
    data = _without_broken(reader.read(kind), checks, reader)
    if first:
        with_first_answers(data, first)
    elif first is not None:
        first |= deepcopy(data)
    written = data
    data = _with_defaults(data, preset(data.get("preset")))
    if rules is not None:
        data = _with_defaults(data, rules.defaults)
    data = with_clean_preset(data, written, checks.planned)
    _read_scales(data, rules, reader)
    for fault in inconsistencies(data, document.folder, checks):
        reader.refuse(fault.place, fault.what, fault.allowed, fault.fix)
    if rules is not None:
        data["options"] = _options(data.get("options", {}), rules, reader)
    study = _validated(model, data, reader, kind, ())
    if _has_groups(study, reader):
        study = _read_groups(study, data, rules, checks, kind, reader)
    is_refused = bool(reader.problems)
    if study is None and rules is not None and _is_heading_alone(reader):
        wrong = {place[0] for place in reader.refused_places}
        study = model.model_validate(data | {key: value for key, value in _HEADING.items() if key in wrong})
    elif is_refused or study is None:
        raise StudyError(_in_order(reader))
    study._folder = document.folder
    study._lines = document.lines()
    if is_refused:
        raise HeadingError(_in_order(reader), study)
    return study


def _is_heading_alone(reader: StudyReader) -> bool:
    """Return whether all that is wrong is in the heading, so that stimuli and plan can be judged all the same."""
    wrong = reader.refused_places
    return len(wrong) == len(reader.problems) and all(place and place[0] in _HEADING for place in wrong)


def _in_order(reader: StudyReader) -> Iterable[Problem]:
    """Return the problems by line, each once."""
    return dict.fromkeys(problem for _, problem in sorted(reader.problems, key=lambda pair: pair[0]))


def build_part(document: StudyDocument, model: type[_Model]) -> _Model:
    """Return the model of a document that is no study; raises `StudyError` with all problems."""
    reader = StudyReader(document)
    kind = ValueKind(model=model)
    part = _validated(model, reader.read(kind), reader, kind, ())
    if reader.problems or part is None:
        raise StudyError(_in_order(reader))
    return part


def _study_kind(rules: MethodRules | None, model: type[Study], checks: CheckKinds, methods: Sequence[str]) -> ValueKind:
    """Return what is allowed in a study, with the options of the method, also in each level."""
    broken = _broken_kinds(model, checks)
    if rules is None:
        named = {"method": replace(field_kind(model.model_fields["method"]), allowed=listed(methods))}
        return ValueKind(model=model, overrides={**broken, **(named if methods else {})})
    options = kind_of(rules.Options)
    level = ValueKind(model=Level, is_nullable=True, overrides={"options": options, "playback": kind_of(Playback)})
    factors = ValueKind(is_map=True, value=ValueKind(is_map=True, is_nullable=True, value=level))
    design = ValueKind(model=Design, overrides={"between": factors})
    return ValueKind(model=model, overrides={"options": options, "design": design, **broken})


_NAMING_CHECKS: tuple[tuple[str, ...], ...] = (("checks",), ("qualification",), ("clean", "use"))


def _broken_kinds(model: type[Study], checks: CheckKinds) -> dict[str, ValueKind]:
    """Return the parts that name checks, where a check cannot be used: with anything under its name, read for now."""
    if not checks.problems:
        return {}
    anything = dict.fromkeys(checks.problems, ValueKind(is_free=True, is_nullable=True))
    return {part[0]: _with_keys(field_kind(model.model_fields[part[0]]), part[1:], anything) for part in _NAMING_CHECKS}


def _with_keys(kind: ValueKind, place: tuple[str, ...], keys: Mapping[str, ValueKind]) -> ValueKind:
    """Return a kind with these keys besides at a place below it."""
    if not place:
        return replace(kind, overrides=keys)
    return replace(kind, overrides={place[0]: _with_keys(kind.keys()[place[0]], place[1:], keys)})


def _without_broken(data: dict[str, Any], checks: CheckKinds, reader: StudyReader) -> dict[str, Any]:
    """Return the data, from which checks that cannot be used are taken out; report each with the reason."""
    for part in _NAMING_CHECKS:
        named: Any = data
        for key in part:
            named = named.get(key) if isinstance(named, dict) else None
        for name in checks.problems:
            if isinstance(named, dict) and name in named:
                place: Place = (*part, name)
                problem = replace(checks.problems[name], where=reader.document.where(place))
                reader.problems.append((reader.document.line(place), problem))
                del named[name]
    return data


def _has_groups(study: Study | None, reader: StudyReader) -> TypeGuard[Study]:
    """Return whether the study has groups whose factors, levels, questions and conditions are right."""
    if study is None or not study.design.between:
        return False
    wrong = (place[2:] for place in reader.refused_places if place[:2] == ("design", "between"))
    return not any(len(place) < 3 or place[2] in ("questions", "conditions") for place in wrong)


def _read_groups(
    study: Study,
    data: dict[str, Any],
    rules: MethodRules | None,
    checks: CheckKinds,
    kind: ValueKind,
    reader: StudyReader,
) -> Study:
    """Return the study with the options of each level as they would be written; report problems to the reader."""
    between = study.design.between
    options: dict[tuple[str, str], dict[str, Any]] = {}
    for levels, values, moved in group_data(data):
        group = GroupReader(reader, levels, moved)
        for fault in inconsistencies(values, reader.document.folder, checks):
            group.refuse(fault.place, fault.what, fault.allowed, fault.fix)
        if rules is not None:
            values["options"] = _options(values.get("options", {}), rules, group)
        _validated(type(study), values, group, kind, ())
        reader.problems += [problem for problem in group.problems if problem not in reader.problems]
        for pair in levels.items():
            written = between[pair[0]][pair[1]].options
            options[pair] = {name: values["options"].get(name, value) for name, value in written.items()}
    resolved = {
        factor: {name: level.model_copy(update={"options": options[factor, name]}) for name, level in levels.items()}
        for factor, levels in between.items()
    }
    study = study.model_copy(update={"design": study.design.model_copy(update={"between": resolved})})
    if not reader.problems:
        _refuse_alike(study, reader)
    return study


def _refuse_alike(study: Study, reader: StudyReader) -> None:
    """Report levels of a factor that give the same study."""
    for factor, levels in study.design.between.items():
        if factor == LANGUAGE and study.languages:
            if set(levels) != set(study.languages):
                what = f"has the levels {listed(list(levels), 'and')}"
                reader.refuse(
                    ("design", "between", factor),
                    what,
                    f"the languages of the study: {listed(list(study.languages), 'and')}",
                )
            continue
        studies = [(name, group_study(study, {factor: name})) for name in levels]
        for number, (name, one) in enumerate(studies):
            same = next((other for other, earlier in studies[:number] if earlier == one), None)
            if same is not None:
                what = f"is the same as design.between.{factor}.{same}, and splits nothing"
                place: Place = ("design", "between", factor, name)
                reader.refuse(place, what, "levels that differ", "Change it, or take it out.")


def _with_defaults(data: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data with defaults for what is not written, map by map."""
    merged = dict(data)
    for key, value in defaults.items():
        if key not in merged:
            merged[key] = value
        elif isinstance(value, Mapping) and isinstance(merged[key], Mapping):
            merged[key] = _with_defaults(merged[key], value)
    return merged


def _read_scales(data: dict[str, Any], rules: MethodRules | None, reader: StudyReader) -> None:
    """Refuse unknown names of scales, and fill in the first scale of the method where none is written."""
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
        elif isinstance(scale, dict) and isinstance(scale.get("name"), str) and scale["name"] not in names:
            _refuse_scale(scale["name"], names, rules, (*place, "name"), reader)
            questions[index] = {key: value for key, value in question.items() if key != "scale"}


def _refuse_scale(scale: str, names: list[str], rules: MethodRules | None, place: Place, reader: StudyReader) -> None:
    allowed = listed(names if place[-1] == "name" else [*names, "{min, max, step, labels, look}"])
    if rules is not None and not rules.scales:
        reader.drop(place, f"is {quoted(scale)}, and questions of {rules.name} have no scale", "", "Take it out.")
    elif scale in SCALES and rules is not None:
        reader.drop(place, f"is {scale}, which {rules.name} does not use", allowed)
    else:
        reader.drop(place, f"is {quoted(scale)}, which is not a scale", allowed, did_you_mean(scale, names))


def _options(written: Any, rules: MethodRules, reader: StudyReader) -> Any:
    """Return the options of the method with its defaults, as they would be written."""
    written = _with_files(written, rules, reader)
    options = _validated(rules.Options, written, reader, kind_of(rules.Options), ("options",))
    return written if options is None else options.model_dump(mode="json", by_alias=True)


def _with_files(written: Any, rules: MethodRules, reader: StudyReader) -> Any:
    """Return the options with the contents of those that stand in files; report problems of the files to the reader."""
    if not isinstance(written, dict):
        return written
    read = dict(written)
    for name, field in rules.Options.model_fields.items():
        mark = next((mark for mark in field.metadata if isinstance(mark, InFile)), None)
        file = written.get(name)
        if mark is None or not isinstance(file, str):
            continue
        del read[name]
        if fault := path_fault(file, reader.document.folder):
            reader.refuse(("options", name), fault.what, fault.allowed, fault.fix)
            continue
        path = reader.document.folder / file
        if not path.is_file():
            reader.refuse(("options", name), f"is {file}, which is not in the study folder", field_kind(field).words())
            continue
        try:
            read[name] = build_part(read_document(path), mark.model).model_dump(mode="json")
        except StudyError as error:
            reader.problems += [(reader.document.line(("options", name)), problem) for problem in error.problems]
    return read


def _validated(model: type[_Model], data: Any, reader: StudyReader, kind: ValueKind, start: Place) -> _Model | None:
    """Return the model of the data; None after reporting its problems to the reader."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        refused = frozenset(reader.refused_places)
        for detail in error.errors(include_url=False):
            _refuse(detail, reader, kind, start, data, refused)
        return None


def _refuse(
    detail: Any, reader: StudyReader, kind: ValueKind, start: Place, data: Any, refused: frozenset[Place]
) -> None:
    """Report one error of pydantic in our words, unless it follows from one that was reported already."""
    location = _place(detail["loc"], kind, data)
    if location is None:
        return
    place, below, value = location
    place = start + place
    if any(place[: len(outer)] == outer for outer in refused):
        return
    if detail["type"] == "too_short" and isinstance(value, list) and len(value) >= detail["ctx"]["min_length"]:
        return  # its items were reported
    cause = detail.get("ctx", {}).get("error")
    if isinstance(cause, FaultsError):
        if not any(lost[: len(place)] == place for lost in reader.dropped_places):
            for fault in cause.faults:
                reader.note(place + fault.place, fault.what, fault.allowed, fault.fix)
    elif detail["type"] == "value_error":
        reader.note(place, f"is refused: {cause}", below.words())
    elif isinstance(value, list) and detail["type"] in _LENGTHS:
        least = detail.get("ctx", {}).get("min_length", 0)
        allowed = f"a list of {least} or more" if least > 1 and not below.allowed else below.words()
        reader.refuse(place, f"is a list of {len(value)}" if value else "is empty", allowed)
    elif detail["type"] == "missing":
        only = below.choices[0] if len(below.choices) == 1 else None
        fix = "" if only is None else f"Write {place[-1]}: {only} in a line of its own."
        reader.refuse(place, "is missing", below.words(), fix)
    else:
        near = [str(choice) for choice in below.choices]
        what = "is empty" if value in ("", None, []) else f"is {quoted(value)}"
        if in_map := _as_map(value, below):
            reader.refuse(place, what, "a map of keys", in_map)
        else:
            reader.refuse(place, what, below.words(), _near_value(str(value), near) if near else _as_list(value, below))


_OTHER_VALUES = {
    "choice": "single", "radio": "single", "dropdown": "single", "select": "single", "checkbox": "multiple",
    "multi": "multiple", "string": "text", "free": "text", "int": "number", "integer": "number", "float": "number",
    "hidden": "anchor", "control": "reference", "original": "reference",
}  # fmt: skip
"""What other tools call a value, with the value here."""


def _near_value(value: str, allowed: Sequence[str]) -> str:
    """Return which of the allowed values may be meant, as a question."""
    meant = _OTHER_VALUES.get(value.lower())
    return f"Did you mean {meant}?" if meant in allowed else did_you_mean(value, allowed)


def _as_list(value: object, kind: ValueKind) -> str:
    """Return how to write a text or a map as a list: words, or two sides of a screen."""
    if isinstance(value, Mapping) and kind.item is not None and kind.item.model is not None:
        return "Begin each of its items with a dash and a blank, as - name: value."
    if not isinstance(value, str) or kind.item is None:
        return ""
    if sides := bracketed_sides(value):
        return f"Write {sides}." if kind.item.scalars & NUMBERS else ""
    words = [word.strip() for word in value.split(",")]
    # One word alone is meant as a list of one; of several words without a comma nobody knows.
    is_meant = all(words) and (len(words) > 1 or (len(value.split()) == 1 and not kind.allowed))
    is_list = value in kind.item.choices or (is_meant and not kind.item.choices)
    return f"Write [{', '.join(words)}]." if is_list else ""


def _as_map(value: object, kind: ValueKind) -> str:
    """Return how to write a word as a map: the key that it names, or the value of the key that takes it."""
    if not isinstance(value, str) or kind.model is None:
        return ""
    keys = kind.keys()
    if value in keys and bool in keys[value].scalars:
        return f"Write {{{value}: true}}."
    takers = [key for key, below in keys.items() if value in below.choices]
    return f"Write {{{takers[0]}: {value}}}." if takers else ""


def _place(loc: Place, kind: ValueKind, data: Any) -> tuple[Place, ValueKind, Any] | None:
    """Return the place of an error, what is allowed there, and what is written; None for an error of another branch.

    The location of pydantic may lead into a short form (`conditions.0.name` of a plain name) or through the branches
    of a union; the place ends where the file does. Where a map is written in place of `true`, only errors of the map
    count.
    """
    place: Place = ()
    for step in loc:
        keys = kind.keys()
        if isinstance(step, str) and step in keys and isinstance(data, Mapping):
            place, kind, data = (*place, step), keys[step], data.get(step)
        elif isinstance(step, str) and kind.value is not None and isinstance(data, Mapping) and step in data:
            place, kind, data = (*place, step), kind.value, data[step]
        elif isinstance(step, int) and kind.item is not None and isinstance(data, list | tuple) and step < len(data):
            place, kind, data = (*place, step), kind.item, data[step]
        elif kind.model is not None and bool in kind.scalars and isinstance(data, Mapping):
            # The branch of the map is named by its model, maybe within a validator.
            if str(step).rstrip("]").rpartition(" ")[2] != kind.model.__name__:
                return None
        else:
            break
    return place, kind, data
