"""Files made ready for browsers: encoded again where that is needed, cleared of metadata, folders kept as they are."""

from __future__ import annotations

import codecs
import uuid
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Literal

from beholder.errors import Problem, StimuliError
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.measured import unreadable
from beholder.stimuli.media import served_suffix
from beholder.stimuli.probe import measure
from beholder.stimuli.sound import READ_SOUND
from beholder.stimuli.sound import RECIPE as SOUND
from beholder.stimuli.stripping import put_in_place, strip
from beholder.stimuli.workshop.frames import exact_rate
from beholder.stimuli.workshop.jobs import Job, Made, Progress, do, refuse
from beholder.stimuli.workshop.ledger import recipe_of
from beholder.stimuli.workshop.levelling import level
from beholder.stimuli.workshop.reencode import SUFFIXES, Codec, Wanted, reencode
from beholder.stimuli.workshop.walking import Found, find_media

PREPARE = "prepare 1"
"""Names this way of preparing in recipes: another way needs another name."""
CRF: dict[Codec, int] = {"h264": 17, "vp9": 18}
"""Constant rate factors: that of the P.910 crowd study, and what looks as clear in VP9."""
_COARSEST: dict[Codec, int] = {"h264": 51, "vp9": 63}


def make_prepared(
    files: Iterable[Path],
    out: Path,
    *,
    codec: Literal["h264", "vp9"] = "h264",
    crf: int | None = None,
    height: int | None = None,
    fps: float | None = None,
    loudness: float | None = None,
    progress: Progress | None = None,
) -> Made:
    """Return what was made: each file as a study takes it, in `out`; of a folder, where it lies in that folder.

    What is there by the same recipe is left alone, and a file that cannot be prepared keeps no other from it.
    """
    problems = list(_bad_options(codec, crf, height, fps, loudness))
    named = list(files)
    found = find_media(named, problems, without=out)
    if not named:
        problems.append(Problem("FILES", "names nothing", "files, or folders of them"))
    if out.is_file():
        problems.append(Problem("--out", f"is {out}, which is a file", "a folder"))
    if any(path.is_dir() and path.resolve() == out.resolve() for path in named):
        problems.append(Problem("--out", f"is {out}, which is read from", "another folder"))
    targets = {one.path: out / one.place.with_suffix(_suffix(one, codec)) for one in found}
    problems += _twins(targets)
    refuse(problems)
    rate: Fraction | None = None if fps is None else exact_rate(fps)
    lufs = None if loudness is None else float(loudness)
    wanted = Wanted(codec, CRF[codec] if crf is None else crf, height, rate, lufs)
    notes: list[str] = []
    jobs = [_job(one, targets[one.path], wanted, notes) for one in found]
    return do(jobs, out, _in_order(notes), progress)


def _bad_options(
    codec: Codec, crf: int | None, height: int | None, fps: float | None, loudness: float | None
) -> Iterator[Problem]:
    if crf is not None and not 1 <= crf <= _COARSEST[codec]:
        yield Problem("--crf", f"is {crf}", f"1 to {_COARSEST[codec]}; less is finer, as {CRF[codec]}")
    if height is not None and (height % 2 or not 16 <= height <= 4320):
        yield Problem("--height", f"is {height}", "an even number of lines from 16 to 4320, as 1080")
    if fps is not None and not 1 <= fps <= 240:
        yield Problem("--fps", f"is {fps:g}", "1 to 240 frames a second, as 30")
    if loudness is not None and not -60 <= loudness <= -5:
        yield Problem("--loudness", f"is {loudness:g}", "-60 to -5 LUFS, as -23")


def _suffix(one: Found, codec: Codec) -> str:
    if one.medium == "video":
        return SUFFIXES[codec]
    return one.path.suffix.lower() if one.medium == "text" else served_suffix(one.medium)


def _twins(targets: dict[Path, Path]) -> Iterator[Problem]:
    first: dict[Path, Path] = {}
    for path, target in targets.items():
        other = first.setdefault(target, path)
        if other is not path:
            fix = "Rename one, or give the folder above them."
            yield Problem(str(path), f"would become {target}, as {other} would", "names that differ", fix)


def _job(one: Found, target: Path, wanted: Wanted, notes: list[str]) -> Job:
    path, medium = one.path, one.medium
    asked: tuple[object, ...] = ()
    if medium == "video":
        asked = (wanted,)
    elif medium == "audio":
        asked = (wanted.loudness,)

    def make(threads: int) -> None:
        if medium == "video":
            notes.extend(reencode(path, target, wanted, threads))
        elif medium == "audio" and wanted.loudness is not None:
            notes.extend(_levelled(path, target, wanted.loudness))
        elif medium == "text":
            notes.extend(_in_utf8(path, target))
        else:
            strip(path, target, measure(path, str(path), medium), str(path), medium)

    return Job(target, recipe_of((PREPARE, medium, *asked), (path,)), make)


def _levelled(path: Path, target: Path, lufs: float) -> list[str]:
    """Write a sound as WAV at this loudness; return what is worth knowing about it."""
    measured = measure(path, str(path), "audio")
    levelled = level(path, "audio", lufs)
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    depth = "pcm_s24le" if measured.is_deep else "pcm_s16le"
    filters = ["-af", ",".join(levelled.filters)] if levelled.filters else []
    arguments = [*READ_SOUND, "-i", file_argument(path), *filters, "-c:a", depth, *SOUND[1:], file_argument(part)]
    try:
        ran = run_ffmpeg(["-v", "error", "-y", *arguments])
        if ran.code != 0:
            raise StimuliError(Problem(str(path), f"cannot be prepared: ffmpeg says {ran.last_words()}"))
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)
    return [f"{path}: {note}" for note in levelled.notes]


def _in_utf8(path: Path, target: Path) -> list[str]:
    """Write a text as UTF-8 whose lines end in LF; return what is worth knowing about it."""
    data, notes = path.read_bytes(), []
    try:
        is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        text = data.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError:
        try:
            text = data.decode("cp1252")
        except UnicodeDecodeError:
            raise unreadable(str(path), "text", "it is not UTF-8", "Save it as UTF-8.") from None
        notes.append(f"{path}: not UTF-8, read as Windows-1252; look whether its letters are right.")
    part = target.with_name(f".{uuid.uuid4().hex}{target.suffix}")
    try:
        part.write_text(text.replace("\r\n", "\n").replace("\r", "\n"), "utf-8", newline="\n")
        measure(part, str(path), "text")
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)
    return notes


def _in_order(notes: list[str]) -> Iterator[str]:
    """Yield the notes by file, once all are there."""
    yield from sorted(notes)
