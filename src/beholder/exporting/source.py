"""What is exported: the facts of one population, judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from beholder.cleaning.devices import device_rows
from beholder.cleaning.facts import Rows
from beholder.cleaning.ratings import Rating, number_repetitions
from beholder.cleaning.screening import SessionJudge
from beholder.cleaning.sessions import JudgedSession
from beholder.cleaning.texts import Masks, StudyText
from beholder.store.contract import Table

# --- What people wrote in their own words: left out of the export, or told with marks for whom it leads to ---


_OWN_WORDS = ("comment", "reasons")


@dataclass(frozen=True)
class FreeTextFilter:
    """Knows which parts of answers and of the log are free text, by the study text that a session began with."""

    texts: Mapping[str, StudyText]
    masks: Masks | None = None
    """What puts marks into free text; None where it is left out altogether."""

    @property
    def with_texts(self) -> bool:
        return self.masks is not None

    def answer(self, table: str, digest: str, key: str, answer: Any) -> Any:
        """Return an answer without what was written freely, or with marks in it."""
        if not isinstance(answer, Mapping):
            return answer
        step = key.partition(":")[0]
        if step in ("trial", "training"):
            return self._told(table, answer, {name for name in answer if name in _OWN_WORDS})
        if step == "questions" and isinstance(answer.get("answers"), Mapping):
            given = answer["answers"]
            free = {name for name in given if self.is_free(digest, name)}
            return {**answer, "answers": self._told(table, given, free)}
        return answer

    def event(self, table: str, digest: str, key: str, kind: str, data: Any) -> Any:
        """Return what the log has of an event, without what was being written, or with marks in it."""
        if kind != "change" or not key.startswith("questions:") or not isinstance(data, Mapping):
            return data
        return self._told(table, data, {"value"} if self.is_free(digest, data.get("question")) else set())

    def words(self, table: str, words: Any) -> Any:
        """Return free text with marks in it; only where free text is told."""
        return self.masks.value(words, table) if self.masks is not None else None

    def is_free(self, digest: str, item: Any) -> bool:
        """Return whether an item of a questionnaire is answered freely: all but choices and numbers known to us."""
        text = self.texts.get(digest)
        return text is None or not any(ask.id == item and ask.type != "text" for ask in text.asks)

    def _told(self, table: str, given: Mapping[str, Any], free: set[str]) -> dict[str, Any]:
        return {
            name: self.words(table, value) if name in free else value
            for name, value in given.items()
            if self.with_texts or name not in free
        }


# --- What is exported: the facts of one population, judged ---


EARLIER = "plan:earlier"
"""Why a session under a plan that was replaced is not used."""


@dataclass(frozen=True)
class ExportSource:
    """The tables of a store and what cleaning makes of them; only sessions of one population are told of."""

    judging: SessionJudge
    tables: Mapping[str, Rows]
    withheld: FreeTextFilter

    @cached_property
    def judged(self) -> Mapping[str, JudgedSession]:
        """By session, in the order of arrival."""
        return {one.visit.session: one for one in self.judging.judged}

    @cached_property
    def sessions(self) -> Mapping[str, Mapping[str, Any]]:
        """The rows of all sessions of this population, under earlier plans too, in the order of arrival."""
        robots = self.judging.facts.population == "robots"
        mine = [
            row for row in self.tables["sessions"] if row["mode"] != "preview" and (row["mode"] == "robot") is robots
        ]
        return {str(row["session"]): row for row in sorted(mine, key=lambda row: (row["at"], str(row["session"])))}

    @cached_property
    def open(self) -> frozenset[str]:
        """Sessions whose answers may be told: nobody who withdrew."""
        erased = {row["session"] for row in self.tables["erasures"]}
        withdrawn = {row["session"] for row in self.tables["ends"] if row["outcome"] == "withdrawn"}
        return frozenset(self.sessions) - erased - withdrawn

    def facts(self, table: Table) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """Yield the facts of a table that may be told, each with the row of its session."""
        for row in self.tables.get(table, ()):
            if row["session"] in self.open:
                yield row, self.sessions[row["session"]]

    @cached_property
    def ratings(self) -> Mapping[str, tuple[Rating, ...]]:
        """Every rating by session, repetitions numbered."""
        found: dict[str, list[Rating]] = {session: [] for session in self.judged}
        for rating in number_repetitions(rating for one in self.judging.judged for rating in one.ratings):
            found[rating.session].append(rating)
        return {session: tuple(ratings) for session, ratings in found.items()}

    @cached_property
    def devices(self) -> Mapping[str, Mapping[str, Any]]:
        """On what each session was rated, under the names that the export has for it."""
        found = {}
        for row, one in zip(device_rows(self.judging.judged), self.judging.judged, strict=True):
            said = {settled.check.name: settled.verdict.verdict for settled in one.qualified.settled}
            found[row["session"]] = {
                **row,
                "device": row.get("kind"),
                "width_px": row.get("screen_width"),
                "height_px": row.get("screen_height"),
                "pixel_ratio": row.get("dpr"),
                "headphones": said.get("headphones"),
            }
        return found


def rating_id(rating: Rating) -> str:
    """Return a name that no other rating of the study has."""
    parts = (rating.session, rating.position, rating.question, rating.slot, rating.unit)
    return ":".join(str(part) for part in parts if part is not None)
