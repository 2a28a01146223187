"""Which metrics can be measured, of what, and by what."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from beholder.errors import Problem, StimuliError, UserError, did_you_mean
from beholder.formats import plain_count
from beholder.stimuli.audio import READ_AUDIO
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.stimuli.ffmpeg import file_argument, find_ffmpeg, run_ffmpeg
from beholder.stimuli.video import READ_VIDEO
from beholder.types import Medium


class ObjectiveMetric(NamedTuple):
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


METRICS: Mapping[str, ObjectiveMetric] = {
    "psnr": ObjectiveMetric("PSNR", "psnr", "average", 2, in_colour=True),
    "psnr-y": ObjectiveMetric("PSNR-Y", "psnr", "y", 2),
    "ssim": ObjectiveMetric("SSIM", "ssim", "All", 16, in_colour=True),
    "ssim-y": ObjectiveMetric("SSIM-Y", "ssim", "Y", 16),
    "ms-ssim": ObjectiveMetric("MS-SSIM", "libvmaf", "float_ms_ssim", 176),
    "vmaf": ObjectiveMetric("VMAF", "libvmaf", "vmaf", 32),
    "stoi": ObjectiveMetric("STOI", "pystoi", "stoi"),
    "estoi": ObjectiveMetric("ESTOI", "pystoi", "estoi"),
    "si-sdr": ObjectiveMetric("SI-SDR", "numpy", "si-sdr"),
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


# Selection: which metrics, of which stimuli, against which references


_ELSEWHERE = "Set IMAGEIO_FFMPEG_EXE to an ffmpeg that has it, or bring the values with --values."
_PYSTOI = "Install it with `pip install 'beholder[audio]'`."


@dataclass(frozen=True)
class Chosen:
    """Stimuli beside their references, and the metrics that each pair is measured by."""

    pairs: tuple[tuple[Stimulus, Stimulus], ...]
    metrics: tuple[str, ...]

    def of(self, stimulus: Stimulus) -> tuple[str, ...]:
        """Return the metrics that say something of this stimulus."""
        has_sound = stimulus.probe.audio_codec != ""
        return tuple(name for name in self.metrics if fits(name, stimulus.medium, has_sound=has_sound))


def choose(catalogue: Catalogue, metrics: Sequence[str], reference: str | None) -> Chosen:
    """Return what is measured, or raise UserError with every reason why it cannot be.

    Without `metrics` all that fit; `reference` is a condition, where none has that role.
    """
    problems = [*_unknown(metrics), *_no_condition(catalogue, reference)]
    if problems:
        raise UserError(problems)
    references = {
        stimulus.content: stimulus
        for stimulus in catalogue.by_cell.values()
        if (stimulus.role == "reference" if reference is None else stimulus.condition == reference)
    }
    tested = [
        stimulus
        for stimulus in catalogue.by_cell.values()
        if stimulus.role != "reference" and stimulus is not references.get(stimulus.content)
    ]
    wanted = tuple(dict.fromkeys(metrics)) or usual(stimulus.medium for stimulus in tested)
    problems = [
        *_no_reference(tested, references, reference),
        *_unfit(tested, wanted),
        *_mute(tested, references, wanted),
    ]
    if not wanted:
        problems.append(Problem("--metric", "is left out, and none fits these stimuli", ", ".join(METRICS)))
    if problems:
        raise UserError(problems)
    return Chosen(tuple((stimulus, references[stimulus.content]) for stimulus in tested), wanted)


def _unknown(metrics: Sequence[str]) -> Iterator[Problem]:
    for name in metrics:
        if name not in METRICS:
            fix = did_you_mean(name, list(METRICS)) or "Bring values of any other metric with --values."
            yield Problem("--metric", f"is {name}, which is not measured here", ", ".join(METRICS), fix)
        elif not is_here(name) and METRICS[name].tool == "pystoi":
            yield Problem("--metric", f"is {name}, which needs pystoi", "", _PYSTOI)
        elif not is_here(name):
            what = f"is {name}, and this ffmpeg has no filter {METRICS[name].tool}"
            there = [other for other in METRICS if is_here(other)]
            yield Problem("--metric", what, ", ".join(there), _ELSEWHERE)


def _no_condition(catalogue: Catalogue, reference: str | None) -> Iterator[Problem]:
    if reference is not None and reference not in catalogue.conditions:
        fix = did_you_mean(reference, catalogue.conditions)
        yield Problem("--reference", f"is {reference}, which is no condition", ", ".join(catalogue.conditions), fix)


def _no_reference(
    tested: Sequence[Stimulus], references: dict[str, Stimulus], reference: str | None
) -> Iterator[Problem]:
    lost = [stimulus for stimulus in tested if stimulus.content not in references]
    if lost and not references:
        fix = "Write role: reference at a condition, or name one with --reference."
        yield Problem("conditions", "have no reference to compare with", "", fix)
        return
    for content in dict.fromkeys(stimulus.content for stimulus in lost):
        others = sum(stimulus.content == content for stimulus in lost)
        named = f" under {reference}" if reference is not None else ""
        its = plain_count(others, "stimulus", "stimuli")
        yield Problem(f"content {content}", f"has no reference{named}, so its {its} cannot be measured")


def _unfit(tested: Sequence[Stimulus], metrics: Sequence[str]) -> Iterator[Problem]:
    """Yield the metrics that say nothing of any stimulus."""
    for name in metrics:
        if not any(fits(name, one.medium, has_sound=one.probe.audio_codec != "") for one in tested):
            media = " and ".join(sorted({one.medium for one in tested}))
            need = "audio, or video with sound" if METRICS[name].is_of_sound else "video, image"
            yield Problem("--metric", f"is {name}, and the stimuli are {media}", need)


def _mute(tested: Sequence[Stimulus], references: dict[str, Stimulus], metrics: Sequence[str]) -> Iterator[Problem]:
    """Yield the references that have no sound where that of a stimulus is to be compared with it."""
    listens = [name for name in metrics if METRICS[name].is_of_sound]
    for content in dict.fromkeys(one.content for one in tested if one.probe.audio_codec) if listens else ():
        if content in references and not references[content].probe.audio_codec:
            what = f"is the reference and has no sound, which {' and '.join(listens)} would compare with"
            yield Problem(references[content].file, what, "audio, or video with sound")


# Sounds: STOI and SI-SDR


RATE = 16_000
"""Samples a second of both: STOI looks no higher than 5 kHz, and speech is rarely judged above 8."""
Samples: TypeAlias = NDArray[np.float64]


def heard(stimulus: Stimulus, reference: Stimulus, metrics: Sequence[str]) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the metrics of a sound beside its reference, and what was done to both, in words."""
    own, other = _samples(stimulus), _samples(reference)
    n, notes = min(len(own), len(other)), []
    if abs(len(own) - len(other)) > RATE // 100:
        notes.append(f"{len(own) / RATE:.2f} s beside {len(other) / RATE:.2f} s of the reference: the shorter counts")
    values = {}
    for metric in metrics:
        if METRICS[metric].tool == "numpy":
            values[metric] = si_sdr(other[:n], own[:n])
        else:
            values[metric] = _stoi(other[:n], own[:n], is_extended=metric == "estoi")
    return values, tuple(notes)


def si_sdr(reference: Samples, processed: Samples) -> float:
    """Return the scale-invariant signal-to-distortion ratio in dB (Le Roux et al. 2019); NaN where one is silent."""
    wanted, given = reference - reference.mean(), processed - processed.mean()
    power = float(wanted @ wanted)
    if power == 0 or not given.any():
        return math.nan
    signal = wanted * (float(wanted @ given) / power)
    rest = given - signal
    noise, kept = float(rest @ rest), float(signal @ signal)
    # Below what the rounding of samples leaves, differences mean nothing.
    if noise <= 1e-14 * kept:
        return math.inf
    return 10 * math.log10(kept / noise) if kept else math.nan


def _stoi(reference: Samples, processed: Samples, *, is_extended: bool) -> float:
    from pystoi import stoi

    with warnings.catch_warnings():
        # It warns and gives a stand-in where there is less than half a second of speech.
        warnings.simplefilter("error")
        try:
            return float(stoi(reference, processed, RATE, extended=is_extended))
        except (RuntimeWarning, ValueError):
            return math.nan


def _samples(stimulus: Stimulus) -> Samples:
    read = READ_AUDIO if stimulus.medium == "audio" else READ_VIDEO
    words = ["-v", "error", *read, "-i", file_argument(stimulus.served), "-map", "0:a:0", "-ac", "1", "-ar", str(RATE)]
    ran = run_ffmpeg([*words, "-f", "f32le", "pipe:1"])
    if ran.code != 0:
        raise StimuliError(Problem(stimulus.file, f"cannot be heard: ffmpeg says {ran.error_line()}"))
    return np.frombuffer(ran.out, np.float32).astype(float)
