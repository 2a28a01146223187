"""The findings of one question, in plain sentences that its tests support."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from beholder.analysis.result import records
from beholder.analysis.tests import TESTS
from beholder.formats import count, join_names, number, percent_half_up, plural, signed
from beholder.reporting.question_results import QuestionResults

_MOST_NAMES = 4
_CHANCE = 0.5


class Finding(NamedTuple):
    """One sentence to remember, and the numbers behind it."""

    headline: str
    detail: str


def findings(
    part: QuestionResults, labels: Mapping[str, str], reference: str | None, people: tuple[str, str]
) -> list[Finding]:
    """Return the findings of one question. `people` is what one and several participants are called."""
    order = part.order
    if not order:
        return [Finding("Nothing to report.", "No rating of this question could be used.")]
    if part.kind == "correct":
        return [_identified(part, row, labels) for row in records(part.conditions)]
    if part.reference is not None and len(order) == 1:
        return [_against_reference(part, labels, part.reference)]
    if len(order) == 1:
        return [_only_condition(part, labels)]
    if part.conditions["participants"].max() == 1:
        return [_one_participant(part, people)]
    if not part.tested:
        return [_no_tests(part, labels, people)]
    results = _few_participants(part, people)
    if part.reference is not None and any((name, part.reference) not in part.unnamed for name in order):
        results.append(_against_reference(part, labels, part.reference))
    if not part.clear:
        return [
            *results,
            *_hidden_reference(part, labels, reference),
            _no_differences(part, labels),
            *_disagreement(part, labels),
        ]
    results += [_reversed(part, labels)] if part.reversed else []
    tests = replace(part, roles={**part.roles, **({reference: "reference"} if reference else {})}).under_test
    results += _ranked(tests, labels)
    return [*results, *_hidden_reference(part, labels, reference), _pairs(part, labels), *_disagreement(part, labels)]


def _ranked(part: QuestionResults, labels: Mapping[str, str]) -> list[Finding]:
    """Return which of the conditions under test is ahead and which is behind."""
    if len(part.order) < 2:
        return [_only_condition(part, labels)]
    # The order of the means is no finding where a test says the opposite.
    is_led = not any(part.order[0] in pair for pair in part.reversed)
    last = _last(part, labels)
    found = [*([_lead(part, labels)] if is_led else []), *([last] if last else [])]
    # Reference and anchors are above and below what is ranked.
    among = "Of the conditions under test, " if part.roles else ""
    return [one._replace(headline=f"{among}{one.headline}") for one in found]


def _identified(part: QuestionResults, row: Mapping[str, Any], labels: Mapping[str, str]) -> Finding:
    """Return whether the share of correct answers differs from chance."""
    low, high = row["ci_low"], row["ci_high"]
    interval = f" (95 % interval {number(low, part.decimals)} to {number(high, part.decimals)})" if low == low else ""
    detail = f"{labels[row['condition']]}: the share correct is {number(row['mean'], part.decimals)}{interval}; "
    if low > _CHANCE:
        return Finding("They were told apart.", f"{detail}guessing gives 0.5.")
    if high < _CHANCE:
        return Finding("Answers were wrong more often than by guessing.", f"{detail}guessing gives 0.5.")
    return Finding("They were not clearly told apart.", f"{detail}guessing gives 0.5, which is not ruled out.")


def _against_reference(part: QuestionResults, labels: Mapping[str, str], reference: str) -> Finding:
    """Return how many conditions are better or worse than the reference that each was compared with."""
    differences = part.against_reference
    compared = [name for name in part.order if (name, reference) not in part.unnamed]
    worse = [name for name in compared if name in differences and differences[name][1] and differences[name][0] < 0]
    better = [name for name in compared if name in differences and differences[name][1] and differences[name][0] > 0]
    notes = [f"clearly better: {some_names([labels[name] for name in better])}"] if better else []
    level = [name for name in compared if name not in (*worse, *better)]
    notes += [f"not told apart from it{_level_words(part, labels, reference, level)}"] if level else []
    detail = "; ".join(notes) or "every one differs from it clearly"
    return Finding(
        f"{len(worse)} of {len(compared)} are clearly worse than the reference, {labels[reference]}.",
        f"{detail[0].upper()}{detail[1:]}.",
    )


def _only_condition(part: QuestionResults, labels: Mapping[str, str]) -> Finding:
    row = part.best_first.iloc[0]
    low, high = number(row["ci_low"], part.decimals), number(row["ci_high"], part.decimals)
    interval = f" (95 % interval {low} to {high})" if row["ci_low"] == row["ci_low"] else ""
    mean = number(row["mean"], part.decimals)
    headline = "One condition under test." if part.roles else "One condition, nothing to compare."
    return Finding(headline, f"{labels[row['condition']]} scores {mean}{interval}.")


def _one_participant(part: QuestionResults, people: tuple[str, str]) -> Finding:
    if set(part.inner_pairs["participants"]) == {1}:
        alone = f"Scores describe this one {people[0]} only: there is no interval and no test."
        return Finding(f"Only one {people[0]} was counted.", alone)
    return Finding(
        f"No condition was rated by more than one {people[0]}.", "There is no interval and no test of any score."
    )


def _few_participants(part: QuestionResults, people: tuple[str, str]) -> list[Finding]:
    """Return a warning if there are too few participants for any clear result of a sign or rank test."""
    n = max(part.counts.values())
    tests = len(part.tested) // 2
    smallest = 2.0 ** (1 - n)
    if smallest * tests < part.alpha:
        return []
    return [
        Finding(
            f"Very few {people[1]}.",
            f"With {count(n, *people)} and {count(tests, 'pair')}, tests lean on normally distributed differences: a "
            "first look, not a result.",
        )
    ]


def _no_tests(part: QuestionResults, labels: Mapping[str, str], people: tuple[str, str]) -> Finding:
    if part.is_compared:
        return Finding(
            "No two conditions could be compared.",
            f"{_range(part, labels)}; no two {people[1]} {part.both_words} of any pair.",
        )
    reasons = dict.fromkeys(part.inner_pairs["note"])
    return Finding("No two conditions could be compared.", f"{_range(part, labels)}; {'; '.join(reasons)}.")


def _no_differences(part: QuestionResults, labels: Mapping[str, str]) -> Finding:
    which = "the two of any contrast" if part.unnamed else "any two of them"
    if on_these := len(part.clear_on_these) // 2:
        tested = len(part.tested) // 2
        return Finding(
            f"No difference is clear {part.claim_words}.",
            f"{_range(part, labels)}; on {part.contents_words} {on_these} of {count(tested, 'tested pair')} "
            f"{plural(on_these, 'differs', 'differ')} clearly.{_untested(part)}",
        )
    return Finding(
        "No clear differences.", f"{_range(part, labels)}; this study cannot tell {which} apart.{_untested(part)}"
    )


def _range(part: QuestionResults, labels: Mapping[str, str]) -> str:
    first, last = part.best_first.iloc[0], part.best_first.iloc[-1]
    return (
        f"The conditions lie between {number(last['mean'], part.decimals)} ({labels[last['condition']]}) and "
        f"{number(first['mean'], part.decimals)} ({labels[first['condition']]})"
    )


def _reversed(part: QuestionResults, labels: Mapping[str, str]) -> Finding:
    """Return the pairs whose means and tests disagree, because some participants rated only one of the two."""
    (high, low), *others = part.reversed
    means = {row["condition"]: row["mean"] for row in records(part.conditions)}
    order = f"order {labels[high]} above" if means[high] > means[low] else f"put {labels[high]} level with"
    rest = some_names([f"{labels[one]} above {labels[other]}" for one, other in others], "; ") if others else ""
    return Finding(
        f"The plain means {order} {labels[low]}, but {part.adjusted_words} {labels[low]} is clearly above "
        f"{labels[high]}.",
        f"The means are {number(means[high], part.decimals)} and {number(means[low], part.decimals)}; "
        f"{part.adjusted_words} {labels[low]} is {_above_by(part, low, high, labels[high])}."
        " The means do not rest on the same people and contents, the pair does."
        + (f" As doubtful in the order of the means: {rest}." if rest else ""),
    )


def _lead(part: QuestionResults, labels: Mapping[str, str]) -> Finding:
    first, *others = part.order
    mean = _scores(part, part.best_first["mean"].iloc[0])
    compared = [name for name in others if (first, name) not in part.unnamed]
    rivals = [name for name in compared if (first, name) not in part.above]
    if not compared:
        return Finding(
            f"{labels[first]} {_highest_words(part)}.", f"{mean}; its differences from the others were not asked for."
        )
    if not rivals and compared != others:
        names, nearest = some_names([labels[name] for name in compared]), compared[0]
        return Finding(
            f"{labels[first]} {_highest_words(part)}, clearly above {names}.",
            f"{mean}; {_difference_sentence(part, first, nearest, labels[nearest])}.",
        )
    if not rivals:
        next_one = f"the next, {labels[others[0]]}"
        return Finding(
            f"{labels[first]} {'is ahead' if part.is_quality else _highest_words(part)}.",
            f"{mean}; {_difference_sentence(part, first, others[0], next_one)}.",
        )
    names = some_names([labels[name] for name in rivals])
    return Finding(
        f"{labels[first]} {_highest_words(part)}, but not clearly above {names}.",
        f"{mean}; {_unclear_difference(part, labels, first, rivals[0])}.",
    )


def _scores(part: QuestionResults, mean: float) -> str:
    """Return what a condition reaches, in the words of its metric."""
    value = number(mean, part.decimals)
    if part.kind == "pick":
        return f"It was {part.words.ticked} in {percent_half_up(mean)} of the {part.words.ticked_of}"
    return f"Its {part.metric_name.lower()} is {value}" if part.kind == "choice" else f"It scores {value}"


def _highest_words(part: QuestionResults) -> str:
    if part.kind == "pick":
        return f"was {part.words.ticked} most often"
    return f"was {part.words.chosen} most often" if part.kind == "choice" else "scores highest"


def _difference_sentence(part: QuestionResults, one: str, other: str, name: str, *, is_below: bool = False) -> str:
    """Return how far one is above or below the other; `name` is that of the second."""
    if part.kind == "choice":
        return f"those who {part.both_words} {part.words.chose} {_share_won(part, one, other, name)}"
    where = f"{_difference(part, one, other)} {'below' if is_below else 'above'} {name}"
    if (one, other) in part.direct:
        return f"those who {part.both_words} put it {where}"
    return f"it is {where}" + (", rated by other people" if (one, other) in part.between else "")


def _above_by(part: QuestionResults, one: str, other: str, name: str) -> str:
    """Return how far one is above the other, after `is`."""
    if part.kind == "choice":
        return f"{part.words.chosen} {_share_won(part, one, other, name)}"
    return f"{_difference(part, one, other)} above {name}"


def _share_won(part: QuestionResults, one: str, other: str, name: str) -> str:
    """Return the share of comparisons with the other that one won; a tie counts half."""
    return f"in {percent_half_up((part.differences[one, other] + 1) / 2)} of its comparisons with {name}"


def _unclear_difference(part: QuestionResults, labels: Mapping[str, str], one: str, other: str) -> str:
    if (one, other) not in part.tested:
        return f"its difference from {labels[other]} could not be tested"
    if part.kind == "choice":
        won = _difference_sentence(part, one, other, labels[other])
        if (one, other) in part.clear_on_these:
            return f"{won}: {part.verdict_words((one, other))}"
        return f"{won}, which this study cannot tell from one half"
    size = part.difference_words(part.differences[one, other], signed)
    difference = f"its difference from {labels[other]}, with people and contents held equal, is {size}"
    if part.is_compared or (one, other) in part.between:
        difference = f"its difference from {labels[other]} is {size}"
    if (one, other) in part.clear_on_these:
        return f"{difference}: {part.verdict_words((one, other))}"
    return f"{difference}, which this study cannot tell from none"


def _hidden_reference(part: QuestionResults, labels: Mapping[str, str], reference: str | None) -> list[Finding]:
    """Return the finding about the hidden reference, if there is one."""
    if reference is None or reference not in part.order or len(part.order) < 3:
        return []
    others = [name for name in part.order if name != reference and name not in part.roles]
    compared = [name for name in others if (reference, name) not in part.unnamed]
    return [_reference_finding(part, labels, reference, compared)] if compared else []


def _reference_finding(part: QuestionResults, labels: Mapping[str, str], reference: str, others: list[str]) -> Finding:
    """Return how many conditions under test are below the hidden reference, and whether any mean is above it."""
    below = [name for name in others if (reference, name) in part.above]
    level = [name for name in others if (name, reference) not in part.clear]
    near = "Every other one differs from it clearly."
    if level:
        near = f"Not told apart from it{_level_words(part, labels, reference, level)}."
    means = {row["condition"]: row["mean"] for row in records(part.conditions)}
    mean, best = number(means[reference], part.decimals), part.order[0]
    top = (
        "nothing scores higher" if reference == best else f"{labels[best]} scores {number(means[best], part.decimals)}"
    )
    return Finding(
        f"{len(below)} of {len(others)} are clearly below the reference, {labels[reference]}.",
        f"Hidden among the others, the reference scores {mean}; {top}. {near}",
    )


def _level_words(part: QuestionResults, labels: Mapping[str, str], reference: str, level: list[str]) -> str:
    """Return those that are not told apart from the reference, and where they are not."""
    is_elsewhere = any((name, reference) in part.clear_on_these for name in level)
    return f"{f' {part.claim_words}' if is_elsewhere else ''}: {some_names([labels[name] for name in level])}"


def _last(part: QuestionResults, labels: Mapping[str, str]) -> Finding | None:
    *others, last = part.order
    if len(others) < 2 or any((name, last) not in part.above for name in others):
        return None
    mean, before = _scores(part, part.best_first["mean"].iloc[-1]), others[-1]
    worst = f"was {part.words.ticked} least often" if part.kind == "pick" else "scores lowest"
    if part.kind == "choice":
        put = _difference_sentence(part, last, before, f"the next, {labels[before]}")
    else:
        put = _difference_sentence(part, before, last, f"the next, {labels[before]}", is_below=True)
    return Finding(f"{labels[last]} {'is behind all others' if part.is_quality else worst}.", f"{mean}; {put}.")


def _pairs(part: QuestionResults, labels: Mapping[str, str]) -> Finding:
    tested = len(part.tested) // 2
    clear = len(part.clear) // 2
    if clear == len(part.differences) // 2 == 1:
        verdict = part.verdict_words(next(iter(part.clear)))
        return Finding("The two differ clearly from each other.", f"{verdict[0].upper()}{verdict[1:]}.")
    if clear == len(part.differences) // 2:
        return Finding(
            f"Every condition differs clearly from every other {part.claim_words}.",
            f"All {tested} pairs, after correction{part.correction_note}.{_on_these(part)}",
        )
    level = [
        f"{labels[a]} and {labels[b]}"
        for a, b in pairwise(part.order)
        if (a, b) in part.tested and (a, b) not in part.clear
    ]
    where = f" {part.claim_words}" if part.clear != part.clear_on_these else ""
    near = f"Neighbours that this study cannot tell apart{where}: {some_names(level, '; ')}." if level else ""
    return Finding(
        f"{clear} of {tested} tested pairs {plural(clear, 'differs', 'differ')} clearly {part.claim_words}.",
        (near + _on_these(part) + _untested(part)).strip(),
    )


def _on_these(part: QuestionResults) -> str:
    """Return how many pairs are clear by the other step of the verdict, where the two differ."""
    on_these, beyond = len(part.clear_on_these) // 2, sum(part.verdicts[pair] == "beyond" for pair in part.tested) // 2
    if on_these == beyond:
        return ""
    if part.claim == "these":
        return f" Beyond them {beyond or 'none'} {plural(beyond or 1, 'does', 'do')}."
    return f" On these contents {on_these} {plural(on_these, 'does', 'do')}."


def _disagreement(part: QuestionResults, labels: Mapping[str, str]) -> list[Finding]:
    """Return the pairs on which the tests disagree."""
    judged: dict[tuple[str, str], dict[str, bool]] = {}
    for row in records(part.tests):
        pair = (row["condition"], row["other_condition"])
        # Where few pages have both conditions, some tests have nothing to say.
        if pair in part.tested and row["clear"] == row["clear"]:
            judged.setdefault(pair, {})[row["test"]] = row["clear"] > 0
    pairs, tested = [], 0
    for (one, other), results in judged.items():
        clear, rest = ([name for name in TESTS if results.get(name) is is_clear] for is_clear in (True, False))
        tested += len(results) > 1
        if clear and rest:
            both = f"{labels[one]} and {labels[other]}"
            pairs.append(f"{both} (clear by {join_names(clear)}, not by {join_names(rest)})")
    if not pairs:
        return []
    others = ", on all ratings: the others know pages with both conditions only, and the last three take them as "
    others = ": the last three take votes as " if part.is_compared else others
    others += "independent of each other"
    return [
        Finding(
            f"The five tests disagree on {len(pairs)} of {count(tested, 'pair')}.",
            f"{some_names(pairs, '; ')}. We go by the {TESTS[0]}{others}.",
        )
    ]


def _untested(part: QuestionResults) -> str:
    n = (len(part.differences) - len(part.tested) - len(part.unnamed)) // 2
    few = f" {count(n, 'pair')} could not be tested{_why_untested(part)}." if n else ""
    return few + (f" {count(len(part.unnamed) // 2, 'pair')} were not asked for." if part.unnamed else "")


def _why_untested(part: QuestionResults) -> str:
    """Return why pairs were not tested, as their notes say, the most frequent reason first."""
    if part.is_compared:
        return f": too few {part.both_words}"
    notes = part.inner_pairs[part.inner_pairs["p"].isna()]["note"]
    reasons = list(notes[notes != ""].value_counts().index)
    return f": {'; '.join(reasons[:2])}" if reasons else ""


def _difference(part: QuestionResults, one: str, other: str) -> str:
    """Return by how much one is above the other, with people and contents held equal."""
    return part.difference_words(part.differences[one, other])


def some_names(names: list[str], separator: str = "") -> str:
    """Return the names, or the first few and the number of the others."""
    shown = names if len(names) <= _MOST_NAMES else [*names[: _MOST_NAMES - 1], f"{len(names) - _MOST_NAMES + 1} more"]
    return separator.join(shown) if separator else join_names(shown)
