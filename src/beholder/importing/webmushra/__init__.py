"""webMUSHRA (1.4 and later): its YAML configuration, and the CSV files of its results.

configuration  the YAML, its pages, and the studies that they make
results        the CSV files, as sessions

References to what the tool does are to its behaviour, measured on its own examples: `docs/importing-webmushra.md`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import ClassVar

from beholder.errors import Problem, UserError
from beholder.formats import first_names
from beholder.importing.contract import ImportedStudy, ImportOptions
from beholder.importing.source_folder import SourceFolder
from beholder.importing.webmushra.configuration import Configuration, read_configuration
from beholder.importing.webmushra.results import RESULT_FILES, with_results

_MARK = re.compile(r"(?m)^\s*pages\s*:")
_NAME = re.compile(r"(?m)^\s*test(name|Id)\s*:")


class WebMushra:
    """Reads what webMUSHRA has written."""

    name: ClassVar[str] = "webmushra"
    title: ClassVar[str] = "webMUSHRA"

    def recognise(self, source: SourceFolder) -> str:
        """Return by what a source is recognised: the keys of a configuration, or the names of result files."""
        found = _configurations(source)
        if found:
            return f"testname and pages in {found[0]}"
        results = [name for name in source.names if PurePosixPath(name).name in RESULT_FILES]
        heads = [
            name for name in results if source.peek(name, 2000).startswith(("session_test_id", '"session_test_id'))
        ]
        return f"the columns of {heads[0]}" if heads else ""

    def read(self, source: SourceFolder, options: ImportOptions) -> Sequence[ImportedStudy]:
        """Return one study for each rating method that the pages of a test need."""
        found = _configurations(source)
        if len(found) > 1:
            what = f"holds {len(found)} tests: {first_names(found, 5)}"
            fix = "Give the file of one of them; its results and stimuli are found from there."
            raise UserError(Problem(source.address, what, "one test", fix))
        configuration = read_configuration(source, found[0], options) if found else Configuration.unknown()
        return with_results(source, configuration, options)


def _configurations(source: SourceFolder) -> list[str]:
    """Return the YAML files that are tests of webMUSHRA."""
    names = source.ending(".yaml", ".yml")
    return [name for name in names if _MARK.search(text := source.peek(name)) and _NAME.search(text)]


webmushra = WebMushra()
