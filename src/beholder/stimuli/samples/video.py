"""Sample videos: a drawn person who talks with face and hands, with degraded motion or degraded pictures."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

from beholder.errors import Problem, StimuliError
from beholder.stimuli.copies import put_in_place
from beholder.stimuli.ffmpeg import feed_ffmpeg, file_argument
from beholder.stimuli.pcm import write_wav
from beholder.stimuli.samples import audio, sentences
from beholder.stimuli.samples.figure import FIGURES, draw_figure, paint_wall

# Motion

_Curve: TypeAlias = npt.NDArray[np.float64]

_FPS = 25
_FACE = ("sway", "breath", "tilt", "nod", "turn", "brow", "blink", "mouth", "smile")
_ARM = ("shoulder", "forearm", "wrist", "spread")
_CHANNELS = (*_FACE, *(f"left_{joint}" for joint in _ARM), *(f"right_{joint}" for joint in _ARM))
"""Angles in degrees: 0 hangs down, 90 points outwards, 180 up, negative ones point inwards."""

_REST = (11.0, -52.0, -10.0, 0.25)
_GESTURES: dict[str, tuple[float, float, float, float]] = {
    "rest": _REST,
    "offer": (32.0, 104.0, 14.0, 0.9),
    "wide": (47.0, 122.0, 10.0, 1.0),
    "raise": (26.0, 152.0, -6.0, 0.8),
    "wave": (38.0, 166.0, 16.0, 1.0),
    "wave back": (34.0, 141.0, -20.0, 1.0),
    "heart": (20.0, -128.0, -8.0, 0.35),
    "chest": (24.0, -104.0, 8.0, 0.5),
    "point": (17.0, 171.0, 0.0, 0.1),
    "low": (24.0, 62.0, 18.0, 0.7),
    "near": (14.0, -78.0, -14.0, 0.6),
}

SCENES: tuple[tuple[str, str, str], ...] = (
    ("greeting", "wave, wave back, wave, offer, rest", "rest, near, rest, offer, heart"),
    ("story", "near, wide, chest, raise, low", "chest, wide, near, offer, raise"),
    ("question", "offer, rest, wide, wide, near", "offer, point, wide, wide, chest"),
    ("directions", "rest, near, low, rest, heart", "raise, point, wide, low, offer"),
    ("surprise", "raise, wide, heart, near, offer", "raise, wide, heart, chest, low"),
    ("recipe", "low, chest, near, offer, rest", "near, low, chest, raise, offer"),
    ("memory", "heart, rest, offer, chest, wide", "rest, raise, near, wide, heart"),
    ("farewell", "rest, heart, near, offer, rest", "offer, wave, wave back, wave, rest"),
)
"""A name, and the gestures of the left and of the right arm, one after the other."""


def talk_motion(scene: int, frames: int, rng: np.random.Generator) -> dict[str, _Curve]:
    """Return the motion of a talking person: a curve for each channel."""
    seconds = np.arange(frames) / _FPS
    _, left, right = SCENES[scene % len(SCENES)]
    beats = _beats(frames, rng)
    lines = dict(zip(_CHANNELS, np.zeros((len(_CHANNELS), frames)), strict=True))
    for side, words in (("left", left), ("right", right)):
        joints = _arm(words.split(", "), beats, frames)
        for joint, curve in zip(_ARM, joints, strict=True):
            lines[f"{side}_{joint}"] = curve
        # Hands beat a little with the syllables, and never stand quite still.
        pulse = np.sin(2 * np.pi * (2.1 * seconds + rng.uniform())) * np.sin(2 * np.pi * 0.4 * seconds + 1) ** 2
        lines[f"{side}_forearm"] += 3.5 * pulse
        lines[f"{side}_wrist"] = _delay(lines[f"{side}_wrist"] + 5.0 * pulse, 2)
    mouth = np.abs(np.sin(2 * np.pi * 2.3 * seconds + rng.uniform(0, 3))) * (0.65 + 0.35 * np.sin(9.7 * seconds))
    phrase = np.clip(1.6 * np.sin(2 * np.pi * (0.42 * seconds + rng.uniform(0.05, 0.2))) + 1.0, 0, 1)
    lines["mouth"] = mouth * phrase
    lines["smile"] = 0.55 + 0.45 * np.sin(2 * np.pi * 0.23 * seconds + rng.uniform(0, 6))
    lines["blink"] = _blinks(seconds, rng)
    lines["brow"] = np.clip(np.sin(2 * np.pi * (0.55 * seconds + rng.uniform())), 0, 1) ** 2
    lines["breath"] = np.sin(2 * np.pi * 0.3 * seconds + rng.uniform(0, 6))
    lines["sway"] = 3.2 * np.sin(2 * np.pi * 0.21 * seconds + rng.uniform(0, 6))
    lines["tilt"] = 4.5 * np.sin(2 * np.pi * 0.33 * seconds + rng.uniform(0, 6))
    lines["turn"] = 0.8 * np.sin(2 * np.pi * 0.27 * seconds + rng.uniform(0, 6))
    lines["nod"] = np.sin(2 * np.pi * 0.9 * seconds + rng.uniform(0, 6)) * (0.4 + 0.6 * phrase)
    return lines


def _smooth_motion(lines: dict[str, _Curve], rng: np.random.Generator) -> dict[str, _Curve]:
    """Return arms that were smoothed too much: late, small and round."""
    width = round(0.36 * _FPS)
    kernel = np.exp(-0.5 * (np.arange(-3 * width, 3 * width + 1) / width) ** 2)
    kernel /= kernel.sum()
    smoothed = dict(lines)
    for name in _joints():
        curve = np.convolve(np.pad(lines[name], 3 * width, mode="edge"), kernel, mode="valid")
        smoothed[name] = curve.mean() + 0.62 * (curve - curve.mean())
    return smoothed


def _hold_poses(lines: dict[str, _Curve], rng: np.random.Generator, every: int = 6) -> dict[str, _Curve]:
    """Return every sixth pose only, held until the next."""
    frames = len(next(iter(lines.values())))
    places = np.arange(frames) // every * every
    return {name: curve[places] for name, curve in lines.items()}


def _shake(lines: dict[str, _Curve], rng: np.random.Generator) -> dict[str, _Curve]:
    """Return joints that jitter from frame to frame."""
    worse = dict(lines)
    for name in _joints():
        strength = {"shoulder": 4.0, "forearm": 9.0, "wrist": 12.0, "spread": 0.15}[name.partition("_")[2]]
        worse[name] = lines[name] + strength * rng.standard_normal(len(lines[name]))
    for name, strength in (("tilt", 1.6), ("sway", 0.9)):
        worse[name] = lines[name] + strength * rng.standard_normal(len(lines[name]))
    return worse


def _freeze(lines: dict[str, _Curve], rng: np.random.Generator) -> dict[str, _Curve]:
    """Return arms that never leave their first pose, and a body that does not move."""
    still = {*_joints(), "sway", "tilt", "breath", "nod", "turn"}
    return {name: np.full_like(curve, curve[0]) if name in still else curve for name, curve in lines.items()}


def _joints() -> list[str]:
    return [f"{side}_{joint}" for side in ("left", "right") for joint in _ARM]


def _beats(frames: int, rng: np.random.Generator) -> Sequence[tuple[int, int]]:
    """Return first and last frame of each movement; between them the hands hold."""
    spans = []
    place = round(_FPS * rng.uniform(0.12, 0.22))
    while place < frames:
        length = round(_FPS * rng.uniform(0.36, 0.5))
        spans.append((place, place + length))
        place += length + round(_FPS * rng.uniform(0.06, 0.2))
    return spans


def _arm(words: Sequence[str], beats: Sequence[tuple[int, int]], frames: int) -> npt.NDArray[np.float64]:
    """Return the joints of an arm that goes from gesture to gesture along paths of least jerk."""
    joints = np.tile(np.asarray(_REST), (frames, 1)).T
    for number, (first, last) in enumerate(beats):
        goal = np.asarray(_GESTURES[words[number % len(words)]])
        way = np.clip((np.arange(first, frames) - first) / (last - first), 0, 1)
        eased = way**3 * (10 - 15 * way + 6 * way**2)
        start = joints[:, first].copy()
        joints[:, first:] = start[:, None] + (goal - start)[:, None] * eased
    return joints


def _delay(curve: _Curve, frames: int) -> _Curve:
    return np.concatenate([np.full(frames, curve[0]), curve[:-frames]])[: len(curve)]


def _blinks(seconds: _Curve, rng: np.random.Generator) -> _Curve:
    closed = np.zeros_like(seconds)
    at = rng.uniform(0.5, 1.3)
    while at < seconds[-1]:
        closed = np.maximum(closed, np.exp(-(((seconds - at) / 0.06) ** 2)))
        at += rng.uniform(1.4, 2.6)
    return closed


# Videos

CONTENTS = tuple(name for name, _, _ in SCENES)


def _unchanged_motion(lines: dict[str, _Curve], rng: np.random.Generator) -> dict[str, _Curve]:
    return lines


def _unchanged_image(image: Image.Image) -> Image.Image:
    return image


def _blurred(image: Image.Image) -> Image.Image:
    return image.filter(ImageFilter.GaussianBlur(image.height / 52))


def _blocky(image: Image.Image) -> Image.Image:
    small = image.resize((max(1, image.width // 12), max(1, image.height // 12)), Image.Resampling.BOX)
    return small.resize(image.size, Image.Resampling.NEAREST)


@dataclass(frozen=True)
class _Degradation:
    """What a sample condition does to motion and picture."""

    motion: Callable[[dict[str, _Curve], np.random.Generator], dict[str, _Curve]] = _unchanged_motion
    picture: Callable[[Image.Image], Image.Image] = _unchanged_image


_DEGRADATIONS: Mapping[str, _Degradation] = {
    "natural": _Degradation(),
    "smooth": _Degradation(motion=_smooth_motion),
    "jerky": _Degradation(motion=_hold_poses),
    "blurred": _Degradation(picture=_blurred),
    "noisy": _Degradation(motion=_shake),
    "blocky": _Degradation(picture=_blocky),
    "frozen": _Degradation(motion=_freeze),
}


_WITH_SOUND: Mapping[str, tuple[str, str]] = {
    "lifelike": ("natural", "original"),
    "muffled": ("natural", "strong"),
    "pixelated": ("blocky", "original"),
    "poor": ("blocky", "strong"),
}
"""Conditions of videos with sound, as those of their picture and of their sound."""


_SPEAKING: Mapping[str, str] = {"captured": "natural", "synthesised": "smooth", "still": "frozen"}
"""Conditions of videos of a person who speaks a sentence, as those of their motion."""
_WHOLE_SECONDS = 3.0
"""From which length on a sentence is spoken to its end."""


def frames(content: int, condition: str, seconds: float, size: tuple[int, int]) -> Iterator[Image.Image]:
    """Yield the pictures of one sample."""
    speech = _speech(content, seconds) if condition in _SPEAKING else None
    seconds = seconds if speech is None else len(speech[0]) / speech[1]
    condition, _ = _WITH_SOUND.get(condition, (_SPEAKING.get(condition, condition), ""))
    degradation = _DEGRADATIONS[condition]
    look = FIGURES[content % len(FIGURES)]
    # A seed of its own for each: the same talk under each condition, other noise in each.
    lines = talk_motion(content, max(1, round(seconds * _FPS)), np.random.default_rng([content, 0]))
    if speech is not None and condition != "frozen":
        _follow_speech(lines, speech[0])
    lines = degradation.motion(lines, np.random.default_rng([content, 1 + list(_DEGRADATIONS).index(condition)]))
    wall = paint_wall(look, size)
    before: dict[str, float] = {}
    image = wall
    for place in range(len(lines["sway"])):
        pose = {name: float(curve[place]) for name, curve in lines.items()}
        if pose != before:
            image = degradation.picture(draw_figure(pose, look, wall))
            before = pose
        yield image


def _speech(content: int, seconds: float) -> tuple[npt.NDArray[np.float64], int]:
    """Return the sentence of a content and its rate: whole, or so many seconds of it."""
    samples, rate = sentences.speech(content, "clean")
    return (samples if seconds >= _WHOLE_SECONDS else samples[: max(1, round(seconds * rate))]), rate


def _follow_speech(lines: dict[str, _Curve], samples: npt.NDArray[np.float64]) -> None:
    """Let the mouth open with the loudness of speech, and the hands beat with it."""
    parts = np.array_split(samples, len(lines["mouth"]))
    loud = np.array([np.sqrt((part**2).mean()) if len(part) else 0.0 for part in parts])
    loud = loud / max(float(loud.max()), 1e-9)
    lines["mouth"] = np.clip(1.4 * loud, 0, 1)
    slow = np.convolve(np.pad(loud, 4, mode="edge"), np.ones(9) / 9, mode="valid")
    for side in ("left", "right"):
        lines[f"{side}_forearm"] += 28.0 * (slow - slow.mean())
    lines["nod"] = 1.5 * slow


def write(target: Path, content: int, condition: str, seconds: float, size: tuple[int, int]) -> None:
    """Write one sample as H.264, whole or not at all; odd sizes become even."""
    size = (size[0] + size[0] % 2, size[1] + size[1] % 2)
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    _, heard = _WITH_SOUND.get(condition, (condition, ""))
    sound = part.with_suffix(".wav")
    if condition in _SPEAKING:
        write_wav(sound, *_speech(content, seconds))
    elif heard:
        audio.write(sound, content, heard, seconds)
    has_sound = bool(heard) or condition in _SPEAKING
    arguments = [
        "-v", "error", "-y",
        "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", str(_FPS), "-i", "pipe:0",
        *(("-i", file_argument(sound), "-c:a", "aac", "-b:a", "96k", "-flags:a", "+bitexact") if has_sound else ()),
        "-c:v", "libx264", "-profile:v", "main", "-preset", "veryfast", "-crf", "22", "-pix_fmt", "yuv420p",
        "-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-movflags", "+faststart",
        "-f", "mp4", file_argument(part),
    ]  # fmt: skip
    try:
        ran = feed_ffmpeg(arguments, (image.tobytes() for image in frames(content, condition, seconds, size)))
        if ran.code != 0:
            raise StimuliError(
                Problem(
                    "ffmpeg",
                    f"cannot write H.264: {ran.error_line()}",
                    fix="Set IMAGEIO_FFMPEG_EXE to an ffmpeg with libx264.",
                )
            )
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)
        sound.unlink(missing_ok=True)
