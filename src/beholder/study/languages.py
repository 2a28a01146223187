"""Languages of a study: its document as people of one language read it, and which texts are not there in each.

A text is written for each language in its place, `text: {en: ..., de: ...}`, or in a file of the language that has the
keys of the study and its texts alone, `texts/de/study.yaml`. A text in a file, such as `texts/consent.md`, has another
beside it in a folder of the language, `texts/de/consent.md`. Our texts and labels of named scales are there already.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from beholder.errors import StudyError, did_you_mean
from beholder.formats import listed
from beholder.study.earlier_answers import written_parts
from beholder.study.model import Study
from beholder.study.parts import Fault
from beholder.study.reader import quoted
from beholder.study.scale_labels import our_labels
from beholder.study.value_kinds import ValueKind
from beholder.study.yaml import ListNode, MapNode, Node, Place, Scalar, StudyDocument, core_value, read_document
from beholder.words import languages

LANGUAGE = "language"
"""The factor between participants whose levels are the languages of the study, and the column of the ratings."""
OVERLAY = "texts/{}/study.yaml"
"""The file with the texts of one language, from the folder of the study."""
_FILES = (".md", ".yaml", ".yml")
_QUESTIONNAIRES = ("before", "during", "after")
_Overlays = Mapping[str, Collection[Place]]
"""By language, the places that its file has."""


def written_languages(document: StudyDocument) -> tuple[str, ...]:
    """Return the languages that a study file lists; none where it has one, or its list is no list of texts."""
    _, node = document.root.entries.get("languages", (0, None))
    if not isinstance(node, ListNode):
        return ()
    return tuple(item.text for item in node.items if isinstance(item, Scalar) and item.text)


def language_faults(document: StudyDocument) -> Iterator[Fault]:
    """Yield what is wrong with the list of languages, and with `language` beside it."""
    codes, known = written_languages(document), languages()
    for number, code in enumerate(codes):
        place: Place = ("languages", number)
        if code not in known:
            what, fix = f"is {quoted(code)}, and our words are not written in it", did_you_mean(code, known)
            yield Fault(
                what,
                "those that `beholder words` lists",
                fix or "docs/translating.md tells how another language is added.",
                place,
            )
        elif code in codes[:number]:
            yield Fault(f"is {code} a second time", "every language once", "Take it out.", place)
    language = document.text("language")
    if codes and language is not None and language != codes[0]:
        what = f"is {quoted(language)}, and languages begins with {codes[0]}"
        yield Fault(what, f"{codes[0]}, or nothing", "Take it out: the first of languages is that of the tables.",
                    ("language",))  # fmt: skip


# The document in one language


@dataclass(frozen=True)
class DocumentInLanguage(StudyDocument):
    """A study file as it is in one language, and where texts from the file of that language are written."""

    language: str = ""
    overlaid: Mapping[Place, int] = field(default_factory=dict)

    def line(self, place: Place) -> int:
        """Return the line of a place, in the file of the language where it is from there."""
        return self._own_line(place) or super().line(place)

    def where(self, place: Place) -> str:
        """Return `study.yaml:LINE`, or the line in the file of the language."""
        own = self._own_line(place)
        return super().where(place) if own is None else f"{OVERLAY.format(self.language)}:{own}"

    def _own_line(self, place: Place) -> int | None:
        return next((self.overlaid[place[:n]] for n in range(len(place), 0, -1) if place[:n] in self.overlaid), None)


def document_in_language(
    document: StudyDocument, kind: ValueKind, codes: Sequence[str], language: str
) -> DocumentInLanguage:
    """Return a study file as people read it in a language; raise StudyError where the file of it cannot be read."""
    overlaid: dict[Place, int] = {}
    root: Node = document.root
    problems = document.problems
    if (file := document.folder / OVERLAY.format(language)).is_file():
        own = read_document(file)
        renamed = tuple(
            (line, replace(problem, where=f"{OVERLAY.format(language)}:{line}")) for line, problem in own.problems
        )
        problems = (*problems, *renamed)
        root = _overlaid(root, own.root, (), overlaid)
    root = _chosen(root, kind, codes, language, document.folder)
    assert isinstance(root, MapNode)
    entries = {**root.entries, "language": (root.entries["languages"][0], Scalar(language, False, root.line))}
    return DocumentInLanguage(document.path, replace(root, entries=entries), problems, language, overlaid)


def _overlaid(node: Node, own: Node, place: Place, places: dict[Place, int]) -> Node:
    """Return a node with the texts of another file in it; items of lists are found by ids, else by their place."""
    if isinstance(node, MapNode) and isinstance(own, MapNode):
        entries = dict(node.entries)
        for key, (line, below) in own.entries.items():
            here = (*place, key)
            if key in entries:
                entries[key] = entries[key][0], _overlaid(entries[key][1], below, here, places)
            else:
                entries[key] = line, below
                places[here] = line
        return replace(node, entries=entries)
    if isinstance(node, ListNode) and isinstance(own, ListNode) and any(isinstance(one, MapNode) for one in own.items):
        items = list(node.items)
        by_id = {_id_of(item): number for number, item in enumerate(items)}
        for number, item in enumerate(own.items):
            at = by_id.get(_id_of(item), number) if _id_of(item) else number
            if at < len(items):
                items[at] = _overlaid(items[at], item, (*place, at), places)
            else:
                places[*place, len(items)] = item.line
                items.append(item)
        return replace(node, items=tuple(items))
    places[place] = own.line
    return own


def _id_of(node: Node) -> str:
    _, value = node.entries.get("id", (0, None)) if isinstance(node, MapNode) else (0, None)
    return value.text if isinstance(value, Scalar) else ""


def is_by_language(node: Node, kind: ValueKind, codes: Sequence[str]) -> bool:
    """Return whether a value is written for each language: `{en: ..., de: ...}` where participants read it."""
    if not isinstance(node, MapNode) or not node.entries:
        return False
    is_text = kind.is_shown or (not kind.is_map and kind.model is None and not kind.is_free)
    return is_text and any(key in codes for key in node.entries)


def _below(kind: ValueKind, key: str | int) -> ValueKind:
    """Return the kind of a part. Whatever is in a list or map of labels that participants read is read as well."""
    anything = ValueKind(is_free=True)
    if isinstance(key, int):
        item = kind.item or anything
        return replace(item, is_shown=True, is_free=False) if kind.is_shown and item.model is None else item
    if kind.as_text:
        return ValueKind(scalars=frozenset((str,)), is_shown=kind.is_shown)
    return kind.keys().get(key, kind.value or anything)


def _chosen(node: Node, kind: ValueKind, codes: Sequence[str], language: str, folder: Path) -> Node:
    """Return a node with the values of one language in place of maps by language, and its own files."""
    if is_by_language(node, kind, codes):
        assert isinstance(node, MapNode)
        here = node.entries.get(language) or next(iter(node.entries.values()))
        return here[1]
    if isinstance(node, MapNode):
        return replace(
            node,
            entries={
                key: (line, _chosen(below, _below(kind, key), codes, language, folder))
                for key, (line, below) in node.entries.items()
            },
        )
    if isinstance(node, ListNode):
        items = tuple(
            _chosen(item, _item_kind(node, kind, number), codes, language, folder)
            for number, item in enumerate(node.items)
        )
        return replace(node, items=items)
    if kind.is_shown and language != codes[0] and is_file(node.text):
        own = file_in_language(node.text, language)
        return replace(node, text=own) if (folder / own).is_file() else node
    return node


def _item_kind(node: ListNode, kind: ValueKind, number: int) -> ValueKind:
    below = _below(kind, number)
    # A page of the instructions can be a text, which is read, or a map, of which some keys are.
    if kind.is_shown and below.model is not None and isinstance(node.items[number], Scalar):
        return ValueKind(scalars=frozenset((str,)), is_shown=True)
    return below


def is_file(text: str) -> bool:
    """Return whether a text is the name of a file that holds it."""
    return text.endswith(_FILES) and "\n" not in text


def file_in_language(name: str, language: str) -> str:
    """Return the name of the file that holds a text in another language: `texts/de/consent.md`."""
    path = PurePosixPath(name)
    return (path.parent / language / path.name).as_posix()


def values_in_language(values: Any, codes: Sequence[str], language: str, key: str = "") -> Any:
    """Return plain values of a resolved study, which has a map by language wherever its languages differ, in one."""
    if isinstance(values, Mapping):
        if key != LANGUAGE and list(values) == list(codes):
            return values[language]
        return {name: values_in_language(one, codes, language, str(name)) for name, one in values.items()}
    if isinstance(values, list):
        return [values_in_language(one, codes, language) for one in values]
    return values


# What is missing


def missing_texts(document: StudyDocument, kind: ValueKind, codes: Sequence[str]) -> Iterator[Fault]:
    """Yield every text that participants read and that is not there in each language, at its place."""
    overlays: dict[str, Collection[Place]] = {}
    for code in codes:
        file = document.folder / OVERLAY.format(code)
        places: dict[Place, int] = {}
        if file.is_file():
            with contextlib.suppress(StudyError):  # which is reported where it is read
                _overlaid(document.root, read_document(file).root, (), places)
        overlays[code] = places
    yield from _missing(document.root, kind, (), codes, overlays, document.folder)


def _missing(
    node: Node,
    kind: ValueKind,
    place: Place,
    codes: Sequence[str],
    overlays: _Overlays,
    folder: Path,
) -> Iterator[Fault]:
    if is_by_language(node, kind, codes):
        assert isinstance(node, MapNode)
        for key in node.entries:
            if key not in codes:
                what = f"is for {quoted(key)}, which is not among the languages"
                yield Fault(what, listed(codes), did_you_mean(key, codes), (*place, key))
        lacking = [code for code in codes if code not in node.entries and not _has(overlays[code], place)]
        if lacking:
            yield _fault(lacking, codes, place)
        return
    if kind.is_shown and _is_ours(node):
        return
    if isinstance(node, MapNode):
        for key, (_, below) in node.entries.items():
            yield from _missing(below, _below(kind, key), (*place, key), codes, overlays, folder)
    elif isinstance(node, ListNode):
        if kind.is_shown and node.items and all(isinstance(item, Scalar) for item in node.items):
            yield from _missing_list(node, place, codes, overlays, folder)
            return
        for number, item in enumerate(node.items):
            yield from _missing(item, _item_kind(node, kind, number), (*place, number), codes, overlays, folder)
    elif kind.is_shown and _says_something(node):
        yield from _missing_scalar(node, place, codes, overlays, folder)


def _missing_list(
    node: ListNode, place: Place, codes: Sequence[str], overlays: _Overlays, folder: Path
) -> Iterator[Fault]:
    """Yield the fault of a list of texts, once for the whole list where none of them is there by language."""
    texts = [item for item in node.items if isinstance(item, Scalar)]
    if any(is_file(item.text) for item in texts):
        for number, item in enumerate(texts):
            yield from _missing_scalar(item, (*place, number), codes, overlays, folder)
    elif any(map(_says_something, texts)):
        lacking = [code for code in codes[1:] if not _has(overlays[code], place)]
        if lacking:
            yield _fault(lacking, codes, place)


def _missing_scalar(
    node: Scalar, place: Place, codes: Sequence[str], overlays: _Overlays, folder: Path
) -> Iterator[Fault]:
    lacking = [code for code in codes[1:] if not _has(overlays[code], place)]
    if not is_file(node.text):
        if lacking:
            yield _fault(lacking, codes, place)
        return
    for code in lacking:
        own = file_in_language(node.text, code)
        if not (folder / own).is_file():
            what = f"is {node.text}, and there is no {own} for {code}"
            yield Fault(what, "a file for each language", f"Write it to {own} in the study folder.", place)


def _fault(lacking: Sequence[str], codes: Sequence[str], place: Place) -> Fault:
    first = ", ".join(f"{code}: ..." for code in codes)
    key = f"{place[-1]}: " if isinstance(place[-1], str) else ""
    fix = f"Write {key}{{{first}}}, or add it to {OVERLAY.format(lacking[0])}."
    return Fault(
        f"has no text in {listed(list(lacking), 'and')}", f"a text in {listed(list(codes), 'and')}", fix, place
    )


def _says_something(node: Scalar) -> bool:
    """Return whether a text has letters, so that it can differ between languages."""
    is_nothing = node.plain and core_value(node.text) is None
    return not is_nothing and any(letter.isalpha() for letter in node.text)


def _is_ours(node: Node) -> bool:
    """Return whether all texts of a list or map are labels of ours, which are shown in each language."""
    if isinstance(node, Scalar):
        return False
    parts = node.items if isinstance(node, ListNode) else [below for _, below in node.entries.values()]
    # A pair has the place before the label.
    labels = [part.items[-1] if isinstance(part, ListNode) and part.items else part for part in parts]
    return bool(labels) and all(isinstance(label, Scalar) and label.text in our_labels() for label in labels)


def _has(places: Collection[Place], place: Place) -> bool:
    """Return whether the file of a language says what stands at a place, or at one around it."""
    return any(place[:n] in places for n in range(1, len(place) + 1))


# Studies of one file in its languages


def difference_faults(study: Study, other: Study) -> Iterator[Fault]:
    """Yield what a study asks in another language and not in the first: the answers have to be the same everywhere."""
    for number, (one, two) in enumerate(zip(study.questions, other.questions, strict=False)):
        place: Place = ("questions", number)
        if len(one.ticks) != len(two.ticks):
            yield _unlike(other, (*place, "ticks"), len(two.ticks), len(one.ticks))
        if [value for value, _ in one.scale.labels] != [value for value, _ in two.scale.labels]:
            yield _unlike(other, (*place, "scale", "labels"), len(two.scale.labels), len(one.scale.labels))
    for name in _QUESTIONNAIRES:
        for number, (item, same) in enumerate(zip(getattr(study, name), getattr(other, name), strict=False)):
            if len(item.options) != len(same.options):
                yield _unlike(other, (name, number, "options"), len(same.options), len(item.options))
    if len(study.texts.pages) != len(other.texts.pages):
        yield _unlike(other, ("texts", "instructions"), len(other.texts.pages), len(study.texts.pages))


def _unlike(other: Study, place: Place, has: int, first: int) -> Fault:
    return Fault(f"has {has} in {other.language}, and {first} in the first language", "as many in each", "", place)


def with_first_answers(data: dict[str, Any], first: Mapping[str, Any]) -> None:
    """Write right answers and comparisons in the words of the language, where they are in those of the first."""
    words: dict[str, dict[str, str]] = {}
    for name in _QUESTIONNAIRES:
        for item, other in zip(_list(data.get(name)), _list(first.get(name)), strict=False):
            if isinstance(item, dict) and isinstance(other, Mapping):
                options = zip(_list(other.get("options")), _list(item.get("options")), strict=False)
                words[str(item.get("id"))] = {str(one): str(two) for one, two in options}
    for name in _QUESTIONNAIRES:
        for item in _list(data.get(name)):
            if not isinstance(item, dict):
                continue
            own = words.get(str(item.get("id")), {})
            if isinstance(item.get("correct"), list):
                item["correct"] = [own.get(one, one) if one not in own.values() else one for one in item["correct"]]
            if isinstance(item.get("when"), list):
                item["when"] = [_translated(one, words) for one in item["when"]]
            elif isinstance(item.get("when"), str):
                item["when"] = _translated(item["when"], words)


def _translated(comparison: Any, words: Mapping[str, Mapping[str, str]]) -> Any:
    parts = written_parts(comparison) if isinstance(comparison, str) else None
    if parts is None or parts[0] not in words or parts[2] not in words[parts[0]]:
        return comparison
    head = comparison[: len(comparison.rstrip()) - len(parts[2])]
    return f"{head}{words[parts[0]][parts[2]]}" if comparison.rstrip().endswith(parts[2]) else comparison


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
