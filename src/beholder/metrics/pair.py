"""A processed picture beside its reference: how both are read so that frame meets frame and pixel meets pixel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from beholder.stimuli.catalogue import Stimulus
from beholder.stimuli.clip import READ
from beholder.stimuli.ffmpeg import file_argument
from beholder.stimuli.measured import Measured
from beholder.stimuli.probe import measure
from beholder.stimuli.workshop.frames import exact_rate

_PIXELS = frozenset(f"yuv4{kind}p{depth}" for kind in ("20", "22", "44") for depth in ("", "10le", "12le", "16le"))
"""What all filters take; libvmaf takes nothing else."""
_READ_IMAGE = ("-f", "webp_pipe", "-protocol_whitelist", "file")


@dataclass(frozen=True)
class Pair:
    """Two videos or two images, and what is done to them before they are compared."""

    name: str
    reference_name: str
    path: str
    reference_path: str
    read: tuple[str, ...]
    """Options before each input."""
    chain: str
    """Filters of the processed one: its frames numbered as the reference's, in the size of the reference."""
    reference_chain: str
    width: int
    height: int
    pixels: str
    """The pixel format in which they meet."""
    is_still: bool
    notes: tuple[str, ...]
    """What was done, in words."""


def look_at(stimulus: Stimulus, reference: Stimulus) -> Pair:
    """Return how a stimulus and its reference are compared."""
    own, other = _measured(stimulus), _measured(reference)
    is_still = stimulus.medium == "image"
    number = "settb=1/25,setpts=N"
    chain, reference_chain, notes = [], [number], []
    if not is_still:
        rate, given = exact_rate(other.probe.fps), exact_rate(own.probe.fps)
        frames = own.frames
        if rate != given:
            chain.append(f"fps=fps={rate}:start_time=0")
            frames = round(own.frames * rate / given)
            notes.append(f"frames held or dropped from {float(given):g} to {float(rate):g} a second")
        if frames != other.frames:
            first = min(frames, other.frames)
            notes.append(f"frames: {frames} beside {other.frames} of the reference, of which the first {first}")
    chain.append(number)
    size, wanted = ((one.probe.width, one.probe.height) for one in (own, other))
    scale = f"scale={wanted[0]}:{wanted[1]}:flags=bicubic+accurate_rnd"
    if size != wanted or not own.is_square:
        chain.append(scale)
    if not other.is_square:
        reference_chain.append(scale)
    if not (own.is_square and other.is_square):
        notes.append("pixels made square, as they are shown")
    if size != wanted:
        notes.append(f"scaled from {size[0]} x {size[1]} to {wanted[0]} x {wanted[1]} (bicubic)")
    pixels = "yuv444p" if is_still else other.pixels.replace("yuvj", "yuv")
    return Pair(
        name=stimulus.file,
        reference_name=reference.file,
        path=file_argument(stimulus.served),
        reference_path=file_argument(reference.served),
        read=_READ_IMAGE if is_still else READ,
        chain=",".join(chain),
        reference_chain=",".join(reference_chain),
        width=wanted[0],
        height=wanted[1],
        pixels=pixels if pixels in _PIXELS else "yuv420p",
        is_still=is_still,
        notes=tuple(notes),
    )


def _measured(stimulus: Stimulus) -> Measured:
    # What people saw: of a video the same frames as in its file, of an image the same pixels, upright and in sRGB.
    return measure(Path(stimulus.served), stimulus.file, stimulus.medium)
