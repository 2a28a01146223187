"""Whom stimuli are for: the column `for` of a manifest, and what a stimulus is to each person whom it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from beholder.errors import Problem
from beholder.formats import first_names
from beholder.study.csv_files import plain_text
from beholder.types import Role

COLUMN = "for"
EVERYBODY = "*"
"""In place of a name: everybody else may be shown it, too."""
OWN = "own"
"""What a stimulus is to somebody who is named without another word."""
COMMON = "common"
"""What a stimulus is to whoever is not named, in results."""
ALLOWED = "names, each with a relation if it is not own, as in ann; bob=colleague; and * for everybody else"
_RELATION = re.compile(r"[^\W_][\w -]{0,39}")
_RELATION_WORDS = "a word of up to 40 letters, digits, spaces, _ and -"
_LONGEST_NAME = 200
_ROLES: tuple[Role | None, ...] = (None, "test", "reference", "anchor")
"""Roles of stimuli that can be for somebody: what checks, teaches or is an example is the same for all."""


def read_relations(line: str, cell: str, role: Role | None, problems: list[Problem]) -> dict[str, str]:
    """Return what a stimulus is to each person or group in a cell of the column `for`; empty where it is for all."""
    relations: dict[str, str] = {}
    if not cell:
        return relations
    if role not in _ROLES:
        what = f"for is {cell}, and a stimulus with role {role} is the same for everybody"
        problems.append(Problem(line, what, "", "Leave the cell empty."))
        return relations
    for part in cell.split(";"):
        name, sign, word = map(plain_text, part.partition("="))
        if not name and not word:
            continue  # after a last semicolon
        if problem := _fault(line, name, bool(sign), word, relations):
            problems.append(problem)
        else:
            relations[name] = word or OWN
    if not problems and set(relations) == {EVERYBODY}:
        return {}
    return relations


def _fault(line: str, name: str, has_sign: bool, word: str, before: Mapping[str, str]) -> Problem | None:
    """Return what is wrong with one name and its relation."""
    if not name or len(name) > _LONGEST_NAME:
        return Problem(line, "for has no name before =" if not name else "for has a name that is too long", ALLOWED)
    if name in before:
        return Problem(line, f"for names {name} twice", ALLOWED)
    if name == EVERYBODY and has_sign:
        what = f"for calls it {word or 'nothing'} to everybody, to whom it is {COMMON}"
        return Problem(line, what, ALLOWED, "Write * alone, or name the people or their group.")
    if word == COMMON:
        what = f"for calls it {COMMON} to {name}, which is what stimuli for everybody are called"
        return Problem(line, what, _RELATION_WORDS, "Take another word, such as stranger.")
    if has_sign and not _RELATION.fullmatch(word):
        return Problem(line, f"for has {word or 'nothing'} as the relation of {name}", _RELATION_WORDS)
    return None


def content_problems(lines: Iterable[tuple[str, str, Mapping[str, str]]]) -> Iterator[Problem]:
    """Yield the lines whose content is for others elsewhere; each line is its place, its content and its relations."""
    first: dict[str, tuple[str, Mapping[str, str]]] = {}
    for where, content, relations in lines:
        there, before = first.setdefault(content, (where, relations))
        if before != relations:
            what = f"content {content} is not for the same people as in {there}"
            fix = "Write the same in for on all lines of a content: its stimuli may stand on one page."
            yield Problem(where, what, "", fix)


def telling_names(name: str, contents: Sequence[tuple[str, str, Mapping[str, str]]]) -> Iterator[Problem]:
    """Yield that contents or conditions contain the name of somebody whom they are for, as results have both."""
    people = {one for _, _, relations in contents for one in relations if len(one) > 1 and not one.isdecimal()}
    told = dict.fromkeys(
        text
        for content, condition, _ in contents
        for text in (content, condition)
        if any(re.search(rf"(?<![^\W_]){re.escape(one)}(?![^\W_])", text, re.IGNORECASE) for one in people)
    )
    if told:
        what = f"{first_names(list(told), 3)} tells in results whom it is for, as it contains a name of the column for"
        yield Problem(name, what, "", "Call contents and conditions by something else, such as avatar-01.")
