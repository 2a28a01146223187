"""What looks wrong in a catalogue, though it can be served."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from beholder.errors import Problem
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.stimuli.sources import RATED

TOLERANCE_MS = 100


def suspicions(catalogue: Catalogue) -> Iterator[Problem]:
    """Yield, content by content: missing conditions, lengths that differ, sizes that differ."""
    holes = {
        content: [c for _, c in cells] for content, cells in groupby(catalogue.missing(), key=lambda cell: cell[0])
    }
    rated: dict[str, list[Stimulus]] = {content: [] for content in catalogue.contents}
    for stimulus in catalogue.stimuli:
        if stimulus.role in RATED:
            rated[stimulus.content].append(stimulus)
    for content, group in rated.items():
        where = f"content {content}"
        if content in holes:
            yield Problem(where, f"is missing under {', '.join(holes[content])}")
        short, long = min(group, key=_length), max(group, key=_length)
        if _length(long) - _length(short) > TOLERANCE_MS:
            ends = " and ".join(f"{_length(s) / 1000:.2f} s under {s.condition}" for s in (short, long))
            yield Problem(where, f"lasts {ends}", "0.1 s apart at most")
        sizes = {(s.probe.width, s.probe.height): s for s in reversed(group)}
        if len(sizes) > 1:
            listed = ", ".join(f"{w}x{h} under {s.condition}" for (w, h), s in sorted(sizes.items()))
            yield Problem(where, f"has different sizes: {listed}")


def _length(stimulus: Stimulus) -> int:
    return stimulus.probe.duration_ms
