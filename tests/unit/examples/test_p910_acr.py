"""The tables and figures of the crowdsourced P.910 study, made again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from beholder.examples import FinishedExample
from beholder.examples.contract import Exhibit

# `make test` makes those of another paper again, by the same steps.
pytestmark = [pytest.mark.long, pytest.mark.variant]


@pytest.fixture
def exhibits(finished_example: Callable[[str], FinishedExample]) -> dict[str, Exhibit]:
    return {one.name: one for one in finished_example("p910-acr").exhibits}


def test_every_table_and_figure_of_the_paper_is_there(exhibits: dict[str, Exhibit]) -> None:
    missing = {f"Table {place}" for place in range(1, 11)} | {f"Figure {place}" for place in range(1, 9)}
    assert not missing - exhibits.keys()


@pytest.mark.parametrize("name", ["Table 5", "Table 6", "Table 7", "Table 8", "Table 9", "Table 10"])
def test_tables_have_the_rows_of_the_paper(exhibits: dict[str, Exhibit], name: str) -> None:
    ours, theirs = exhibits[name].ours, exhibits[name].theirs
    assert ours is not None
    assert theirs is not None
    assert [row[0] for row in ours.rows] == [row[0] for row in theirs.rows]
