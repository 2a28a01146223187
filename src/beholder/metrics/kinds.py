"""Which metrics can be measured, of what, and by what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal, NamedTuple

from beholder.stimuli.ffmpeg import find_ffmpeg, run_ffmpeg
from beholder.types import Medium


class Kind(NamedTuple):
    """One metric that is measured here."""

    title: str
    """As papers write it."""
    tool: Literal["psnr", "ssim", "libvmaf", "pystoi", "numpy"]
    """A filter of ffmpeg, or a library."""
    key: str
    """What the tool calls the number."""
    smallest: int = 0
    """Pixels that a side of the picture must have."""
    in_colour: bool = False
    """Whether images are compared in red, green and blue; everything else of them is, as of videos, luma first."""

    @property
    def is_of_sound(self) -> bool:
        """Whether it listens: to sounds, and to videos that have sound."""
        return self.tool in ("pystoi", "numpy")


METRICS: Mapping[str, Kind] = {
    "psnr": Kind("PSNR", "psnr", "average", 2, in_colour=True),
    "psnr-y": Kind("PSNR-Y", "psnr", "y", 2),
    "ssim": Kind("SSIM", "ssim", "All", 16, in_colour=True),
    "ssim-y": Kind("SSIM-Y", "ssim", "Y", 16),
    "ms-ssim": Kind("MS-SSIM", "libvmaf", "float_ms_ssim", 176),
    "vmaf": Kind("VMAF", "libvmaf", "vmaf", 32),
    "stoi": Kind("STOI", "pystoi", "stoi"),
    "estoi": Kind("ESTOI", "pystoi", "estoi"),
    "si-sdr": Kind("SI-SDR", "numpy", "si-sdr"),
}
_USUAL: Mapping[Medium, tuple[str, ...]] = {
    "video": ("psnr", "ssim", "ms-ssim", "vmaf"),
    "image": ("psnr", "ssim", "ms-ssim", "vmaf"),
    "audio": ("si-sdr", "stoi"),
    "text": (),
}


def title(metric: str) -> str:
    """Return a metric as papers write it; one of somebody else's as it was written."""
    return METRICS[metric].title if metric in METRICS else metric


def usual(media: Iterable[Medium]) -> tuple[str, ...]:
    """Return the metrics that are measured where nobody says which, as far as they can be measured here."""
    named = dict.fromkeys(name for medium in media for name in _USUAL[medium])
    return tuple(name for name in named if is_here(name))


def fits(metric: str, medium: Medium, *, has_sound: bool) -> bool:
    """Return whether a metric says anything of such a stimulus."""
    if METRICS[metric].is_of_sound:
        return medium == "audio" or has_sound
    return medium in ("video", "image")


def is_here(metric: str) -> bool:
    """Return whether what measures it is installed."""
    kind = METRICS[metric]
    return (
        True
        if kind.tool == "numpy"
        else _has_pystoi()
        if kind.tool == "pystoi"
        else kind.tool in _filters(find_ffmpeg())
    )


def tool_version(metric: str) -> str:
    """Return what measures it, so that values of another version are not taken for these."""
    kind = METRICS[metric]
    if kind.tool == "numpy":
        return "beholder 1"
    if kind.tool == "pystoi":
        from importlib.metadata import version

        return f"pystoi {version('pystoi')}"
    return _ffmpeg_version(find_ffmpeg())


@cache
def _ffmpeg_version(_path: str) -> str:
    return " ".join(run_ffmpeg(["-version"]).out.decode("utf-8", "replace").split()[:3])


@cache
def _filters(_path: str) -> frozenset[str]:
    said = run_ffmpeg(["-filters"]).out.decode("utf-8", "replace")
    return frozenset(words[1] for words in map(str.split, said.splitlines()) if len(words) > 2)


def _has_pystoi() -> bool:
    from importlib.util import find_spec

    return find_spec("pystoi") is not None
