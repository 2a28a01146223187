"""What many questions measure, in words and in a notebook."""

from __future__ import annotations

from beholder.dimensionality.text import Dimensions


def test_it_reads_well_in_a_notebook(dimensions: Dimensions) -> None:
    assert repr(dimensions).splitlines()[0] == dimensions.words[0]
    assert repr(dimensions).splitlines()[-1] == f"Page: {dimensions.page}"
    assert "–" in repr(dimensions)
    assert dimensions.words[0] in dimensions._repr_html_()
