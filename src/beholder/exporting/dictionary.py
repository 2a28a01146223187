"""The data dictionary, twice: a table to read, and a Data Package that other software reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from beholder.clean.tables import json_bytes, table_bytes
from beholder.export.columns import Column, Kind, Table
from beholder.export.sheets import Format, Sheet
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


def dictionary_bytes(sheets: Sequence[Sheet]) -> bytes:
    """Return a row for each column of each table."""
    rows = (_described(sheet.table, column) for sheet in sheets for column in sheet.table.columns)
    return table_bytes(COLUMNS, rows)


def _described(table: Table, column: Column) -> dict[str, Any]:
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
    sheets: Sequence[Sheet], format: Format, *, name: str, title: str, last: datetime, about: Mapping[str, Any]
) -> bytes:
    """Return datapackage.json. `last` is when the last fact was stored: the same facts give the same bytes."""
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


def _resource(sheet: Sheet, format: Format, written: set[str]) -> dict[str, Any]:
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


def _field(table: Table, column: Column) -> dict[str, Any]:
    constraints: dict[str, Any] = {"required": True} if column.name in table.key else {}
    if table.key == (column.name,):
        constraints["unique"] = True
    if column.allowed:
        constraints["enum"] = list(column.allowed)
    field: dict[str, Any] = {"name": column.name, "type": _TYPES[column.kind], "description": column.text}
    return {**field, "constraints": constraints} if constraints else field


def files_of(folder: Path) -> list[str] | None:
    """Return the files of the export in a folder; None where it holds none."""
    try:
        package = json.loads((folder / PACKAGE).read_text("utf-8"))
        resources = package["resources"] if _MARK in package else None
        names = None if resources is None else [str(resource["path"]) for resource in resources]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    # Names alone: a package that somebody has changed must not lead out of its folder.
    return None if names is None else [name for name in names if Path(name).name == name]
