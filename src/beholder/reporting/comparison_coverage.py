"""Coverage of active pairs: how many comparisons hold neighbours in the order of conditions apart.

Two conditions may never have met, and be told apart by others that both met. Votes between two are like the conductance
of a wire: how much all ways together carry is the effective number of comparisons between them.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from beholder.formats import count, join_names, plural
from beholder.reporting.html import Child, Markup, render, table, tag
from beholder.reporting.material import Material
from beholder.reporting.section import Section
from beholder.reporting.sheets import TextTable
from beholder.stats.expected_information import posterior

FEWEST = 10.0
"""Effective comparisons below which a place in the order rests on little: chance alone may turn them round."""
_MOST_NAMED = 4


class Neighbours(NamedTuple):
    """Two conditions next to each other in the order, with the comparisons that tell them apart."""

    better: str
    worse: str
    direct: int
    effective: float


def coverage(ratings: pd.DataFrame, question: str) -> list[Neighbours]:
    """Return the neighbours in the order of strengths, the best first; none where nothing was compared."""
    mine = ratings[ratings["question"] == question]
    wins = _wins(mine)
    if wins.empty:
        return []
    names, won = list(wins.index), wins.to_numpy(np.float64)
    order = np.argsort(-posterior(won).strengths, kind="stable")
    votes = won + won.T
    conductance = effective_comparisons(votes)
    return [
        Neighbours(names[one], names[two], round(float(votes[one, two])), float(conductance[one, two]))
        for one, two in pairwise(order.tolist())
    ]


def effective_comparisons(votes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return between every two how many direct comparisons would tell as much as all that join them; 0 without any."""
    inverse = np.linalg.pinv(np.diag(votes.sum(axis=1)) - votes)
    own = np.diag(inverse)
    resistance = own[:, None] + own[None, :] - 2 * inverse
    reach = np.linalg.matrix_power((votes > 0) | np.eye(len(votes), dtype=bool), len(votes))
    with np.errstate(divide="ignore"):
        return np.where(reach & (resistance > 0), 1 / np.where(resistance > 0, resistance, np.inf), 0.0)


def _wins(rows: pd.DataFrame) -> pd.DataFrame:
    """Return how often each condition won over each other one; of a page with several, every two that it told apart."""
    if rows["kind"].isin(["choice", "diff"]).all() and len(rows):
        pairs = rows[["condition", "other_condition", "value"]].rename(columns={"value": "lead"})
    else:
        pages = (
            list(page[["condition", "value"]].itertuples(index=False, name=None))
            for _, page in rows.groupby(["session", "trial"], sort=False)
        )
        told = [(one, two, first - second) for page in pages for (one, first), (two, second) in combinations(page, 2)]
        pairs = pd.DataFrame([row for row in told if row[2]], columns=["condition", "other_condition", "lead"])
    pairs = pairs[pairs["condition"] != pairs["other_condition"]]
    names = sorted({*pairs["condition"], *pairs["other_condition"]})
    wins = pd.DataFrame(0.0, index=names, columns=names)
    for one, two, lead in pairs.itertuples(index=False, name=None):
        share = 0.5 if lead == 0 else float(lead > 0)
        wins.loc[one, two] += share
        wins.loc[two, one] += 1 - share
    return wins


def _coverage_section(material: Material) -> Markup | None:
    """Return the coverage of each question that was dealt actively; None of other studies."""
    if "draw_probability" not in material.used or material.used["draw_probability"].isna().all():
        return None
    parts: list[Child] = []
    for part in material.parts:
        found = coverage(material.used, part.id)
        if not found:
            continue
        thin = [one for one in found if one.effective < FEWEST]
        if thin:
            name = material.names.get
            pairs = [f"{name(one.better, one.better)} and {name(one.worse, one.worse)}" for one in thin[:_MOST_NAMED]]
            more = f" and {count(len(thin) - _MOST_NAMED, 'more pair')}" if len(thin) > _MOST_NAMED else ""
            words = (
                f"Few comparisons carry {count(len(thin), 'place')} in the order, fewer than {FEWEST:g} between "
                f"{plural(len(thin), 'two neighbours', 'neighbours')}: {join_names(pairs)}{more}. More votes are "
                "needed before their order is told."
            )
            parts.append(tag("p", tag("b", "Thin coverage. "), words))
        rows = [
            (material.labels.get(one.better, one.better), material.labels.get(one.worse, one.worse),
             f"{one.direct:,}", f"{one.effective:.1f}")
            for one in found
        ]  # fmt: skip
        heads = ("Condition", "Next", "Direct", "Effective")
        parts.append(table(f"Neighbours in the order: {part.caption}", TextTable(heads, rows, names=2)))
    return render(parts) if parts else None


COVERAGE = Section(
    "coverage",
    "What carries the order",
    _coverage_section,
    foot=(
        "Pairs were chosen while answers came in. Direct: how often the two met. Effective: as many would tell two "
        "conditions apart as well as all ways between them do, through others that both met. Strengths take into "
        "account whom each condition met; its share of choices does not, and is lower where it met strong ones. To "
        "have such a share against everybody, weigh each vote with 1 / draw_probability (ratings.csv)."
    ),
)
