"""Presets: what stands in a study where nothing was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Preset = Literal["none", "hemvip", "p910", "mushra", "audio"]

PRESETS: Mapping[Preset, Mapping[str, Any]] = {
    "none": {},
    # HEMVIP: three stimuli that ask for an answer, and the end at the second one that is not given.
    "hemvip": {
        "checks": {
            "attention": {"per_session": 3, "targets": [5, 95], "max_failed": 1, "end_after": 2},
            "variance": True, "speed": True, "agreement": True,
        },
        "recruit": {"minutes": 100},
    },
    # ITU-T P.910 by crowdsourcing: who can see, on what, in which light, and from where.
    "p910": {
        "playback": {"watch": "whole", "fullscreen": True},
        "training": True,
        "qualification": {
            "device": True, "screen": True, "refresh": True, "media": True, "network": True, "remote": True,
            "colour": True, "acuity": True, "display": True, "brightness": True, "distance": True,
        },
        "checks": {
            "trap": {"per_session": 1}, "gold": {"per_session": 1}, "variance": {"min": 0.15},
            "ratio": {"range": [0.95, 1.15]}, "smooth": True, "focus": True, "speed": True,
            "agreement": {"action": "flag", "min": 0.3},
        },
    },
    # ITU-R BS.1534: who does not hear the reference among the others is not used.
    "mushra": {
        "playback": {"watch": "whole"},
        "checks": {
            "postscreen": {"hidden_reference": [90, 0.15], "anchor": [90, 0.15]}, "variance": True, "speed": True,
            "agreement": True,
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
