"""ReSEval's tests on every medium."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from beholder.examples import FinishedExample

# The same steps as of the other examples, on five more methods and media.
pytestmark = [pytest.mark.long, pytest.mark.variant]


def test_every_test_on_every_medium_finds_the_better_one(finished_example: Callable[[str], FinishedExample]) -> None:
    exhibits = {one.name: one for one in finished_example("reseval").exhibits}
    table = exhibits["Section 3, media"].ours
    assert table is not None
    assert [row[0] for row in table.rows] == ["A/B", "ABX", "MOS", "MUSHRA"]
    assert {cell for row in table.rows for cell in row[1:]} == {"found"}
    found = exhibits["Section 3, analysis"].ours
    assert found is not None
    assert {row[0] for row in found.rows} == {"ab-image", "ab-text", "abx-image", "mos-video", "mushra-audio"}
