"""The copies that participants get: the same pictures and sound, nothing that tells where they come from."""

from __future__ import annotations

import hashlib
import uuid
from pathlib import Path

from beholder.errors import Problem, StimuliError
from beholder.stimuli.catalogue import Probe
from beholder.stimuli.encoders import blank_vorbis_comment
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.media import Served, served_container
from beholder.stimuli.probe import READ, Measured, measure

_BARE = (
    "-map", "0:V:0", "-map", "0:a:0?", "-dn", "-sn", "-c", "copy", "-map_metadata", "-1", "-map_chapters", "-1",
    "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact",
)  # fmt: skip
_BY_CODEC = {"h264": ("-bsf:v", "filter_units=remove_types=6")}
"""NAL units of type 6 hold user data: x264 writes its version and every setting there."""
_BY_FORMAT = {"mp4": ("-movflags", "+faststart", "-write_tmcd", "0"), "webm": ()}


def served_name(sha256: str, probe: Probe) -> str:
    """Return the name of the copy in media/: a hash of the recipe, so that a new recipe makes new copies."""
    served = _served(probe)
    after = ("blank comment",) if probe.audio_codec == "vorbis" else ()
    recipe = "\n".join((sha256, *_recipe(served, probe), *after))
    return hashlib.sha256(recipe.encode()).hexdigest()[:32] + served.suffix


def strip(path: Path, target: Path, measured: Measured, where: str) -> None:
    """Write the stripped copy of `path` to `target`, whole and read back, or not at all."""
    probe = measured.probe
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        ran = run_ffmpeg(
            [
                "-v",
                "error",
                "-y",
                *READ,
                "-i",
                file_argument(path),
                *_recipe(_served(probe), probe),
                file_argument(part),
            ]
        )
        if ran.code != 0:
            raise _unclean(where, f"ffmpeg says {ran.last_words()}")
        if probe.audio_codec == "vorbis":
            blank_vorbis_comment(part)
        if not _plays_like(part, measured):
            # A clip cut out of an open group of pictures starts at a recovery point, which is of type 6 as well.
            raise _unclean(where, "the copy does not play like it, as with clips cut between two key frames")
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)


def _plays_like(copy: Path, measured: Measured) -> bool:
    try:
        again = measure(copy, "")
    except StimuliError:
        return False
    apart = abs(again.probe.duration_ms - measured.probe.duration_ms)
    return again.frames == measured.frames and apart <= 1000 / measured.probe.fps


def _unclean(where: str, reason: str) -> StimuliError:
    fix = "Re-encode it, for example with ffmpeg -c:v libx264 -crf 12 -pix_fmt yuv420p."
    return StimuliError(Problem(where, f"cannot be copied without its metadata: {reason}", fix=fix))


def put_in_place(part: Path, target: Path) -> None:
    """Rename a finished file onto its name; where another process was first with the same bytes, leave those."""
    try:
        part.replace(target)
    except PermissionError:
        # Windows does not replace a file that is being read.
        if not target.exists():
            raise


def _served(probe: Probe) -> Served:
    served = served_container(probe.container, probe.codec, probe.audio_codec)
    if served is None:
        raise ValueError(f"{probe.codec} with {probe.audio_codec or 'no sound'} is served in no container")
    return served


def _recipe(served: Served, probe: Probe) -> tuple[str, ...]:
    return (*_BARE, *_BY_CODEC.get(probe.codec, ()), *_BY_FORMAT[served.format], "-f", served.format)
