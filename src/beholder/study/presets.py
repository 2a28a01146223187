"""Presets: values for keys that are not written in a study."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

Preset = Literal["none", "hemvip", "p910", "mushra", "audio", "genea"]
CleanPreset = Literal["none", "hemvip", "p910", "mushra"]

PRESETS: Mapping[Preset, Mapping[str, Any]] = {
    "none": {},
    # HEMVIP: three stimuli that ask for an answer, and the end at the second one that is not given.
    "hemvip": {
        "checks": {
            "attention": {"per_session": 3, "targets": [5, 95], "max_failed": 1, "end_after": 2},
            "variance": True, "speed": True, "agreement": True,
        },
        "recruit": {"time_limit": "100 min"},
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
            "agreement": {"min": 0.3},
        },
        "clean": {"rater": True},
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
    # GENEA: naturalness and appropriateness, each with stimuli that ask for an answer.
    "genea": {
        "playback": {"watch": "whole"},
        "checks": {"attention": {"per_session": 2, "max_failed": 1}, "variance": True, "speed": True},
    },
}  # fmt: skip

CLEAN_PRESETS: Mapping[CleanPreset, Mapping[str, Any]] = {
    "none": {"rater": False, "use": {}},
    "hemvip": {
        "rater": False,
        "use": {"attention": {"max_failed": 1}, "variance": {"min": 0.15, "share": 0.5}, "speed": True,
                "agreement": {"action": "record"}},
    },
    "p910": {
        "rater": True,
        "use": {
            "trap": {"max_failed": 0}, "gold": {"max_failed": 0}, "variance": {"min": 0.15, "share": 0.5},
            "ratio": {"range": [0.95, 1.15]}, "smooth": True, "focus": True, "speed": True,
            "agreement": {"action": "record", "min": 0.3},
        },
    },
    "mushra": {
        "rater": False,
        "use": {
            "postscreen": {"hidden_reference": [90, 0.15], "anchor": [90, 0.15], "spare": 0.25},
            "variance": {"min": 0.15, "share": 0.5}, "speed": True, "agreement": {"action": "record"},
        },
    },
}  # fmt: skip
"""What a preset means for cleaning alone."""


def preset(name: object) -> Mapping[str, Any]:
    """Return the values of a preset; none for an unknown one, which is reported elsewhere."""
    return next((filled for known, filled in PRESETS.items() if known == name), {})


def with_clean_preset(data: Mapping[str, Any], written: Mapping[str, Any], planned: Collection[str]) -> dict[str, Any]:
    """Return a study with the thresholds of its `clean.preset` that are written neither in `clean` nor in `checks`.

    `written` is the study before any preset, `planned` are rules that need something in the lists: a preset for
    cleaning leaves them alone where the study does not have them.
    """
    clean = written.get("clean")
    name = clean.get("preset") if isinstance(clean, Mapping) else None
    filled = next((filled for known, filled in CLEAN_PRESETS.items() if known == name), None)
    if filled is None or not isinstance(clean, Mapping):
        return dict(data)
    own, checks, on = _map(written.get("checks")), _map(data.get("checks")), clean.get("use", {})
    use, without = dict(_map(on)), clean.get("without") or ()
    for rule, thresholds in filled["use"].items():
        is_off = own.get(rule) is False or use.get(rule) is False or rule in without
        if is_off or (rule in planned and not checks.get(rule)):
            continue
        missing = {key: value for key, value in _map(thresholds).items() if key not in _map(own.get(rule))}
        if missing or not own.get(rule):
            use[rule] = {**missing, **_map(use.get(rule))} or True
    return {**data, "clean": {"rater": filled["rater"], **clean, "use": use if isinstance(on, Mapping) else on}}


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
