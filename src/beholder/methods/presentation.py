"""How two or three stimuli of a trial are shown: one after the other, side by side, or behind buttons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from beholder.methods.contract import Catalogue, Json, Part, Problem, Study, Trial

Gap = Annotated[float, Field(ge=0, le=10)]


class TurnsOptions(Part):
    """Options of methods that show two stimuli, one after the other or at once."""

    presentation: Literal["sequential", "side-by-side"] = Field(
        default="sequential", description="One after the other, or both at once on one clock (not for audio)."
    )
    gap: Gap = Field(default=1.0, description="Seconds of grey between them, when they come one after the other.")


class PreferenceOptions(Part):
    """Options of methods that ask which of two is preferred."""

    tie: bool = Field(default=False, description="Allow `no difference`; a question without a scale then has pref3.")
    reason: Literal["none", "optional", "required"] = Field(
        default="none", description="Whether participants may, or have to, write why."
    )
    gap: Gap = Field(default=1.0, description="Seconds of grey between them, when they come one after the other.")


def presented(study: Study) -> dict[str, Json]:
    """Return what a trial keeps of its presentation."""
    return {name: study.options[name] for name in ("presentation", "gap", "reason") if name in study.options}


def is_together(study: Study) -> bool:
    """Return whether all stimuli of a trial play at once."""
    return study.options.get("presentation") == "side-by-side"


def public(trial: Trial, *names: str) -> Mapping[str, Json]:
    """Return those draws of a trial that its page may know."""
    return {name: trial.draws[name] for name in ("presentation", "gap", *names) if name in trial.draws}


def presentation_problems(study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield that two sounds cannot be heard at once, and that clips on one clock end together."""
    if not is_together(study):
        return
    media = {stimulus.medium for stimulus in catalogue.stimuli}
    if "audio" in media:
        yield Problem(
            "options.presentation",
            "is side-by-side, and two sounds cannot be heard at once",
            "sequential",
        )


def seconds_shown(trial: Trial, catalogue: Catalogue) -> float:
    """Return how long it takes to see every stimulus of a trial once."""
    times = [catalogue.by_id[slot.stimulus].probe.duration_ms / 1000 for slot in trial.slots]
    if trial.together:
        return max(times)
    gap = trial.draws.get("gap", 0.0)
    assert isinstance(gap, int | float), "a gap is a number of seconds"
    return sum(times) + (len(times) - 1) * gap
