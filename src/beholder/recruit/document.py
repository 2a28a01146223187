"""What was found as JSON: every value by its name."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from beholder.study.money import Sum
from beholder.types import Json


def plain(value: object) -> Json:
    """Return times as ISO 8601, money as `2.00 GBP`, and anything with fields as an object."""
    if isinstance(value, Sum):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [plain(inner) for inner in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return {name: plain(inner) for name, inner in vars(value).items()}
