"""The texts that participants read, by the list that they take."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.serve.served import Served
from beholder.serve.words import step_texts


class Texts:
    """The texts of one study; where it has groups, each list may have its own."""

    def __init__(self, served: Served, words: Mapping[str, str]) -> None:
        self._served, self._words = served, words
        self._known: dict[str, Mapping[str, str]] = {}

    def of(self, number: int | None) -> Mapping[str, str]:
        """Return the texts of whoever takes a list; without a list those that everybody reads."""
        study = self._served.study if number is None else self._served.study_of(number)
        key = study.texts.model_dump_json()
        if key not in self._known:
            self._known[key] = step_texts(study, self._words, self._served.catalogue.examples)
        return self._known[key]

    def help(self, number: int | None) -> str:
        """Return the instructions to read again; nothing while it is open whose they are."""
        if number is None and self._served.has_own_instructions:
            return ""
        return self.of(number)["help"]
