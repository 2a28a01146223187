"""What people wrote in their own words: left out of the export, or told with marks for whom it leads to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beholder.clean.masks import Masks
from beholder.clean.texts import StudyText

_OWN_WORDS = ("comment", "reasons")


@dataclass(frozen=True)
class Withheld:
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
