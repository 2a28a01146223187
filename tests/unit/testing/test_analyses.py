"""The conformance suite of analyses finds what is wrong with one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

import pandas as pd
import pytest

from beholder.analysis.contract import Analysis, Column, Ratings, Result
from beholder.testing import check_analysis
from beholder.testing.analyses import sample_ratings


def means(ratings: Ratings) -> Result | None:
    scored = ratings.votes[ratings.votes["question"].map(ratings.kinds) == "score"]
    if scored.empty:
        return None
    table = scored.groupby("question", sort=True)["value"].agg(n="size", mean="mean").reset_index()
    return GOOD.result(table, "Mean of each question.")


GOOD = Analysis(
    "means",
    means,
    (
        Column("question", "text", "Id of the question."),
        Column("n", "integer", "Votes."),
        Column("mean", "number", "Their mean."),
    ),
    row="question",
    holds="its mean",
    citation="Somebody (2030), A journal 1",
)


def changed(change: Callable[[Result], Result | None]) -> Analysis:
    """Return the analysis with something else of each result."""

    def compute(ratings: Ratings) -> Result | None:
        result = means(ratings)
        return None if result is None else change(result)

    return replace(GOOD, compute=compute)


def test_a_good_analysis_passes() -> None:
    check_analysis(GOOD)


def test_the_samples_have_every_kind_of_rating() -> None:
    kinds = {kind for table in sample_ratings().values() for kind in table["kind"]}
    assert kinds == {"score", "diff", "choice", "correct", "pick"}


def test_ratings_of_the_author_are_tried_too() -> None:
    def only_at_sea(ratings: Ratings) -> Result | None:
        return means(ratings) if "sea" in set(ratings.votes["content"]) else None

    at_sea = sample_ratings()["scores"].replace({"content": {"harbour": "sea"}})
    check_analysis(replace(GOOD, compute=only_at_sea), at_sea)
    with pytest.raises(AssertionError, match="returns None for all ratings that it was tried on"):
        check_analysis(replace(GOOD, compute=only_at_sea))


def forgetful() -> Callable[[Ratings], Result | None]:
    runs = count()

    def compute(ratings: Ratings) -> Result | None:
        result = means(ratings)
        return result if result is None else replace(result, table=result.table.assign(mean=float(next(runs))))

    return compute


def greedy(ratings: Ratings) -> Result | None:
    ratings.votes["value"] = 0.0
    return means(ratings)


def wrong() -> Iterator[tuple[str, Analysis, str]]:
    """Yield analyses that break the contract, with the sentence on it."""
    yield "meaning", replace(GOOD, columns=(Column("question", "text", ""), *GOOD.columns[1:])), "has no sentence"
    yield "twice", replace(GOOD, columns=(*GOOD.columns, GOOD.columns[0])), "declares a column twice"
    yield "row", replace(GOOD, row=""), "what there is a row for"
    yield "takes", replace(GOOD, takes="nothing"), "takes nothing, which is not an analysis"
    yield "undeclared", changed(lambda one: replace(one, table=one.table.assign(sd=1.0))), "sd, which is not declared"
    yield "kind", changed(lambda one: replace(one, table=one.table.assign(mean="high"))), "mean does not hold numbers"
    yield "note", changed(lambda one: replace(one, note="")), "has no note"
    yield "source", changed(lambda one: replace(one, citation="Nobody (1999)")), "cites Nobody"
    yield "figure", replace(GOOD, draw=lambda _: pd.DataFrame()), "the figure of means is empty"
    yield "chance", replace(GOOD, compute=forgetful()), "makes something else of the same ratings"
    yield "changes", replace(GOOD, compute=greedy), "changes the ratings that it is given"
    one_word = (GOOD.columns[0]._replace(allowed=("no such question",)), *GOOD.columns[1:])
    yield "allowed", replace(GOOD, columns=one_word), "which is not allowed"


@pytest.mark.parametrize(("analysis", "sentence"), [case[1:] for case in wrong()], ids=[case[0] for case in wrong()])
def test_what_breaks_the_contract_is_said(analysis: Analysis, sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_analysis(analysis)
