"""Whether the tests agree, as in HEMVIP's Table 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from beholder.analyse.correction import TESTS
from beholder.analyse.result import records
from beholder.report.markup import Markup, render, tag
from beholder.report.material import Material
from beholder.report.part import Part
from beholder.report.sheets import Sheet
from beholder.report.tables import table
from beholder.report.words import count, p_value

FOOT = (
    "✓ clear, – not, after correction within each test. We go by the clustered t. The other three take all pages as "
    "independent, although one person's are alike, and one content's; they are here to compare with other papers."
)


def agreeing(material: Material, part: Part) -> Markup | None:
    """Return on how many pairs all tests agree, and those on which they do not; None where fewer than two were made."""
    tests = material.results.also.get("tests")
    if tests is None:
        return None
    made = tests[(tests["question"] == part.id) & tests["clear"].notna()]
    pairs = _by_pair(made)
    if not pairs:
        return None
    split = {pair: found for pair, found in pairs.items() if len({row["clear"] for row in found.values()}) > 1}
    agree = f"The tests agree on {len(pairs) - len(split)} of {count(len(pairs), 'pair')}."
    parts = [tag("p", tag("b", agree), " ", _directions(pairs))]
    if split:
        caption = f"Pairs on which the tests do not agree, with p: {part.id}"
        parts.append(table(caption, _sheet(split, material.labels)))
    return render(parts)


def _by_pair(tests: pd.DataFrame) -> dict[tuple[str, str], dict[str, dict[str, Any]]]:
    """Return the tests of each pair by name, of the pairs with more than one."""
    found: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in records(tests):
        found.setdefault((row["condition"], row["other_condition"]), {})[row["test"]] = row
    return {pair: some for pair, some in found.items() if len(some) > 1}


def _directions(pairs: Mapping[tuple[str, str], Mapping[str, Mapping[str, Any]]]) -> str:
    """Return whether all tests see the same side ahead; a share is ahead above one half."""
    turned = 0
    for tests in pairs.values():
        signs = {(row["estimate"] > middle) - (row["estimate"] < middle)
                 for name, row in tests.items() for middle in (0.5 if name == "sign" else 0,)}  # fmt: skip
        turned += {1, -1} <= signs
    if not turned:
        return "They see the same condition ahead in every one."
    return f"In {count(turned, 'pair')} they do not see the same condition ahead."


def _sheet(split: Mapping[tuple[str, str], Mapping[str, Mapping[str, Any]]], labels: Mapping[str, str]) -> Sheet:
    rows = [
        (labels.get(one, one), labels.get(other, other), *(_cell(tests.get(name)) for name in TESTS))
        for (one, other), tests in split.items()
    ]
    return Sheet(("Condition", "and", *TESTS), rows, names=2)


def _cell(test: Mapping[str, Any] | None) -> str:
    if test is None:
        return ""
    p = test["p_holm"] if test["p_holm"] == test["p_holm"] else test["p"]
    return f"{'✓' if test['clear'] == 1 else '–'} {p_value(p)}"
