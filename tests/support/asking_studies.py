"""Keys of studies whose stimuli ask for an answer."""

from __future__ import annotations

ACR = {"method": "acr", "playback": {"fullscreen": False}, "design": {"participants": 4, "trials": 4, "seed": 3}}


GOLD = {"condition": "natural", "content": "gold1", "role": "gold", "expected": "5"}
