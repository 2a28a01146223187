"""How long it takes from what twenty thousand people sent to ratings, decisions, lists and scores."""

from __future__ import annotations

from pathlib import Path

from bench_batch import RATINGS, write_batch
from bench_process import seconds_of
from bench_table import Row, below

_LIMIT_S = 3


def measure_clean(scratch: Path, *, submissions: int = 20_000) -> list[Row]:
    """Return the times of `beholder clean` and `beholder analyse`, each in a process of its own, and their sum."""
    study = write_batch(scratch / "batch", submissions)
    cleaned, analysed = (seconds_of([verb, str(study)]) for verb in ("clean", "analyse"))
    what = f"cleaning and aggregating {submissions:,} submissions of {RATINGS} ratings, all lists and tables"
    return [
        below(what, cleaned + analysed, _LIMIT_S, "s"),
        Row("of which `beholder clean`", f"{cleaned:.1f} s"),
        Row("of which `beholder analyse`", f"{analysed:.1f} s"),
    ]
