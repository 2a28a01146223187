"""How simulated people go about rating: whether they do what a stimulus asks for, and how long they take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from beholder.study.checks import Say

_EVERYTHING: frozenset[Say] = frozenset({"text", "voice"})


@dataclass(frozen=True)
class Habits:
    """What somebody does beside perceiving. The numbers are assumptions: no data tell them apart from carelessness.

    The papers that use such checks report who was left out, never how often somebody honest had missed a message.
    """

    follows: frozenset[Say] = _EVERYTHING
    """Messages of which kind they follow: who follows `text` alone has no sound on."""
    slip: float = 0.01
    """How often they miss a message, or misread a statement, and answer as if there were none."""
    motor: float = 0.01
    """How far from a number a slider is set that should be at it, as a standard deviation and share of the scale."""
    recognises: float = 0.97
    """How often they find the hidden reference among what is compared with it, and put it at the top."""
    click_s: float = 2.5
    slider_s: float = 5.0
    """Median seconds of a judgement, after what it is about has played. HEMVIP: 22 s a clip of 10 s, in all."""
    spread: float = 0.5
    """Standard deviation of the logarithm of those seconds."""
    stall: float = 0.003
    """How often a play stands still once, for up to a second."""
    leaves: float = 0.0
    """On how many pages they look at something else while it plays, and so miss what it says."""
    hurries: bool = False
    """Answers as soon as the page lets them, by a program."""

    @property
    def is_mute(self) -> bool:
        """Whether they have no sound on."""
        return self.follows == {"text"}


_BLIND = Habits(follows=frozenset(), recognises=0.0, click_s=0.9, slider_s=1.2)
HABITS: Mapping[str, Habits] = {
    "sharp": Habits(slip=0.002, motor=0.005, recognises=0.99),
    "sloppy": Habits(slip=0.03, motor=0.015, recognises=0.93, click_s=1.2, slider_s=2.0),
    "careless": _BLIND,
    "straight": _BLIND,
    "middle": _BLIND,
    "copies": _BLIND,
    "forges": Habits(follows=frozenset(), recognises=0.0),
    "visible": Habits(follows=frozenset({"text"})),
    "fast": Habits(hurries=True),
    "away": Habits(leaves=0.6),
}
"""Of the kinds that differ from the default, which is that of the kind `honest`."""


def habits_of(kind: str) -> Habits:
    """Return the habits of a kind of rater."""
    return HABITS.get(kind, Habits())
