"""README.md: the dataset card. A head in YAML as Hugging Face reads it, what the data are and how they were collected,
how to read the tables, and what nobody has said yet; and the notes of an export.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from beholder.cleaning.texts import E_MAIL, ID
from beholder.exporting.dataset import Blank, Dataset
from beholder.exporting.source import ExportSource, FreeTextFilter
from beholder.exporting.table_files import WrittenTable
from beholder.formats import join_names

README = "README.md"
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def card(dataset: Dataset, sheets: Sequence[WrittenTable], notes: Sequence[str]) -> str:
    """Return README.md, which accompanies the tables."""
    is_parquet = any(sheet.file.endswith(".parquet") for sheet in sheets)
    pandas, r, read = (_PANDAS_PARQUET, _R_PARQUET, _PARQUET) if is_parquet else (_PANDAS, _R, _CSV)
    ratings = next(sheet.file for sheet in sheets if sheet.table.name == "ratings")
    tables = [f"| `{sheet.file}` | {sheet.rows} | {sheet.table.text} |" for sheet in sheets]
    return "\n".join(
        [
            "---",
            yaml.safe_dump(card_head(dataset, sheets), sort_keys=False, allow_unicode=True, width=1000).rstrip(),
            "---",
            "",
            f"# {dataset.study.title}",
            "",
            *_introduction(dataset),
            "Every fact of this study as tidy tables. `dictionary.csv` describes every column; `datapackage.json` says",
            "the same to software that reads Data Packages, with keys, types and the hash of every file;",
            "`croissant.json` says it to catalogues of data for machine learning.",
            "",
            "| file | rows | one row for each |",
            "|---|---|---|",
            *tables,
            "",
            "## How the data were collected",
            "",
            *(f"- **{title}.** {text}" for title, text in _collected(dataset)),
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
            f"- {_licence_words(dataset)}",
            "",
            *_citation(dataset),
            *_unsaid(dataset.blanks),
            "## Reading it",
            "",
            read,
            "",
            pandas.replace("ratings.parquet", ratings),
            "",
            r.replace("ratings.parquet", ratings),
            "",
        ]
    )


def card_head(dataset: Dataset, sheets: Sequence[WrittenTable]) -> dict[str, Any]:
    """Return the head of the card: metadata by the names of Hugging Face, and each table as a configuration."""
    publication = dataset.publication
    licence = publication.licence
    ratings = next(sheet.rows for sheet in sheets if sheet.table.name == "ratings")
    is_address = licence is not None and licence.startswith("http")
    head: dict[str, Any] = {
        "pretty_name": dataset.study.title,
        "license": None if licence is None else "other" if is_address else licence.lower(),
        "license_name": "see-link" if is_address else None,
        "license_link": licence if is_address else None,
        "language": [dataset.study.language],
        "annotations_creators": ["machine-generated"] if dataset.is_simulated else _creators(dataset),
        "size_categories": [next((name for most, name in _SIZES if ratings < most), "n>1M")],
        "tags": ["subjective-evaluation", "human-ratings", dataset.study.method, *dataset.media, *publication.keywords],
        "configs": [
            {
                "config_name": sheet.table.name,
                "data_files": sheet.file,
                **({"default": True} if sheet.table.name == "ratings" else {}),
            }
            for sheet in sheets
        ],
    }
    return {name: value for name, value in head.items() if value not in (None, [])}


def _creators(dataset: Dataset) -> list[str]:
    """Return the word of Hugging Face for who rated, where it is known: people from a platform."""
    return ["crowdsourced"] if dataset.study.recruit.source.is_platform else []


def _introduction(dataset: Dataset) -> Iterator[str]:
    yield dataset.description
    yield ""
    if dataset.publication.description:
        yield dataset.summary
        yield ""


_TITLES = {
    "dataCollection": "Collection",
    "dataCollectionTimeframe": "When",
    "dataAnnotationProtocol": "Questions",
    "annotationsPerItem": "Ratings of each",
    "annotatorDemographics": "Participants who are used",
    "dataPreprocessingProtocol": "Rules over sessions and ratings",
    "dataCollectionMissingData": "Missing values",
    "personalSensitiveInformation": "Personal data",
    "dataUseCases": "Uses",
    "dataBiases": "Biases",
    "dataLimitations": "Limits",
    "dataSocialImpact": "Social impact",
    "dataReleaseMaintenancePlan": "Maintenance",
}
"""What the card calls the properties for responsible AI that it shows."""


def _collected(dataset: Dataset) -> Iterator[tuple[str, str]]:
    known = dataset.responsible_ai
    for name, title in _TITLES.items():
        value = known.get(name)
        if value is not None:
            joiner = " to " if name == "dataCollectionTimeframe" else "; "
            yield title, value if isinstance(value, str) else joiner.join(one.rstrip(".") for one in value) + "."
    for title, text in (("Ethics", dataset.publication.ethics), ("Funding", "; ".join(dataset.publication.funding))):
        if text:
            yield title, text


def _licence_words(dataset: Dataset) -> str:
    licence = dataset.publication.licence
    if licence is None:
        return "No licence is named: choose one before you hand this on (`publication.licence` in study.yaml)."
    return f"Licence: {licence}, as those who made the data say."


def _citation(dataset: Dataset) -> list[str]:
    if not dataset.citation:
        return []
    paper = dataset.publication.paper
    told = ["", f"The study is reported in: {paper}"] if paper else []
    return ["## Citation", "", f"{dataset.citation}. `CITATION.cff` says it to software.", *told, ""]


def _unsaid(blanks: Sequence[Blank]) -> list[str]:
    """Return a section on what cards ask for and nobody has said."""
    if not blanks:
        return []
    lines = [f"- {blank.what}: `{blank.key}`" for blank in blanks]
    return [
        "## Not said yet",
        "",
        "Cards and catalogues ask for this, and study.yaml has a place for it:",
        "",
        *lines,
        "",
    ]


# How to read the tables


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


# Notes


_OFTEN_CHANGED = frozenset(
    ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "true", "false", "TRUE", "FALSE", "True", "False", "T", "F")
)


def notes_of(dataset: Dataset) -> list[str]:
    """Return what a reader has to know about these tables, which are written already."""
    source = dataset.source
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
