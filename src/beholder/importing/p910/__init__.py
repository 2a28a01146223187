"""The P.910 crowdsourcing toolkit: its configurations, its tables of clips, the answers of its page, and who was paid.

toolkit_tables   its tables, told apart by their columns
toolkit_settings its configurations
clip_addresses   which clips there are: roles, right answers, contents and conditions
answer_columns   the columns of answers
platform_claims  who handed in which code
toolkit_batch    what a batch holds
toolkit_sessions its answers, as sessions
toolkit_study    the study

The toolkit of P.808 has the same shapes and other names: `beholder.importing.p808` reads it by the same modules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from beholder.importing.contract import ImportedStudy, ImportOptions
from beholder.importing.p910.toolkit_study import ToolkitKind, read_study
from beholder.importing.p910.toolkit_tables import find_tables, heads_of
from beholder.importing.source_folder import SourceFolder

_KIND = ToolkitKind("p910", "video", ".mp4", "Video quality", "How do you rate the quality of this video?")
_SETTINGS = ("video_player", "min_device_resolution", "min_screen_refresh_rate", "matrix_ans_obfuscated")


class P910:
    """Reads what the P.910 crowdsourcing toolkit has written."""

    name: ClassVar[str] = "p910"
    title: ClassVar[str] = "the P.910 toolkit"

    def recognise(self, source: SourceFolder) -> str:
        """Return by what a source is recognised: columns of its tables, or keys of its configuration."""
        for kind, names in find_tables(source).items():
            for name in names:
                heads = heads_of(source, name)
                if kind in ("page", "platform") or "pvs" in {one.rpartition("_")[2] for one in heads}:
                    return f"the columns of {name}"
                if kind == "sessions" and ("t1_matrix_c" in heads or "q0_p" in heads or "tp_clip" in heads):
                    return f"the columns of {name}"
        for name in source.ending(".cfg"):
            text = source.peek(name)
            if any(key in text for key in _SETTINGS):
                return f"keys of {name}"
        return ""

    def read(self, source: SourceFolder, options: ImportOptions) -> Sequence[ImportedStudy]:
        """Return the one study of a batch."""
        return read_study(source, _KIND)


p910 = P910()
