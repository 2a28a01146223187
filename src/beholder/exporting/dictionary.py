"""The data dictionary, as a table for readers and as a Data Package for software; README.md; and the notes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from beholder.cleaning.texts import E_MAIL, ID
from beholder.columns import Column, Kind
from beholder.exporting.columns import ExportTable
from beholder.exporting.source import ExportSource, FreeTextFilter
from beholder.exporting.table_files import Format, WrittenTable
from beholder.files import json_bytes, table_bytes
from beholder.formats import join_names
from beholder.store.tables import to_iso

DICTIONARY, PACKAGE, README = "dictionary.csv", "datapackage.json", "README.md"
COLUMNS = ("table", "column", "type", "description", "allowed", "key")
_MARK = "beholder_export"
_SCHEMA = "https://datapackage.org/profiles/2.0/datapackage.json"
_TYPES: Mapping[Kind, str] = {
    "text": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "time": "datetime",
}
_MEDIA: Mapping[Format, str] = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


def dictionary_bytes(sheets: Sequence[WrittenTable]) -> bytes:
    """Return a row for each column of each table."""
    rows = (_dictionary_row(sheet.table, column) for sheet in sheets for column in sheet.table.columns)
    return table_bytes(COLUMNS, rows)


def _dictionary_row(table: ExportTable, column: Column) -> dict[str, Any]:
    links = [f"{link.table}.{link.others[0]}" for link in table.links if link.columns == (column.name,)]
    return {
        "table": table.name,
        "column": column.name,
        "type": _TYPES[column.kind],
        "description": column.text,
        "allowed": "; ".join(column.allowed),
        "key": "; ".join(["key"] * (column.name in table.key) + [f"in {link}" for link in links]),
    }


def package_bytes(
    sheets: Sequence[WrittenTable], format: Format, *, name: str, title: str, last: datetime, about: Mapping[str, Any]
) -> bytes:
    """Return datapackage.json. `last` is the time of the last stored fact: the same facts give the same bytes."""
    written = {sheet.table.name for sheet in sheets}
    package = {
        "$schema": _SCHEMA,
        "name": name,
        "title": title,
        "created": to_iso(last),
        _MARK: {"version": 1, **about},
        "resources": [_resource(sheet, format, written) for sheet in sheets],
    }
    return json_bytes(package)


def _resource(sheet: WrittenTable, format: Format, written: set[str]) -> dict[str, Any]:
    table = sheet.table
    schema: dict[str, Any] = {"fields": [_field(table, column) for column in table.columns]}
    if table.key:
        schema["primaryKey"] = list(table.key)
    links = [link for link in table.links if link.table in written]
    if links:
        schema["foreignKeys"] = [
            {"fields": list(link.columns), "reference": {"resource": link.table, "fields": list(link.others)}}
            for link in links
        ]
    schema["missingValues"] = [""]
    return {
        "name": table.name,
        "path": sheet.file,
        "type": "table",
        "title": f"One row for each {table.text}.",
        "format": format,
        "mediatype": _MEDIA[format],
        **({"encoding": "utf-8"} if format == "csv" else {}),
        "bytes": sheet.bytes,
        "hash": f"sha256:{sheet.sha256}",
        "rows": sheet.rows,
        "schema": schema,
    }


def _field(table: ExportTable, column: Column) -> dict[str, Any]:
    constraints: dict[str, Any] = {"required": True} if column.name in table.key else {}
    if table.key == (column.name,):
        constraints["unique"] = True
    if column.allowed:
        constraints["enum"] = list(column.allowed)
    field: dict[str, Any] = {"name": column.name, "type": _TYPES[column.kind], "description": column.text}
    return {**field, "constraints": constraints} if constraints else field


def files_of(folder: Path) -> list[str] | None:
    """Return the files of the export in a folder; None if there is no export."""
    try:
        package = json.loads((folder / PACKAGE).read_text("utf-8"))
        resources = package["resources"] if _MARK in package else None
        names = None if resources is None else [str(resource["path"]) for resource in resources]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    # File names only: a manipulated package must not lead out of its folder.
    return None if names is None else [name for name in names if Path(name).name == name]


# README


_PANDAS = """```python
import json
from pathlib import Path

import pandas as pd

KINDS = {"string": "string", "integer": "Int64", "number": "Float64", "boolean": "boolean"}
folder = Path(".")
package = json.loads((folder / "datapackage.json").read_text("utf-8"))


def read(name):
    resource = next(one for one in package["resources"] if one["name"] == name)
    fields = {field["name"]: field["type"] for field in resource["schema"]["fields"]}
    table = pd.read_csv(
        folder / resource["path"],
        dtype={name: KINDS[kind] for name, kind in fields.items() if kind in KINDS},
        parse_dates=[name for name, kind in fields.items() if kind == "datetime"],
        date_format="ISO8601",
        keep_default_na=False,
        na_values=[""],
    )
    return table.replace(r"^'(?='*[-=+@\\t\\n].)", "", regex=True)  # the apostrophe before what looks like a formula


ratings = read("ratings")
used = ratings[ratings["use"]]
```"""
_R = """```r
library(readr)

package <- jsonlite::fromJSON("datapackage.json", simplifyVector = FALSE)
kinds <- c(string = "c", integer = "d", number = "d", boolean = "l", datetime = "T")

read <- function(name) {
  resource <- Filter(function(one) one$name == name, package$resources)[[1]]
  types <- vapply(resource$schema$fields, function(field) kinds[[field$type]], "")
  read_csv(resource$path, col_types = paste(types, collapse = ""), na = "")
}

ratings <- read("ratings")
used <- subset(ratings, use)
lme4::lmer(value ~ condition + (1 | participant) + (1 | content), data = used)
```"""
_PANDAS_PARQUET = """```python
import pandas as pd

ratings = pd.read_parquet("ratings.parquet", dtype_backend="numpy_nullable")
used = ratings[ratings["use"]]
```"""
_R_PARQUET = """```r
ratings <- arrow::read_parquet("ratings.parquet")
used <- subset(ratings, use)
lme4::lmer(value ~ condition + (1 | participant) + (1 | content), data = used)
```"""
_CSV = """CSV, UTF-8, commas, one header line; a missing value is an empty cell. Say so to whatever reads it: plain
`read_csv` of pandas or R takes a condition called `NA` for missing and makes the number 1 of `01`. A text that
begins like a formula has an apostrophe before it, which keeps a spreadsheet from running it."""
_PARQUET = (
    """Parquet, with the same names and types; what is missing is null. Nothing has to be said to who reads it."""
)


def readme(title: str, sheets: Sequence[WrittenTable], format: Format, notes: Sequence[str]) -> str:
    """Return README.md, which accompanies the tables."""
    pandas, r, read = (_PANDAS, _R, _CSV) if format == "csv" else (_PANDAS_PARQUET, _R_PARQUET, _PARQUET)
    tables = [f"| `{sheet.file}` | {sheet.rows} | {sheet.table.text} |" for sheet in sheets]
    return "\n".join(
        [
            f"# {title}",
            "",
            "Every fact of this study as tidy tables. `dictionary.csv` describes every column; `datapackage.json` says",
            "the same to software that reads Data Packages, with keys, types and the hash of every file.",
            "",
            "| file | rows | one row for each |",
            "|---|---|---|",
            *tables,
            "",
            "## What to know",
            "",
            *(f"- {note}" for note in notes),
            "- Participants are pseudonyms. Ids of platforms, completion codes, receipts, language and time zone of",
            "  browsers are not here. Of whoever withdrew, the session is left, without any answer.",
            "- Raw and used rows stand in one table: analyse those with `use`; `exclusions` says why not the others.",
            "- A comparison has one row, and a value above zero favours `condition`. For `lme4`, take one question and",
            "  one kind at a time.",
            "- Times are UTC. `created` in `datapackage.json` is the time of the last fact.",
            "- No licence is named: choose one before you hand this on.",
            "",
            "## Reading it",
            "",
            read,
            "",
            pandas,
            "",
            r,
            "",
        ]
    )


# Notes


_OFTEN_CHANGED = frozenset(
    ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "true", "false", "TRUE", "FALSE", "True", "False", "T", "F")
)


def notes_of(source: ExportSource) -> list[str]:
    """Return what a reader has to know about these tables, which are written already."""
    notes = [
        "These are robots, a rehearsal and not a result." if source.judging.facts.population == "robots" else "",
        _runs_note(source),
        _free_text_note(source.withheld),
        _changed_names_note(source),
    ]
    return [note for note in notes if note]


def _free_text_note(withheld: FreeTextFilter) -> str:
    """Return whether free text is included, and how much of it was masked in which tables."""
    if withheld.masks is None:
        return "What people wrote in their own words is left out; `beholder export --with-texts` has it."
    counts = withheld.masks.counts
    masked = ", ".join(f"{counts[table]} in `{table}`" for table in sorted(counts))
    masked_text = f"E-mail addresses and ids of platforms were replaced by {E_MAIL} and {ID}: {masked}."
    unmasked_text = "No e-mail address and no id of a platform was found in it."
    here = "What people wrote in their own words is here"
    masks = masked_text if masked else unmasked_text
    return f"{here}. {masks} Names are not looked for: look through it before you hand it on."


def _runs_note(source: ExportSource) -> str:
    """Return which runs are in the tables."""
    runs = sorted({one.visit.run for one in source.judging.judged})
    if len(runs) < 2:
        return ""
    return f"Runs {join_names([str(run) for run in runs])} are in the same tables; the column `run` tells them apart."


def _changed_names_note(source: ExportSource) -> str:
    """Return the names that a guessing CSV reader would change."""
    names = {name for shown in source.judging.facts.stimuli.values() for name in (shown.content, shown.condition)}
    changed = sorted(name for name in names if name in _OFTEN_CHANGED or _is_number(name))
    if not changed:
        return ""
    examples = ", ".join(f"`{name}`" for name in changed[:5]) + (", …" if len(changed) > 5 else "")
    return f"Names that plain `read_csv` would change: {examples}. Read the CSV as the README shows, or take Parquet."


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
