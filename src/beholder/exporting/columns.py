"""What a table is: its columns with their kinds and descriptions, its key, and what it refers to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from beholder.types import Medium, Mode, Outcome, Role

Kind = Literal["text", "integer", "number", "boolean", "time"]


class Column(NamedTuple):
    """One column: `allowed` are all values that it can have, where they are few and known."""

    name: str
    kind: Kind
    text: str
    allowed: tuple[str, ...] = ()


class Link(NamedTuple):
    """Columns whose values stand in columns of another table."""

    columns: tuple[str, ...]
    table: str
    others: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table of the export; `text` says what it has one row for."""

    name: str
    text: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Filled:
    """A table with its rows, which are read once."""

    table: Table
    rows: Iterable[Mapping[str, Any]]


ROLES, MEDIA, MODES, OUTCOMES = (get_args(one) for one in (Role, Medium, Mode, Outcome))
SAID = ("pass", "fail", "unknown")
INPUTS = ("mouse", "touch", "keyboard", "robot")

SESSION = Column("session", "text", "The visit; a made-up name without meaning.")
PARTICIPANT = Column("participant", "text", "The person, by a pseudonym that only the store can lead back.")
DIGEST = Column("digest", "text", "Hash of the study text and the stimuli with which the session began.")
MODE = Column("mode", "text", "The way the session came.", MODES)
POSITION = Column("position", "integer", "Place of the trial in its list, from 1.")
TRIAL = Column("trial", "text", "Name of the trial in the plan.")
SLOT = Column("slot", "text", "Place on the page: s1, s2, ... in shown order.")
KEY = Column("key", "text", "The step that was answered: consent, trial:7, check:colour:2 (attempt), and the like.")
CONTENT = Column("content", "text", "The source material.")
CONDITION = Column("condition", "text", "What was done to it: the system or treatment.")
STIMULUS = Column("stimulus", "text", "What was shown: a content under a condition.")
ROLE = Column("role", "text", "What the stimulus is to the method.", ROLES)
QUESTION = Column("question", "text", "Id of the question.")
ACCEPT = Column("accept", "boolean", "Whether it is to be paid; empty where a person has to look.")
USE = Column("use", "boolean", "Whether it is analysed.")
INPUT = Column("input", "text", "What it was answered with.")

OF_SESSION = Link(("session",), "sessions", ("session",))
OF_PARTICIPANT = Link(("participant",), "participants", ("participant",))
OF_TEXT = Link(("digest",), "studies", ("digest",))
OF_STIMULUS = Link(("digest", "stimulus"), "stimuli", ("digest", "stimulus"))


def described(names: Sequence[str], texts: Mapping[str, Column | tuple[Kind, str]]) -> tuple[Column, ...]:
    """Return columns in the order of their names, each as it is described; one that is not has an empty text."""
    found = []
    for name in names:
        told = texts.get(name, ("text", ""))
        found.append(told if isinstance(told, Column) else Column(name, *told))
    return tuple(found)


def factor_columns(names: Iterable[str]) -> tuple[Column, ...]:
    """Return a column for each further column of the manifest."""
    return tuple(Column(f"factor_{name}", "text", f"{name}, as the manifest or the design has it.") for name in names)
