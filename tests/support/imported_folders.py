"""What an import wrote: the rows of its tables, and its report."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from beholder.cleaning import clean
from beholder.importing import ImportedFolder


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def cleaned_ratings(study: Path) -> list[dict[str, str]]:
    """Clean an imported study, and return its ratings."""
    return read_rows(clean(study).folder / "ratings.csv")


def import_document(done: ImportedFolder) -> Any:
    """Return the report of an import, as programs read it."""
    return json.loads((done.folder / "import-report.json").read_text("utf-8"))
