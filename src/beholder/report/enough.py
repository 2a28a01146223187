"""How many votes are enough: what an equal study would agree on, and where more votes change little."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.analyse.enough import ENOUGH, Enough, enough
from beholder.report.markup import Markup, render, tag
from beholder.report.material import Material
from beholder.report.overview import short_names
from beholder.report.sheets import Sheet
from beholder.report.tables import table
from beholder.report.words import NONE, count, number, plain

FOOT = (
    "How far the scores of two groups of participants agree, nobody being in both, when each gives so many votes; "
    "drawn again and again. Band, where there is one question: 95 % of the draws. Dashed: what follows beyond half of "
    "the votes, for r by the Spearman-Brown formula. The numbers are in votes_needed.csv, with the curve of P.910: "
    "single votes against all."
)


def enough_votes(material: Material, figures: Mapping[str, Markup]) -> Markup | None:
    """Return the sentence, the table where there are several questions, and the figure; None without a curve."""
    curves = material.results.also.get("votes_needed")
    if curves is None:
        return None
    found = {part.id: enough(curves, part.id) for part in material.parts if part.id in set(curves["question"])}
    if not found:
        return None
    if len(found) == 1:
        parts: list[Markup | None] = [tag("p", *_sentence(next(iter(found.values()))))]
    else:
        parts = [_most_and_least(list(found.values())), _table(material, found)]
    return render([*parts, figures.get("votes_needed")])


def _sentence(one: Enough) -> tuple[Markup | str, ...]:
    if one.r_now != one.r_now:
        words = "The halves do not agree, so no number of votes can be told from these ratings."
        return (tag("b", f"{_votes(one.votes_now)} per stimulus: "), words)
    first = f"{_votes(one.votes_now)} per stimulus give r = {_r(one.r_now)} with an equal study."
    about = "" if one.is_measured else "about "
    return (tag("b", first), f" For r = {ENOUGH:g}, {about}{count(round(one.votes), 'vote')} would do.")


def _most_and_least(found: list[Enough]) -> Markup | None:
    """Return what the votes that there are give, from the worst question to the best."""
    known = sorted((one for one in found if one.r_now == one.r_now), key=lambda one: one.r_now)
    if not known:
        return None
    votes = sorted({one.votes_now for one in known})
    few, many = _r(known[0].r_now), _r(known[-1].r_now)
    given = _votes(votes[0]) if len(votes) == 1 else f"{plain(round(votes[0], 1))} to {_votes(votes[-1])}"
    told = f"{given} per stimulus give r = {few if few == many else f'{few} to {many}'} with an equal study."
    return tag("p", tag("b", told))


def _table(material: Material, found: Mapping[str, Enough]) -> Markup:
    names = short_names(material)
    rows = [
        (
            names[question],
            plain(round(one.votes_now, 1)),
            number(one.r_now, 3),
            NONE if one.votes != one.votes else f"{'' if one.is_measured else 'about '}{one.votes:,.0f}",
        )
        for question, one in found.items()
    ]
    heads = ("Question", "Votes per stimulus", "r with an equal study", f"Votes for r = {ENOUGH:g}")
    return table("Votes per stimulus and what they give", Sheet(heads, rows))


def _votes(votes: float) -> str:
    return f"{plain(round(votes, 1))} {'vote' if votes == 1 else 'votes'}"


def _r(r: float) -> str:
    """Return a correlation with as many digits as tell it from one, and no more."""
    return number(r, 2 if r < 0.995 else 3)
