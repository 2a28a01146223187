"""SI and TI: the spatial and temporal information of videos (ITU-T P.910 (10/2023), 7.8), measured frame by frame, and
kept by the hash of the file in media/si-ti.json of a study.

SI of a frame is the standard deviation of the magnitude of its Sobel gradient, without the outermost pixels (7.8.2); TI
is the standard deviation of its difference from the frame before (7.8.3). Each is computed twice:

- on the luma codes, brought to 0 to 255, as P.910 had it until 2021 and most published numbers are;
- after the transfer functions of 7.8.1 for a standard dynamic range (`pq`): BT.1886 on a display from 0.1 to 300 cd/m²,
  then PQ of BT.2100, brought to 0 to 255.

Codes of limited range (16 to 235 in 8 bits), which is what a file means that does not name its range, are stretched to
full range before both; what lies outside is clipped. Over time there are mean and maximum.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from beholder.columns import Column
from beholder.errors import Problem, StimuliError
from beholder.files import write_json
from beholder.stimuli.ffmpeg import ffmpeg_output, file_argument
from beholder.stimuli.video import READ_VIDEO

Codes: TypeAlias = "NDArray[np.uint8] | NDArray[np.uint16]"
Levels: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True)
class SpatialTemporalInformation:
    """SI and TI of one video; TI of a single frame is not a number."""

    frames: int
    is_full_range: bool
    """Whether its codes went from 0 to the highest; else they were stretched."""
    si_mean: float
    si_max: float
    ti_mean: float
    ti_max: float
    pq_si_mean: float
    pq_si_max: float
    pq_ti_mean: float
    pq_ti_max: float


_LUMA = "of the luma codes, from 0 to 255"
_PQ = "after the transfer functions of P.910 (10/2023), 7.8.1"
SI_TI = (
    Column("si_mean", "number", f"Spatial information {_LUMA}: mean over the frames; empty where it was not measured."),
    Column("si_max", "number", f"Spatial information {_LUMA}: maximum over the frames."),
    Column("ti_mean", "number", f"Temporal information {_LUMA}: mean over the frames from the second on."),
    Column("ti_max", "number", f"Temporal information {_LUMA}: maximum over the frames from the second on."),
    Column("pq_si_mean", "number", f"Spatial information {_PQ}: mean over the frames."),
    Column("pq_si_max", "number", f"Spatial information {_PQ}: maximum over the frames."),
    Column("pq_ti_mean", "number", f"Temporal information {_PQ}: mean over the frames from the second on."),
    Column("pq_ti_max", "number", f"Temporal information {_PQ}: maximum over the frames from the second on."),
)


# Frames, as they come out of ffmpeg


class _Header(NamedTuple):
    """What a stream in the format yuv4mpeg says of its frames."""

    width: int
    height: int
    bits: int
    is_full_range: bool


_PLANAR = (
    *(f"yuv{kind}p{bits}" for kind in (420, 422, 444) for bits in ("", "10le", "12le")),
    "yuvj420p", "yuvj422p", "yuvj444p", "gray", "gray10le", "gray12le",
)  # fmt: skip
"""Formats whose first plane is the luma as it was coded. Whatever else there is, is brought to one of them."""
_CHAIN = f"format={'|'.join(_PLANAR)},extractplanes=y"


def measure_si_ti(path: Path, where: str, pixels: str = "") -> SpatialTemporalInformation:
    """Return SI and TI of a video, one frame after the other; raise StimuliError that names `where`.

    `pixels` is the format of its pixels, where it is known: red, green and blue have no luma of their own.
    """
    luma, perceptual = _Series(), _Series()
    is_full_range = False
    for header, codes in _luma_frames(path, where, is_rgb=pixels.startswith(("gbr", "rgb", "bgr"))):
        if luma.frames == 0:
            is_full_range = header.is_full_range
            to_luma, to_pq = (table(header.bits, is_full_range) for table in (luma_levels, pq_levels))
        luma.add(to_luma[codes])
        perceptual.add(to_pq[codes])
    if luma.frames == 0:
        raise StimuliError(Problem(where, "has no frame that can be decoded"))
    return SpatialTemporalInformation(luma.frames, is_full_range, *luma.summary(), *perceptual.summary())


def _luma_frames(path: Path, where: str, *, is_rgb: bool) -> Iterator[tuple[_Header, Codes]]:
    """Yield the luma codes of each frame with what the stream says of it."""
    chain = f"format=yuv444p,{_CHAIN}" if is_rgb else _CHAIN
    words = ["-v", "error", *READ_VIDEO, "-i", file_argument(path), "-map", "0:V:0", "-vf", chain]
    # The format says size, depth and range in front of the frames, so that nothing has to be guessed.
    with ffmpeg_output(
        [*words, "-fps_mode", "passthrough", "-strict", "-1", "-f", "yuv4mpegpipe", "pipe:1"], where
    ) as out:
        yield from _read_frames(out)


def _read_frames(stream: IO[bytes]) -> Iterator[tuple[_Header, Codes]]:
    head = stream.readline().decode("ascii", "replace").split()
    if not head:
        return
    told = {word[0]: word[1:] for word in head[1:] if not word.startswith("X")}
    bits = int(told["C"].removeprefix("mono") or 8)
    header = _Header(int(told["W"]), int(told["H"]), bits, "XCOLORRANGE=FULL" in head)
    size = header.width * header.height * (1 if bits == 8 else 2)
    while stream.readline():  # FRAME
        data = stream.read(size)
        if len(data) < size:
            return
        codes = np.frombuffer(data, np.uint8) if bits == 8 else np.frombuffer(data, "<u2")
        yield header, codes.reshape(header.height, header.width)


# From codes to levels


def luma_levels(bits: int, is_full_range: bool) -> Levels:
    """Return the level of each luma code, from 0 to 255."""
    return (255 * _normalised(bits, is_full_range)).astype(np.float32)


def pq_levels(bits: int, is_full_range: bool) -> Levels:
    """Return the level of each luma code after the transfer functions, from 0 to 255."""
    # ITU-R BT.1886 with an exponent of 2.4, on a display of standard dynamic range.
    luminance = (300 - 0.1) * _normalised(bits, is_full_range) ** 2.4 + 0.1
    # ITU-R BT.2100, table 4: the inverse of the reference PQ EOTF, at 10,000 cd/m².
    power = (luminance / 10_000) ** 0.1593017578125
    perceptual = ((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power)) ** 78.84375
    return (255 * perceptual).astype(np.float32)


def _normalised(bits: int, is_full_range: bool) -> NDArray[np.float64]:
    """Return each code from 0 to 1, limited range stretched."""
    codes = np.arange(1 << bits, dtype=np.float64)
    unit = 1 << (bits - 8)
    lowest, span = (0, (1 << bits) - 1) if is_full_range else (16 * unit, 219 * unit)
    normalised: NDArray[np.float64] = np.clip((codes - lowest) / span, 0, 1)
    return normalised


# From levels to numbers

_BAND = 32
"""So many lines are looked at together: what they take stays in the cache of a processor."""


class _Series:
    """SI and TI of the frames so far; of the frames themselves it keeps the last."""

    def __init__(self) -> None:
        self._si: list[float] = []
        self._ti: list[float] = []
        self._before: Levels | None = None

    @property
    def frames(self) -> int:
        return len(self._si)

    def add(self, frame: Levels) -> None:
        self._si.append(spatial_information(frame))
        if self._before is not None:
            self._ti.append(temporal_information(frame, self._before))
        self._before = frame

    def summary(self) -> tuple[float, float, float, float]:
        """Return mean and maximum of SI, then of TI."""
        ti = self._ti or [math.nan]
        return float(np.mean(self._si)), max(self._si), float(np.mean(ti)), max(ti)


def spatial_information(frame: Levels) -> float:
    """Return SI of a frame: the standard deviation of its Sobel gradient over the inner pixels (P.910, 7.8.2)."""
    return _deviation(_gradients(frame))


def temporal_information(frame: Levels, before: Levels) -> float:
    """Return TI of a frame: the standard deviation of its difference from the one before (P.910, 7.8.3)."""
    return _deviation(frame[top : top + _BAND] - before[top : top + _BAND] for top in range(0, len(frame), _BAND))


def _gradients(frame: Levels) -> Iterator[Levels]:
    """Yield the magnitude of the Sobel gradient, some lines at a time."""
    for top in range(0, len(frame) - 2, _BAND):
        lines = frame[top : top + _BAND + 2]
        down = lines[:-2] + 2 * lines[1:-1] + lines[2:]
        along = lines[:, :-2] + 2 * lines[:, 1:-1] + lines[:, 2:]
        across, upright = down[:, 2:] - down[:, :-2], along[2:] - along[:-2]
        yield np.sqrt(across * across + upright * upright)


def _deviation(bands: Iterable[Levels]) -> float:
    """Return the standard deviation over all pixels, not over a sample of them."""
    number, total, squares = 0, 0.0, 0.0
    for band in bands:
        number += band.size
        total += float(band.sum(dtype=np.float64))
        squares += float(np.square(band, dtype=np.float64).sum())
    return math.sqrt(max(0.0, squares / number - (total / number) ** 2)) if number else 0.0


# What was measured before


_FORMAT = 1
"""Raised where the same file would get other numbers."""
KEPT = "si-ti.json"


def known_si_ti(folder: Path) -> dict[str, SpatialTemporalInformation]:
    """Return what is kept in a study folder by the hash of each file; nothing where it is damaged or not there."""
    try:
        document = json.loads((folder / "media" / KEPT).read_text("utf-8"))
        if document["format"] != _FORMAT:
            return {}
        return {str(sha256): _from_json(row) for sha256, row in document["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def keep_si_ti(folder: Path, measured: Mapping[str, SpatialTemporalInformation]) -> None:
    """Add to what is kept in a study folder."""
    kept = {**known_si_ti(folder), **measured}
    files = {sha256: as_numbers(kept[sha256]) for sha256 in sorted(kept)}
    write_json(folder / "media" / KEPT, {"format": _FORMAT, "files": files})


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def study_folder_of(path: Path) -> Path | None:
    """Return the folder of the study to which a file belongs: the nearest one above it with a study.yaml."""
    return next((folder for folder in path.absolute().parents if (folder / "study.yaml").is_file()), None)


def as_numbers(one: SpatialTemporalInformation) -> dict[str, float | None]:
    """Return the numbers by their names; None of what is not a number."""
    return {name: None if value != value else value for name, value in asdict(one).items()}


def _from_json(row: Mapping[str, Any]) -> SpatialTemporalInformation:
    written = {field.name: row[field.name] for field in fields(SpatialTemporalInformation)}
    values: dict[str, Any] = {name: math.nan if value is None else value for name, value in written.items()}
    return SpatialTemporalInformation(**values)
