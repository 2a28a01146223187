"""The votes of an arena: who preferred which of two, on what content, when, and how probable that pair was to be drawn.

They come from the used ratings of a study or of a table: choices between two, grades, of which the sign counts, or
orders of several, of which every two are a vote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from beholder.analysis.comparisons import Tally, shown_order
from beholder.analysis.ratings import COMPARISONS, LoadedRatings
from beholder.analysis.result import has_analysis
from beholder.cleaning.decisions import reason_words
from beholder.errors import Problem, UserError, did_you_mean
from beholder.formats import count, first_names, join_names, plain_count
from beholder.stats.clustered import Codes, Floats

DRAW = "draw_probability"
"""The column with the probability with which a pair was drawn; other studies have none."""
_FACTOR, _OTHER_FACTOR = "factor_", "other_factor_"
Texts = NDArray[np.object_]


class Votes(NamedTuple):
    """Votes in the order in which they came; conditions and people are numbered in the order of their first vote."""

    question: str
    conditions: tuple[str, ...]
    """Those without a vote come last."""
    labels: Mapping[str, str]
    contents: tuple[str, ...]
    people: tuple[str, ...]
    one: Codes
    other: Codes
    order: Floats
    """1 where `one` was shown first, or left; -1 where it was second; 0 where unknown."""
    sign: Floats
    """1 where `one` was preferred, -1 where the other was, 0 for a tie."""
    person: Codes
    content: Codes
    at: NDArray[np.datetime64]
    """When each was given, in UTC; NaT where unknown."""
    response_ms: Floats
    draw: Floats
    """How probable it was that this pair was drawn; NaN where unknown."""
    factors: Mapping[str, tuple[Texts, Texts]]
    """What the manifest says of the two stimuli, by the name of the factor."""
    measured: Mapping[str, Floats] = {}
    """By how much the two files of each vote differ in what was measured of them; NaN where it is not known."""
    retired: frozenset[str] = frozenset()
    together: int = 2
    """How many were put in order on a page; of more than two, every two of them that were are a vote."""

    @property
    def size(self) -> int:
        """How many votes there are."""
        return len(self.one)

    @property
    def name(self) -> tuple[str, ...]:
        """The label of each condition, or its name."""
        return tuple(self.labels.get(one, one) for one in self.conditions)

    @property
    def has_draws(self) -> bool:
        """Whether it is known of any vote how probable its pair was."""
        return bool(np.isfinite(self.draw).any())

    def rows(self, chosen: Codes | NDArray[np.bool_]) -> Votes:
        """Return some of the votes; conditions, people and contents keep their numbers."""
        return self._replace(
            one=self.one[chosen], other=self.other[chosen], order=self.order[chosen], sign=self.sign[chosen],
            person=self.person[chosen], content=self.content[chosen], at=self.at[chosen],
            response_ms=self.response_ms[chosen], draw=self.draw[chosen],
            factors={name: (a[chosen], b[chosen]) for name, (a, b) in self.factors.items()},
            measured={name: apart[chosen] for name, apart in self.measured.items()},
        )  # fmt: skip

    def of_first(self, people: int) -> Votes:
        """Return the votes up to the first one of the next person: what was known with so many people."""
        later = np.flatnonzero(self.person >= people)
        return self.rows(np.arange(later[0] if len(later) else self.size))

    def people_of(self) -> Codes:
        """Return how many people compared each condition with another."""
        size, count = len(self.conditions), len(self.people)
        met = np.zeros((size, count), bool)
        met[self.one, self.person] = met[self.other, self.person] = True
        return np.asarray(met.sum(axis=1), np.intp)

    def votes_of(self) -> Codes:
        """Return how many votes each condition has."""
        size = len(self.conditions)
        return np.asarray(np.bincount(self.one, minlength=size) + np.bincount(self.other, minlength=size), np.intp)

    def met(self) -> Floats:
        """Return how often every two conditions were compared."""
        size = len(self.conditions)
        counts = np.bincount(self.one * size + self.other, minlength=size * size).reshape(size, size)
        return np.asarray(counts + counts.T, np.float64)

    def tally(self) -> Tally:
        """Return the votes as the analyses of comparisons count them."""
        wins, ties, losses = (np.asarray(self.sign == outcome, np.float64) for outcome in (1, 0, -1))
        names = self.conditions
        return Tally(names, self.one, self.other, self.order, self.person, self.content, wins, ties, losses)


def followed_by(earlier: Votes, later: Votes) -> Votes:
    """Return the votes of an arena after those that were collected before it, by other people.

    Conditions and contents are the same where their names are. Where the earlier votes say nothing of contents, each
    is taken for one of its own, so that people alone are what they hang together by.
    """
    names = dict.fromkeys((*earlier.conditions, *later.conditions))
    on = (
        earlier.contents if len(earlier.contents) > 1 else tuple(f"earlier {one}" for one in range(1, earlier.size + 1))
    )
    contents = dict.fromkeys((*on, *later.contents))
    place = {name: at for at, name in enumerate(names)}
    condition = np.array([place[name] for name in later.conditions], np.intp)
    place = {name: at for at, name in enumerate(contents)}
    content = np.array([place[name] for name in later.contents], np.intp)
    own = earlier.content if len(earlier.contents) > 1 else np.arange(earlier.size, dtype=np.intp)
    factors = {
        name: (
            np.concatenate([_side(earlier, name, 0), _side(later, name, 0)]),
            np.concatenate([_side(earlier, name, 1), _side(later, name, 1)]),
        )
        for name in dict.fromkeys((*earlier.factors, *later.factors))
    }
    unknown = np.full(earlier.size, np.nan)
    return later._replace(
        question=later.question or earlier.question, conditions=tuple(names), contents=tuple(contents),
        people=(*(f"earlier {name}" for name in earlier.people), *later.people),
        one=np.concatenate([earlier.one, condition[later.one]]),
        other=np.concatenate([earlier.other, condition[later.other]]),
        order=np.concatenate([earlier.order, later.order]), sign=np.concatenate([earlier.sign, later.sign]),
        person=np.concatenate([earlier.person, later.person + len(earlier.people)]),
        content=np.concatenate([own, content[later.content]]),
        at=np.concatenate([earlier.at, later.at]), draw=np.concatenate([earlier.draw, later.draw]),
        response_ms=np.concatenate([earlier.response_ms, later.response_ms]), factors=factors,
        measured={name: np.concatenate([unknown, apart]) for name, apart in later.measured.items()},
    )  # fmt: skip


def _side(votes: Votes, factor: str, side: int) -> Texts:
    """Return a factor of one of the two of each vote; empty cells where these votes do not have it."""
    return votes.factors[factor][side] if factor in votes.factors else np.full(votes.size, "", object)


def votes_of(
    loaded: LoadedRatings,
    question: str | None = None,
    retired: frozenset[str] = frozenset(),
    known: Sequence[str] = (),
    measured: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
) -> Votes:
    """Return the votes under one question of a study or of a table.

    `known` are conditions that may have none yet; `measured` are numbers of stimuli, by what was measured.
    """
    ratings = loaded.ratings
    asked = _question(loaded, question)
    mine = ratings.used[ratings.used["question"] == asked]
    together = 2
    if ratings.kinds[asked] not in COMPARISONS:
        mine, together = _pairs_in_order(mine)
    kept = mine[(mine["other_condition"] != "") & (mine["condition"] != mine["other_condition"])]
    if "answered_at" in kept:
        at = pd.to_datetime(kept["answered_at"], utc=True, errors="coerce", format="ISO8601")
        moments = at.dt.tz_localize(None).to_numpy("datetime64[us]")
    else:
        moments = np.full(len(kept), np.datetime64("NaT"), "datetime64[us]")
    # What has no time stays where the table has it, behind what has one.
    place = np.argsort(moments, kind="stable")
    order, kept, moments = shown_order(kept)[place], kept.iloc[place], moments[place]
    pair = kept[["condition", "other_condition"]].to_numpy()
    codes, present = pd.factorize(pair.ravel())
    codes = codes.reshape(pair.shape)
    person, people = pd.factorize(kept["participant"])
    content, contents = pd.factorize(kept["content"], sort=True)
    silent = [name for name in dict.fromkeys((*_known_conditions(loaded), *known)) if name not in set(present)]
    conditions = (*map(str, present), *silent)
    _refuse_unknown(retired, conditions)
    labels = {} if loaded.study is None else {one.name: one.label for one in loaded.study.conditions if one.label}
    return Votes(
        asked, conditions, labels, tuple(map(str, contents)), tuple(map(str, people)), codes[:, 0].astype(np.intp),
        codes[:, 1].astype(np.intp), order, np.sign(kept["value"].to_numpy(np.float64)), person.astype(np.intp),
        content.astype(np.intp), moments, _numbers(kept, "response_ms"), _numbers(kept, DRAW), _factors(kept),
        _measured(kept, measured), retired, together,
    )  # fmt: skip


def _pairs_in_order(rated: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return every two of a page that were put in order as a choice between them, and how many a page has at most.

    By Plackett and Luce's model each of them follows Bradley and Terry's, whichever others were on the page.
    """
    place = ["session", "trial"] if {"session", "trial"} <= set(rated.columns) else ["content"]
    kept = rated[rated["value"].notna()].assign(row=lambda some: np.arange(len(some)))
    page = ["participant", *place]
    two = kept.merge(kept, on=page, suffixes=("", ":other"))
    two = two[(two["row"] < two["row:other"]) & (two["value"] != two["value:other"])]
    others = {
        f"{name}:other": f"{_OTHER_FACTOR}{name.removeprefix(_FACTOR)}" if name.startswith(_FACTOR) else f"other_{name}"
        for name in map(str, rated.columns)
        if name in ("condition", "stimulus") or name.startswith(_FACTOR)
    }
    two = two.assign(value=two["value"] - two["value:other"])
    two = two.drop(columns=[name for name in others.values() if name in two]).rename(columns=others)
    # What was shown first has another meaning among several.
    two = two.drop(columns=[name for name in two if str(name).endswith(":other") or name in ("raw_value", "slot")])
    return two.reset_index(drop=True), int(kept.groupby(page).size().max()) if len(kept) else 2


_REASONS_SHOWN = 5


def left_out(loaded: LoadedRatings, question: str) -> str:
    """Return in a sentence how many votes do not count, and why, where the table says so; empty where all do."""
    table = loaded.table
    mine = table[(table["question"] == question) & ~table["use"]]
    if mine.empty:
        return ""
    people = plain_count(mine["participant"].nunique(), "person", "people")
    said = f"Left out before, by the rules of the study: {count(len(mine), 'rating')} of {people}"
    if "reasons" not in mine:
        return f"{said}."
    given = Counter(
        reason
        for reasons in mine.groupby("participant", sort=False)["reasons"].agg(lambda some: "; ".join(sorted(set(some))))
        for reason in {part for part in reasons.split("; ") if part}
    )
    why = [f"{reason_words(reason)} ({number})" for reason, number in given.most_common(_REASONS_SHOWN)]
    return f"{said}: {join_names(why)}." if why else f"{said}."


def _question(loaded: LoadedRatings, question: str | None) -> str:
    """Return the question whose votes make the board."""
    ratings = loaded.ratings
    compared = [
        name
        for name in ratings.questions
        if ratings.kinds[name] in COMPARISONS or has_analysis(ratings.methods[name], "plackett_luce")
    ]
    where, allowed = str(loaded.path), ", ".join(compared)
    if not compared:
        fix = "A board is made of pair, ab, ccr and others that compare two, and of rank and best-worst."
        raise UserError(
            Problem(where, "has no comparisons of two conditions", "choices, grades of two, or orders", fix)
        )
    if question is None and len(compared) > 1:
        raise UserError(Problem("--question", "is needed, as there are several", allowed))
    if question is not None and question not in compared:
        fix = did_you_mean(question, compared)
        raise UserError(Problem("--question", f"is {question}, which compares nothing here", allowed, fix))
    return question or compared[0]


def _known_conditions(loaded: LoadedRatings) -> tuple[str, ...]:
    """Return the conditions of a study; of a table those that were compared are all that is known."""
    return () if loaded.study is None else tuple(one.name for one in loaded.study.conditions)


def _refuse_unknown(retired: frozenset[str], conditions: tuple[str, ...]) -> None:
    unknown = sorted(retired.difference(conditions))
    if unknown:
        what = f"names {first_names(unknown, 3)}, of which there are no votes"
        raise UserError(Problem("--retired", what, first_names(sorted(conditions), 8), "Write names as in the table."))


def _numbers(kept: pd.DataFrame, name: str) -> Floats:
    """Return a column of numbers; NaN where there is none, or no column."""
    if name not in kept:
        return np.full(len(kept), np.nan)
    return np.asarray(pd.to_numeric(kept[name], errors="coerce").to_numpy(np.float64))


def _measured(kept: pd.DataFrame, numbers: Mapping[str, Mapping[str, float]]) -> Mapping[str, Floats]:
    """Return by how much the two of each vote differ in what was measured of stimuli."""
    return {
        name: (kept["stimulus"].map(of) - kept["other_stimulus"].map(of)).to_numpy(np.float64)
        for name, of in numbers.items()
    }


def _factors(kept: pd.DataFrame) -> Mapping[str, tuple[Texts, Texts]]:
    """Return the factors of both stimuli. A factor of people has no column for the other one, and is left out."""
    names = [str(name).removeprefix(_FACTOR) for name in kept if str(name).startswith(_FACTOR)]
    return {
        name: (kept[_FACTOR + name].to_numpy(object), kept[_OTHER_FACTOR + name].to_numpy(object))
        for name in names
        if _OTHER_FACTOR + name in kept
    }
