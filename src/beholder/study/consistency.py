"""Consistency: whether the parts of a study fit each other, by its values as read, so that all faults come at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from beholder.errors import did_you_mean
from beholder.formats import listed
from beholder.study.checks import CheckKinds
from beholder.study.earlier_answers import comparison_faults, written_parts
from beholder.study.groups import between_faults
from beholder.study.parts import Fault, path_fault
from beholder.study.questionnaire import Ask
from beholder.study.reader import dotted, quoted
from beholder.study.recipes import intended_kind
from beholder.study.recruitment_faults import recruitment_faults
from beholder.study.texts import text_fault
from beholder.study.yaml import Place
from beholder.words import languages


def inconsistencies(data: Mapping[str, Any], folder: Path, kinds: CheckKinds) -> Iterator[Fault]:
    """Yield the faults between parts of a study, with places from its top."""
    yield from _doubles(list(_words(data, "questions", "id")), "every id once")
    for ticks in _ticks(data):
        yield from _doubles(ticks, "every tick once")
    yield from _doubles([word for place in _QUESTIONNAIRES for word in _words(data, place, "id")], "every id once")
    yield from _comparisons(data)
    yield from _breaks(data)
    for words in _listed_words(data, kinds):
        yield from _doubles(words, "every id once")
    yield from _doubles(list(_conditions(data)), "every condition once")
    yield from _design(data)
    conditions = [word for _, word in _conditions(data)]
    known = [*conditions, *_made_conditions(data)] if conditions else []
    yield from between_faults(data, [word for _, word in _words(data, "questions", "id")], known)
    yield from _texts(data, folder)
    yield from _paths(data)
    yield from recruitment_faults(data, folder)
    yield from _language(data)
    yield from _cleaning_faults(data, kinds)
    yield from _contrasts(data)


# Questionnaires

_QUESTIONNAIRES = ("before", "during", "after")
"""In the order in which they are asked."""


def _comparisons(data: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the faults of comparisons with earlier answers."""
    items = [(place, index, item) for place in _QUESTIONNAIRES for index, item in enumerate(_list(data, place))]
    asks = [_ask(item) for _, _, item in items]
    broken = {_map(item).get("id") for (_, _, item), ask in zip(items, asks, strict=True) if ask is None}
    for number, (place, index, item) in enumerate(items):
        earlier = {ask.id: ask for ask in asks[:number] if ask is not None}
        later = [ask.id for ask in asks[number:] if ask is not None]
        on_page = [str(_map(other).get("id")) for there, _, other in items[:number] if there == place]
        for below, text in _written_comparisons(_map(item).get("when")):
            parts = written_parts(text)
            if parts is not None and parts[0] in broken:
                continue
            for fault in comparison_faults(text, earlier, later, on_page):
                yield Fault(fault.what, fault.allowed, fault.fix, (place, index, "when", *below))


def _written_comparisons(written: object) -> Iterator[tuple[Place, str]]:
    if isinstance(written, str):
        yield (), written
    for place, text in enumerate(written if isinstance(written, list) else ()):
        if isinstance(text, str):
            yield (place,), text


def _ask(item: object) -> Ask | None:
    """Return an item as far as a comparison needs it; None where it is not valid, which is reported elsewhere."""
    keys = {key: value for key, value in _map(item).items() if key in Ask.model_fields and key != "when"}
    try:
        return Ask.model_validate(keys)
    except ValueError:
        return None


def _list(data: Mapping[str, Any], key: str) -> Sequence[Any]:
    part = data.get(key)
    return part if isinstance(part, list) else ()


def _breaks(data: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the items that are asked at breaks, where there are none."""
    for index, item in enumerate(_list(data, "during")):
        if _map(item).get("every") == "break" and not _part(data, "design").get("breaks"):
            what, fix = "is break, and the study has no breaks", "Write design.breaks, after how many trials."
            yield Fault(what, "trial, content, or a number of trials", fix, ("during", index, "every"))


def _part(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = data.get(key)
    return part if isinstance(part, Mapping) else {}


def _words(data: Mapping[str, Any], key: str, below: str) -> Iterator[tuple[Place, str]]:
    part = data.get(key)
    for index, item in enumerate(part if isinstance(part, list) else ()):
        if isinstance(item, Mapping) and isinstance(item.get(below), str):
            yield (key, index, below), item[below]


def _listed_words(data: Mapping[str, Any], kinds: CheckKinds) -> Iterator[list[tuple[Place, str]]]:
    """Yield the names of the items in each list among the options of checks with a page."""
    for kind in kinds.page_checks:
        options = _part(_part(data, "qualification"), kind.name)
        if kind.unique is not None:
            yield [(("qualification", kind.name, *place), word) for place, word in _words(options, *kind.unique)]


def _conditions(data: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    part = data.get("conditions")
    for index, item in enumerate(part if isinstance(part, list) else ()):
        if isinstance(item, str):
            yield ("conditions", index), item
        elif isinstance(item, Mapping) and isinstance(item.get("name"), str):
            yield ("conditions", index, "name"), item["name"]


def _ticks(data: Mapping[str, Any]) -> Iterator[list[tuple[Place, str]]]:
    """Yield the ticks of each question."""
    part = data.get("questions")
    for index, item in enumerate(part if isinstance(part, list) else ()):
        ticks = item.get("ticks") if isinstance(item, Mapping) else None
        if isinstance(ticks, list):
            yield [
                (("questions", index, "ticks", place), tick)
                for place, tick in enumerate(ticks)
                if isinstance(tick, str)
            ]


def _made_conditions(data: Mapping[str, Any]) -> list[str]:
    """Return the conditions that are made and need not be listed: anchors that are named by a recipe."""
    anchors = _part(data, "options").get("anchors")
    words = anchors if isinstance(anchors, list | tuple) else ()
    return [word for word in words if isinstance(word, str) and intended_kind(word)]


def _doubles(words: Sequence[tuple[Place, str]], allowed: str) -> Iterator[Fault]:
    first: dict[str, Place] = {}
    for place, word in words:
        if word in first:
            yield Fault(f"is {quoted(word)}, as is {dotted(first[word])}", allowed, "Rename or remove one.", place)
        first.setdefault(word, place)


def _design(data: Mapping[str, Any]) -> Iterator[Fault]:
    design = _part(data, "design")
    written = design.get("always")
    always = [(("design", "always", i), word) for i, word in enumerate(written if isinstance(written, list) else ())]
    named = [(place, word) for place, word in always if isinstance(word, str)]
    yield from _doubles(named, "every condition once")
    conditions = [word for _, word in _conditions(data)]
    for place, word in named if conditions else ():
        if word not in conditions:
            fix = did_you_mean(word, conditions)
            yield Fault(f"is {quoted(word)}, which is not among the conditions", listed(conditions), fix, place)
    star = _part(design, "pairs").get("star")
    if conditions and isinstance(star, str) and star not in conditions:
        fix = did_you_mean(star, conditions)
        what = f"is {quoted(star)}, which is not among the conditions"
        yield Fault(what, listed(conditions), fix, ("design", "pairs", "star"))
    votes, people = design.get("votes"), design.get("participants")
    if votes is not None and people is not None:
        for key, value, other, other_value in (
            ("participants", people, "votes", votes),
            ("votes", votes, "participants", people),
        ):
            what = f"is {quoted(value)}, and design.{other} is {quoted(other_value)}"
            yield Fault(what, "one of the two", "Take one of them out.", ("design", key))
    places = _part(data, "recruit").get("places")
    if places is not None and design.get("looks"):
        what = f"is {quoted(places)}, and design.looks says how many people are asked at first and later"
        yield Fault(what, "one of the two", "Take one of them out.", ("recruit", "places"))
    per_trial = design.get("per_trial")
    if isinstance(per_trial, bool) or not isinstance(per_trial, int) or per_trial < 1:
        return
    known, needed = len({*conditions, *_made_conditions(data)}), len({word for _, word in named})
    if conditions and per_trial > known:
        allowed, fix = f"at most {known}", "Leave it out to show all conditions."
        yield Fault(f"is {per_trial}, above the number of conditions {known}", allowed, fix, ("design", "per_trial"))
    elif per_trial < needed:
        allowed = f"at least {needed}"
        what = f"is {per_trial}, below the {needed} conditions that are always shown"
        yield Fault(what, allowed, "Shorten design.always, or show more per trial.", ("design", "per_trial"))


def _contrasts(data: Mapping[str, Any]) -> Iterator[Fault]:
    conditions = [word for _, word in _conditions(data)]
    known = list(dict.fromkeys([*conditions, *_made_conditions(data)]))
    written = _part(data, "analyse").get("contrasts")
    for index, pair in enumerate(written if conditions and isinstance(written, list) else ()):
        for side, word in enumerate(pair if isinstance(pair, list) else ()):
            if isinstance(word, str) and word not in known:
                what = f"is {quoted(word)}, which is not among the conditions"
                yield Fault(what, listed(known), did_you_mean(word, known), ("analyse", "contrasts", index, side))
    original = _part(data, "analyse").get("dmos")
    if conditions and isinstance(original, str) and original not in known:
        what = f"is {quoted(original)}, which is not among the conditions"
        yield Fault(what, listed(known), did_you_mean(original, known), ("analyse", "dmos"))


def _texts(data: Mapping[str, Any], folder: Path) -> Iterator[Fault]:
    texts = _part(data, "texts")
    by_place: dict[Place, Any] = {("texts", key): text for key, text in texts.items()}
    pages = texts.get("instructions")
    for index, page in enumerate(pages if isinstance(pages, list) else ()):
        place: Place = ("texts", "instructions", index)
        by_place[(*place, "text") if isinstance(page, Mapping) else place] = (
            page.get("text") if isinstance(page, Mapping) else page
        )
    for place, text in by_place.items():
        fault = text_fault(folder, text) if isinstance(text, str) else None
        if fault is not None:
            yield Fault(fault.what, fault.allowed, fault.fix, place)


def _paths(data: Mapping[str, Any]) -> Iterator[Fault]:
    stimuli = data.get("stimuli")
    paths: dict[Place, Any] = {("stimuli",): stimuli}
    if isinstance(stimuli, Mapping):
        paths = {("stimuli", key): stimuli.get(key) for key in ("folder", "manifest")}
    paths["design", "plan"] = _part(data, "design").get("plan")
    paths["design", "arena", "earlier"] = _map(_part(data, "design").get("arena")).get("earlier")
    for name in _QUESTIONNAIRES:
        for index, item in enumerate(_list(data, name)):
            paths[name, index, "file"] = _map(item).get("file")
    pairs = _part(data, "design").get("pairs")
    paths["design", "pairs"] = pairs if isinstance(pairs, str) and pairs.endswith(".csv") else None
    for place, path in paths.items():
        fault = path_fault(path) if isinstance(path, str) else None
        if fault is not None:
            yield Fault(fault.what, fault.allowed, fault.fix, place)


def _language(data: Mapping[str, Any]) -> Iterator[Fault]:
    language, known = data.get("language", "en"), languages()
    if isinstance(language, str) and language not in known:
        what = f"is {quoted(language)}, and our words are not written in it"
        fix = did_you_mean(language, known) or "docs/translating.md tells how another language is added."
        yield Fault(what, "those that `beholder words` lists", fix, ("language",))


# Cleaning

_WATCHED = "watched"
"""The rule that everything was watched: in every study, without options."""


def _cleaning_faults(data: Mapping[str, Any], kinds: CheckKinds) -> Iterator[Fault]:
    """Yield the faults of `clean`, with places from the top of the study."""
    clean, checks = _map(data.get("clean")), _map(data.get("checks"))
    use, accept = _map(clean.get("use")), _map(clean.get("accept"))
    for part, rules in (("accept", accept), ("use", use)):
        for name in rules:
            if name in kinds.planned and rules[name] not in (None, False) and not checks.get(name):
                what = f"judges by what nobody meets: checks.{name} is off"
                fix = f"Switch checks.{name} on before people come, or take this out."
                yield Fault(what, "rules that the study has", fix, ("clean", part, name))
    for name in accept:
        allowed, refused = _failures(use, checks, name), _map(accept[name]).get("max_failed")
        if isinstance(refused, int) and isinstance(allowed, int) and refused < allowed:
            what = f"is {refused}, below the {allowed} with which a session is used"
            yield Fault(what, f"{allowed} or more", "Who is used is paid.", ("clean", "accept", name, "max_failed"))
    yield from _without(clean.get("without"), use, checks, kinds)


def _failures(use: Mapping[str, Any], checks: Mapping[str, Any], name: str) -> Any:
    """Return the number of failures with which a session is still used."""
    own = _map(use.get(name)).get("max_failed")
    return _map(checks.get(name)).get("max_failed", 0) if own is None else own


def _without(written: Any, use: Mapping[str, Any], checks: Mapping[str, Any], kinds: CheckKinds) -> Iterator[Fault]:
    known = (*(kind.name for kind in kinds.rules), _WATCHED)
    for index, name in enumerate(written if isinstance(written, list) else ()):
        place = ("clean", "without", index)
        if not isinstance(name, str):
            continue
        if name not in known:
            yield Fault(f"is {quoted(name)}, which is not a rule", listed(known), did_you_mean(name, known), place)
        elif use.get(name) not in (None, False):
            yield Fault(f"is {name}, and clean.use.{name} is written", "one of the two", "Take one out.", place)
        elif name in kinds.planned and not checks.get(name):
            on = [one for one in known if one not in kinds.planned or checks.get(one)]
            yield Fault(f"is {name}, which this study does not have", listed(on), "Take it out.", place)


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
