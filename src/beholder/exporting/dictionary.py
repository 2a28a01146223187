"""The data dictionary, as a table for readers and as a Data Package for software."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from beholder.columns import Column, Kind
from beholder.exporting.columns import ExportTable
from beholder.exporting.dataset import Dataset
from beholder.exporting.table_files import WrittenTable
from beholder.files import json_bytes, table_bytes
from beholder.store.tables import to_iso

DICTIONARY, PACKAGE = "dictionary.csv", "datapackage.json"
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
_MEDIA = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
_PLAIN = re.compile(r"(data/)?[^/\\]*[^/\\.][^/\\]*")
"""Names within the folder: a manipulated package must not lead out of it."""


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


def package_bytes(dataset: Dataset, sheets: Sequence[WrittenTable], others: Sequence[str]) -> bytes:
    """Return datapackage.json; its time is that of the last stored fact: the same facts give the same bytes.

    `others` are the files of the export beside the tables.
    """
    written = {sheet.table.name for sheet in sheets}
    publication = dataset.publication
    about = {
        "version": 1,
        "software": dataset.software,
        "population": dataset.source.judging.facts.population,
        "texts": dataset.source.withheld.with_texts,
        "files": list(others),
    }
    package: dict[str, Any] = {
        "$schema": _SCHEMA,
        "name": dataset.study.name,
        "title": dataset.study.title,
        "description": dataset.description,
        "homepage": publication.address,
        "version": publication.version,
        "created": to_iso(dataset.last),
        "keywords": dataset.keywords,
        "contributors": [{"title": one.reading_order, "roles": ["creator"]} for one in publication.authors],
        "licenses": [_licence(publication.licence)] if publication.licence else [],
        _MARK: about,
        "resources": [_resource(sheet, written) for sheet in sheets],
    }
    return json_bytes({name: value for name, value in package.items() if value not in (None, [])})


def _licence(licence: str) -> dict[str, str]:
    return {"path": licence} if licence.startswith("http") else {"name": licence}


def _resource(sheet: WrittenTable, written: set[str]) -> dict[str, Any]:
    table, format = sheet.table, sheet.file.rpartition(".")[2]
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
        if _MARK not in package:
            return None
        names = [str(resource["path"]) for resource in package["resources"]]
        names += [str(name) for name in package[_MARK].get("files", ())]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return [name for name in names if _PLAIN.fullmatch(name)]
