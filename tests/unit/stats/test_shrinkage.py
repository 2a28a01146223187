"""The shrunken rater model."""

from __future__ import annotations

import numpy as np

from beholder.stats.shrinkage import shrunken
from support.rater_votes import coded, table


def test_vqeg_hd3_equals_the_reference_of_the_shrunken_model() -> None:
    votes, raters, stimuli = coded(table("vqeghd3_raw.csv"))
    fitted = shrunken(votes)
    known = table("vqeghd3_shrunken_quality.csv").set_index("stimulus").loc[list(stimuli)]
    people = table("vqeghd3_shrunken_subjects.csv").set_index("subject").loc[list(raters)]
    np.testing.assert_allclose(fitted.quality, known["quality"], atol=1e-8)
    np.testing.assert_allclose(fitted.se, known["se"], atol=1e-8)
    np.testing.assert_allclose(fitted.bias, people["bias"], atol=1e-8)
    np.testing.assert_allclose(fitted.inconsistency, people["inconsistency"], atol=1e-8)
