"""The sample conditions of each medium, with the quality planted for robots to find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from beholder.errors import Problem, StimuliError, did_you_mean
from beholder.types import Medium

QUALITIES: Mapping[Medium, Mapping[str, float]] = {
    "video": {
        "natural": 0.90,
        "smooth": 0.74,
        "jerky": 0.56,
        "blurred": 0.44,
        "noisy": 0.32,
        "blocky": 0.22,
        "frozen": 0.12,
    },
    "audio": {"original": 0.95, "light": 0.75, "medium": 0.50, "strong": 0.25},
    "image": {"pristine": 0.92, "soft": 0.68, "grainy": 0.48, "blocked": 0.24},
    "text": {"edited": 0.90, "plain": 0.70, "clumsy": 0.42, "garbled": 0.15},
}
"""Quality from 0 to 1 of every sample condition by medium, best first. No name is used twice."""

SAMPLE_CONDITIONS: Mapping[str, float] = {
    name: quality for medium in get_args(Medium) for name, quality in QUALITIES[medium].items()
}
"""Every sample condition of all media with its planted quality."""


def medium_of(conditions: Sequence[str]) -> Medium:
    """Return the medium to which sample conditions belong, video where there are none.

    Raises StimuliError for names that are unknown, or of several media.
    """
    unknown = [name for name in conditions if name not in SAMPLE_CONDITIONS]
    if unknown:
        known = list(SAMPLE_CONDITIONS)
        raise StimuliError(
            Problem("sample conditions", f"{name} is unknown", ", ".join(known), did_you_mean(name, known))
            for name in unknown
        )
    found: dict[Medium, list[str]] = {}
    for name in conditions:
        medium = next(medium for medium, names in QUALITIES.items() if name in names)
        found.setdefault(medium, []).append(name)
    if len(found) > 1:
        mixed = " and ".join(f"{medium} ({', '.join(names)})" for medium, names in found.items())
        raise StimuliError(Problem("sample conditions", f"are of several media: {mixed}", "conditions of one medium"))
    return next(iter(found), "video")
