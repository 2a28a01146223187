"""Items that scripts of the flow ask."""

from __future__ import annotations

from beholder.study.questionnaire import Ask

SCREEN = Ask(id="field", text="?", type="single", options=("yes", "no"), correct=("no",))


AGE = Ask(id="age", text="?", type="number", min=18, max=99, required=False)
