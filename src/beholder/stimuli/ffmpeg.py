"""ffmpeg: the one from the wheel, or the one on PATH; IMAGEIO_FFMPEG_EXE overrules both."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from beholder.errors import Problem, StimuliError

NO_WINDOW: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""On Windows a console would flash up for each file."""


class FFmpegRun(NamedTuple):
    """Exit code, output and log of a run of ffmpeg."""

    code: int
    out: bytes
    log: str

    def error_line(self) -> str:
        """Return the last informative line of the log, without memory addresses."""
        lines = [line.strip() for line in self.log.splitlines() if line.strip()]
        informative = [line for line in lines if not line.startswith(("Error opening", "Conversion failed", "frame="))]
        line = (informative or lines or [f"exit code {self.code}"])[-1]
        return line.partition("] ")[2] if line.startswith("[") else line


def find_ffmpeg() -> str:
    """Return the path of ffmpeg, or raise StimuliError with what to do."""
    import imageio_ffmpeg

    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as error:
        fix = "Reinstall imageio-ffmpeg, put ffmpeg on PATH, or set IMAGEIO_FFMPEG_EXE to it."
        raise StimuliError(Problem("ffmpeg", "was not found", fix=fix)) from error


def command(arguments: Sequence[str]) -> list[str]:
    """Return a command line of ffmpeg that neither asks nor prints statistics."""
    return [find_ffmpeg(), "-hide_banner", "-nostdin", "-nostats", *arguments]


def run_ffmpeg(arguments: Sequence[str]) -> FFmpegRun:
    """Run ffmpeg and return the result; a failure is in the exit code, not raised."""
    try:
        completed = subprocess.run(
            command(arguments), stdin=subprocess.DEVNULL, capture_output=True, check=False, creationflags=NO_WINDOW
        )
    except OSError as error:
        raise _start_error(error) from error
    return FFmpegRun(completed.returncode, completed.stdout, completed.stderr.decode("utf-8", "replace"))


def feed_ffmpeg(arguments: Sequence[str], pieces: Iterable[bytes]) -> FFmpegRun:
    """Run ffmpeg with these pieces on its standard input and return the result."""
    line = [word for word in command(arguments) if word != "-nostdin"]
    try:
        process = subprocess.Popen(
            line,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            creationflags=NO_WINDOW,
        )
    except OSError as error:
        raise _start_error(error) from error
    assert process.stdin is not None
    assert process.stderr is not None
    with process:
        try:
            for piece in pieces:
                process.stdin.write(piece)
            process.stdin.close()
        except OSError:
            # It has gone already (Windows says EINVAL, not EPIPE); its log tells why.
            pass
        except BaseException:
            process.kill()
            raise
        log = process.stderr.read().decode("utf-8", "replace")
    return FFmpegRun(process.returncode, b"", log)


@contextmanager
def ffmpeg_output(arguments: Sequence[str], where: str) -> Iterator[IO[bytes]]:
    """Run ffmpeg and yield its standard output while it runs; raise StimuliError that names `where` if it failed.

    Whoever has read enough leaves, and it is stopped.
    """
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command(arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            creationflags=NO_WINDOW,
        )
        assert process.stdout is not None
        try:
            yield process.stdout
            if process.wait() != 0:
                log.seek(0)
                said = FFmpegRun(process.returncode, b"", log.read().decode("utf-8", "replace")).error_line()
                raise StimuliError(Problem(where, f"cannot be decoded: ffmpeg says {said}"))
        finally:
            process.stdout.close()
            process.kill()
            process.wait()


def file_argument(path: Path) -> str:
    """Return a path as ffmpeg takes it, so that a name with a colon or a leading dash stays a name."""
    return f"file:{path}"


def _start_error(error: OSError) -> StimuliError:
    return StimuliError(
        Problem(
            "ffmpeg",
            f"cannot be started: {error.strerror or error}",
            fix="Set IMAGEIO_FFMPEG_EXE to an ffmpeg that runs here.",
        )
    )


# Output options of videos

NO_METADATA = (
    "-map_metadata", "-1", "-map_chapters", "-1",
    # A blank, for with nothing at all ffmpeg would write its own name.
    "-metadata:s:v:0", "encoder= ", "-metadata:s:a:0", "encoder= ",
    "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact",
)  # fmt: skip
MP4_OUTPUT = (
    "-bsf:v",
    "filter_units=remove_types=6",
    *NO_METADATA,
    "-movflags",
    "+faststart",
    "-write_tmcd",
    "0",
    "-f",
    "mp4",
)
"""H.264 in MP4, without the units in which x264 writes its version and settings."""


def colour_range(full: bool) -> str:
    """Return ffmpeg's name of a range."""
    return "pc" if full else "tv"


def colour_tags(matrix: str, full: bool) -> list[str]:
    """Return the options that tag matrix, range and primaries."""
    tags = ["-colorspace", matrix, "-color_range", colour_range(full)]
    return [*tags, "-color_primaries", "bt709", "-color_trc", "bt709"] if matrix == "bt709" else tags
