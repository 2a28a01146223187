"""Presets: what stands in a study where nothing was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Preset = Literal["none", "p910", "audio"]

PRESETS: Mapping[Preset, Mapping[str, Any]] = {
    "none": {},
    # ITU-T P.910 by crowdsourcing: who can see, on what, in which light, and from where.
    "p910": {
        "playback": {"watch": "whole", "fullscreen": True},
        "training": True,
        "qualification": {
            "device": True, "screen": True, "refresh": True, "media": True, "network": True, "remote": True,
            "colour": True, "acuity": True, "display": True, "brightness": True, "distance": True,
        },
    },
    # Listening tests: a device that plays, ears that hear, and headphones on them.
    "audio": {
        "playback": {"watch": "whole", "volume": True},
        "training": True,
        "qualification": {"device": {"allow": ["desktop", "tablet", "phone"]}, "media": True, "network": True,
                          "headphones": True, "tones": True, "sides": True},
    },
}  # fmt: skip


def preset(name: object) -> Mapping[str, Any]:
    """Return what a preset fills in; nothing for one that is unknown, which is told elsewhere."""
    return next((filled for known, filled in PRESETS.items() if known == name), {})
