"""Sensitivity of the conclusions: to other choices of cleaning and to those who failed a rule; differences that are too
small to matter; the sources of variance; and the differences between runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from beholder.analysis.failures import group_words
from beholder.analysis.mixed import RUN_TESTS, SOURCES
from beholder.analysis.result import records
from beholder.analysis.sensitivity import AS_CLEANED, NOBODY_OUT, PASSED, UNMARKED
from beholder.checks.page_registry import known_title
from beholder.checks.registry import rule_title
from beholder.formats import count, interval, join_names, number, p_value, percent, plural, signed, whole_percents
from beholder.reporting.html import Child, Markup, render, table, tag
from beholder.reporting.material import Material
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.section import QuestionSection, Section
from beholder.reporting.sheets import TextTable

_WORDS = {
    AS_CLEANED: "As cleaned",
    NOBODY_OUT: "Nobody left out",
    UNMARKED: "Only sessions that no rule says anything of",
}
_OWN_TITLES = {"complete": "Whole session", "watched": "Stimuli watched", "rater": "Most sessions of a person used"}


def sensitivity_section(material: Material) -> Markup | None:
    """Return the conclusions under other choices of cleaning; None if nothing was left out or marked."""
    choices = material.results.also.get("sensitivity")
    if choices is None or choices.empty:
        return None
    parts: list[Markup] = [tag("p", tag("b", sensitivity_sentence(choices)), " ", _shift_sentence(material, choices))]
    several = len(material.parts) > 1
    for part in material.parts:
        own = choices[choices["question"] == part.id]
        if len(own):
            parts.append(
                table(f"Other choices of cleaning{_question_suffix(part, several)}", _choice_sheet(own, part.decimals))
            )
    parts += _rating_rules(material, choices, several)
    criteria = material.results.also.get("criteria")
    for part in material.parts if criteria is not None else ():
        own = criteria[criteria["question"] == part.id] if criteria is not None else pd.DataFrame()
        if len(own) > 1:
            caption = f"Scores of those who failed a rule, held against the used ones{_question_suffix(part, several)}"
            parts.append(table(caption, _criteria_sheet(own, part.decimals)))
            parts.append(
                table(
                    f"Means by those who failed a rule{_question_suffix(part, several)}", _means_sheet(material, part)
                )
            )
    failures = material.results.also.get("failures")
    for part in material.parts if failures is not None else ():
        own = failures[failures["question"] == part.id] if failures is not None else pd.DataFrame()
        if len(own):
            caption = f"Those who failed a rule beside those who passed everything{_question_suffix(part, several)}"
            parts.append(table(caption, failure_sheet(own, part.decimals)))
    return render(parts)


SENSITIVITY = Section(
    "sensitivity",
    "Does it depend on the cleaning?",
    sensitivity_section,
    foot=(
        "Gained, lost, turned: pairs of conditions whose difference is clear under this choice only, as cleaned only, "
        "or under both but the other way round; same test, same correction. Largest shift: of a condition's mean. "
        "Agreement with what is used: over the means of stimuli; in brackets what as many used participants, drawn at "
        "random, reach against the rest."
    ),
)


def _rating_rules(material: Material, choices: pd.DataFrame, several: bool) -> list[Markup]:
    """Return what depends on rules over ratings, and the scores with and without them; nothing where none matters."""
    scores = material.results.also.get("rating_rules")
    if scores is None or scores.empty:
        return []
    shown = [tag("p", rating_rule_sentence(rule, choices)) for rule in scores["rule"].unique()]
    for part in material.parts:
        own = scores[scores["question"] == part.id]
        if len(own):
            caption = f"Scores with and without rules over ratings{_question_suffix(part, several)}"
            shown.append(table(caption, _rating_rules_sheet(material, part, own)))
    return shown


def rating_rule_sentence(rule: str, choices: pd.DataFrame) -> str:
    """Return what a rule over ratings does to the study, or would do."""
    people = choices.groupby("choice")["participants"].max()
    judged = f"“{criterion_title(rule)}” judges people by how they rate what is tested"
    if f"with {rule}" in people:
        out = int(people[AS_CLEANED] - people[f"with {rule}"])
        return f"{judged}, so it is only noted: with it {count(out, 'participant')} more would be left out."
    out = int(people[f"without {rule}"] - people[AS_CLEANED])
    return (
        f"{judged}, and in this study it costs the use: {count(out, 'participant')} left out by it alone. Where "
        "conditions are alike such a rule leaves out honest people and finds differences that are not there: show the "
        "scores without it too."
    )


def _rating_rules_sheet(material: Material, part: QuestionResults, scores: pd.DataFrame) -> TextTable:
    """Return the mean of every condition with its interval, as cleaned and with each rule the other way."""
    other = scores[scores["as_cleaned"] == "no"]
    columns: dict[str, pd.DataFrame] = {"As cleaned": scores[scores["as_cleaned"] == "yes"]}
    for (rule, choice), own in other.groupby(["rule", "choice"], sort=False):
        columns[f"{str(choice).capitalize()} “{criterion_title(str(rule))}”"] = own
    cells = {name: {row["condition"]: _mean_words(row, part.decimals) for row in records(own)} for name, own in
             columns.items()}  # fmt: skip
    rows = [
        (material.labels.get(name, name), *(means.get(name, "") for means in cells.values()))
        for name in part.conditions["condition"]
    ]
    return TextTable(("Condition", *columns), rows)


def _mean_words(row: dict[str, Any], decimals: int) -> str:
    ends = row["ci_low"], row["ci_high"]
    known = all(end == end for end in ends)
    return number(row["mean"], decimals) + (f" ({interval(*ends, decimals)})" if known else "")


def _question_suffix(part: QuestionResults, several: bool) -> str:
    return f": {part.caption}" if several else ""


def sensitivity_sentence(choices: pd.DataFrame) -> str:
    """Return whether any conclusion depends on the cleaning."""
    others = choices[choices["choice"] != AS_CLEANED]
    names = list(dict.fromkeys(others["choice"]))
    changing = [name for name in names if (others[others["choice"] == name]["changed"] == "yes").any()]
    if not changing:
        return f"No conclusion changes under {count(len(names), 'other choice')} of cleaning."
    changed = join_names([_choice(name)[:1].lower() + _choice(name)[1:] for name in changing])
    return f"Some conclusions depend on the cleaning: they change with {changed}."


def _shift_sentence(material: Material, choices: pd.DataFrame) -> str:
    """Return the largest shift of a mean, and whether the order changes."""
    others = choices[choices["choice"] != AS_CLEANED]
    shift = float(others["shift"].max())
    if shift != shift:
        return ""
    places = max((part.decimals for part in material.parts), default=1)
    order = (
        "the order of the conditions stays the same"
        if (others["order"] != "changed").all()
        else ("the order of the conditions changes under some of them")
    )
    unit = " points" if all(part.kind in ("score", "diff") for part in material.parts) else ""
    return f"Means of conditions move by {number(shift, places)}{unit} at most, and {order}."


def _choice(name: str) -> str:
    """Return the name of a choice of cleaning."""
    begun, _, rule = name.partition(" ")
    return _WORDS.get(name) or f"{begun.capitalize()} the rule “{criterion_title(rule)}”"


def criterion_title(rule: str) -> str:
    """Return what a rule or check is called."""
    return _OWN_TITLES.get(rule) or rule_title(rule) or known_title(rule) or rule


def _choice_sheet(choices: pd.DataFrame, decimals: int) -> TextTable:
    heads = ("Choice", "Participants", "Ratings", "Clear pairs", "Gained", "Lost", "Turned", "Largest shift", "Order",
             "A conclusion changes")  # fmt: skip
    rows = [
        (
            _choice(row["choice"]), *(f"{row[name]:,.0f}" for name in ("participants", "ratings")),
            f"{row['clear']:.0f} of {row['tested']:.0f}",
            *(f"{row[name]:.0f}" for name in ("gained", "lost", "turned")),
            number(row["shift"], decimals), row["order"] or row["note"], row["changed"],
        )
        for row in records(choices)
    ]  # fmt: skip
    return TextTable(heads, rows)


def _criteria_sheet(criteria: pd.DataFrame, decimals: int) -> TextTable:
    heads = ("Failed", "Sessions", "Ratings", "Per stimulus", "Pearson r", "Spearman ρ", "RMSE", "RMSE, mapped")
    rows: Sequence[tuple[str, ...]] = [
        (
            "Nothing: used" if row["criterion"] == PASSED else criterion_title(row["criterion"]),
            *(f"{row[name]:,.0f}" for name in ("sessions", "ratings")),
            number(row["per_stimulus"], 1),
            _with_expected(row["pearson"], row["expected_pearson"], 2), number(row["spearman"], 2),
            _with_expected(row["rmse"], row["expected_rmse"], decimals), number(row["rmse_mapped"], decimals),
        )
        for row in records(criteria)
    ]  # fmt: skip
    return TextTable(heads, rows)


def failure_sheet(failures: pd.DataFrame, decimals: int) -> TextTable:
    """Return the agreement of every group with the standard, a row for each that somebody is in."""
    heads = ("Group", "Sessions", "People", "Per stimulus", "Pearson r", "Spearman ρ", "RMSE", "RMSE, mapped")
    rows = [
        (
            group_words(row, criterion_title(row["criterion"])), f"{row['sessions']:,.0f}",
            f"{row['participants']:,.0f}", number(row["per_stimulus"], 1), number(row["pearson"], 2),
            number(row["spearman"], 2), number(row["rmse"], decimals), number(row["rmse_mapped"], decimals),
        )
        for row in records(failures)
    ]  # fmt: skip
    return TextTable(heads, rows)


def _means_sheet(material: Material, part: QuestionResults) -> TextTable:
    """Return the mean of every condition by those who failed each rule, after the used mean."""
    scores = material.results.also["criteria_scores"]
    own = scores[scores["question"] == part.id]
    means = {(row["condition"], row["criterion"]): row["mean"] for row in records(own)}
    rules = list(dict.fromkeys(own["criterion"]))
    rows = [
        (material.labels.get(name, name), *(number(means.get((name, rule), math.nan), part.decimals) for rule in rules))
        for name in part.conditions["condition"]
    ]
    return TextTable(("Condition", *("Used" if rule == PASSED else criterion_title(rule) for rule in rules)), rows)


def _with_expected(value: float, expected: float, decimals: int) -> str:
    shown = number(value, decimals)
    return shown if expected != expected else f"{shown} ({number(expected, decimals)})"


# Equivalence


def equivalence_section(material: Material, part: QuestionResults) -> Markup | None:
    """Return which conditions are shown to be equivalent or not worse within the study's margin; None without one."""
    found = material.results.also.get("equivalence")
    own = pd.DataFrame() if found is None else found[(found["question"] == part.id) & (found["equivalent"] != "")]
    if own.empty:
        return None
    return render(
        [
            tag("p", tag("b", equivalence_sentence(own))),
            table("Equivalence", _equivalence_sheet(own, part, material.labels)),
        ]
    )


EQUIVALENCE = QuestionSection(
    "equivalence",
    "Which differences do not matter?",
    equivalence_section,
    foot=(
        "Two one-sided tests at 5 % against the margin that the study names, after correction. Not worse: the first is "
        "not worse than the other by the margin or more. “Not shown” is not a difference: there may be too few people "
        "or contents to tell. The margin has to be chosen before the ratings are seen."
    ),
)


def equivalence_sentence(found: pd.DataFrame) -> str:
    """Return how many pairs are equivalent within the margin, beyond these contents and on them."""
    beyond, these = (int((found[name] == "yes").sum()) for name in ("equivalent", "these_equivalent"))
    margin, pairs = f"±{found['margin'].iloc[0]:.3g}", count(len(found), "pair")
    shown = f"{beyond} of {pairs} {plural(beyond, 'is', 'are')} shown to be equivalent within {margin}"
    return f"{shown} beyond these contents, {these} on these contents."


def _equivalence_sheet(found: pd.DataFrame, part: QuestionResults, labels: Mapping[str, str]) -> TextTable:
    d = part.decimals
    rows = [
        (
            labels.get(row["condition"], row["condition"]), labels.get(row["other_condition"], row["other_condition"]),
            signed(row["mean_difference"], d), interval(row["inner_low"], row["inner_high"], d),
            *(_SHOWN[row[name]] for name in ("equivalent", "not_worse")),
            interval(row["these_inner_low"], row["these_inner_high"], d),
            *(_SHOWN[row[f"these_{name}"]] for name in ("equivalent", "not_worse")),
        )
        for row in records(found)
    ]  # fmt: skip
    verdicts = ("Equivalent", "Not worse")
    heads = ("Condition", "minus", "Difference", "90 % interval beyond these contents", *verdicts)
    return TextTable((*heads, "90 % interval on these contents", *verdicts), rows, names=2)


_SHOWN = {"yes": "✓", "no": "not shown", "": ""}


# Variance and runs


_EQUIVALENT = {"yes": "✓", "no": "no", "undecided": "undecided"}


def variance_section(material: Material) -> Markup | None:
    """Return the shares of variance of conditions, participants and contents; None without a model."""
    variances = material.results.also.get("variances")
    if variances is None or variances.empty:
        return None
    shares = variances.pivot(index="question", columns="source", values="share").reindex(columns=list(SOURCES))
    sentence = _shares_sentence(shares.iloc[0]) if len(shares) == 1 else _share_ranges_sentence(shares)
    return render([tag("p", sentence), material.figures.get("variances")])


VARIANCES = Section(
    "variances",
    "Where the differences come from",
    variance_section,
    foot=(
        "A mixed model: conditions fixed, participants and contents random. Participants: some give higher scores than "
        "others, whatever they see. Contents: some get higher scores, whatever was done to them. Participants × "
        "conditions: people differ in what they like. Contents × conditions: a condition does more to one content than "
        "to another, which only more contents can average out. The rest: what one person thinks of one stimulus, and "
        "chance."
    ),
)


def _shares_sentence(share: pd.Series) -> list[Child]:
    """Return the shares of one question in words."""
    texts = {
        "condition": "is between conditions",
        "participant": "is that some participants score higher than others",
        "content": "is that some contents get higher scores",
        "participant x condition": "is that people differ in which conditions they favour",
        "content x condition": "is that conditions do more to some contents than to others",
        "residual": "is left to single ratings",
    }
    known = [source for source in texts if share[source] == share[source]]
    parts = [f"{whole} % {texts[source]}" for source, whole in zip(known, whole_percents(share[known]), strict=True)]
    return ["Of all that ratings differ by, ", tag("b", parts[0]), "".join(f", {words}" for words in parts[1:]), "."]


def _share_ranges_sentence(share: pd.DataFrame) -> list[Child]:
    """Return the range of shares over all questions in words."""

    def ends(source: str) -> str:
        known = share[source].dropna()
        low, high = percent(known.min()), percent(known.max())
        return low if low == high else f"{low.removesuffix(' %')} to {high}"

    words = {
        "condition": "between conditions",
        "participant": "between participants",
        "content": "between contents",
        "participant x condition": "in what people favour",
        "content x condition": "in what conditions do to single contents",
    }
    known = [f"{ends(source)} is {label}" for source, label in words.items() if share[source].notna().any()]
    begun = f"Of all that ratings differ by, over {count(len(share), 'question')}, "
    return [begun, tag("b", known[0]), "".join(f", {one}" for one in known[1:]), "."]


def runs_section(material: Material) -> Markup | None:
    """Return whether runs differ, and whether they are equivalent; None with one run."""
    runs = material.results.also.get("runs")
    if runs is None or runs.empty:
        return None
    parts: list[Child] = []
    several = runs["question"].nunique() > 1
    for part in material.parts:
        own = runs[runs["question"] == part.id]
        if own.empty:
            continue
        pairs = own[own["run"] != ""]
        colon = "" if part.name.endswith(("?", ".", "!", ":")) else ":"
        named = [tag("b", f"{part.name}{colon}"), " "] if several else None
        parts.append(tag("p", named, runs_sentence(records(own[own["test"] != RUN_TESTS[0]])[0], pairs)))
        if len(pairs):
            caption = f"Every two runs{f': {part.caption}' if several else ''}"
            parts.append(table(caption, _sheet(pairs, part)))
    return render(parts)


RUNS = Section(
    "runs",
    "Do the runs agree?",
    runs_section,
    foot=(
        "Differences on the same stimuli, from a model with stimulus and run fixed and participant random. A "
        "difference that is not clear may still be there; equivalent are two runs only if the difference is sure to be "
        "below the margin (two one-sided tests at 5 %)."
    ),
)


def runs_sentence(whole: dict[str, Any], pairs: pd.DataFrame) -> str:
    """Return the result of the test of all runs and of the equivalence of every two."""
    if whole["note"]:
        return f"No test: {whole['note']}."
    freedom = f"{whole['df']:.0f}, {whole['df_error']:.0f}"
    tested = f"F({freedom}) = {number(whole['statistic'], 2)}, p {_equals(p_value(whole['p']))}"
    begun = f"The runs {'differ' if whole['p'] < 0.05 else 'do not differ clearly'} ({tested})"
    same = int((pairs["equivalent"] == "yes").sum())
    margin = f"±{pairs['margin'].iloc[0]:.3g} points"
    if same == len(pairs):
        return f"{begun}, and {'every two' if same > 1 else 'they'} are equivalent within {margin}."
    if whole["p"] < 0.05:
        verb = plural(same, "is", "are")
        return f"{begun}; {same} of {count(len(pairs), 'pair')} {verb} equivalent within {margin}."
    called = f"{same} of {count(len(pairs), 'pair')} can be called equivalent within {margin}"
    return f"{begun}. That does not make them the same: {called}."


def _equals(p: str) -> str:
    return p if p.startswith("<") else f"= {p}"


def _sheet(pairs: pd.DataFrame, part: QuestionResults) -> TextTable:
    d = part.decimals + 1
    rows = [
        (
            row["run"], row["other_run"], signed(row["difference"], d), interval(row["ci_low"], row["ci_high"], d),
            p_value(row["p"]), _EQUIVALENT[row["equivalent"]],
        )
        for row in records(pairs)
    ]  # fmt: skip
    margin = f"Equivalent within ±{pairs['margin'].iloc[0]:.3g}"
    return TextTable(("Run", "minus", "Difference", "95 % interval", "p", margin), rows, names=2)
