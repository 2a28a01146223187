"""Decoded frames, one after the other, as ffmpeg hands them over."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from beholder.errors import Problem, StimuliError
from beholder.stimuli.ffmpeg import NO_WINDOW, Ran, command

Plane: TypeAlias = NDArray[np.uint8]


def plane_shapes(pixels: str, width: int, height: int) -> list[tuple[int, int]]:
    """Return lines and columns of each plane of a frame."""
    half = (-(-height // 2), -(-width // 2))
    full = (height, width)
    return {"gray": [full], "yuv420p": [full, half, half], "gbrp": [full] * 3, "yuv444p": [full] * 3}[pixels]


def frames(
    read: Sequence[str], path: str, chain: str, pixels: str, width: int, height: int, where: str
) -> Iterator[list[Plane]]:
    """Yield the planes of each frame, or raise StimuliError that names `where`."""
    shapes = plane_shapes(pixels, width, height)
    size = sum(lines * columns for lines, columns in shapes)
    words = ["-v", "error", *read, "-i", path, "-map", "0:V:0", "-vf", f"{chain},format={pixels}"]
    line = command([*words, "-fps_mode", "passthrough", "-f", "rawvideo", "pipe:1"])
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, creationflags=NO_WINDOW
        )
        assert process.stdout is not None
        try:
            while len(data := process.stdout.read(size)) == size:
                yield _planes(data, shapes)
            if process.wait() != 0:
                log.seek(0)
                said = Ran(process.returncode, b"", log.read().decode("utf-8", "replace")).last_words()
                raise StimuliError(Problem(where, f"cannot be decoded: ffmpeg says {said}"))
        finally:
            process.stdout.close()
            process.kill()
            process.wait()


def _planes(data: bytes, shapes: Sequence[tuple[int, int]]) -> list[Plane]:
    found, start = [], 0
    for lines, columns in shapes:
        found.append(np.frombuffer(data, np.uint8, lines * columns, start).reshape(lines, columns))
        start += lines * columns
    return found
