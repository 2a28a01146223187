"""The checks of person, device and surroundings before the first rating, as far as a study knows them."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from pydantic import Field

from beholder.study.checks import Switches
from beholder.study.parts import EACH_TIME, StudyPart, Validity, duration

Action = Literal["gate", "warn", "flag", "record"]
ACTIONS = "`gate`: must pass to go on; `warn`: is told and may go on; `flag`: silent, cleaning decides; `record`."


class CheckOptions(StudyPart):
    """Options of every check."""

    action: Action = Field(default="gate", description=ACTIONS)
    feedback: bool = Field(default=True, description="Tell what was found and how to mend it.")
    attempts: int = Field(default=2, ge=1, le=20, description="How often it can be tried; each time is a new one.")
    valid: Validity | None = Field(
        default=None,
        description="How long a pass counts, such as `30 min`; `0`: in its session only, so it is shown each time.",
    )

    @property
    def lasts(self) -> timedelta | None:
        """How long a pass counts; None for its session only."""
        return duration(self.valid) if self.valid and self.valid != EACH_TIME else None


class Qualification(Switches):
    """What person, device and surroundings have to fit: each `true`, `false` or its options."""

    def rule(self, name: str) -> CheckOptions | None:
        """Return the options of a check, defaults filled; None where it is switched off."""
        return getattr(self, name, None) or None
