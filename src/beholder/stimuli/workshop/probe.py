"""`beholder media probe`: what files hold and whether browsers play them, as a table or as JSON."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from beholder.errors import Problem, StimuliError
from beholder.formats import number
from beholder.stimuli.probe import measure, playback_problem
from beholder.stimuli.si_ti import (
    SpatialTemporalInformation,
    as_numbers,
    file_hash,
    keep_si_ti,
    known_si_ti,
    measure_si_ti,
    study_folder_of,
)
from beholder.stimuli.workshop.jobs import MediaFile, Progress, find_media, needs_conversion
from beholder.types import Medium

_PREPARE = "Re-encode it with beholder media prepare."


@dataclass(frozen=True)
class ProbeRow:
    """What one file holds; nothing but its name, medium and size where it cannot be read."""

    file: str
    medium: Medium
    bytes: int
    plays: bool
    """Whether browsers play what a study serves of it."""
    problem: str | None = None
    container: str = ""
    codec: str = ""
    pixels: str = ""
    width: int = 0
    height: int = 0
    fps: float = 0.0
    frames: int = 0
    """Of a video; samples of one channel of a sound."""
    duration_ms: int = 0
    audio_codec: str = ""
    channels: int = 0
    sample_rate: int = 0
    loudness: float | None = None
    """LUFS, None without a sound that has one."""
    words: int = 0
    si_ti: SpatialTemporalInformation | None = None
    """Of a video whose SI and TI were asked for."""


def probe_media(
    files: Iterable[Path], progress: Progress | None = None, *, si_ti: bool = False
) -> tuple[list[ProbeRow], list[Problem]]:
    """Return a row for each file, and the problems of all: what is not there, cannot be read, or would not play.

    With `si_ti` also the spatial and temporal information of videos, which takes as long as decoding them; of videos in
    a study folder it is kept there, and not measured again.
    """
    problems: list[Problem] = []
    media_files = find_media(files, problems)
    rows: list[ProbeRow] = []
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        probes = pool.map(partial(_probe_file, si_ti=si_ti), media_files)
        for done, (row, problem, to_keep) in enumerate(probes, start=1):
            rows.append(row)
            if to_keep is not None and row.si_ti is not None:
                folder, sha256 = to_keep
                keep_si_ti(folder, {sha256: row.si_ti})
            problems += [problem] if problem is not None else []
            if progress is not None:
                progress(done, len(media_files))
    return rows, problems


def as_json(rows: Iterable[ProbeRow]) -> list[dict[str, Any]]:
    """Return the rows as JSON objects."""
    return [_json_row(row) for row in rows]


def _json_row(row: ProbeRow) -> dict[str, Any]:
    values = {name: value for name, value in asdict(row).items() if name != "si_ti"}
    return values if row.si_ti is None else {**values, "si_ti": as_numbers(row.si_ti)}


def as_table(rows: Iterable[ProbeRow]) -> list[dict[str, str]]:
    """Return the rows as a table, without empty columns."""
    table = [_table_row(row) for row in rows]
    used = [head for head in (table[0] if table else ()) if any(row[head] for row in table)]
    return [{head: row[head] for head in used} for row in table]


_Probed: TypeAlias = tuple[ProbeRow, Problem | None, tuple[Path, str] | None]
"""A row, what is wrong, and under which hash of which study what was measured is to be kept."""


def _probe_file(file: MediaFile, *, si_ti: bool) -> _Probed:
    path, medium = file.path, file.medium
    name, size = str(path), path.stat().st_size
    if needs_conversion(path):
        problem = Problem(name, f"is {path.suffix.lower()}, which studies do not take", "", _PREPARE)
        return ProbeRow(name, medium, size, False, _without_file(problem)), problem, None
    try:
        measured = measure(path, name, medium)
        information, to_keep = _si_ti(path, measured.pixels) if si_ti and medium == "video" else (None, None)
    except StimuliError as error:
        (problem,) = error.problems
        return ProbeRow(name, medium, size, False, _without_file(problem)), problem, None
    playback = playback_problem(measured, name, medium)
    probe = measured.probe
    row = ProbeRow(
        file=name,
        medium=medium,
        bytes=size,
        plays=playback is None,
        problem=None if playback is None else _without_file(playback),
        container=probe.container,
        codec="" if medium == "audio" else probe.codec,
        pixels=measured.pixels,
        width=probe.width,
        height=probe.height,
        fps=probe.fps,
        frames=measured.frames,
        duration_ms=probe.duration_ms,
        audio_codec=probe.audio_codec,
        channels=probe.channels,
        sample_rate=probe.sample_rate,
        loudness=probe.loudness,
        words=probe.words,
        si_ti=information,
    )
    return row, playback, to_keep


def _si_ti(path: Path, pixels: str) -> tuple[SpatialTemporalInformation, tuple[Path, str] | None]:
    """Return SI and TI of a video, and where they are to be kept if they are new to its study."""
    folder = study_folder_of(path)
    sha256 = file_hash(path) if folder is not None else ""
    known = known_si_ti(folder).get(sha256) if folder is not None else None
    if known is not None:
        return known, None
    return measure_si_ti(path, str(path), pixels), None if folder is None else (folder, sha256)


def _without_file(problem: Problem) -> str:
    """Return a problem without the file that it is about."""
    return str(problem).removeprefix(f"{problem.where}  ")


def _table_row(row: ProbeRow) -> dict[str, str]:
    sound = [
        row.audio_codec,
        f"{row.channels} ch" * (row.channels > 0),
        f"{row.sample_rate} Hz" * (row.sample_rate > 0),
    ]
    return {
        "file": row.file,
        "medium": row.medium,
        "container": row.container,
        "codec": row.codec,
        "pixels": row.pixels,
        "size": f"{row.width}x{row.height}" * (row.width > 0),
        "fps": f"{row.fps:.5g}" * (row.fps > 0),
        "frames": f"{row.frames}" * (row.medium == "video" and row.frames > 0),
        "duration": f"{row.duration_ms / 1000:.3f} s" * (row.duration_ms > 0),
        "sound": " ".join(part for part in sound if part),
        "SI": "" if row.si_ti is None else f"{row.si_ti.si_max:.1f}",
        "TI": "" if row.si_ti is None else number(row.si_ti.ti_max, 1),
        "loudness": "" if row.loudness is None else f"{row.loudness:.1f} LUFS",
        "words": f"{row.words}" * (row.words > 0),
        "bytes": f"{row.bytes}",
        "plays": "yes" if row.plays else "no",
    }
