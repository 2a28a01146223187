"""What researchers read for each check that participants meet."""

from __future__ import annotations

from collections.abc import Mapping

TITLES: Mapping[str, str] = {
    "device": "Kind of device", "screen": "Resolution of the screen", "refresh": "Refresh rate",
    "media": "Playback in the browser", "network": "Speed of the network", "remote": "Remote desktop",
    "questions": "Quiz", "colour": "Colour vision", "card": "Size of a pixel", "acuity": "Visual acuity",
    "display": "Set-up of the display", "brightness": "Brightness and room light",
    "brightness_second": "Brightness, second time", "distance": "Viewing distance", "headphones": "Headphones",
    "pitch": "Pitch by two ears", "tones": "Counting tones", "sides": "Left and right", "training": "Training",
}  # fmt: skip

REASONS: Mapping[str, str] = {
    "device:phone": "a phone", "device:tablet": "a tablet", "device:desktop": "a computer",
    "screen:small": "too small", "refresh:slow": "too low", "media:codec": "a codec is missing",
    "media:decode": "a sample would not play", "media:fullscreen": "no full screen", "media:sound": "no sound",
    "media:dropped": "many frames dropped", "network:slow": "slow", "network:hopeless": "the wait would be hopeless",
    "remote:remote": "said to be used", "remote:hints": "hints that it is used", "questions:wrong": "wrong answers",
    "colour:plates": "numbers not read", "acuity:rings": "gaps of the rings not found",
    "brightness:count": "shapes not counted right", "brightness_second:count": "shapes not counted right",
    "distance:far": "too far away", "headphones:speakers": "as through loudspeakers",
    "headphones:softest": "the softest tone not found", "pitch:tone": "the tone not found",
    "tones:missed": "tones missed", "tones:count": "not counted right", "sides:swapped": "swapped",
    "sides:mono": "mono", "sides:silent": "one side silent", "sides:sides": "not told apart",
    "training:outside": "an answer stayed outside its tolerance",
    "training:trap": "a trapping example not answered as asked",
}  # fmt: skip
_CANNOT = "said to be impossible for them"


def title_of_check(check: str) -> str:
    """Return the title of a check, also of one that somebody else has written."""
    return TITLES.get(check, check.replace("_", " ").capitalize())


def title_of(reason: str) -> str | None:
    """Return `check:reason` in words: the title of the check, and why; None for what is no check with a page."""
    check, _, why = reason.partition(":")
    if check not in TITLES:
        return None
    return f"{TITLES[check]}: {_CANNOT if why == 'cannot' else REASONS.get(reason, why.replace('_', ' '))}"
