"""HEMVIP and its GENEA branches: a configuration for each participant, and the sessions of the database.

page_files       the configurations, and the studies that their pages make
kept_sessions    sessions as the database or its export has them
pair_documents   the studies of the second HEMVIP, which hold what was chosen
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from beholder.importing.contract import ImportedStudy, ImportOptions
from beholder.importing.hemvip.kept_sessions import with_sessions
from beholder.importing.hemvip.page_files import read_page_files
from beholder.importing.hemvip.pair_documents import read_pair_documents
from beholder.importing.source_folder import SourceFolder

_PAGES = re.compile(r'"pages"\s*:')
_TEST = re.compile(r'"(testname|remoteService|stopOnErrors)"\s*:')
_SESSION = re.compile(r'"trials"\s*:')
_USER = re.compile(r'"(userId|testId)"\s*:')
_SECOND = re.compile(r'"(pageid|total_actions|teamid|systemname)"\s*:')


class Hemvip:
    """Reads what HEMVIP has written."""

    name: ClassVar[str] = "hemvip"
    title: ClassVar[str] = "HEMVIP"

    def recognise(self, source: SourceFolder) -> str:
        """Return by what a source is recognised: keys of a configuration, of a session, or of the second HEMVIP."""
        found = _sorted(source)
        for kind, names in found.items():
            if names:
                return f"{kind} in {names[0]}"
        return ""

    def read(self, source: SourceFolder, options: ImportOptions) -> Sequence[ImportedStudy]:
        """Return one study for each method that the pages need."""
        found = _sorted(source)
        if found["pageid"]:
            return read_pair_documents(source, found["pageid"])
        return with_sessions(source, read_page_files(source, found["pages"], options), found["trials"], options)


def _sorted(source: SourceFolder) -> dict[str, list[str]]:
    """Return the files of each kind: configurations, sessions, and documents of the second HEMVIP."""
    found: dict[str, list[str]] = {"pages": [], "trials": [], "pageid": []}
    for name in source.ending(".json"):
        text = source.peek(name)
        if _SECOND.search(text):
            found["pageid"].append(name)
        elif _SESSION.search(text) and _USER.search(text):
            found["trials"].append(name)
        elif _PAGES.search(text) and _TEST.search(text):
            found["pages"].append(name)
    return found


hemvip = Hemvip()
