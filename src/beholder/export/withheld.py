"""What people wrote in their own words: left out of the export unless the researcher has looked through it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beholder.clean.texts import StudyText

_OWN_WORDS = ("comment", "reasons")


@dataclass(frozen=True)
class Withheld:
    """Knows which parts of answers and of the log are free text, by the study text that a session began with."""

    texts: Mapping[str, StudyText]
    with_texts: bool

    def answer(self, digest: str, key: str, answer: Any) -> Any:
        """Return an answer without what was written freely."""
        if self.with_texts or not isinstance(answer, Mapping):
            return answer
        step = key.partition(":")[0]
        if step in ("trial", "training"):
            return {name: value for name, value in answer.items() if name not in _OWN_WORDS}
        if step == "questions" and isinstance(answer.get("answers"), Mapping):
            told = {name: value for name, value in answer["answers"].items() if self.may_tell(digest, name)}
            return {**answer, "answers": told}
        return answer

    def event(self, digest: str, key: str, kind: str, data: Any) -> Any:
        """Return what the log has of an event, without what was being written."""
        if self.with_texts or kind != "change" or not key.startswith("questions:") or not isinstance(data, Mapping):
            return data
        if self.may_tell(digest, data.get("question")):
            return data
        return {name: value for name, value in data.items() if name != "value"}

    def may_tell(self, digest: str, item: Any) -> bool:
        """Return whether the answer to an item of a questionnaire is told: a choice or a number, and known to us."""
        if self.with_texts:
            return True
        text = self.texts.get(digest)
        return text is not None and any(ask.id == item and ask.type != "text" for ask in text.asks)
