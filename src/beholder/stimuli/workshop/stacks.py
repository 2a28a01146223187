"""Two videos in one, frame by frame: the same height, one frame rate, one clock, a narrow grey gap between them."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from beholder.errors import Problem, StimuliError
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.probe import READ, measure
from beholder.stimuli.stripping import put_in_place
from beholder.stimuli.workshop.encoding import MP4, colour_range, colour_tags

STACK = "stack 1"
"""Names this way of stacking in recipes: another way needs another name."""

_COLOURS = re.compile(r": Video: .*?, yuv\w*\(([^)]*)\)")
_MATRICES = {"bt709": "bt709", "smpte170m": "smpte170m", "bt470bg": "smpte170m"}
_HDR = ("smpte2084", "arib-std-b67")


@dataclass(frozen=True)
class Clip:
    """One of two videos, as measured."""

    path: Path
    width: int
    height: int
    rate: Fraction
    seconds: float
    has_sound: bool
    matrix: str
    full_range: bool


@dataclass(frozen=True)
class Sheet:
    """What the stack looks like: all that its recipe needs beside the files."""

    lines: int
    """The height of both pictures; where it is odd, one grey line stands below them."""
    widths: tuple[int, int]
    gap: int
    rate: Fraction
    frames: int
    sound: str
    matrix: str
    full_range: bool

    @property
    def height(self) -> int:
        return self.lines + self.lines % 2

    @property
    def seconds(self) -> float:
        return float(self.frames / self.rate)

    @classmethod
    def of(cls, left: Clip, right: Clip, sound: str) -> Sheet:
        """Return the sheet of two clips: the smaller height, the rate of the left, the length of the shorter."""
        height = min(left.height, right.height)
        widths = tuple(_even(clip.width * height / clip.height) for clip in (left, right))
        same = (left.matrix, left.full_range) == (right.matrix, right.full_range)
        return cls(
            lines=height,
            widths=(widths[0], widths[1]),
            gap=max(4, _even(height / 45)),
            rate=left.rate,
            frames=max(1, round(min(left.seconds, right.seconds) * left.rate)),
            sound=sound,
            matrix=left.matrix if same else "bt709",
            full_range=left.full_range if same else False,
        )


def look(path: Path, done: str = "stacked", where: str = "") -> Clip:
    """Return what a video holds, or raise StimuliError; HDR cannot be `done`."""
    where = where or str(path)
    measured = measure(path, where, "video")
    probe = measured.probe
    described = run_ffmpeg([*READ, "-i", file_argument(path)]).log
    found = _COLOURS.search(described)
    colours = re.split(r"[,/] ?", found[1]) if found else []
    if any(word in _HDR for word in colours):
        fix = "Convert it to BT.709 first."
        raise StimuliError(Problem(where, f"is HDR video, which cannot be {done}", "standard dynamic range", fix))
    # Where nothing is written, players take BT.709 from 720 lines on and BT.601 below.
    guess = "bt709" if probe.height >= 720 else "smpte170m"
    rate = exact_rate(probe.fps)
    return Clip(
        path=path,
        width=probe.width,
        height=probe.height,
        rate=rate,
        seconds=float(measured.frames / rate),
        has_sound=probe.audio_codec != "",
        matrix=next((_MATRICES[word] for word in colours if word in _MATRICES), guess),
        full_range="pc" in colours or measured.pixels.startswith("yuvj"),
    )


def exact_rate(fps: float) -> Fraction:
    """Return the frame rate that a rounded one stands for: 29.97 is 30000/1001."""
    whole = round(fps)
    for rate in (Fraction(whole), Fraction(whole * 1000, 1001)):
        if whole and abs(float(rate) - fps) < 0.006:
            return rate
    return Fraction(fps).limit_denominator(1001)


def stack(left: Clip, right: Clip, target: Path, sheet: Sheet, threads: int) -> None:
    """Write the stack of two clips as H.264, whole or not at all."""
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    sound = {"left": 0, "right": 1}.get(sheet.sound)
    graph = [_side(0, left, sheet, sheet.widths[0] + sheet.gap), _side(1, right, sheet, sheet.widths[1])]
    graph.append("[v0][v1]hstack=inputs=2[v]")
    maps = ["-map", "[v]"]
    if sound is not None:
        graph.append(f"[{sound}:a:0]aresample=async=1:first_pts=0,apad,atrim=end={sheet.seconds:.6f}[a]")
        maps += ["-map", "[a]", "-c:a", "aac", "-b:a", "256k"]
    arguments = [
        "-v", "error", "-y", *READ, "-i", file_argument(left.path), *READ, "-i", file_argument(right.path),
        "-filter_complex", ";".join(graph), *maps, "-frames:v", str(sheet.frames), "-r", str(sheet.rate),
        "-c:v", "libx264", "-preset", "medium", "-crf", "12", "-pix_fmt", "yuv420p",
        *colour_tags(sheet.matrix, sheet.full_range), "-threads", str(threads), *MP4, file_argument(part),
    ]  # fmt: skip
    try:
        ran = run_ffmpeg(arguments)
        if ran.code != 0:
            raise StimuliError(
                Problem(f"{left.path} and {right.path}", f"cannot be stacked: ffmpeg says {ran.last_words()}")
            )
        if measure(part, str(target), "video").frames != sheet.frames:
            what = "cannot be stacked: one of them ends before its length says"
            fix = "Re-encode both with beholder media prepare."
            raise StimuliError(Problem(f"{left.path} and {right.path}", what, "", fix))
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)


def _side(number: int, clip: Clip, sheet: Sheet, wide: int) -> str:
    """Return the filters of one side: constant rate from the first moment on, size, colours, and grey around it."""
    convert = (
        f"in_color_matrix={clip.matrix}:in_range={colour_range(clip.full_range)}"
        f":out_color_matrix={sheet.matrix}:out_range={colour_range(sheet.full_range)}"
    )
    return (
        f"[{number}:V:0]fps=fps={sheet.rate}:start_time=0,"
        f"scale={sheet.widths[number]}:{sheet.lines}:flags=lanczos+accurate_rnd:{convert},setsar=1,format=yuv420p,"
        f"pad={wide}:{sheet.height}:0:0:color=gray,tpad=stop_mode=clone:stop=2[v{number}]"
    )


def _even(value: float) -> int:
    return max(2, 2 * round(value / 2))
