"""Fit how much honest people differ and waver, from laboratory ratings: the numbers of simulation/truth.py.

Looks at ratings alone, never at a rule of ours. Data: `ratings/vqeghd3_raw.csv` in ../shared/data, or in the folder
that BEHOLDER_TEST_DATA names.
"""

from __future__ import annotations

import csv
import math
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from beholder.simulation.variance import estimate_variances

Table = NDArray[np.float64]
ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BEHOLDER_TEST_DATA") or ROOT.parent / "shared" / "data")
QUANTILES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
LOW, HIGH = 1.0, 5.0
"""The scale that the data are on, in steps of one."""
_ROUNDS, _REPEATS = 30, 40


@dataclass(frozen=True)
class Fitted:
    """Quality of the stimuli, bias and inconsistency of the raters, in points of the scale."""

    quality: Table
    biases: Table
    inconsistencies: Table
    """Standard deviation of each rater about the stimuli, after their own bias."""

    @property
    def bias_sd(self) -> float:
        return float(self.biases.std(ddof=1))


def read_ratings(path: Path) -> Table:
    """Return the ratings of a table, raters by stimuli."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    raters, stimuli = (sorted({row[key] for row in rows}) for key in ("subject", "stimulus"))
    table = np.full((len(raters), len(stimuli)), np.nan)
    for row in rows:
        table[raters.index(row["subject"]), stimuli.index(row["stimulus"])] = float(row["score"])
    return table


def measure(ratings: Table) -> Fitted:
    """Return the additive model of a table without holes, as it was rated: rounded, and cut off at the ends."""
    many, stimuli = ratings.shape
    means = ratings.mean(axis=0)
    biases = (ratings - means).mean(axis=1)
    rest = ratings - means - biases[:, None]
    freedom = (many - 1) * (stimuli - 1) / many
    return Fitted(means, biases, np.sqrt((rest**2).sum(axis=1) / freedom))


def rate(felt: Fitted, rng: np.random.Generator) -> Table:
    """Return made-up ratings of these people: what they feel, rounded to the scale."""
    noise = rng.normal(0, 1, (len(felt.biases), len(felt.quality))) * felt.inconsistencies[:, None]
    return np.clip(np.rint(felt.quality + felt.biases[:, None] + noise), LOW, HIGH)


def measure_back(felt: Fitted, seed: int) -> Fitted:
    """Return what is measured of made-up ratings, on average."""
    rng = np.random.default_rng(seed)
    found = [measure(rate(felt, rng)) for _ in range(_REPEATS)]
    return Fitted(
        np.mean([one.quality for one in found], axis=0),
        np.mean([one.biases for one in found], axis=0),
        np.sqrt(np.mean([one.inconsistencies**2 for one in found], axis=0)),
    )


def fit(ratings: Table) -> Fitted:
    """Return what people feel before they round it, such that made-up ratings measure as the real ones do."""
    wanted = felt = measure(ratings)
    for turn in range(_ROUNDS):
        back = measure_back(felt, turn)
        felt = Fitted(
            # Beyond one step outside the scale every vote is the last one: nothing more can be learnt.
            np.clip(felt.quality + wanted.quality - back.quality, LOW - 1, HIGH + 1),
            felt.biases + wanted.biases - back.biases,
            felt.inconsistencies * wanted.inconsistencies / back.inconsistencies,
        )
    return felt


def fit_bias(felt: Fitted, wanted: float) -> float:
    """Return the spread of normal biases that measure as the real ones do: one person at the end of the scale felt
    further off than any vote can show."""
    spread, many = wanted, 4000
    noise = np.full(many, float(np.median(felt.inconsistencies)))
    for turn in range(_ROUNDS):
        rng = np.random.default_rng(turn)
        spread *= wanted / measure(rate(Fitted(felt.quality, rng.normal(0, spread, many), noise), rng)).bias_sd
    return spread


def spread(inconsistencies: Table) -> float:
    """Return how far people differ in their inconsistency: the deviation of its logarithm, from outer quantiles."""
    low, middle, high = (float(np.quantile(inconsistencies, share)) for share in (0.1, 0.5, 0.95))
    below, above = np.log(middle / low) / 1.2816, np.log(high / middle) / 1.6449
    return float(below + above) / 2


def component_lines(path: Path, felt: Fitted) -> list[str]:
    """Return what contents, conditions and people's tastes have in ratings, as shares of the scale.

    What people feel is the laboratory's own inconsistency without their tastes; the others are as rated.
    """
    ratings = pd.read_csv(path)
    table = pd.DataFrame(
        {
            "participant": ratings["subject"],
            "content": ratings["content"],
            "condition": ratings["condition"],
            "stimulus": ratings["stimulus"],
            "question": "quality",
            "value": (ratings["score"] - LOW) / (HIGH - LOW),
        }
    )
    found = {
        name: one.value or 0.0
        for name, one in estimate_variances(table, {"quality": 1 / (HIGH - LOW)}).variances.items()
    }
    middle = float(np.median(felt.inconsistencies)) / (HIGH - LOW)
    within = math.sqrt(max(0.0, middle**2 - found["taste"] ** 2))
    return [
        f"content, sd: {found['content']:.3f} of the scale; content x condition: {found['content_condition']:.3f}",
        f"taste (participant x condition), sd: {found['taste']:.3f}; inconsistency without it: {within:.3f}",
        f"inconsistency, sd of its logarithm: {spread(felt.inconsistencies):.3f} (of ratings as they are: "
        f"{found['inconsistency_spread']:.3f})",
    ]


def lines(measured: Fitted, felt: Fitted, back: Fitted) -> list[str]:
    """Return the distribution as it is printed."""
    span = HIGH - LOW
    ends = [float(pick(felt.quality) - LOW) / span for pick in (np.min, np.max)]
    told = [
        f"{len(measured.biases)} raters, {len(measured.quality)} stimuli, five points",
        f"bias, sd: {measured.bias_sd:.3f} points as rated, {felt.bias_sd / span:.3f} of the scale as felt"
        f" (rated again: {back.bias_sd:.3f} points), {fit_bias(felt, measured.bias_sd) / span:.3f} if normal",
        f"worst and best stimulus as felt: {ends[0]:.2f} and {ends[1]:.2f} of the scale",
        "inconsistency, by quantile of the raters:",
        "  quantile   points as rated   of the scale as felt   rated again, points",
    ]
    for quantile in QUANTILES:
        rated, inner, again = (float(np.quantile(one.inconsistencies, quantile)) for one in (measured, felt, back))
        told.append(f"  {quantile:8.2f} {rated:17.3f} {inner / span:22.3f} {again:21.3f}")
    return told


def main() -> int:
    path = DATA / "ratings" / "vqeghd3_raw.csv"
    if not path.is_file():
        print(f"{path} is not there; set BEHOLDER_TEST_DATA", file=sys.stderr)
        return 2
    ratings = read_ratings(path)
    felt = fit(ratings)
    print("\n".join(lines(measure(ratings), felt, measure_back(felt, _ROUNDS)) + component_lines(path, felt)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
