"""Keys of a small acr study, and a gold stimulus in its manifest."""

from __future__ import annotations

ACR = {"method": "acr", "playback": {"fullscreen": False}, "design": {"participants": 4, "trials": 4, "seed": 3}}
GOLD = {"condition": "natural", "content": "gold1", "role": "gold", "expected": "5"}
