"""Names that the study file will know later. They are refused by name, so that nobody takes them for typing errors."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.study.document import Place

METHODS = frozenset(("dscqs", "samviq", "mismatch", "best-worst", "rank", "word-select"))
MODES = frozenset(("panel", "lab", "prolific"))

_KEYS: Mapping[Place, frozenset[str]] = {
    (): frozenset(("budget", "family", "retention")),
    ("recruit",): frozenset(("places", "screen_out", "filters", "id_parameter", "codes", "stations", "single_use")),
}
_VALUES: Mapping[Place, frozenset[str]] = {("recruit", "mode"): MODES}


def is_reserved_key(place: Place) -> bool:
    """Return whether a later version knows the key at this place."""
    return bool(place) and place[-1] in _KEYS.get(_pattern(place[:-1]), frozenset())


def is_reserved_value(place: Place, value: object) -> bool:
    """Return whether a later version knows this value at this place."""
    if not isinstance(value, str):
        return False
    return value in _VALUES.get(_pattern(place), frozenset())


def _pattern(place: Place) -> Place:
    return tuple("*" if isinstance(step, int) else step for step in place)
