"""How long a million ratings take through `analyse`, all pairs and every table included."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from bench.servers import seconds_of
from bench.table import Row, below

CONDITIONS, CONTENTS = 10, 100
_PER_PERSON = 100
_LIMIT_S = 60


def measure_analyse(scratch: Path, *, ratings: int = 1_000_000) -> Row:
    """Return the time of `beholder analyse` for so many ratings, in a process of its own."""
    table = write_ratings(scratch / "ratings.csv", ratings)
    spent = seconds_of(["analyse", str(table), "--out", str(scratch / "analyse")])
    what = f"`beholder analyse` of {ratings:,} ratings, {CONDITIONS} conditions, {CONTENTS} contents, all pairs"
    return below(what, spent, _LIMIT_S, "s")


def write_ratings(path: Path, ratings: int) -> Path:
    """Write a table of ratings on five points; people, contents and conditions have effects of their own."""
    rng = np.random.default_rng(1)
    people = max(1, ratings // _PER_PERSON)
    person = np.repeat(np.arange(people), _PER_PERSON)[:ratings]
    # Everybody rates a tenth of all cells, each once.
    start = rng.integers(0, CONDITIONS * CONTENTS, people)
    cell = (start[person] + 7 * np.arange(len(person)) % (CONDITIONS * CONTENTS)) % (CONDITIONS * CONTENTS)
    condition, content = cell % CONDITIONS, cell // CONDITIONS
    felt = 1.5 + 0.3 * condition + rng.normal(0, 0.5, people)[person] + rng.normal(0, 0.5, CONTENTS)[content]
    value = np.clip(np.round(felt + rng.normal(0, 0.7, len(person))), 1, 5).astype(int)
    table = pd.DataFrame(
        {
            "participant": np.char.add("p", person.astype(str)),
            "session": np.char.add("s", person.astype(str)),
            "position": np.arange(len(person)) % _PER_PERSON + 1,
            "method": "acr",
            "question": "quality",
            "content": np.char.add("clip-", content.astype(str)),
            "condition": np.char.add("codec-", condition.astype(str)),
            "value": value,
            "response_ms": np.round(rng.lognormal(8, 0.5, len(person))).astype(int),
        }
    )
    table.to_csv(path, index=False)
    return path
