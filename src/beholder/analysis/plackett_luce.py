"""plackett_luce: the worth of every condition from the orders in which people put the stimuli of a page.

Plackett's and Luce's model: who is first is drawn with odds e^worth, then the next of those that are left. Of stimuli
that share a place any order counts: their probability is the sum over all of them, so that best-worst marks, ties and
partial rankings are orders of which only a part is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from scipy.sparse import coo_matrix

from beholder.analysis.bradley_terry import null_directions, regularised
from beholder.analysis.columns import CONDITION, DF, ESTIMATOR, HIGH, LOW, NOTE, QUESTION, THESE_HIGH, THESE_LOW
from beholder.analysis.comparisons import BRADLEY_TERRY, ComparisonGraph, Tally, comparison_graph
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.figures.scores import worths_chart
from beholder.analysis.means import codes_of
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result, has_analysis
from beholder.analysis.strength_errors import (
    ErrorsOfBoth,
    StrengthErrors,
    strength_covariance,
    strength_df,
    strength_errors,
)
from beholder.analysis.strengths import SANDWICH_CITATION
from beholder.stats.clustered import CITATION as CLUSTERED
from beholder.stats.clustered import Codes, Floats
from beholder.stats.contrast_errors import CITATION as MODERATED
from beholder.stats.intervals import STUDENT_CITATION, t_bounds

_MAX_STEPS, _MIN_STEP = 100, 1e-9
_SAME = 9
"""Decimals up to which two scores of a page are the same place."""

Order: TypeAlias = tuple[tuple[int, ...], ...]
"""Places in the names of the conditions, the best first; those of a group share a place."""


# The orders of pages


class PageOrders(NamedTuple):
    """The order of every page of a question."""

    names: tuple[str, ...]
    orders: tuple[Order, ...]
    """Every order that came, once."""
    order: Codes
    """Of each page, which one."""
    person: Codes
    content: Codes

    @property
    def shown(self) -> list[tuple[int, ...]]:
        """The conditions of each order."""
        return [tuple(sorted(one for group in order for one in group)) for order in self.orders]

    @property
    def pages(self) -> Codes:
        """How many pages showed each condition."""
        counts = np.bincount(self.order, minlength=len(self.orders))
        pages = np.zeros(len(self.names), np.intp)
        for members, count in zip(self.shown, counts, strict=True):
            pages[list(members)] += count
        return pages

    def pairs(self) -> Tally:
        """Return what the orders say of every two: which is before the other, or that they share a place."""
        counts = np.bincount(self.order, minlength=len(self.orders))
        size = len(self.names)
        wins, ties = np.zeros((size, size)), np.zeros((size, size))
        for order, count in zip(self.orders, counts, strict=True):
            for place, group in enumerate(order):
                after = [one for later in order[place + 1 :] for one in later]
                wins[np.ix_(group, after)] += count
                ties[np.ix_(group, group)] += count
        one, other = np.nonzero(np.triu(wins + wins.T + ties, 1))
        none = np.zeros(len(one), np.intp)
        order_of = np.zeros(len(one))
        return Tally(self.names, one, other, order_of, none, none, wins[one, other], ties[one, other], wins[other, one])


def page_orders(ratings: Ratings, question: str) -> PageOrders | None:
    """Return the orders of a question's pages by their scores; None where no page has two."""
    kept = ratings.used[ratings.used["question"] == question]
    kept = kept[kept["value"].notna()]
    if kept.empty:
        return None
    place = ["session", "trial"] if {"session", "trial"} <= set(kept.columns) else ["content"]
    pages = kept.groupby(["participant", *place], sort=True, observed=True)
    names = tuple(name for name in ratings.conditions if name in set(kept["condition"]))
    at = {name: code for code, name in enumerate(names)}
    orders: dict[Order, int] = {}
    order, people, contents = [], [], []
    for _, page in pages:
        scores = page["value"].round(_SAME).to_numpy()
        codes = np.array([at[name] for name in page["condition"]])
        if len(codes) < 2:
            continue
        groups = tuple(tuple(sorted(codes[scores == score].tolist())) for score in sorted(set(scores), reverse=True))
        order.append(orders.setdefault(groups, len(orders)))
        people.append(page["participant"].iloc[0])
        contents.append(page["content"].iloc[0])
    if not order:
        return None
    return PageOrders(
        names, tuple(orders), np.array(order, np.intp), codes_of(pd.Series(people)), codes_of(pd.Series(contents))
    )


# The likelihood


class _Terms(NamedTuple):
    """Of every order: the logarithm of its probability, its slope by the worths, and the information."""

    height: Floats
    slope: Floats
    information: Floats


def order_terms(orders: Sequence[Order], worth: Floats) -> _Terms:
    """Return the log probability of every order under worths, with its first and (minus) second derivatives."""
    size = len(worth)
    terms = _Terms(np.zeros(len(orders)), np.zeros((len(orders), size)), np.zeros((len(orders), size, size)))
    structures: dict[tuple[int, ...], list[int]] = {}
    for number, order in enumerate(orders):
        structures.setdefault(tuple(map(len, order)), []).append(number)
    for sizes, numbers in structures.items():
        members = np.array([[one for group in orders[number] for one in group] for number in numbers])
        height, slope, information = _same_structure(worth[members], sizes)
        rows = np.array(numbers)
        terms.height[rows] = height
        terms.slope[rows[:, None], members] = slope
        terms.information[rows[:, None, None], members[:, :, None], members[:, None, :]] = information
    return terms


def _same_structure(worth: Floats, sizes: tuple[int, ...]) -> _Terms:
    """Return the terms of orders with groups of these sizes, whose worths stand in their order, a row for each."""
    count, width = worth.shape
    odds = np.exp(worth - worth.max(axis=1, keepdims=True))
    height, slope, information = np.zeros(count), np.zeros((count, width)), np.zeros((count, width, width))
    start = 0
    for size in sizes[:-1]:  # the last group comes last whatever its order
        p, first, second = _group(odds, start, size)
        own = first / p[:, None]
        height += np.log(p)
        slope += own
        information += own[:, :, None] * own[:, None, :] - second / p[:, None, None]
        start += size
    return _Terms(height, slope, information)


def _group(odds: Floats, start: int, size: int) -> tuple[Floats, Floats, Floats]:
    """Return how probable it is that a group comes before all after it, in any order, with two derivatives.

    By subsets of the group: one of a subset comes next, then the others of it in any order.
    """
    count, width = odds.shape
    nothing = np.ones(count), np.zeros((count, width)), np.zeros((count, width, width))
    known = {0: nothing}
    for subset in range(1, 1 << size):
        inside = [start + bit for bit in range(size) if subset >> bit & 1]
        left = np.zeros(width, np.bool_)
        left[[*inside, *range(start + size, width)]] = True
        chance = np.where(left, odds, 0.0)
        chance /= chance.sum(axis=1, keepdims=True)
        spread = chance[:, :, None] * (np.eye(width) - chance[:, None, :])
        p, first, second = np.zeros(count), np.zeros((count, width)), np.zeros((count, width, width))
        for one in inside:
            q, lean = chance[:, one], np.eye(width)[one] - chance
            before, slope, curve = known[subset & ~(1 << (one - start))]
            crossed = lean[:, :, None] * slope[:, None, :]
            own = lean[:, :, None] * lean[:, None, :] - spread
            p += q * before
            first += q[:, None] * (before[:, None] * lean + slope)
            second += q[:, None, None] * (before[:, None, None] * own + crossed + crossed.transpose(0, 2, 1) + curve)
        known[subset] = p, first, second
    return known[(1 << size) - 1]


class _PageFit(NamedTuple):
    """What every page adds to slope and information at the maximum."""

    pages: PageOrders
    shown: Codes
    """By page, a number for the conditions that it showed."""
    slopes: Floats
    """By page."""
    information: Floats
    """By order."""
    weight: Floats
    """By page, of its information."""

    @property
    def size(self) -> int:
        return len(self.pages.names)

    @property
    def person(self) -> Codes:
        return self.pages.person

    @property
    def content(self) -> Codes:
        return self.pages.content

    @property
    def member(self) -> Codes:
        first = np.array([order[0][0] for order in self.pages.orders])
        return np.asarray(first[self.pages.order], np.intp)

    def slopes_by(self, cluster: Codes, count: int) -> Floats:
        slopes = np.zeros((count, self.size))
        np.add.at(slopes, cluster, self.slopes)
        return slopes

    def information_by(self, cluster: Codes, count: int) -> Floats:
        orders, size = len(self.information), self.size
        counts = coo_matrix((self.weight, (cluster, self.pages.order)), (count, orders)).tocsr()
        return np.asarray(counts @ self.information.reshape(orders, -1), np.float64).reshape(count, size, size)

    def rows(self, chosen: Codes) -> _PageFit:
        pages = self.pages._replace(
            order=self.pages.order[chosen], person=self.pages.person[chosen], content=self.pages.content[chosen]
        )
        return self._replace(
            pages=pages, shown=self.shown[chosen], slopes=self.slopes[chosen], weight=self.weight[chosen]
        )

    def within_contents(self, person: Codes, content: Codes) -> tuple[_PageFit, Floats]:
        """Return the fit where each set of stimuli has slopes of its own, and the information that this takes."""
        cell = np.unique(self.shown * (int(content.max()) + 1) + content, return_inverse=True)[1]
        own = np.unique(cell * (int(person.max()) + 1) + person, return_inverse=True)[1]
        in_cell = np.bincount(cell)[cell]
        means = np.zeros((int(cell.max()) + 1, self.size))
        np.add.at(means, cell, self.slopes)
        left = self._replace(slopes=self.slopes - means[cell] / in_cell[:, None])
        taken = self._replace(weight=np.bincount(own)[own] / in_cell)
        return left, taken.information_by(np.zeros_like(person), 1)[0]


# The fit


class WorthFit(NamedTuple):
    """Worths that sum to zero within each component, and their errors."""

    pages: PageOrders
    graph: ComparisonGraph
    worth: Floats
    errors: ErrorsOfBoth
    model_covariance: Floats
    """As if all pages were independent; under a prior that of the posterior."""
    is_held: tuple[bool, ...]
    """By component, whether a prior holds it."""


def fit_worths(pages: PageOrders) -> WorthFit:
    """Return the worths of greatest likelihood; where it has no maximum, with a Gaussian prior around zero."""
    graph = comparison_graph(pages.pairs())
    size = len(pages.names)
    flat = null_directions(graph, size)
    is_free = np.array([not strong for strong in graph.is_strong])[graph.component]
    prior = is_free / BRADLEY_TERRY.prior_sd**2
    counts = np.bincount(pages.order, minlength=len(pages.orders)).astype(np.float64)

    def evaluate(place: Floats) -> tuple[float, Floats, Floats]:
        terms = order_terms(pages.orders, place)
        height = float(counts @ terms.height - 0.5 * prior @ place**2)
        return height, counts @ terms.slope - prior * place, np.einsum("o,oij->ij", counts, terms.information)

    place = np.zeros(size)
    height, slope, information = evaluate(place)
    for _ in range(_MAX_STEPS):
        step = np.linalg.solve(_positive(regularised(information, prior, flat)), slope)
        if np.abs(step).max() < _MIN_STEP:
            break
        for _ in range(30):
            higher, there, curve = evaluate(place + step)
            if higher >= height - 1e-9 * abs(height):
                break
            step = step / 2
        place, height, slope, information = place + step, higher, there, curve
    centre = np.eye(size) - flat @ flat.T
    inverse = centre @ np.linalg.inv(regularised(information, prior, flat)) @ centre
    terms = order_terms(pages.orders, place)
    shown = {members: number for number, members in enumerate(dict.fromkeys(pages.shown))}
    of_order = np.array([shown[members] for members in pages.shown], np.intp)
    fit = _PageFit(pages, of_order[pages.order], terms.slope[pages.order], terms.information, np.ones(len(pages.order)))
    return WorthFit(
        pages,
        graph,
        np.asarray(centre @ place, np.float64),
        strength_errors(fit, inverse, graph.component),
        inverse,
        tuple(not strong for strong in graph.is_strong),
    )


def _positive(information: Floats) -> Floats:
    """Return the information with its least values raised: far from the maximum that of unknown orders may be below."""
    values, vectors = np.linalg.eigh(information)
    return np.asarray((vectors * np.maximum(values, 1e-6 * values.max())) @ vectors.T, np.float64)


# The table


def plackett_luce(data: pd.DataFrame | Ratings, *, questions: Sequence[str] | None = None) -> Result | None:
    """Return the worth of every condition from the orders of pages.

    `questions` are those of methods that have this analysis; name others to take the order of their scores by page.
    None if no question qualifies.
    """
    ratings = as_ratings(data)
    selected = [
        name
        for name in ratings.questions
        if ratings.kinds[name] == "score"
        and (has_analysis(ratings.methods[name], "plackett_luce") if questions is None else name in questions)
    ]
    rows: list[dict[str, Any]] = []
    particular = ""
    for name in selected:
        pages = page_orders(ratings, name)
        if pages is None:
            continue
        fit = fit_worths(pages)
        rows += _rows(name, fit, ratings.level)
        for why in dict.fromkeys(why for why in fit.graph.why if why):
            particular += (
                f" {name}: {why}. The likelihood alone would put such a worth at infinity, so a Gaussian prior around "
                f"zero holds this group (sd {BRADLEY_TERRY.prior_sd:g}); its error is that of the posterior."
            )
    if not rows:
        return None
    note = (
        "Worths of Plackett and Luce, in logits, by Newton's method: each next one of a page is drawn with odds "
        "e^worth from those that are left. Those that share a place, are left out, or are neither best nor worst may "
        "have been in any order: the probability is that of all such orders together. Worths sum to zero within a "
        "component. first_share: how often it would be put first among all of its component. se, low, high: clustered "
        "by participant and content, so that they hold for other contents too; these_low, these_high: clustered by "
        "participant, with these contents. model_se is as if all pages were independent; no error of a difference is "
        "below it. The "
        "error of a worth depends on all others: differences are tested by the scores, in pairs." + particular
    )
    return PLACKETT_LUCE.result(pd.DataFrame(rows, columns=PLACKETT_LUCE.names), note)


def _rows(question: str, fit: WorthFit, level: float) -> Iterator[dict[str, Any]]:
    """Yield every worth with its errors."""
    component = fit.graph.component

    def ends(errors: StrengthErrors) -> tuple[Floats, Floats, Floats, Floats]:
        se, df = np.sqrt(np.diag(strength_covariance(errors, component))), strength_df(errors, component)
        bounds = t_bounds(fit.worth, se, df, level)
        return se, np.where(np.isnan(se), np.nan, df), bounds.low, bounds.high

    se, df, low, high = ends(fit.errors.beyond)
    _, _, these_low, these_high = ends(fit.errors.these)
    odds = np.exp(fit.worth - fit.worth.max())
    share = odds / np.bincount(component, odds)[component]
    numbers = {
        "worth": fit.worth, "first_share": share, "se": se, "df": df, "low": low, "high": high,
        "these_low": these_low, "these_high": these_high,
        "model_se": np.sqrt(np.maximum(0, np.diag(fit.model_covariance))),
    }  # fmt: skip
    people, contents = (len(np.unique(codes)) for codes in (fit.pages.person, fit.pages.content))
    for place, name in enumerate(fit.pages.names):
        part = int(component[place])
        notes = [fit.graph.why[part]] if fit.is_held[part] else []
        if people < 2:
            notes.append("one participant: no interval")
        elif contents < 2:
            notes.append("one content: over participants only")
        yield {
            "question": question, "condition": name, "component": str(part + 1), "pages": int(fit.pages.pages[place]),
            **{column: float(values[place]) for column, values in numbers.items()},
            "estimator": "Gaussian prior" if fit.is_held[part] else "maximum likelihood", "note": "; ".join(notes),
        }  # fmt: skip


PLACKETT_LUCE = Analysis(
    "plackett_luce",
    plackett_luce,
    (
        QUESTION, CONDITION,
        Column("component", "text", "Number of the group of those that were put in order with each other, directly or "
               "through others: worths compare within it only."),
        Column("pages", "integer", "Pages that showed it beside others."),
        Column("worth", "number", "Logarithm of its odds to be put before another; those of a component sum to zero."),
        Column("first_share", "number", "How often it would be put first among all of its component."),
        Column("se", "number", "Standard error of the worth, clustered by participant and content."),
        DF, LOW, HIGH, THESE_LOW, THESE_HIGH,
        Column("model_se", "number", "Standard error as if all pages were independent."),
        ESTIMATOR,
        NOTE,
    ),
    row="condition (`best-worst`, `rank`)",
    holds="worth by Plackett-Luce, with errors",
    citation="; ".join((
        "Plackett (1975), Applied Statistics 24", "Luce (1959), Individual Choice Behavior",
        "Hunter (2004), Annals of Statistics 32 (when there is a maximum)", SANDWICH_CITATION, CLUSTERED, MODERATED,
        STUDENT_CITATION,
    )),
    draw=worths_chart,
    order=14.5,
)  # fmt: skip
