"""Coverage and error rates for conditions and pairs in many simulated studies of one design.

46 participants rate two conditions on 10 of 40 contents each. Participants and contents differ (SD 8 each), each likes
one condition more than the other by chance (participant by condition and content by condition, SD 5 each), and every
rating has noise (SD 14). Each study draws new people, contents and assignments.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.stats import binom

from beholder.analysis.means import conditions
from beholder.analysis.pairs import pairs
from beholder.analysis.tests import tests as all_tests
from beholder.stats.clustered import Cells, difference_of, mean_of
from beholder.stats.tests import sign_test, signed_rank

PEOPLE, CONTENTS, EACH = 46, 40, 10
TRUTH, APART = 60.0, 4.0


class Drawn(NamedTuple):
    """One study: the ratings of both conditions on every page."""

    one: Cells
    other: Cells

    @property
    def pages(self) -> Cells:
        return self.one._replace(value=self.one.value - self.other.value)


def draw(rng: np.random.Generator, apart: float = 0.0) -> Drawn:
    participant = np.repeat(np.arange(PEOPLE), EACH)
    content = rng.permuted(np.tile(np.arange(CONTENTS), (PEOPLE, 1)), axis=1)[:, :EACH].ravel()
    shared = rng.normal(0, 8, PEOPLE)[participant] + rng.normal(0, 8, CONTENTS)[content]
    sides = []
    for truth in (TRUTH + apart, TRUTH):
        own = rng.normal(0, 5, PEOPLE)[participant] + rng.normal(0, 5, CONTENTS)[content]
        value = truth + shared + own + rng.normal(0, 14, len(participant))
        sides.append(Cells(value, participant.astype(np.intp), content.astype(np.intp)))
    return Drawn(*sides)


def table_of(drawn: Drawn) -> pd.DataFrame:
    parts = [
        pd.DataFrame({"participant": cells.participant, "content": cells.content, "value": cells.value})
        .astype({"participant": str, "content": str})
        .assign(condition=name)
        for name, cells in (("one", drawn.one), ("other", drawn.other))
    ]
    return pd.concat(parts, ignore_index=True)


def studies(whole: bool) -> int:
    return 4_000 if whole else 300


def between(times: int, low: float, high: float) -> tuple[float, float]:
    """Return the counts that a rate within these bounds exceeds once in ten thousand repetitions."""
    return float(binom.ppf(0.00005, times, low)), float(binom.ppf(0.99995, times, high))


@pytest.mark.long
def test_intervals_of_conditions_and_pairs_cover_the_truth(whole: bool) -> None:
    rng = np.random.default_rng(20261117)
    times = studies(whole)
    mean = paired = unpaired = 0
    for _ in range(times):
        drawn = draw(rng, APART)
        estimates = mean_of(drawn.other), mean_of(drawn.pages), difference_of(drawn.one, drawn.other)
        mean += estimates[0].low <= TRUTH <= estimates[0].high
        paired += estimates[1].low <= APART <= estimates[1].high
        unpaired += estimates[2].low <= APART <= estimates[2].high
    if whole:
        assert all(0.93 <= covered / times <= 0.97 for covered in (mean, paired, unpaired)), (mean, paired, unpaired)
    low, high = between(times, 0.94, 0.96)
    assert all(low <= covered <= high for covered in (mean, paired, unpaired)), (mean, paired, unpaired)


@pytest.mark.long
def test_the_clustered_test_keeps_its_level_and_tests_over_pages_do_not(whole: bool) -> None:
    rng = np.random.default_rng(20261118)
    times = studies(whole)
    wrong = dict.fromkeys(("clustered t", "paired t", "Wilcoxon", "sign"), 0)
    for _ in range(times):
        pages = draw(rng).pages
        wrong["clustered t"] += mean_of(pages).p < 0.05
        wrong["paired t"] += stats.ttest_1samp(pages.value, 0).pvalue < 0.05
        wrong["Wilcoxon"] += signed_rank(pages.value).p < 0.05
        wrong["sign"] += sign_test(pages.value).proportion.p < 0.05
    if whole:
        assert 0.04 <= wrong["clustered t"] / times <= 0.065, wrong
    low, high = between(times, 0.045, 0.06)
    assert low <= wrong["clustered t"] <= high, wrong
    assert all(wrong[name] / times > 0.08 for name in ("paired t", "Wilcoxon", "sign")), wrong


def test_what_is_simulated_is_what_the_tables_say() -> None:
    rng = np.random.default_rng(20261119)
    for _ in range(3):
        drawn = draw(rng, APART)
        table = table_of(drawn)
        (pair,) = pairs(table).table.to_dict("records")
        expected = mean_of(drawn.pages)
        assert (pair["n"], pair["participants"], pair["contents"]) == (PEOPLE * EACH, PEOPLE, expected.contents)
        tested = all_tests(table)
        assert tested is not None
        paged = tested.table.set_index("test").loc["page-paired t"]
        values = [paged[name] for name in ("estimate", "df", "ci_low", "ci_high", "statistic", "p")]
        assert values == pytest.approx([expected.mean, expected.df, *expected[3:7]])
        mean = conditions(table).table.set_index("condition").loc["other"]
        other = mean_of(drawn.other)
        assert [mean["mean"], mean["ci_low"], mean["ci_high"]] == pytest.approx([other.mean, other.low, other.high])
