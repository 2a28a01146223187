"""The researcher's preview: any step as a participant would see it. Takes no list and stores nothing."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.errors import Refused
from beholder.serve import tokens
from beholder.serve.flow import Ending, next_step
from beholder.serve.public import Media, public_end, public_step
from beholder.serve.script import CONSENT
from beholder.serve.served import Served
from beholder.types import Json

SESSION = "preview"
"""What stands for the session in the tokens and addresses of a preview."""


class Preview:
    """Walks through the first list."""

    def __init__(
        self, served: Served, secret: bytes, texts: Mapping[str, str], words: Mapping[str, str], media: Media
    ) -> None:
        self._served, self._texts, self._words, self._media = served, texts, words, media
        self.script = served.script(1)
        self.link = f"{served.public_url}/s/{served.study.name}?preview={tokens.preview_secret(secret)}"
        self.keys = [step.key for step in self.script.steps] + ["end:completed", "end:no_consent", "end:withdrawn"]
        if any(item.correct for item in served.study.before):
            self.keys.append("end:screened_out")

    def step(self, key: str) -> dict[str, Json]:
        """Return a step, or one of the ends."""
        if key.startswith("end:"):
            outcome = key.removeprefix("end:")
            text = self._texts.get("thanks" if outcome == "completed" else outcome, "")
            code = "XXXX-XXXX" if outcome == "completed" else None
            pages = sum(step.kind == "trial" for step in self.script.steps)
            return public_end(self.script, outcome, text, code=code, receipt="BH-XXXXXXXX-XXXX-XXXX", answers=pages)
        served = self._served
        step = self.script.steps[self._place(key)]
        return public_step(step, self.script, self._texts, served.method, served.study.playback, self._media)

    def after(self, key: str, answer: Json) -> dict[str, Json]:
        """Return the step that follows this answer."""
        ending = next_step(self.script, {key: answer}) if key == CONSENT.key else None
        if isinstance(ending, Ending):
            return self.step(f"end:{ending.outcome}")
        return self.step(self.keys[self._place(key) + 1])

    def _place(self, key: str) -> int:
        place = self.script.place(key)
        if place < 0:
            raise Refused(self._words["not_reached"], where=key, code="not_reached", status=409)
        return place
