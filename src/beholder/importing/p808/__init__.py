"""The P.808 toolkit (and P.835, P.804): its tables of clips, and the results of the platform, which hold its answers.

Shapes are those of the P.910 toolkit, whose modules read it; what differs are names, sounds in place of videos, and
that answers stand in the results of the platform itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from beholder.importing.contract import ImportedStudy, ImportOptions
from beholder.importing.p910.toolkit_study import ToolkitKind, read_study
from beholder.importing.p910.toolkit_tables import find_tables, heads_of
from beholder.importing.source_folder import SourceFolder

_KIND = ToolkitKind("p808", "audio", ".wav", "Quality of speech", "How do you rate the quality of this recording?")
_CLIPS = frozenset(("rating_clips", "gold_clips", "gold_url", "trapping_clips", "training_clips"))
_SETTINGS = ("audio_player", "correct_cmp_bigger_equal", "all_audio_played_equal")


class P808:
    """Reads what the P.808 toolkit has written."""

    name: ClassVar[str] = "p808"
    title: ClassVar[str] = "the P.808 toolkit"

    def recognise(self, source: SourceFolder) -> str:
        """Return by what a source is recognised: columns of its tables, or keys of its configuration."""
        for kind, names in find_tables(source).items():
            for name in names:
                heads = heads_of(source, name)
                is_sent = kind == "sessions" and "tp" in heads and "tp_clip" not in heads
                if kind == "batch" or is_sent or heads & _CLIPS:
                    return f"the columns of {name}"
        for name in source.ending(".cfg"):
            text = source.peek(name)
            if any(key in text for key in _SETTINGS) and "video" not in text:
                return f"keys of {name}"
        return ""

    def read(self, source: SourceFolder, options: ImportOptions) -> Sequence[ImportedStudy]:
        """Return the one study of a batch."""
        return read_study(source, _KIND)


p808 = P808()
