"""The tests of one question: a row for each contrast with all tests, as papers print it, and whether they agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from beholder.analysis.result import records
from beholder.analysis.tests import TESTS
from beholder.formats import NONE, count, interval, join_names, number, p_value, percent_half_up, plural, signed
from beholder.reporting.html import MOST_ROWS, Markup, folded, render, table, tag
from beholder.reporting.material import Material
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.section import QuestionSection
from beholder.reporting.sheets import TextTable, combined, without_empty_columns

_CLUSTERED, _, _PAIRED, _RANKS, _SIGN = TESTS
_PRINTED = (_PAIRED, _RANKS, _SIGN, _CLUSTERED)
"""The tests of the table: those of papers, and the one by which we go."""
_MOST_SPLIT = 4
"""Pairs on which tests do not agree that are shown open: the sentence above them says what matters."""

_Tests = Mapping[str, Mapping[str, Any]]
"""The tests of one contrast, by name."""


# Every contrast by several tests, as HEMVIP's Table 3 has them


def contrasts_sheet(material: Material, part: QuestionResults, *, is_of_all: bool = False) -> TextTable | None:
    """Return a row for each contrast that the study is about, or of all pairs, each corrected as what it is.

    The mean difference over pages with its interval, and the share of pages on which the first is above the second
    with Clopper and Pearson's; None where no page has two conditions.
    """
    shown = _printed_contrasts(material, part, is_of_all=is_of_all)
    if not shown:
        return None
    p, clear = ("all_p_holm", "all_clear") if is_of_all else ("p_holm", "clear")
    decimals = part.decimals
    rows = []
    for (one, other), tests in shown.items():
        paired, sign = tests[_PAIRED], tests[_SIGN]
        half = (paired["ci_high"] - paired["ci_low"]) / 2
        share = percent_half_up(sign["estimate"]) if sign["estimate"] == sign["estimate"] else NONE
        ends = interval(100 * sign["ci_low"], 100 * sign["ci_high"], 0)
        mean = signed(paired["estimate"], decimals)
        rows.append(
            (
                material.labels.get(one, one), material.labels.get(other, other), f"{paired['n']:,.0f}",
                mean if half != half else f"{mean} ± {number(half, decimals)}",
                *(_corrected(tests[name], p, clear) for name in (_PAIRED, _RANKS)),
                share if ends == NONE else f"{share} ({ends})", _corrected(sign, p, clear),
                _corrected(tests[_CLUSTERED], p, clear),
            )
        )  # fmt: skip
    heads = (
        "Condition", "minus", "Pages", "Mean difference", "p, paired t", "p, Wilcoxon", "Pages above", "p, sign",
        "p, clustered t",
    )  # fmt: skip
    return without_empty_columns(TextTable(heads, rows, names=2))


def _printed_contrasts(
    material: Material, part: QuestionResults, *, is_of_all: bool
) -> dict[tuple[str, str], dict[str, dict[str, Any]]]:
    """Return the tests of each contrast by name: of the named ones, or of all pairs; of pairs that share pages."""
    tests = material.results.also.get("tests")
    if tests is None or "all_clear" not in tests:
        return {}
    own = tests[(tests["question"] == part.id) & tests["all_clear" if is_of_all else "clear"].notna()]
    return {pair: some for pair, some in _tests_by_pair(own).items() if all(name in some for name in _PRINTED)}


def _corrected(test: Mapping[str, Any], p: str, clear: str) -> str:
    """Return the p-value of a test; what is not clear has a dagger, and what is not corrected for its own p."""
    value = test[p] if test[p] == test[p] else test["p"]
    return f"{p_value(value)}{'' if test[clear] == 1 else ' †'}"


def contrast_tables(material: Material, part: QuestionResults) -> Markup | None:
    """Return the contrasts by several tests: those that the study names, and all pairs; None where there are none."""
    every = contrasts_sheet(material, part, is_of_all=True)
    named = contrasts_sheet(material, part) if material.study.analyse.contrasts else None
    if every is None:
        return None
    parts: list[Markup] = [tag("p", _clear_sentence(material, part, is_of_all=True))]
    if named is not None:
        parts = [
            tag("p", _clear_sentence(material, part, is_of_all=False)),
            table(f"Named contrasts, corrected over these {len(named.rows)}: {part.caption}", named),
            *parts,
        ]
    whole = table(f"All pairs of conditions, corrected over all {len(every.rows)}: {part.caption}", every)
    if named is not None or len(every.rows) > MOST_ROWS:
        whole = folded(f"All {len(every.rows)} pairs", whole)
    return render([*parts, whole])


def _clear_sentence(material: Material, part: QuestionResults, *, is_of_all: bool) -> str:
    """Return how many contrasts each test calls clear, within the family of these."""
    shown = list(_printed_contrasts(material, part, is_of_all=is_of_all).values())
    clear = "all_clear" if is_of_all else "clear"
    counts = [f"{sum(tests[name][clear] == 1 for tests in shown)} by {name}" for name in _PRINTED]
    of = count(len(shown), "pair") if is_of_all else count(len(shown), "named contrast")
    return f"Of {of}, clear after correction over {plural(len(shown), 'it', 'them')}: {join_names(counts)}."


def paper_contrasts(material: Material) -> dict[str, TextTable]:
    """Return the contrasts of all questions for a paper: `tests`, and `tests_all` where contrasts are named."""
    sheets, has_named = {}, bool(material.study.analyse.contrasts)
    for name, is_of_all in (("tests", not has_named), *((("tests_all", True),) if has_named else ())):
        own = [(part, contrasts_sheet(material, part, is_of_all=is_of_all)) for part in material.parts]
        there = [(part, sheet) for part, sheet in own if sheet is not None]
        if there:
            sheets[name] = combined([part for part, _ in there], [sheet for _, sheet in there])
    return sheets


CONTRASTS = QuestionSection(
    "contrasts",
    "Every contrast by several tests",
    contrast_tables,
    foot=lambda material, _: (
        f"† not clear, α = 0.05 after Holm's correction within each test{_families(material)}. "
        "Mean difference with its 95 % interval, paired t, Wilcoxon's signed rank and sign test are over pages that "
        "have both, as in papers, each page taken as independent of the others; pages above: share on which the first "
        "has more, without ties, with Clopper and Pearson's interval. We go by the clustered t, on all ratings."
    ),
)


def _families(material: Material) -> str:
    """Return how often was corrected, where contrasts are named."""
    return "; named contrasts and all pairs are families of their own" if material.study.analyse.contrasts else ""


# Agreement of tests


def agreement_of_tests(material: Material, part: QuestionResults) -> Markup | None:
    """Return on how many pairs all tests agree, and those on which they do not; None with fewer than two tests."""
    tests = material.results.also.get("tests")
    if tests is None:
        return None
    tested = tests[(tests["question"] == part.id) & tests["clear"].notna()]
    pairs = _tests_by_pair(tested)
    if not pairs:
        return None
    split = {pair: results for pair, results in pairs.items() if len({row["clear"] for row in results.values()}) > 1}
    agree = f"The tests agree on {len(pairs) - len(split)} of {count(len(pairs), 'pair')}."
    parts = [tag("p", tag("b", agree), " ", _directions_sentence(pairs))]
    if split:
        caption = f"Pairs on which the tests do not agree, with p: {part.caption}"
        shown = table(caption, _tests_sheet(split, material.labels))
        parts.append(folded(f"{count(len(split), 'pair')} by each test", shown) if len(split) > _MOST_SPLIT else shown)
    return render(parts)


TEST_AGREEMENT = QuestionSection(
    "tests",
    "Do the tests agree?",
    agreement_of_tests,
    foot=lambda _, part: (
        f"✓ clear, – not, after correction within each test{_scope(part)} The last three take every page as "
        "independent of all others, although one person's are alike, and one content's: they are here to compare with "
        "other papers."
    ),
)


def _scope(part: QuestionResults) -> str:
    """Return for whom the first tests are, by which one we go, and what the next one leaves out."""
    first = "; the first two are for people and contents like these. We go by the clustered t, on all ratings."
    if part.is_among_equals:
        return first
    return f"{first} The page-paired t leaves out pages that have one condition only."


def _tests_by_pair(tests: pd.DataFrame) -> dict[tuple[str, str], dict[str, dict[str, Any]]]:
    """Return the tests of each pair by name, of the pairs with more than one."""
    by_pair: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in records(tests):
        by_pair.setdefault((row["condition"], row["other_condition"]), {})[row["test"]] = row
    return {pair: some for pair, some in by_pair.items() if len(some) > 1}


def _directions_sentence(pairs: Mapping[tuple[str, str], Mapping[str, Mapping[str, Any]]]) -> str:
    """Return whether all tests agree on the direction; a share is ahead above one half."""
    turned = 0
    for tests in pairs.values():
        signs = {(row["estimate"] > middle) - (row["estimate"] < middle)
                 for name, row in tests.items() for middle in (0.5 if name == "sign" else 0,)}  # fmt: skip
        turned += {1, -1} <= signs
    if not turned:
        return "They see the same condition ahead in every one."
    return f"In {count(turned, 'pair')} they do not see the same condition ahead."


def _tests_sheet(
    split: Mapping[tuple[str, str], Mapping[str, Mapping[str, Any]]], labels: Mapping[str, str]
) -> TextTable:
    rows = [
        (labels.get(one, one), labels.get(other, other), *(_test_cell(tests.get(name)) for name in TESTS))
        for (one, other), tests in split.items()
    ]
    return TextTable(("Condition", "and", *TESTS), rows, names=2)


def _test_cell(test: Mapping[str, Any] | None) -> str:
    if test is None:
        return ""
    p = test["p_holm"] if test["p_holm"] == test["p_holm"] else test["p"]
    return f"{'✓' if test['clear'] == 1 else '–'} {p_value(p)}"
