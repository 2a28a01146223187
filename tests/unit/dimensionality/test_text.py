"""What many questions measure, in words and in a notebook."""

from __future__ import annotations

from beholder.dimensionality.text import Dimensions


def test_it_reads_well_in_a_notebook(found: Dimensions) -> None:
    assert repr(found).splitlines()[0] == found.words[0]
    assert repr(found).splitlines()[-1] == f"Page: {found.page}"
    assert "–" in repr(found)
    assert found.words[0] in found._repr_html_()
