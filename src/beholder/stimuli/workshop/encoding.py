"""How the workshop writes video: colours that are tagged, and nothing that tells who encoded it."""

from __future__ import annotations

UNNAMED = (
    "-map_metadata", "-1", "-map_chapters", "-1",
    # A blank, for with nothing at all ffmpeg would write its own name.
    "-metadata:s:v:0", "encoder= ", "-metadata:s:a:0", "encoder= ",
    "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact",
)  # fmt: skip
MP4 = ("-bsf:v", "filter_units=remove_types=6", *UNNAMED, "-movflags", "+faststart", "-write_tmcd", "0", "-f", "mp4")
"""H.264 in MP4, without the units in which x264 writes its version and settings."""


def colour_range(full: bool) -> str:
    """Return ffmpeg's name of a range."""
    return "pc" if full else "tv"


def colour_tags(matrix: str, full: bool) -> list[str]:
    """Return the options that write down how colours are coded."""
    tags = ["-colorspace", matrix, "-color_range", colour_range(full)]
    return [*tags, "-color_primaries", "bt709", "-color_trc", "bt709"] if matrix == "bt709" else tags
