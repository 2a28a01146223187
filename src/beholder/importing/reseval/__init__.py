"""ReSEval: its configuration, the folder of what is evaluated, and the tables of its results.

experiment  the configuration, and the keys of the study that it makes
samples     the folder of conditions with the files to evaluate
responses   the tables of participants and responses, as sessions
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import ClassVar

from beholder.errors import Problem, UserError
from beholder.formats import first_names
from beholder.importing.contract import ImportedStudy, ImportOptions
from beholder.importing.reseval.experiment import TESTS, read_experiment
from beholder.importing.reseval.responses import RESPONSES, read_sessions, result_tables
from beholder.importing.reseval.samples import read_samples
from beholder.importing.source_folder import SourceFolder

_TEST = re.compile(rf"(?m)^test\s*:\s*['\"]?({'|'.join(TESTS)})\b")
_TYPE = re.compile(r"(?m)^datatype\s*:")


class ReSEval:
    """Reads what ReSEval has written."""

    name: ClassVar[str] = "reseval"
    title: ClassVar[str] = "ReSEval"

    def recognise(self, source: SourceFolder) -> str:
        """Return by what a source is recognised: the keys of a configuration."""
        found = _configurations(source)
        return f"test and datatype in {found[0]}" if found else ""

    def read(self, source: SourceFolder, options: ImportOptions) -> Sequence[ImportedStudy]:
        """Return the one study of a test."""
        found = _configurations(source)
        if len(found) != 1:
            has_responses = any(PurePosixPath(name).name == RESPONSES for name in source.names)
            what = f"holds {len(found)} tests: {first_names(found, 5)}" if found else "has no configuration"
            fix = "Give the folder or the file of one of them." if found else ""
            fix = fix or ("Its YAML file says what the responses mean: put it beside them." if has_responses else "")
            raise UserError(Problem(source.address, what, "the configuration of one test, a YAML file", fix))
        experiment = read_experiment(source, found[0])
        tables = result_tables(source, experiment)
        samples = read_samples(source, experiment, tables)
        sessions = read_sessions(source, experiment, samples, tables, options)
        return [experiment.study(samples, sessions)]


def _configurations(source: SourceFolder) -> list[str]:
    names = source.ending(".yaml", ".yml")
    return [name for name in names if _TEST.search(text := source.peek(name)) and _TYPE.search(text)]


reseval = ReSEval()
