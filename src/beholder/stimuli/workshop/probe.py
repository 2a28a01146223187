"""`beholder media probe`: what files hold and whether browsers play them, as a table or as JSON."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from beholder.errors import Problem, StimuliError
from beholder.stimuli.probe import measure, playback_problem
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


def probe_media(files: Iterable[Path], progress: Progress | None = None) -> tuple[list[ProbeRow], list[Problem]]:
    """Return a row for each file, and the problems of all: what is not there, cannot be read, or would not play."""
    problems: list[Problem] = []
    media_files = find_media(files, problems)
    rows: list[ProbeRow] = []
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for done, (row, problem) in enumerate(pool.map(_probe_file, media_files), start=1):
            rows.append(row)
            problems += [problem] if problem is not None else []
            if progress is not None:
                progress(done, len(media_files))
    return rows, problems


def as_json(rows: Iterable[ProbeRow]) -> list[dict[str, Any]]:
    """Return the rows as JSON objects."""
    return [asdict(row) for row in rows]


def as_table(rows: Iterable[ProbeRow]) -> list[dict[str, str]]:
    """Return the rows as a table, without empty columns."""
    table = [_table_row(row) for row in rows]
    used = [head for head in (table[0] if table else ()) if any(row[head] for row in table)]
    return [{head: row[head] for head in used} for row in table]


def _probe_file(file: MediaFile) -> tuple[ProbeRow, Problem | None]:
    path, medium = file.path, file.medium
    name, size = str(path), path.stat().st_size
    if needs_conversion(path):
        problem = Problem(name, f"is {path.suffix.lower()}, which studies do not take", "", _PREPARE)
        return ProbeRow(name, medium, size, False, _without_file(problem)), problem
    try:
        measured = measure(path, name, medium)
    except StimuliError as error:
        (problem,) = error.problems
        return ProbeRow(name, medium, size, False, _without_file(problem)), problem
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
    )
    return row, playback


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
        "loudness": "" if row.loudness is None else f"{row.loudness:.1f} LUFS",
        "words": f"{row.words}" * (row.words > 0),
        "bytes": f"{row.bytes}",
        "plays": "yes" if row.plays else "no",
    }
