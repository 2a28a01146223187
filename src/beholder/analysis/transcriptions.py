"""error_rates, confusions: how much of what was said people typed, and which words they took for which."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pandas as pd

from beholder.analysis.columns import CONDITION, CONTENTS, PARTICIPANTS, QUESTION, bounds
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.means import codes_of
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result, records
from beholder.stats.clustered import CITATION as CLUSTERED
from beholder.stats.clustered import Cells, Estimate, Floats, mean_of
from beholder.stats.intervals import SHARE_CITATION, share_bounds, t_bounds
from beholder.stats.word_errors import CITATION, WordErrors, confusions, word_errors

_COUNTS = list(WordErrors._fields)


def error_rates(data: pd.DataFrame | Ratings) -> Result | None:
    """Return word and character error rates of every condition with intervals; None where no text was typed."""
    ratings = as_ratings(data)
    answers = typed_answers(ratings)
    if answers is None:
        return None
    errors = [word_errors(said.split(), heard.split()) for said, heard in zip(answers.said, answers.heard, strict=True)]
    counts = pd.DataFrame(errors, index=answers.index, columns=_COUNTS)
    answers = answers.assign(**counts, errors=[one.errors for one in errors], nothing=answers["heard"] == "")
    rows: list[dict[str, Any]] = []
    for question in ratings.questions:
        for condition in ratings.conditions:
            mine = answers[(answers["question"] == question) & (answers["condition"] == condition)]
            if len(mine):
                rows.append({"question": question, "condition": condition, **_rates(mine, ratings.level)})
    table = pd.DataFrame(rows, columns=ERROR_RATES.names)
    note = (
        "wer and cer: errors (other, missed and added words or characters) divided by what was said, over all answers "
        "together; they may be above 1. right: share of the words that were said which are right. Of the alignments "
        "with the fewest errors, that with the most words right counts. 95 % intervals of these ratios are over "
        "participants and contents (linearised), where there is more than one. Compared without case, punctuation "
        "and apostrophes; characters without spaces."
    )
    return ERROR_RATES.result(table, note + ratings.look_note)


def confused_words(data: pd.DataFrame | Ratings) -> Result | None:
    """Return which words were typed in place of which, were missed or added, the most frequent first."""
    ratings = as_ratings(data)
    answers = typed_answers(ratings)
    if answers is None:
        return None
    counts: Counter[tuple[str, str, str, str]] = Counter()
    people: dict[tuple[str, str, str, str], set[str]] = defaultdict(set)
    chances: Counter[tuple[str, str, str]] = Counter()
    for row in records(answers):
        said, heard = row["said"].split(), row["heard"].split()
        chances.update((row["question"], row["condition"], word) for word in said)
        chances[row["question"], row["condition"], ""] += 1
        for one, other in confusions(said, heard):
            key = (row["question"], row["condition"], one, other)
            counts[key] += 1
            people[key].add(row["participant"])
    at_question, at_condition = (
        {name: at for at, name in enumerate(names)} for names in (ratings.questions, ratings.conditions)
    )
    ordered = sorted(counts, key=lambda key: (at_question[key[0]], at_condition[key[1]], -counts[key], key[2:]))
    rows = [(*key, counts[key], len(people[key]), counts[key] / chances[key[:3]]) for key in ordered]
    note = (
        "By one alignment with the fewest errors of each answer. share: of the times that the word was said; of an "
        "added word, of the answers."
    )
    return CONFUSIONS.result(pd.DataFrame(rows, columns=CONFUSIONS.names), note)


def typed_answers(ratings: Ratings) -> pd.DataFrame | None:
    """Return the used ratings that are of a typed text; None without any."""
    used = ratings.used
    if "said" not in used or "heard" not in used:
        return None
    typed = used[(used["said"] != "") & used["question"].isin(ratings.questions)]
    return None if typed.empty else typed


def _rates(answers: pd.DataFrame, level: float) -> dict[str, Any]:
    """Return the rates of one condition, each with its interval."""
    whole = answers[[*_COUNTS, "errors"]].sum()
    right = _ratio(answers, "right", "words", level)
    low, high = share_bounds(right.mean, right.se, right.df, right.n, level=level) if right.participants > 1 else _NONE
    row: dict[str, Any] = {
        "answers": len(answers),
        "participants": right.participants,
        "contents": right.contents,
        "words": int(whole["words"]),
        "right": right.mean,
        "right_low": float(low[0]),
        "right_high": float(high[0]),
    }
    for name, errors, of in (("wer", "errors", "words"), ("cer", "character_errors", "characters")):
        rate = _ratio(answers, errors, of, level)
        ends = _ends(rate, level)
        row |= {name: rate.mean, f"{name}_low": ends[0], f"{name}_high": ends[1]}
    shares = {name: float(whole[name] / whole["words"]) for name in ("substituted", "missed", "added")}
    return {**row, **shares, "nothing": float(answers["nothing"].mean())}


_NONE = (np.array([np.nan]), np.array([np.nan]))


def _ratio(answers: pd.DataFrame, part: str, whole: str, level: float) -> Estimate:
    """Return the ratio of two sums, with the error of the mean of its linear part over participants and contents."""
    one = answers[part].to_numpy(float)
    other = answers[whole].to_numpy(float)
    ratio = one.sum() / other.sum()
    pull: Floats = ratio + (one - ratio * other) / other.mean()
    cells = Cells(pull, codes_of(answers["participant"]), codes_of(answers["content"]))
    return mean_of(cells, equal=np.zeros(len(pull), np.intp), level=level)


def _ends(rate: Estimate, level: float) -> tuple[float, float]:
    """Return the interval of an error rate, which is not below zero; of no error at all, how many there may be."""
    if rate.participants < 2:
        return np.nan, np.nan
    if rate.mean < _NO_ERROR:
        return 0.0, float(share_bounds(0.0, 0.0, rate.df, rate.n, level=level).high[0])
    ends = t_bounds(rate.mean, rate.se, rate.df, level)
    return max(0.0, float(ends.low[0])), float(ends.high[0])


_NO_ERROR = 1e-12


# The tables


ERROR_RATES = Analysis(
    "error_rates",
    error_rates,
    (
        QUESTION,
        CONDITION,
        Column("answers", "integer", "Texts that were typed, or left empty as nothing was understood."),
        PARTICIPANTS,
        CONTENTS,
        Column("words", "integer", "Words that were said in all of them."),
        Column("right", "number", "Share of these words that are right."),
        *bounds("right", "its 95 % interval"),
        Column("wer", "number", "Word error rate: other, missed and added words for each word that was said."),
        *bounds("wer", "its 95 % interval"),
        Column("cer", "number", "Character error rate: the same of characters, spaces left out."),
        *bounds("cer", "its 95 % interval"),
        Column("substituted", "number", "Other words, for each word that was said."),
        Column("missed", "number", "Missed words, for each word that was said."),
        Column("added", "number", "Added words, for each word that was said."),
        Column("nothing", "number", "Share of the answers in which nothing was understood."),
    ),
    row="condition and question",
    holds="word and character error rates of typed texts",
    citation=f"{CITATION}; {CLUSTERED}; {SHARE_CITATION}",
    order=34,
    holds_at_looks=True,
)
CONFUSIONS = Analysis(
    "confusions",
    confused_words,
    (
        QUESTION,
        CONDITION,
        Column("said", "text", "The word that was said; empty of an added word."),
        Column("heard", "text", "The word that was typed in its place; empty of a missed word."),
        Column("n", "integer", "How often."),
        PARTICIPANTS,
        Column("share", "number", "Of the times that the word was said; of an added word, of the answers."),
    ),
    row="question, condition and confusion",
    holds="which words were taken for which",
    citation=CITATION,
    order=35,
)
