"""What looks wrong in a catalogue, though it can be served."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from beholder.errors import Problem
from beholder.stimuli.blinding import HIDDEN, MOST, TIMES
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.stimuli.sources import RATED

TOLERANCE_MS = 100


def suspicions(catalogue: Catalogue) -> Iterator[Problem]:
    """Yield, content by content: missing conditions, lengths and sizes that differ, bytes that no filler evens out.

    Last, what holds for all: encoders whose names tell conditions apart.
    """
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
        yield from _uneven(where, group, catalogue)
    yield from _named(list(rated.values()))


def _uneven(where: str, group: Sequence[Stimulus], catalogue: Catalogue) -> Iterator[Problem]:
    """Yield the problem of files whose sizes differ so much that the filler stops before they are even."""
    filled = [catalogue.class_sizes[stimulus.id] for stimulus in group]
    if max(filled) - min(filled) <= HIDDEN:
        return
    small, large = min(group, key=_bytes), max(group, key=_bytes)
    ends = " to ".join(f"{_in_words(s.served_bytes)} under {s.condition}" for s in (small, large))
    yield Problem(
        where,
        f"has files that differ in size more than the filler can hide ({ends}): "
        "a participant who opens the developer tools could put them in order",
        f"{TIMES} times the smallest at most, and {_in_words(MOST)} more than it",
        "Encode the largest smaller or the smallest larger, or accept it.",
    )


def _named(groups: Sequence[Sequence[Stimulus]]) -> Iterator[Problem]:
    """Yield the problem of names of encoders that are not the same under all conditions of a content."""
    if all(len({stimulus.encoders for stimulus in group}) == 1 for group in groups):
        return
    under: dict[str, list[str]] = {}
    for stimulus in (stimulus for group in groups for stimulus in group):
        for name in stimulus.encoders:
            under.setdefault(name, []).append(stimulus.condition)
    listed = "; ".join(f"{name} under {', '.join(dict.fromkeys(under[name]))}" for name in sorted(under))
    yield Problem(
        "stimuli",
        f"hold names of encoders inside their sound, and not the same under all conditions ({listed}): "
        "a participant who looks into the files could tell these apart",
        "",
        "Encode the sound of all conditions with the same program, or accept it.",
    )


def _in_words(size: int) -> str:
    """Return a number of bytes as people say it."""
    if size >= 1_000_000:
        return f"{size / 1_000_000:.1f} MB"
    return f"{max(1, round(size / 1000))} kB"


def _bytes(stimulus: Stimulus) -> int:
    return stimulus.served_bytes


def _length(stimulus: Stimulus) -> int:
    return stimulus.probe.duration_ms
