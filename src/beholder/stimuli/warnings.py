"""What looks wrong in a catalogue, though it can be served."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from beholder.errors import Problem
from beholder.stimuli.audio import is_lossless
from beholder.stimuli.blinding import HIDDEN_DIFFERENCE, MAX_FILL_BYTES, MAX_FILL_FACTOR
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.stimuli.sources import RATED
from beholder.study.model import Playback

_MAX_DETAILS = 3
"""Contents whose details are listed where they differ."""
_TOLERANCE_MS = 100
_CLOSE_TOLERANCE_MS = 50
"""Of sounds, and wherever switching keeps the position: there the end of one is a jump in the other."""


def catalogue_warnings(catalogue: Catalogue, playback: Playback | None = None) -> Iterator[Problem]:
    """Yield missing conditions, lengths and shapes that differ, and bytes that no filler evens out.

    Contents with the same problem come together. Last, what holds for all: encoders whose names tell conditions apart.
    """
    keeps_position = playback is not None and playback.switching == "keep"
    missing = {
        content: [c for _, c in cells] for content, cells in groupby(catalogue.missing(), key=lambda cell: cell[0])
    }
    rated: dict[str, list[Stimulus]] = {content: [] for content in catalogue.contents}
    for stimulus in catalogue.stimuli:
        if stimulus.role in RATED:
            rated[stimulus.content].append(stimulus)
    warnings: dict[_Warning, list[tuple[str, str]]] = {}
    for content, group in rated.items():
        notes = [
            *_missing_conditions(missing.get(content, ())),
            *_durations(group, keeps_position),
            *_shapes(group),
            *_sizes(group, catalogue),
        ]
        for warning, detail in notes:
            warnings.setdefault(warning, []).append((content, detail))
    for warning, cases in warnings.items():
        yield from _problem_for(warning, cases)
    yield from _encoder_names(list(rated.values()))


class _Warning(NamedTuple):
    """What is wrong with some contents; `{}` stands for what differs from one to the other."""

    one: str
    many: str
    allowed: str = ""
    fix: str = ""


def _problem_for(warning: _Warning, cases: Sequence[tuple[str, str]]) -> Iterator[Problem]:
    """Yield one problem for all contents of which the same can be said, the details of each where they differ."""
    contents = [content for content, _ in cases]
    if len(cases) == 1:
        yield Problem(f"content {contents[0]}", warning.one.format(cases[0][1]), warning.allowed, warning.fix)
        return
    details = list(dict.fromkeys(detail for _, detail in cases))
    text = (
        details[0]
        if len(details) == 1
        else "; ".join(f"{content} {detail}" for content, detail in cases[:_MAX_DETAILS])
    )
    text += f"; {len(cases) - _MAX_DETAILS} more" if len(details) > 1 and len(cases) > _MAX_DETAILS else ""
    where = f"{len(cases)} contents: {', '.join(contents)}"
    yield Problem(where, warning.many.format(text), warning.allowed, warning.fix)


def _missing_conditions(conditions: Sequence[str]) -> Iterator[tuple[_Warning, str]]:
    """Yield the doubt about conditions that a content lacks."""
    if conditions:
        yield _Warning("is missing under {}", "are missing under {}"), ", ".join(conditions)


def _durations(group: Sequence[Stimulus], keeps_position: bool) -> Iterator[tuple[_Warning, str]]:
    """Yield the doubt about clips that do not last equally long; what stands still has no length."""
    if group[0].medium not in ("video", "audio"):
        return
    tolerance = _CLOSE_TOLERANCE_MS if keeps_position or group[0].medium == "audio" else _TOLERANCE_MS
    short, long = min(group, key=_duration_ms), max(group, key=_duration_ms)
    if _duration_ms(long) - _duration_ms(short) > tolerance:
        ends = " and ".join(f"{_duration_ms(s) / 1000:.2f} s under {s.condition}" for s in (short, long))
        why = ", and switching keeps the position" if keeps_position else ""
        yield _Warning(f"lasts {{}}{why}", f"last {{}}{why}", f"{tolerance / 1000:g} s apart at most"), ends


def _shapes(group: Sequence[Stimulus]) -> Iterator[tuple[_Warning, str]]:
    """Yield the doubts about pictures of different sizes, and about sounds of different rates, channels or depths."""
    medium = group[0].medium
    if medium in ("video", "image"):
        sizes = _values_by_condition({(s.probe.width, s.probe.height): s for s in reversed(group)}, "{0[0]}x{0[1]}")
        if sizes:
            yield _Warning("has different sizes: {}", "have different sizes: {}"), sizes
    if medium == "video":
        kinds = _values_by_condition({s.served.suffix.lstrip("."): s for s in reversed(group)}, "{}")
        if kinds:
            what = "served as {}: a participant who opens the developer tools could tell these apart"
            fix = "Export all in the same format, or accept it."
            yield _Warning(f"is {what}", f"are {what}", "one of them", fix), kinds
    if medium == "audio":
        rates = _values_by_condition({s.probe.sample_rate: s for s in reversed(group)}, "{} Hz")
        if rates:
            yield _Warning("has different sample rates: {}", "have different sample rates: {}"), rates
        counts = {s.probe.channels: s for s in reversed(group)}
        if len(counts) > 1:
            what = "different numbers of channels: {}"
            yield _Warning(f"has {what}", f"have {what}"), _values_by_condition(counts, "{}")
        elif max(counts) > 2:
            what = "{} channels, and most people listen to two"
            yield _Warning(f"has {what}", f"have {what}", "1 or 2"), str(max(counts))
        # What a lossy codec decodes to has no depth of its own: its 16 bits lose nothing that others keep.
        depths = _values_by_condition({_bits(s): s for s in reversed(group) if is_lossless(s.probe.codec)}, "{} bits")
        if depths:
            what = "different depths: {}: a participant who looks into the files could tell these apart"
            yield _Warning(f"has {what}", f"have {what}", "", "Export all in the same depth, or accept it."), depths


def _values_by_condition(stimuli: Mapping[Any, Stimulus], form: str) -> str:
    """Return each value with a condition that has it; nothing where all have the same."""
    text = ", ".join(f"{form.format(value)} under {stimulus.condition}" for value, stimulus in sorted(stimuli.items()))
    return text if len(stimuli) > 1 else ""


def _sizes(group: Sequence[Stimulus], catalogue: Catalogue) -> Iterator[tuple[_Warning, str]]:
    """Yield the doubt about files whose sizes differ so much that the filler stops before they are even."""
    filled = [catalogue.class_sizes[stimulus.id] for stimulus in group]
    if max(filled) - min(filled) <= HIDDEN_DIFFERENCE:
        return
    small, large = min(group, key=_bytes), max(group, key=_bytes)
    what = (
        "files that differ in size more than the filler can hide ({}): "
        "a participant who opens the developer tools could put them in order"
    )
    warning = _Warning(
        f"has {what}",
        f"have {what}",
        f"{MAX_FILL_FACTOR} times the smallest at most, and {_in_words(MAX_FILL_BYTES)} more than it",
        "Encode the largest smaller or the smallest larger, or accept it.",
    )
    yield warning, " to ".join(f"{_in_words(s.served_bytes)} under {s.condition}" for s in (small, large))


def _encoder_names(groups: Sequence[Sequence[Stimulus]]) -> Iterator[Problem]:
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


def _bits(stimulus: Stimulus) -> int:
    """Return how many bits a sample of the served WAV has: 16 or 24, from its size."""
    probe = stimulus.probe
    samples = probe.channels * probe.sample_rate * max(1, probe.duration_ms) / 1000
    return 24 if stimulus.served_bytes > 2.5 * samples + 44 else 16


def _duration_ms(stimulus: Stimulus) -> int:
    return stimulus.probe.duration_ms
