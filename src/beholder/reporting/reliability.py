"""Reliability of the ratings, dimensionality of several questions, and the votes per stimulus that are needed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from beholder.analysis.reliability import ALPHAS, KENDALL, LEAVE_ONE_OUT, SOS
from beholder.analysis.result import records
from beholder.analysis.votes_needed import TARGET_CORRELATION, VotesForTarget, votes_for_target
from beholder.formats import NONE, count, number, p_value, percent, plain, plural
from beholder.reporting.html import Markup, folded, render, scrolling, table, tag
from beholder.reporting.material import Material
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.questionnaire import short_names
from beholder.reporting.section import Section
from beholder.reporting.sheets import TextTable

_FROM_STIMULI = "the differences between single ratings come from what was rated"
_WIDTH, _HEIGHT, _EDGE = 96, 14, 6


class _MeasureText(NamedTuple):
    """The title of a measure in the page, and its meaning."""

    title: str
    words: str


_MEASURES: Mapping[str, _MeasureText] = {
    "ICC(A,1)": _MeasureText(
        "One rating, ICC(A,1)",
        "Share of the variance of single ratings that is the stimuli's; the rest is who rated, and chance. 1: "
        "everybody says the same; 0: ratings say nothing of the stimuli.",
    ),
    "ICC(C,1)": _MeasureText(
        "One rating, levels apart, ICC(C,1)",
        "The same once it is forgiven that some people rate higher throughout than others.",
    ),
    "ICC(1,1)": _MeasureText(
        "One rating by anybody, ICC(1,1)", "The same as if every rating came from another person."
    ),
    "ICC(A,k)": _MeasureText(
        "The mean of all ratings, ICC(A,k)",
        "The same of a stimulus' mean. It grows with the number of raters, so it says little by itself.",
    ),
    "ICC(C,k)": _MeasureText(
        "The mean, levels apart, ICC(C,k)",
        "The same once levels are forgiven, known as Cronbach's alpha; it grows with the number of raters too.",
    ),
    "ICC(1,k)": _MeasureText("The mean, by anybody, ICC(1,k)", "The same as if every rating came from another person."),
    ALPHAS[0]: _MeasureText(
        "Krippendorff's alpha, ordinal",
        "How much less two ratings of a stimulus differ than two by chance, in ranks. 1: they never differ; 0: chance.",
    ),
    ALPHAS[1]: _MeasureText("Krippendorff's alpha, interval", "The same in points of the scale."),
    LEAVE_ONE_OUT: _MeasureText(
        "Agreement with the others",
        "How far one person puts the stimuli into the order of all others' means: mean rank correlation, without "
        "one's own ratings. 1: the same order; 0: none in common.",
    ),
    KENDALL: _MeasureText(
        "Kendall's W",
        "How far all who rated everything have one order in common. 1: the same order; 0: none.",
    ),
    SOS: _MeasureText(
        "SOS parameter a",
        "How much people differ about a stimulus, for where its mean is on the scale. 0: they never do; 1: as much as "
        "they can. Videos have 0.1 to 0.25; more means a hard task, unclear words or careless people.",
    ),
}
_SHORT: Mapping[str, str] = {
    "ICC(A,1)": "One rating, ICC(A,1)", "ICC(A,k)": "Mean, ICC(A,k)", ALPHAS[0]: "Alpha, ordinal",
    ALPHAS[1]: "Alpha, interval", LEAVE_ONE_OUT: "Agreement with the others", KENDALL: "Kendall's W", SOS: "SOS a",
}  # fmt: skip
"""The main measures; with several questions only these are shown."""


def reliability_section(material: Material) -> Markup | None:
    """Return the measures of every question with their meaning; None if there are none."""
    measures = material.results.also.get("reliability")
    parts = [part for part in material.parts if measures is not None and (measures["question"] == part.id).any()]
    if measures is None or not parts:
        return None
    rows = {part.id: _by_measure(measures, part) for part in parts}
    if len(parts) == 1:
        mine = rows[parts[0].id]
        return render([_share_sentence(mine), _grid("Reliability", mine, _SHORT), _other_measures(mine)])
    shown = [name for name in _SHORT if any(name in some for some in rows.values())]
    heads = ("Question", *(_SHORT[name] for name in shown))
    cells = [(part.name, *(_value(rows[part.id].get(name)) for name in shown)) for part in parts]
    words = [tag("li", tag("b", f"{_MEASURES[name].title}. "), _MEASURES[name].words) for name in shown]
    return render(
        [
            _shares_sentence(parts, rows),
            table("Reliability by question", TextTable(heads, cells)),
            folded("What each number means", tag("ul", words)),
        ]
    )


RELIABILITY = Section(
    "reliability",
    "How reliable are the ratings?",
    reliability_section,
    foot=(
        "All measures are of the stimuli that were rated, references and anchors too: stimuli that differ more give "
        "higher numbers from the same people. The numbers, with what each rests on, are in reliability.csv."
    ),
)


def _by_measure(measures: pd.DataFrame, part: QuestionResults) -> dict[str, dict[str, Any]]:
    return {row["measure"]: row for row in records(measures[measures["question"] == part.id])}


def _share_sentence(rows: Mapping[str, Mapping[str, Any]]) -> Markup | None:
    """Return the share of variance that is due to the stimuli, for single ratings and for means."""
    one, mean = rows.get("ICC(A,1)"), rows.get("ICC(A,k)")
    if one is None or mean is None:
        return None
    share = _stimulus_percent(one)
    rest = f", the other {100 - share} % from who rated and from chance." if share < 100 else "."
    many = plain(round(float(mean["note"].partition(";")[0].removeprefix("k = ")), 1))
    means = f" Of the differences between means of {many} ratings each it is {_stimulus_percent(mean)} %."
    return tag("p", tag("b", f"{share} % of {_FROM_STIMULI}"), rest, means)


def _shares_sentence(
    parts: Sequence[QuestionResults], rows: Mapping[str, Mapping[str, Mapping[str, Any]]]
) -> Markup | None:
    """Return the lowest and the highest of these shares."""
    shares = sorted(
        (_stimulus_percent(rows[part.id]["ICC(A,1)"]), part.name) for part in parts if "ICC(A,1)" in rows[part.id]
    )
    if not shares:
        return None
    (low, least), (high, most) = shares[0], shares[-1]
    range_words = f"{low} % (“{least}”) to {high} % (“{most}”)" if low < high else f"{low} %"
    return tag("p", tag("b", f"{range_words} of {_FROM_STIMULI}"), ", the rest from who rated and from chance.")


def _stimulus_percent(row: Mapping[str, Any]) -> int:
    return max(0, round(100 * float(row["value"])))


def _other_measures(rows: Mapping[str, Mapping[str, Any]]) -> Markup | None:
    """Return the measures for comparison with other papers, collapsed."""
    further = [name for name in _MEASURES if name in rows and name not in _SHORT]
    if not further:
        return None
    caption = "Other forms of ICC"
    return folded(caption, _grid(caption, rows, further))


def _grid(caption: str, rows: Mapping[str, Mapping[str, Any]], names: Collection[str]) -> Markup:
    head = tag("tr", [tag("th", word, scope="col") for word in ("Measure", "Value", "95 % interval", "From 0 to 1")])
    body = [_row(_MEASURES[name], rows[name]) for name in _MEASURES if name in rows and name in names]
    grid = tag("table", tag("caption", caption, class_="unseen"), tag("thead", head), tag("tbody", body),
               class_="table rules")  # fmt: skip
    return scrolling(caption, grid)


def _row(measure: _MeasureText, row: Mapping[str, Any]) -> Markup:
    low, high = (number(row[end], 2) for end in ("low", "high"))
    words = measure.words if row["p"] != row["p"] else f"{measure.words} Against none: p {_p(row['p'])}."
    if measure is _MEASURES[KENDALL]:
        # Of "chi-square(8) = 19.73; 3 of 20 participants rated everything": how many it rests on.
        some = row["note"].partition("; ")[2]
        words = f"{words} {some[:1].upper()}{some[1:]}." if some else words
    name = tag("th", measure.title, tag("span", words), scope="row")
    interval = NONE if low == NONE else f"{low} to {high}"
    return tag("tr", name, [tag("td", cell) for cell in (_value(row), interval, _strip(row))])


def _p(p: float) -> str:
    shown = p_value(p)
    return shown if shown.startswith("<") else f"= {shown}"


def _value(row: Mapping[str, Any] | None) -> str:
    return NONE if row is None else number(row["value"], 2)


def _strip(row: Mapping[str, Any]) -> Markup:
    """Return a line from 0 to 1 with the interval and the value on it; values below 0 are drawn at 0."""

    def at(value: float) -> float:
        return _EDGE + (_WIDTH - 2 * _EDGE) * min(1.0, max(0.0, value))

    middle = _HEIGHT // 2
    bar = None
    if row["low"] == row["low"]:
        low, high = at(row["low"]), at(row["high"])
        bar = tag("rect", x=f"{low:.1f}", y=middle - 2, width=f"{high - low:.1f}", height=4, opacity="0.45")
    return tag(
        "svg",
        tag("path", d=f"M{_EDGE} {middle}H{_WIDTH - _EDGE}M{_EDGE} {middle - 4}v8M{_WIDTH - _EDGE} {middle - 4}v8"),
        bar,
        tag("circle", cx=f"{at(row['value']):.1f}", cy=middle, r=4),
        class_="strip",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        aria_hidden="true",
    )


# Dimensionality


def dimensionality_section(material: Material) -> Markup | None:
    """Return alpha and the number of components in sentences; None with fewer than three questions."""
    table = material.results.also.get("together")
    if table is None or table.empty:
        return None
    row = table.iloc[0]
    questions = int(row["questions"])
    sentences = [
        _components_sentence(int(row["components"]), float(row["share"]), questions, int(row["stimuli"])),
        _alpha_sentence(row),
    ]
    command = tag("code", "beholder dimensions")
    more = tag("p", "Which question belongs to which, and which few would do: ", command, ".")
    return render([tag("p", " ".join(line for line in sentences if line)), more])


DIMENSIONALITY = Section(
    "together",
    "What the questions measure together",
    dimensionality_section,
    foot=(
        "Alpha and omega near 1: the answers of one person go together, and may be averaged. They also do where one "
        "impression colours all answers on a page."
    ),
)


def _components_sentence(components: int, share: float, questions: int, stimuli: int) -> str:
    if share != share:
        return f"{count(questions, 'question')} about too few stimuli to say how many things they measure."
    over = f"over {count(stimuli, 'stimulus', 'stimuli')}"
    if not components:
        return f"The {questions} questions share nothing that stands above chance {over}."
    what = "one thing" if components == 1 else f"{components} things"
    hold = plural(components, "it holds", "they hold")
    return f"The {questions} questions measure {what} above chance: {hold} {percent(share)} of their variance {over}."


def _alpha_sentence(row: pd.Series) -> str:
    alpha, low, high, omega = (float(row[name]) for name in ("alpha", "alpha_low", "alpha_high", "omega"))
    if alpha != alpha:
        return ""
    ends = f" ({number(low, 2)} to {number(high, 2)})" if low == low else ""
    also = f", omega {number(omega, 2)}" if omega == omega else ""
    return f"Of one person’s answers about one stimulus, alpha is {number(alpha, 2)}{ends}{also}."


# Votes needed


def votes_needed_section(material: Material) -> Markup | None:
    """Return the sentence, the table for several questions, and the figure; None without a curve."""
    curves = material.results.also.get("votes_needed")
    if curves is None:
        return None
    targets = {
        part.id: votes_for_target(curves, part.id) for part in material.parts if part.id in set(curves["question"])
    }
    if not targets:
        return None
    if len(targets) == 1:
        parts: list[Markup | None] = [tag("p", *_sentence(next(iter(targets.values()))))]
    else:
        parts = [_range_sentence(list(targets.values())), _table(material, targets)]
    return render([*parts, material.figures.get("votes_needed")])


VOTES_NEEDED = Section(
    "votes",
    "How many votes are enough?",
    votes_needed_section,
    foot=(
        "How far the scores of two groups of participants agree, nobody being in both, when each gives so many votes; "
        "drawn again and again. Band, where there is one question: 95 % of the draws. Dashed: what follows beyond half "
        "of the votes, for r by the Spearman-Brown formula. The numbers are in votes_needed.csv, with the curve of "
        "P.910: single votes against all."
    ),
)


def _sentence(one: VotesForTarget) -> tuple[Markup | str, ...]:
    if one.r_now != one.r_now:
        words = "The halves do not agree, so no number of votes can be told from these ratings."
        return (tag("b", f"{_votes(one.votes_now)} per stimulus: "), words)
    is_under = one.r_now < TARGET_CORRELATION and _r(one.r_now) == _r(TARGET_CORRELATION)
    r = f"an r just under {TARGET_CORRELATION:g}" if is_under else f"r = {_r(one.r_now)}"
    first = f"{_votes(one.votes_now)} per stimulus give {r} with an equal study."
    about = "" if one.is_measured else "about "
    return (tag("b", first), f" For r = {TARGET_CORRELATION:g}, {about}{count(round(one.votes), 'vote')} would do.")


def _range_sentence(targets: list[VotesForTarget]) -> Markup | None:
    """Return the correlation at the present number of votes, from the worst question to the best."""
    known = sorted((one for one in targets if one.r_now == one.r_now), key=lambda one: one.r_now)
    if not known:
        return None
    votes = sorted({one.votes_now for one in known})
    few, many = _r(known[0].r_now), _r(known[-1].r_now)
    amount = _votes(votes[0]) if len(votes) == 1 else f"{plain(round(votes[0], 1))} to {_votes(votes[-1])}"
    sentence = f"{amount} per stimulus give r = {few if few == many else f'{few} to {many}'} with an equal study."
    return tag("p", tag("b", sentence))


def _table(material: Material, targets: Mapping[str, VotesForTarget]) -> Markup:
    names = short_names(material)
    rows = [
        (
            names[question],
            plain(round(one.votes_now, 1)),
            number(one.r_now, 3),
            NONE if one.votes != one.votes else f"{'' if one.is_measured else 'about '}{one.votes:,.0f}",
        )
        for question, one in targets.items()
    ]
    heads = ("Question", "Votes per stimulus", "r with an equal study", f"Votes for r = {TARGET_CORRELATION:g}")
    return table("Votes per stimulus and what they give", TextTable(heads, rows))


def _votes(votes: float) -> str:
    return f"{plain(round(votes, 1))} {plural(votes, 'vote')}"


def _r(r: float) -> str:
    """Return a correlation with enough digits to differ from one."""
    return number(r, 2 if r < 0.995 else 3)
