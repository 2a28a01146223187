"""What is exported: the judged facts of one population, and free text, which is left out or masked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from beholder.checks.headphones import Headphones
from beholder.cleaning import columns as c
from beholder.cleaning.devices import DEVICES, device_rows
from beholder.cleaning.facts import Rows
from beholder.cleaning.ratings import Rating, number_repetitions
from beholder.cleaning.screening import JudgedPopulation
from beholder.cleaning.sessions import JudgedSession
from beholder.cleaning.texts import Masks, StudyText
from beholder.columns import Column
from beholder.store.contract import Table
from beholder.study.recruitment import is_person, is_robot

_FREE_TEXT_KEYS = ("comment", "reasons", "texts")


@dataclass(frozen=True)
class FreeTextFilter:
    """Leaves free text out of answers and events, or masks it; which parts are free depends on the study text."""

    texts: Mapping[str, StudyText]
    masks: Masks | None = None
    """Masks of free text; None if it is left out."""

    @property
    def with_texts(self) -> bool:
        return self.masks is not None

    def answer(self, table: str, digest: str, key: str, answer: Any) -> Any:
        """Return an answer without its free text, or with masks in it."""
        if not isinstance(answer, Mapping):
            return answer
        step = key.partition(":")[0]
        if step in ("trial", "training"):
            return self._filter(table, answer, {name for name in answer if name in _FREE_TEXT_KEYS})
        if step == "questions" and isinstance(answer.get("answers"), Mapping):
            answers = answer["answers"]
            free = {name for name in answers if self.is_free(digest, name)}
            return {**answer, "answers": self._filter(table, answers, free)}
        return answer

    def event(self, table: str, digest: str, key: str, kind: str, data: Any) -> Any:
        """Return the data of an event without free text, or with masks in it."""
        if kind != "change" or not key.startswith("questions:") or not isinstance(data, Mapping):
            return data
        return self._filter(table, data, {"value"} if self.is_free(digest, data.get("question")) else set())

    def words(self, table: str, words: Any) -> Any:
        """Return free text with masks in it; None if free text is left out."""
        return self.masks.value(words, table) if self.masks is not None else None

    def is_free(self, digest: str, item: Any) -> bool:
        """Return whether an item of a questionnaire has free text: all but known choices and numbers."""
        text = self.texts.get(digest)
        return text is None or not any(ask.id == item and not ask.kind.is_free_text for ask in text.asks)

    def _filter(self, table: str, answers: Mapping[str, Any], free: set[str]) -> dict[str, Any]:
        return {
            name: self.words(table, value) if name in free else value
            for name, value in answers.items()
            if self.with_texts or name not in free
        }


_DEVICE_NAMES = {"kind": "device", "screen_width": "width_px", "screen_height": "height_px", "dpr": "pixel_ratio"}
"""Columns of devices.csv that are called otherwise in the export, where they stand among others."""
DEVICE = (
    *(column._replace(name=_DEVICE_NAMES.get(column.name, column.name)) for column in DEVICES),
    Column("headphones", "text", "What the check of the headphones says; empty where there is none.", c.VERDICT_VALUES),
)
"""The device of a session."""
EARLIER = "plan:earlier"
"""Why a session under an earlier plan is not used."""


@dataclass(frozen=True)
class ExportSource:
    """The tables of a store and their judgement by cleaning, for the sessions of one population."""

    judging: JudgedPopulation
    tables: Mapping[str, Rows]
    withheld: FreeTextFilter

    @cached_property
    def judged(self) -> Mapping[str, JudgedSession]:
        """Judged sessions by session, in the order of arrival."""
        return {one.visit.session: one for one in self.judging.judged}

    @cached_property
    def sessions(self) -> Mapping[str, Mapping[str, Any]]:
        """The rows of all sessions of this population, also of earlier plans, in the order of arrival."""
        robots = self.judging.facts.population == "robots"
        rows = [row for row in self.tables["sessions"] if (is_robot if robots else is_person)(row["mode"])]
        return {str(row["session"]): row for row in sorted(rows, key=lambda row: (row["at"], str(row["session"])))}

    @cached_property
    def readable(self) -> frozenset[str]:
        """Sessions whose answers may be exported: those that were not withdrawn."""
        erased = {row["session"] for row in self.tables["erasures"]}
        withdrawn = {row["session"] for row in self.tables["ends"] if row["outcome"] == "withdrawn"}
        return frozenset(self.sessions) - erased - withdrawn

    def facts(self, table: Table) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """Yield the facts of a table that may be exported, each with the row of its session."""
        for row in self.tables.get(table, ()):
            if row["session"] in self.readable:
                yield row, self.sessions[row["session"]]

    @cached_property
    def ratings(self) -> Mapping[str, tuple[Rating, ...]]:
        """Every rating by session, repetitions numbered."""
        by_session: dict[str, list[Rating]] = {session: [] for session in self.judged}
        for rating in number_repetitions(rating for one in self.judging.judged for rating in one.ratings):
            by_session[rating.session].append(rating)
        return {session: tuple(ratings) for session, ratings in by_session.items()}

    @cached_property
    def devices(self) -> Mapping[str, Mapping[str, Any]]:
        """The device of each session, under the export's names."""
        devices = {}
        for row, one in zip(device_rows(self.judging.judged), self.judging.judged, strict=True):
            verdicts = {settled.check.name: settled.verdict.verdict for settled in one.qualified.settled}
            renamed = {_DEVICE_NAMES.get(name, name): value for name, value in row.items()}
            devices[row["session"]] = {**renamed, "headphones": verdicts.get(Headphones.name)}
        return devices


def rating_id(rating: Rating) -> str:
    """Return a unique name of a rating in the study."""
    parts = (rating.session, rating.position, rating.question, rating.slot, rating.unit)
    return ":".join(str(part) for part in parts if part is not None)
