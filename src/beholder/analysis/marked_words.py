"""words, word_agreement: how often each word of a transcript was marked, and how far people mark the same words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from beholder.analysis.columns import (
    CI_HIGH,
    CI_LOW,
    CONDITION,
    CONDITION_OR_ALL,
    CONTENT,
    PARTICIPANTS,
    PARTICIPANTS_N,
    QUESTION,
    STIMULI,
    bounds,
)
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.figures.theme import COLUMN, INK, Layout, apply_theme, at_pixels, chart_of, layer_chart, tooltip
from beholder.analysis.means import codes_of
from beholder.analysis.ratings import Ratings, as_ratings, is_word
from beholder.analysis.result import Result, records
from beholder.formats import percent
from beholder.stats.correlation import bootstrap_counts
from beholder.stats.intervals import SHARE_CITATION, share_bounds
from beholder.stats.rater_models import RaterVotes
from beholder.stats.reliability import ValueCounts, krippendorff_alpha

_KEYS = ["question", "condition", "content", "stimulus", "place", "word"]
DRAWS, SEED = 1000, 1
KRIPPENDORFF = "Krippendorff (2011), Computing Krippendorff's Alpha-Reliability"


def word_shares(data: pd.DataFrame | Ratings) -> Result | None:
    """Return how often each word of each stimulus was marked, with its interval; None where no words were marked."""
    ratings = as_ratings(data)
    marks = _marks(ratings)
    if marks is None:
        return None
    groups = marks.groupby([*_KEYS], sort=False)["value"]
    table = groups.agg(n="size", marked="mean", sd=lambda values: values.std(ddof=1)).reset_index()
    ends = share_bounds(
        table["marked"], table["sd"] / np.sqrt(table["n"]), table["n"] - 1, table["n"], level=ratings.level
    )
    table = table.assign(ci_low=ends.low, ci_high=ends.high)[WORDS.names]
    note = (
        "marked: share of the participants who heard or read the stimulus and marked the word, repetitions averaged. "
        "Intervals are Clopper and Pearson's exact 95 % ones over participants; one by one, not corrected for how "
        "many words there are."
    )
    return WORDS.result(table, note + ratings.look_note)


def word_agreement(data: pd.DataFrame | Ratings) -> Result | None:
    """Return how far participants mark the same words: of each question under all conditions, and under each."""
    ratings = as_ratings(data)
    marks = _marks(ratings)
    if marks is None:
        return None
    rows: list[dict[str, Any]] = []
    for question in ratings.questions:
        mine = marks[marks["question"] == question]
        names = [name for name in ratings.conditions if name in set(mine["condition"])]
        parts = [("", mine), *((name, mine[mine["condition"] == name]) for name in names)]
        rows += [{"question": question, "condition": name, **_agreement(part)} for name, part in parts if len(part)]
    table = pd.DataFrame(rows, columns=WORD_AGREEMENT.names)
    note = (
        "Of words that two participants or more could mark. agreement: share of all pairs of participants who said "
        "the same of a word. alpha: Krippendorff's, the same beyond what chance would give with as many marks; NaN "
        f"where nothing or everything was marked; 95 % bootstrap over stimuli ({DRAWS:,} draws, seed {SEED})."
    )
    return WORD_AGREEMENT.result(table, note)


def _marks(ratings: Ratings) -> pd.DataFrame | None:
    """Return one value of each participant, question and word, in the order of the study; None without any."""
    rows = ratings.used[is_word(ratings.used) & ratings.used["question"].isin(ratings.questions)]
    if rows.empty:
        return None
    rows = rows.assign(
        place=pd.to_numeric(rows["unit"]).astype(int),
        at_question=codes_of(rows["question"], ratings.questions),
        at_condition=codes_of(rows["condition"], ratings.conditions),
    )
    order = ["at_question", "at_condition", "content", "stimulus", "place"]
    return (
        rows.groupby([*order, "word", "question", "condition", "participant"], sort=True)["value"].mean().reset_index()
    )


def _agreement(marks: pd.DataFrame) -> dict[str, Any]:
    """Return the agreement of participants on words, each word of each stimulus being one thing."""
    thing = codes_of(marks["stimulus"] + "\n" + marks["place"].astype(str))
    stimulus = codes_of(marks["stimulus"])
    person = codes_of(marks["participant"])
    # Half a mark, where somebody said both of the same word on two visits, is none.
    value = (marks["value"].to_numpy(float) > 0.5).astype(float)
    votes = RaterVotes(value, person, thing, int(person.max()) + 1, int(thing.max()) + 1)
    counts = votes.sum_by_stimulus()
    paired = counts > 1
    stimuli = int(stimulus.max()) + 1
    row: dict[str, Any] = {
        "participants": votes.raters, "stimuli": stimuli, "words": int(paired.sum()),
        "marked": float(value.mean()), "agreement": math.nan, "alpha": math.nan, "alpha_low": math.nan,
        "alpha_high": math.nan,
    }  # fmt: skip
    if not paired.any():
        return row
    marked = votes.sum_by_stimulus(value)[paired]
    size = counts[paired]
    same = marked * (marked - 1) + (size - marked) * (size - marked - 1)
    row["agreement"] = float(same.sum() / (size * (size - 1)).sum())
    table = ValueCounts(votes)
    row["alpha"] = float(krippendorff_alpha(table, is_ordinal=False)[0])
    if stimuli > 1 and not math.isnan(row["alpha"]):
        of_thing = np.zeros(votes.stimuli, np.intp)
        of_thing[thing] = stimulus
        drawn = krippendorff_alpha(table, bootstrap_counts(stimuli, SEED, DRAWS)[:, of_thing[paired]], is_ordinal=False)
        known = drawn[np.isfinite(drawn)]
        if len(known) >= DRAWS / 2:
            row["alpha_low"], row["alpha_high"] = (float(end) for end in np.quantile(known, [0.025, 0.975]))
    return row


# The figure: a heat map over the transcript of each content, a line for each condition


_COOL, _HOT = "#f4f4f4", "#3a57ad"
_PALE = 0.55
"""Above this share words are white on their colour."""
_LETTER = 0.62
_MOST_CONTENTS = 12


def words_chart(
    table: pd.DataFrame,
    *,
    labels: Mapping[str, str] | None = None,
    order: Sequence[str] = (),
    layout: Layout = COLUMN,
) -> Any:
    """Return the words of each content as they are read, coloured by how often they were marked.

    Of many contents, the first ones.
    """
    import altair as alt

    rows, headings, y = _lines(table, labels or {}, list(order), layout)
    colour = alt.Color(
        "marked:Q", scale=alt.Scale(domain=[0, 1], range=[_COOL, _HOT]),
        legend=alt.Legend(title="marked", orient="top", format="%", gradientLength=120),
    )  # fmt: skip
    place = {"x": alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, layout.whole], nice=False)), "y": _y(y)}
    boxes = chart_of(rows).mark_rect(cornerRadius=3).encode(
        **place, x2="x2:Q", y2="y2:Q", color=colour, **tooltip()
    )  # fmt: skip
    texts = chart_of(rows).mark_text(fontSize=layout.size, baseline="middle").encode(
        x=alt.X("middle:Q", axis=None), y=alt.Y("line:Q", axis=None), text="word:N",
        color=alt.condition(f"datum.marked > {_PALE}", alt.value("white"), alt.value(INK)),
    )  # fmt: skip
    bold = chart_of(headings).mark_text(fontSize=layout.size, fontWeight="bold", align="left", baseline="middle")
    names = bold.encode(**at_pixels(x=0), y=alt.Y("line:Q", axis=None), text="name:N")
    return apply_theme(layer_chart([boxes, texts, names], layout.whole, max(y, 1)), layout)


def _y(height: float) -> Any:
    import altair as alt

    return alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False))


def _lines(
    table: pd.DataFrame, labels: Mapping[str, str], order: Sequence[str], layout: Layout
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], float]:
    """Return a box for each word with its place in pixels, the headings above them, and how high all are."""
    boxes: list[dict[str, Any]] = []
    headings: list[dict[str, Any]] = []
    step, y = layout.size * 1.9, 0.0
    many = table["question"].nunique() > 1
    contents = list(dict.fromkeys(table["content"]))[:_MOST_CONTENTS]
    ranked = {name: place for place, name in enumerate(order or dict.fromkeys(table["condition"]))}
    groups = table[table["content"].isin(contents)].groupby(["question", "content", "condition"], sort=False)
    keyed = sorted(groups, key=lambda one: (one[0][0], contents.index(one[0][1]), ranked.get(one[0][2], 0)))
    for (question, content, condition), part in keyed:
        name = f"{f'{question}, ' if many else ''}{content}, {labels.get(str(condition), condition)}"
        headings.append({"name": name, "line": y + step / 2})
        y, x = y + step, 0.0
        for row in records(part):
            width = layout.size * (_LETTER * len(row["word"]) + 0.9)
            if x and x + width > layout.whole:
                x, y = 0.0, y + step
            tip = f"{row['word']}\nmarked by {percent(row['marked'])}\nn = {row['n']:,.0f}"
            box = {"x": x, "x2": x + width - 2, "middle": x + width / 2 - 1, "y": y + 1, "y2": y + step - 1}
            boxes.append({**box, "line": y + step / 2, "word": row["word"], "marked": row["marked"], "tip": tip})
            x += width
        y += 1.3 * step
    return boxes, headings, y


# The tables


WORDS = Analysis(
    "words",
    word_shares,
    (
        QUESTION,
        CONDITION,
        CONTENT,
        Column("place", "integer", "Place of the word in its transcript, from 1."),
        Column("word", "text", "The word, without punctuation."),
        PARTICIPANTS_N,
        Column("marked", "number", "Share of them who marked it."),
        CI_LOW,
        CI_HIGH,
    ),
    row="word of a stimulus, and question",
    holds="how often each word of a transcript was marked",
    citation=SHARE_CITATION,
    draw=words_chart,
    order=32,
    holds_at_looks=True,
)
WORD_AGREEMENT = Analysis(
    "word_agreement",
    word_agreement,
    (
        QUESTION,
        CONDITION_OR_ALL,
        PARTICIPANTS,
        STIMULI,
        Column("words", "integer", "Words that two participants or more could mark."),
        Column("marked", "number", "Share of all answers about a word that marked it."),
        Column("agreement", "number", "Share of pairs of participants who said the same of a word."),
        Column("alpha", "number", "Krippendorff's alpha; empty where nothing or everything was marked."),
        *bounds("alpha", "its 95 % interval, a bootstrap over stimuli"),
    ),
    row="question and condition, and question",
    holds="how far people mark the same words",
    citation=KRIPPENDORFF,
    seed=SEED,
    order=33,
)
