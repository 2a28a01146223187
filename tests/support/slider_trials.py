"""The public part of a trial with sliders."""

from __future__ import annotations

from typing import Any

SLIDER = {"min": 0, "max": 100, "step": 1, "labels": [], "look": "slider"}


def board(slots: int = 3, ms: int = 4000) -> dict[str, Any]:
    media = {"medium": "video", "ms": ms, "width": 160, "height": 90}
    return {
        "asked": [{"id": "q1", "text": "?", "scale": SLIDER}],
        "slots": [{"id": f"s{n}", "rated": True, "media": media} for n in range(1, slots + 1)],
        "together": False,
        "extra": {},
    }
