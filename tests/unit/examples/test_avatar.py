"""The avatar paper's tables and figures, made again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from beholder.examples import FinishedExample
from beholder.examples.contract import Exhibit

# `make test` makes those of another paper again, by the same steps.
pytestmark = [pytest.mark.long, pytest.mark.variant]


@pytest.fixture
def exhibits(finished_example: Callable[[str], FinishedExample]) -> dict[str, Exhibit]:
    return {one.name: one for one in finished_example("avatar").exhibits}


def test_every_table_and_figure_of_the_paper_is_there(exhibits: dict[str, Exhibit]) -> None:
    missing = {f"Table {place}" for place in range(5, 15)} | {f"Figure {place}" for place in range(1, 10)}
    assert not missing - exhibits.keys()


@pytest.mark.parametrize("name", ["Table 12", "Table 13"])
def test_published_scores_reproduce_the_published_correlations(exhibits: dict[str, Exhibit], name: str) -> None:
    table = exhibits[name]
    assert table.origin == "published"
    assert table.ours is not None
    assert table.theirs is not None
    for ours, theirs in zip(table.ours.rows, table.theirs.rows, strict=True):
        assert ours[0] == theirs[0]
        numbers = ([float(cell.replace("−", "-")) for cell in row[1:]] for row in (ours, theirs))
        assert next(numbers) == pytest.approx(next(numbers), abs=0.0015)


@pytest.mark.parametrize("name", ["Table 7", "Table 8"])
def test_runs_are_compared_by_dimension_with_an_average(exhibits: dict[str, Exhibit], name: str) -> None:
    ours, theirs = exhibits[name].ours, exhibits[name].theirs
    assert ours is not None
    assert theirs is not None
    assert ours.heads == theirs.heads
    assert [row[0] for row in ours.rows][:: len(ours.rows) - 1] == ["run 1, run 2", "average"]
