"""The colours of figures, told apart with every kind of colour vision."""

from __future__ import annotations

# The page's stylesheet finds these values in the SVG and turns them into the colours of its theme.
ACCENT, BAR, BAND, LINE, INK, SOFT, PAPER = "#34509e", "#7f96ca", "#ebebeb", "#d4d4d4", "#1a1a1a", "#4d4d4d", "#ffffff"
# Orange against blue is told apart with every kind of colour vision, on white and on black. No value is one of those
# above: these stay as they are in every theme.
_ENDS = ("#b35806", "#efa75a", "#c9c9c9", "#8aa0d6", "#3a57ad")


def ramp(n: int) -> list[str]:
    """Return n colours from the low end of a scale to its high end."""
    if n == 1:
        return [_ENDS[-1]]
    found = []
    for place in range(n):
        at = place * (len(_ENDS) - 1) / (n - 1)
        below = min(int(at), len(_ENDS) - 2)
        found.append(_between(_ENDS[below], _ENDS[below + 1], at - below))
    return found


def _between(one: str, other: str, share: float) -> str:
    both = [[int(colour[place : place + 2], 16) for place in (1, 3, 5)] for colour in (one, other)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(*both, strict=True))
