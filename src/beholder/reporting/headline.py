"""The key finding of each question with its uncertainty, and the block at the top of the page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from beholder.analysis.condition_difference import CLAIM_COLUMNS
from beholder.analysis.result import records
from beholder.analysis.tests import Claim
from beholder.formats import count, number, p_value, percent_half_up, plural, signed
from beholder.reporting.findings import findings, some_names
from beholder.reporting.html import Markup, tag
from beholder.reporting.material import Material
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.questionnaire import people_words, short_names

_CHANCE = 0.5
_DECIMALS = 9
"""A difference that is none on paper may be one in the last bits."""
_MOST_LINES = 5
"""Questions that have a line at the top."""


class _Difference(NamedTuple):
    """The difference of two conditions; interval and p are NaN without a test."""

    one: str
    other: str
    difference: float
    low: float
    high: float
    p: float
    """Corrected where the pair is corrected for."""

    @property
    def reach(self) -> float:
        """The largest difference, to either side, that is not ruled out."""
        return max(abs(self.low), abs(self.high))

    @property
    def turned(self) -> _Difference:
        return _Difference(self.other, self.one, -self.difference, -self.high, -self.low, self.p)


def headline_section(material: Material) -> Markup:
    """Return the block at the top of the page: a line for each of the first five questions, and how to read them."""
    parts = material.parts
    key_findings = [(part, key_finding(material, part)) for part in parts[:_MOST_LINES]]
    shorts = short_names(material)
    label = "Rehearsal with robots, no result" if material.is_simulated else "Key finding"
    if len(parts) == 1:
        block: Markup = tag("p", _unbroken(key_findings[0][1]), class_="headline__said")
    else:
        lines = [tag("li", tag("q", shorts[part.id]), " ", _unbroken(sentence)) for part, sentence in key_findings]
        lines += [tag("li", f"And {len(parts) - _MOST_LINES} more below.")] if len(parts) > _MOST_LINES else []
        block = tag("ul", lines, class_="headline__said")
        label = label if material.is_simulated else "Key findings"
    foot = tag("p", _headline_foot(material, [sentence for _, sentence in key_findings]), class_="headline__foot")
    return tag(
        "section", tag("h2", label, id="key-h"), block, foot, class_="headline", id="key", aria_labelledby="key-h"
    )


def _unbroken(sentence: str) -> str:
    """Return the sentence with numbers and their signs kept on one line."""
    for sign in ("p < ", "p = "):
        sentence = sentence.replace(sign, sign.replace(" ", "\u00a0"))
    return sentence.replace(" %", "\u00a0%")


def _headline_foot(material: Material, sentences: list[str]) -> str:
    """Return how to read brackets and p, if there are any."""
    notes = []
    if any(" to " in one and "(" in one for one in sentences):
        notes.append(f"Brackets: 95 % intervals{_population_words(material)}.")
    if any("p = " in one or "p < " in one for one in sentences):
        notes.append(f"p: {_test_words(material)}")
    if any(part.kind == "choice" for part in material.parts):
        ties = material.results.also.get("preferences")
        notes += ["A tie counts half."] if ties is not None and (ties["ties"] > 0).any() else []
    return " ".join(notes)


def _population_words(material: Material) -> str:
    """Return for which people and contents the intervals are."""
    if material.used["content"].nunique() == 1:
        return " for people like these, with this one content"
    claims = {part.claim for part in material.parts}
    return (
        " for people like these, with these contents" if claims == {"these"} else " for people and contents like these"
    )


def _test_words(material: Material) -> str:
    contents = {int(n) for part in material.parts for n in part.pairs["contents"]}
    claims = {part.claim for part in material.parts}
    over = "participant" if contents == {1} or claims == {"these"} else "participant and content"
    is_partly = any(_is_uncorrected(part) for part in material.parts)
    among = " among the conditions under test" if is_partly else ""
    return f"t test clustered by {over}{_df_words(material, claims)}, Holm-corrected{among}; intervals are not."


def _df_words(material: Material, claims: set[Claim]) -> str:
    """Return the degrees of freedom of the tests; the table has those of contents like these."""
    tested = [
        float(row["df"])
        for part in material.parts
        for row in records(part.inner_pairs)
        if (row["condition"], row["other_condition"]) in part.tested and not math.isnan(row["df"])
    ]
    if not tested or claims != {"beyond"}:
        return ""
    low, high = number(min(tested), 0), number(max(tested), 0)
    return f" ({low if low == high else f'{low} to {high}'} {'degree' if high == '1' else 'degrees'} of freedom)"


def _is_uncorrected(part: QuestionResults) -> bool:
    """Return whether a pair was tested without correction: one with a reference or an anchor."""
    rows = records(part.inner_pairs[part.inner_pairs["p"].notna() & part.inner_pairs["p_holm"].isna()])
    return any((row["condition"], row["other_condition"]) in part.tested for row in rows)


def key_finding(material: Material, part: QuestionResults) -> str:
    """Return the key finding of one question, in words that its tests support."""
    names, people = material.names, people_words(material)
    hidden = next((name for name in part.order if part.roles.get(name) == "reference"), None)
    if not part.order or (part.kind != "correct" and part.conditions["participants"].max() == 1):
        finding = findings(part, names, hidden, people)[0]
        return f"{finding.headline} {finding.detail}"
    if part.kind == "correct":
        return _identified(part, names)
    if part.reference is not None:
        return _against_reference(part, names, part.reference)
    differences = _differences(part)
    tests = replace(part, roles={**part.roles, **({hidden: "reference"} if hidden else {})}).under_test
    if part.unnamed:
        return _contrasts(part, names, differences)
    sentences = [_under_test(material, tests, names, differences)]
    sentences += ["Less is better here."] if part.keyed == "-" and not part.is_turned else []
    if hidden is not None and hidden not in tests.order and (tests.order[0], hidden) in differences:
        sentences.append(_against_hidden_reference(part, names, differences[tests.order[0], hidden]))
    return " ".join(sentences)


def _under_test(
    material: Material,
    part: QuestionResults,
    names: Mapping[str, str],
    differences: Mapping[tuple[str, str], _Difference],
) -> str:
    """Return which condition under test is ahead, with its uncertainty."""
    first, *others = part.order
    own = [
        gap
        for gap in differences.values()
        if gap.one in part.order and gap.other in part.order and round(gap.difference, _DECIMALS) >= 0
    ]
    if not others:
        return f"{names[first]} {_score_words(material, part, first)}; there is no other condition under test."
    if not own:
        scores = f"{names[first]} {_score_words(material, part, first)}"
        return f"{scores}, the highest{_among(part)}; no two conditions could be compared."
    turned = next((pair for pair in part.reversed if first in pair), None)
    if turned is not None:
        gap = differences[turned[::-1]]
        return (
            f"Means and tests disagree: {names[first]} has the highest mean, {_mean(part, first)}, but "
            f"{part.adjusted_words} {names[gap.one]} is {_with_p(part, gap, f'above {names[gap.other]}')}."
        )
    clear = [gap for gap in own if (gap.one, gap.other) in part.above]
    if not clear:
        return _no_differences(part, names, own)
    rivals = [name for name in others if (first, name) not in part.above]
    if not rivals:
        return _lead(material, part, names, differences[first, others[0]])
    return _unclear_lead(material, part, names, differences, rivals)


def _lead(material: Material, part: QuestionResults, names: Mapping[str, str], gap: _Difference) -> str:
    """Return the sentence on a condition that is clearly above all others."""
    is_one = len(part.order) == 2
    next_one = names[gap.other] + ("" if is_one else ", the next")
    if part.kind == "choice" and is_one:
        return f"{names[gap.one]} {_won_against(part, names, gap)}."
    if part.kind == "choice":
        won = _with_p(part, gap, f"of its comparisons with {next_one}")
        return f"{names[gap.one]} was {part.words.chosen} most often: in {won}."
    return f"{names[gap.one]} {_score_words(material, part, gap.one)}, {_with_p(part, gap, f'above {next_one}')}."


def _unclear_lead(
    material: Material,
    part: QuestionResults,
    names: Mapping[str, str],
    differences: Mapping[tuple[str, str], _Difference],
    rivals: list[str],
) -> str:
    """Return the sentence on a highest condition that is not clearly above all others."""
    first = part.order[0]
    tested = [name for name in rivals if (first, name) in differences]
    highest = f"was {part.words.chosen} most often" if part.kind == "choice" else _score_words(material, part, first)
    text = f"{names[first]} {highest}{'' if part.kind in ('choice', 'pick') else f', the highest{_among(part)}'}"
    if tested:
        gap = differences[first, tested[0]]
        # Where one of them is clear on these contents, it is beyond them that all are not told apart.
        known = next((name for name in tested if (first, name) in part.clear_on_these), tested[0])
        apart = _not_told_apart_from(part, differences[first, known])
        text += f", but is {apart} {some_names([names[name] for name in tested])}"
        text += f" ({_nearest(names, tested)}{_unclear_words(part, gap)})"
    else:
        text += f"; it could not be compared with {some_names([names[name] for name in rivals])}"
    below = next((name for name in part.order if (first, name) in part.above), None)
    if below is None:
        return f"{text}."
    gap = differences[first, below]
    if part.kind == "choice":
        return f"{text}. It won {_with_p(part, gap, f'against {names[below]}')}."
    return f"{text}. It is {_with_p(part, gap, f'above {names[below]}')}."


def _among(part: QuestionResults) -> str:
    """Return among what a condition is the highest where reference and anchors are not ranked."""
    return " under test" if part.roles else ""


def _nearest(names: Mapping[str, str], tested: list[str]) -> str:
    return "" if len(tested) == 1 else f"{names[tested[0]]}: "


def _no_differences(part: QuestionResults, names: Mapping[str, str], own: list[_Difference]) -> str:
    """Return that no difference is clear, and how large one is not ruled out; not that all are equal."""
    largest = max(own, key=lambda gap: round(gap.difference, _DECIMALS))
    both = f"{names[largest.one]} and {names[largest.other]}"
    on_these = [gap for gap in own if (gap.one, gap.other) in part.clear_on_these]
    if len(part.order) == 2:
        text = f"{both} are {_not_told_apart(part, largest)}: "
    elif on_these:
        text = (
            f"{count(len(on_these), 'pair')} of {len(own)} {plural(len(on_these), 'is', 'are')} clear on "
            f"{part.contents_words}; beyond them all are undecided. The largest difference is between {both}: "
        )
    else:
        text = f"No two of {len(part.order)} conditions are told apart; the largest difference is between {both}: "
    verdict = f" ({part.verdict_words((largest.one, largest.other))})" if largest in on_these else ""
    won = f"{names[largest.one]} won " if part.kind == "choice" else ""
    text += f"{won}{_size_words(part, largest)}{verdict}."
    return f"{text}{_not_ruled_out(part, own)}"


def _not_ruled_out(part: QuestionResults, gaps: list[_Difference]) -> str:
    """Return how large a difference the intervals leave open: it has their ends, which stay on the scale."""
    reach = max((gap.reach for gap in gaps if not math.isnan(gap.reach)), default=0.0)
    if not reach:
        return ""
    if part.kind == "choice":
        return f" A share of up to {percent_half_up((reach + 1) / 2)} for one of two is not ruled out."
    return f" A difference of up to {part.difference_words(reach)} is not ruled out."


def _not_told_apart(part: QuestionResults, gap: _Difference) -> str:
    """Return that two are not told apart; where they are on these contents, that it is beyond them."""
    return f"not told apart{f' {part.claim_words}' if (gap.one, gap.other) in part.clear_on_these else ''}"


def _contrasts(
    part: QuestionResults, names: Mapping[str, str], differences: Mapping[tuple[str, str], _Difference]
) -> str:
    """Return the sentences on the contrasts that the study names."""
    contrasts = [
        differences[pair]
        for row in records(part.pairs)
        if (pair := (row["condition"], row["other_condition"])) in part.tested and pair in differences
    ]
    if not contrasts:
        return "None of the contrasts that this study is about could be tested."
    sentences = []
    for gap in contrasts[:3]:
        ahead = gap if gap.difference >= 0 else gap.turned
        if (ahead.one, ahead.other) not in part.above:
            both = f"{names[gap.one]} and {names[gap.other]}"
            sentences.append(f"{both} are {_not_told_apart(part, gap)} ({_unclear_words(part, gap)})")
        elif part.kind == "choice":
            sentences.append(f"{names[ahead.one]} {_won_against(part, names, ahead)}")
        else:
            sentences.append(f"{names[ahead.one]} is {_with_p(part, ahead, f'above {names[ahead.other]}')}")
    more = f" {count(len(contrasts) - 3, 'more contrast')} below." if len(contrasts) > 3 else ""
    return f"{'. '.join(sentences)}.{more}"


def _against_hidden_reference(part: QuestionResults, names: Mapping[str, str], gap: _Difference) -> str:
    """Return how the best condition compares with the hidden reference."""
    if (gap.one, gap.other) not in part.clear:
        reference = f"the reference, {names[gap.other]}"
        return f"It is {_not_told_apart_from(part, gap)} {reference} ({_unclear_words(part, gap)})."
    where = "above" if gap.difference > 0 else "below"
    if part.kind == "choice":
        return f"Against the reference, {names[gap.other]}, it won {_size_words(part, gap)}{_verdict(part, gap)}."
    return f"It is {_with_p(part, gap, f'{where} the reference, {names[gap.other]}')}."


def _against_reference(part: QuestionResults, names: Mapping[str, str], reference: str) -> str:
    """Return how the best condition compares with the common reference, and how many are worse."""
    differences = _differences(part)
    first = part.order[0]
    gap = differences.get((first, reference))
    if gap is None:
        mean = _mean(part, first)
        return f"{names[first]} scores {mean} against the reference, {names[reference]}; there is no test."
    if (first, reference) not in part.clear:
        what = f"{_not_told_apart_from(part, gap)} the reference, {names[reference]}"
        text = f"{names[first]} is {what} ({_unclear_words(part, gap)})"
    else:
        where = "above" if gap.difference > 0 else "below"
        text = f"{names[first]} is {_with_p(part, gap, f'{where} the reference, {names[reference]}')}"
    if len(part.order) == 1:
        return f"{text}.{'' if (first, reference) in part.clear else _not_ruled_out(part, [gap])}"
    worse = [name for name in part.order if (reference, name) in part.above]
    return f"{text}; {len(worse)} of {len(part.order)} are clearly worse than it."


def _identified(part: QuestionResults, names: Mapping[str, str]) -> str:
    """Return whether the share of correct answers differs from chance."""
    rows = records(part.best_first)
    best = rows[0]
    share = _mean_words(part, best["mean"], best["ci_low"], best["ci_high"])
    right = f"{names[best['condition']]}: {share} of the answers were right, guessing gives 50 %"
    if math.isnan(best["ci_low"]):
        return f"{right}; one participant, no interval."
    clear = [row for row in rows if row["ci_low"] > _CHANCE]
    if best["ci_high"] < _CHANCE:
        text = f"{right}: wrong more often than by guessing."
    elif best["ci_low"] > _CHANCE:
        text = f"{right}: they were told apart."
    else:
        text = f"{right}, which is not ruled out; nor is a share of {percent_half_up(best['ci_high'])}."
    return text if len(rows) == 1 else f"{text} Told apart: {len(clear)} of {len(rows)}."


def _score_words(material: Material, part: QuestionResults, name: str) -> str:
    """Return the mean of a condition, with median and DMOS if the method has them."""
    mean = _mean(part, name)
    if part.kind == "pick":
        return f"was {part.words.ticked} in {mean} of the {part.words.ticked_of}"
    also = [
        f"{metric} {value}"
        for table, column, metric in (("medians", "median", "median"), ("dmos", "mean", "DMOS"))
        if (value := _other_measure(material, part, name, table, column))
    ]
    return f"scores {mean}" + (f", {'; '.join(also)}" if also else "")


def _other_measure(material: Material, part: QuestionResults, name: str, table: str, column: str) -> str:
    rows = material.results.also.get(table)
    if rows is None:
        return ""
    mine = rows[(rows["level"] == "condition") & (rows["question"] == part.id) & (rows["condition"] == name)]
    if mine.empty:
        return ""
    row = records(mine)[0]
    return _mean_words(part, row[column], row["ci_low"], row["ci_high"], prefix="")


def _mean(part: QuestionResults, name: str) -> str:
    row = next(row for row in records(part.conditions) if row["condition"] == name)
    low, high, *_ = CLAIM_COLUMNS[part.claim]
    return _mean_words(part, row["mean"], row[low], row[high])


def _with_p(part: QuestionResults, gap: _Difference, where: str) -> str:
    """Return `8.4 points (5.1 to 11.7) above the next, p < 0.001: clear, also beyond these 6 contents`."""
    size, _, p = _size_words(part, gap).rpartition(", ")
    return f"{size} {where}, {p}{_verdict(part, gap)}"


def _verdict(part: QuestionResults, gap: _Difference) -> str:
    return f": {part.verdict_words((gap.one, gap.other))}"


def _not_told_apart_from(part: QuestionResults, gap: _Difference) -> str:
    """Return `not told apart from`, or `not told apart, beyond these 4 contents, from`."""
    is_elsewhere = (gap.one, gap.other) in part.clear_on_these
    return f"not told apart, {part.claim_words}, from" if is_elsewhere else "not told apart from"


def _won_against(part: QuestionResults, names: Mapping[str, str], gap: _Difference) -> str:
    """Return `was preferred to the other in 64 % (58 to 70 %) of their comparisons, p < 0.001`."""
    return f"was {part.words.chosen_over} {names[gap.other]} in {_with_p(part, gap, 'of their comparisons')}"


# Differences in words


def _differences(part: QuestionResults) -> dict[tuple[str, str], _Difference]:
    """Return the tested differences of a question in both directions."""
    differences = {}
    for row in records(part.inner_pairs):
        if (row["condition"], row["other_condition"]) in part.tested:
            low, high, plain, corrected = (float(row[name]) for name in CLAIM_COLUMNS[part.claim])
            p = plain if math.isnan(corrected) else corrected
            gap = _Difference(row["condition"], row["other_condition"], row["mean_difference"], low, high, p)
            differences[gap.one, gap.other], differences[gap.other, gap.one] = gap, gap.turned
    return differences


def _size_words(part: QuestionResults, gap: _Difference) -> str:
    """Return `8.4 points (5.1 to 11.7), p < 0.001`, without sign; for a choice the share won."""
    if part.kind == "choice":
        share = (
            f"{percent_half_up((gap.difference + 1) / 2)}{_interval_words(part, (gap.low + 1) / 2, (gap.high + 1) / 2)}"
        )
        return f"{share}, {p_words(gap.p)}"
    ahead = gap if gap.difference >= 0 else gap.turned
    return f"{part.difference_words(ahead.difference)}{_interval_words(part, ahead.low, ahead.high)}, {p_words(gap.p)}"


def _unclear_words(part: QuestionResults, gap: _Difference) -> str:
    """Return a difference that is not clear, with its sign, interval and p, and the verdict if it has two steps."""
    verdict = _verdict(part, gap) if (gap.one, gap.other) in part.clear_on_these else ""
    if part.kind == "choice":
        return f"it won {_size_words(part, gap)}{verdict}"
    size = part.difference_words(gap.difference, signed)
    return f"difference {size}{_interval_words(part, gap.low, gap.high)}, {p_words(gap.p)}{verdict}"


def _mean_words(part: QuestionResults, mean: float, low: float, high: float, *, prefix: str = "95 % interval ") -> str:
    """Return a mean and its interval; of ticks and correct answers in percent."""
    shown = percent_half_up(mean) if part.kind in ("pick", "correct") else number(mean, part.decimals)
    return f"{shown}{_interval_words(part, low, high, prefix)}"


def p_words(p: float) -> str:
    """Return `p < 0.001` or `p = 0.034`."""
    shown = p_value(p)
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"


def _interval_words(part: QuestionResults, low: float, high: float, prefix: str = "") -> str:
    if math.isnan(low):
        return ""
    if part.kind in ("choice", "pick", "correct"):
        return f" ({prefix}{number(100 * low, 0)} to {percent_half_up(high)})"
    return f" ({prefix}{number(low, part.decimals)} to {number(high, part.decimals)})"
