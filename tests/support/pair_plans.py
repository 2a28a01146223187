"""Studies that compare pairs, over designs of all kinds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from beholder.methods.pairs import pair_units
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from support.plans import make_catalogue, make_study


@st.composite
def comparisons(draw: st.DrawFn, complete: bool = True) -> tuple[Study, Catalogue]:
    conditions, contents = draw(st.integers(2, 5)), draw(st.integers(2, 6))
    cells = [(i, j) for i in range(1, contents) for j in range(conditions)]
    missing = frozenset() if complete else draw(st.frozensets(st.sampled_from(cells), max_size=len(cells) // 3))
    catalogue = make_catalogue(contents, conditions, missing)
    star = draw(st.sampled_from(["all", {"star": f"condition{draw(st.integers(0, conditions - 1))}"}]))
    rule = draw(st.sampled_from(["once", "apart", "free"]))
    units = Counter(unit.content for unit in pair_units(make_study(pairs=star), catalogue))
    whole = sum(units.values())
    if rule == "once":
        most = len(units)
    elif rule == "free":
        most = whole
    else:
        most = max(n for n in range(1, whole + 1) if sum(min(c, -(-n // 2)) for c in units.values()) >= n)
    if rule == "apart" and len(units) == 1:
        most = 1
    return make_study(
        participants=draw(st.integers(1, 40)),
        trials=draw(st.integers(1, most)),
        pairs=star,
        contents=rule,
        seed=draw(st.integers(0, 5)),
    ), catalogue


def table_study(folder: Path, text: str, **design: Any) -> Study:
    """Return a study whose pairs are in `pairs.csv`."""
    (folder / "pairs.csv").write_text(text, "utf-8")
    study = make_study(pairs="pairs.csv", **design)
    study._folder = folder
    return study


def compared_conditions(study: Study, catalogue: Catalogue) -> set[frozenset[str]]:
    """Return the compared pairs of conditions."""
    return {frozenset(catalogue.by_id[s].condition for s in unit.stimuli) for unit in pair_units(study, catalogue)}
