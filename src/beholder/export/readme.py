"""README.md of an export: what is in it, what is not, and how to read it."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.export.sheets import Format, Sheet

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
    return pd.read_csv(
        folder / resource["path"],
        dtype={name: KINDS[kind] for name, kind in fields.items() if kind in KINDS},
        parse_dates=[name for name, kind in fields.items() if kind == "datetime"],
        date_format="ISO8601",
        keep_default_na=False,
        na_values=[""],
    )


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
`read_csv` of pandas or R takes a condition called `NA` for missing and makes the number 1 of `01`."""
_PARQUET = (
    """Parquet, with the same names and types; what is missing is null. Nothing has to be said to who reads it."""
)


def readme(title: str, sheets: Sequence[Sheet], format: Format, notes: Sequence[str]) -> str:
    """Return the page that stands beside the tables."""
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
