"""The page of a step: what a browser is told of it."""

from __future__ import annotations

from beholder.serve.addresses import Addresses
from beholder.serve.examiner import Examiner
from beholder.serve.public import public_step
from beholder.serve.reading import Reader
from beholder.serve.script import Planned, Script
from beholder.serve.served import Served
from beholder.serve.texts import Texts
from beholder.store.contract import SessionFacts
from beholder.types import Json


class Pages:
    """Turns a step of a session into what is shown."""

    def __init__(self, served: Served, texts: Texts, addresses: Addresses, examiner: Examiner, reader: Reader) -> None:
        self._served, self._texts, self._addresses = served, texts, addresses
        self._examiner, self._reader = examiner, reader

    def unclaimed(self, session: str, step: Planned, *, is_again: bool) -> dict[str, Json]:
        """Return a step as it is shown before a list is claimed, when there is nothing to fetch."""
        script = self._served.script(1, is_again=is_again)
        shown = self._shown(session, step, script, None)
        return {**shown, "prefetch": [], "needs": self._examiner.needed(script)}

    def of(self, facts: SessionFacts, step: Planned, script: Script) -> dict[str, Json]:
        """Return a step as it is shown to whoever has claimed a list."""
        shown = self._shown(facts.session.session, step, script, facts.list)
        if self._served.has_own_instructions:
            shown["instructions"] = self._texts.help(facts.list)
        if step.is_training:
            return shown | self._reader.lessons.public(step, script, facts.told)
        if step.attempt and step.is_rated:
            return shown | self._reader.proctor.public(step, script, facts.told)
        return shown | self._examiner.public(facts, step, script) if step.check is not None else shown

    def _shown(self, session: str, step: Planned, script: Script, number: int | None) -> dict[str, Json]:
        media = self._addresses.of(session, script)
        return public_step(step, script, self._texts.of(number), self._served.method, script.playback, media)
