"""The stimuli that people met: what each file holds, with SI and TI where they were measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from beholder.cleaning import columns as c
from beholder.cleaning.facts import Facts, ShownStimulus
from beholder.columns import Column, names_of
from beholder.stimuli.si_ti import SI_TI, SpatialTemporalInformation, as_numbers

PROBE = (
    Column("bytes", "integer", "Size of the file."),
    Column("duration_ms", "number", "How long it plays; of images and texts, how long they must be in view."),
    Column("width", "integer", "Width, in pixels."),
    Column("height", "integer", "Height, in pixels."),
    Column("fps", "number", "Frames per second."),
    Column("codec", "text", "How its picture is coded."),
    Column("audio_codec", "text", "How its sound is coded."),
    Column("channels", "integer", "Channels of its sound."),
    Column("sample_rate", "integer", "Samples per second of its sound."),
    Column("words", "integer", "Of a text: how many words it has."),
    Column("loudness", "number", "Integrated loudness of its sound, in LUFS (ITU-R BS.1770)."),
)
STIMULI = (
    c.STIMULUS, c.CONTENT, c.CONDITION, c.ROLE, c.MEDIUM,
    Column("sha256", "text", "Hash of the file; of the recipe where Beholder made it."),
    *PROBE,
)  # fmt: skip
"""Columns of stimuli.csv; where SI and TI of any were measured, those of `SI_TI` as well."""

Known = Mapping[str, SpatialTemporalInformation]


def stimulus_columns(known: Known) -> tuple[Column, ...]:
    """Return the columns of stimuli.csv."""
    return STIMULI + (SI_TI if known else ())


def stimulus_rows(facts: Facts, known: Known) -> Iterator[dict[str, Any]]:
    """Yield each stimulus once, as the newest study text has it."""
    newest: dict[str, ShownStimulus] = {}
    for (_, stimulus), shown in facts.stimuli.items():
        newest.pop(stimulus, None)
        newest[stimulus] = shown
    for stimulus, shown in newest.items():
        own = {name: getattr(shown, name) for name in ("content", "condition", "role", "medium", "sha256")}
        yield {"stimulus": stimulus, **own, **probe_cells(shown.probe), **si_ti_cells(shown.sha256, known)}


def probe_cells(probe: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a file holds, without what it has none of."""
    return {name: probe.get(name) or None for name in names_of(PROBE)}


def si_ti_cells(sha256: str, known: Known) -> dict[str, Any]:
    """Return SI and TI of a file, if they were measured."""
    found = known.get(sha256)
    return {} if found is None else as_numbers(found)
