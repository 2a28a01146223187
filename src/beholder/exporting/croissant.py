"""croissant.json: the export for catalogues of machine-learning data, in Croissant 1.1 with its vocabulary for
responsible AI (RAI 1.0), both of MLCommons.

The context is written into the file, as the specification recommends: nobody needs a network to read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beholder.columns import Column, Kind
from beholder.exporting.columns import ExportTable
from beholder.exporting.dataset import Dataset
from beholder.exporting.table_files import WrittenTable
from beholder.files import json_bytes
from beholder.store.tables import to_iso
from beholder.study.bibliography import Author

CROISSANT = "croissant.json"
_CONFORMS_TO = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
_CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""As appendix 1 of the specification has it."""
_TYPES: Mapping[Kind, str] = {
    "text": "sc:Text",
    "integer": "sc:Integer",
    "number": "sc:Float",
    "boolean": "sc:Boolean",
    "time": "sc:DateTime",
}
_ENCODINGS = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


def croissant_bytes(dataset: Dataset, sheets: Sequence[WrittenTable]) -> bytes:
    """Return croissant.json for these tables."""
    publication = dataset.publication
    written = {sheet.table.name: sheet for sheet in sheets}
    document: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": list(_CONFORMS_TO),
        "name": dataset.study.name,
        "alternateName": dataset.study.title,
        "description": dataset.description,
        "creator": [_creator(author) for author in publication.authors],
        "license": publication.licence_url,
        "url": publication.address,
        "sameAs": f"https://doi.org/{publication.doi}" if publication.doi and publication.url else None,
        "citeAs": dataset.citation,
        "funder": list(publication.funding),
        "version": publication.version,
        "datePublished": publication.published,
        "dateCreated": to_iso(dataset.first),
        "dateModified": to_iso(dataset.last),
        "keywords": dataset.keywords,
        "inLanguage": dataset.study.language,
        "isLiveDataset": False,
        "distribution": [_file(sheet) for sheet in sheets],
        "recordSet": [_records(sheet, written) for sheet in sheets],
        **{f"rai:{name}": value for name, value in dataset.responsible_ai.items()},
    }
    return json_bytes({name: value for name, value in document.items() if value not in (None, [], "")})


def _creator(author: Author) -> dict[str, Any]:
    kind = "sc:Person" if author.family_and_given else "sc:Organization"
    person = {"@type": kind, "name": author.reading_order, "email": author.email}
    if author.orcid:
        person["url"] = f"https://orcid.org/{author.orcid}"
    return {name: value for name, value in person.items() if value}


def _file(sheet: WrittenTable) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": sheet.file,
        "name": sheet.file,
        "description": f"One row for each {sheet.table.text}.",
        "contentSize": f"{sheet.bytes} B",
        "contentUrl": sheet.file,
        "encodingFormat": _ENCODINGS[sheet.file.rpartition(".")[2]],
        "sha256": sheet.sha256,
    }


def _records(sheet: WrittenTable, written: Mapping[str, WrittenTable]) -> dict[str, Any]:
    table = sheet.table
    records: dict[str, Any] = {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": f"One row for each {table.text}.",
    }
    if table.key:
        records["key"] = [{"@id": f"{table.name}/{name}"} for name in table.key]
    return {**records, "field": [_field(sheet, place, written) for place in range(len(table.columns))]}


_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")


def _field(sheet: WrittenTable, place: int, written: Mapping[str, WrittenTable]) -> dict[str, Any]:
    column = sheet.table.columns[place]
    # An identifier is a part of an address: a column that is called by a stimulus goes by its place.
    own = column.name if _PLAIN.fullmatch(column.name) else f"column-{place + 1}"
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{sheet.table.name}/{own}",
        "name": column.name,
        "description": column.text,
        "dataType": _TYPES[column.kind],
        "source": {"fileObject": {"@id": sheet.file}, "extract": {"column": column.name}},
    }
    for reference in _references(sheet.table, column, written):
        field["references"] = {"field": {"@id": reference}}
    return field


def _references(table: ExportTable, column: Column, written: Mapping[str, WrittenTable]) -> Iterator[str]:
    """Yield the field to which this column alone refers."""
    for link in table.links:
        if link.columns == (column.name,) and link.table in written:
            yield f"{link.table}/{link.others[0]}"
