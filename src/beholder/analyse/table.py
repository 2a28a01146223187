"""The ratings as analyses take them: one value per participant, stimulus and question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from beholder.checks.trust import CHECK_ROLES
from beholder.clean.ratings import read_ratings
from beholder.errors import Problem, UserError, did_you_mean

NEEDED = ("participant", "content", "condition", "value")
KINDS = ("score", "diff", "choice", "correct", "pick")
COMPARISONS = ("diff", "choice")
"""Kinds whose sign says which of two is better."""
_FILL = {
    "question": "rating", "kind": "score", "role": "test", "mode": "", "missing": "", "reasons": "", "unit": "",
    "method": "", "other_condition": "",
}  # fmt: skip
_KEYS = ["question", "participant", "stimulus", "content", "condition", "other_stimulus", "other_condition"]


@dataclass(frozen=True)
class Order:
    """In which order names are told; names that it lacks stand between `conditions` and `last`, by code point."""

    conditions: Sequence[str] = ()
    last: Sequence[str] = ()
    """Conditions after all others: anchors that were made."""
    questions: Sequence[str] = ()
    references: frozenset[str] = frozenset()
    """Conditions with which the others are compared."""


@dataclass(frozen=True)
class Ratings:
    """Used ratings, repetitions averaged, with the order in which conditions and questions are told."""

    table: pd.DataFrame
    """question, participant, stimulus, content, condition, other_stimulus, other_condition, value.

    A comparison of two conditions under test is in it twice, once for each of them, with both signs.
    """
    votes: pd.DataFrame
    """The same with every comparison once, as the rating row has it."""
    conditions: tuple[str, ...]
    questions: tuple[str, ...]
    kinds: Mapping[str, str]
    """The kind of rating by question."""
    methods: Mapping[str, str]
    """The method by question; empty where the table does not tell."""
    counts: dict[str, int]
    """rows, used, not_used, missing, other_kinds, repeated"""

    def is_mirrored(self, question: str) -> bool:
        """Return whether every comparison of a question counts for both conditions."""
        is_mine = self.table["question"] == question
        return int(is_mine.sum()) > int((self.votes["question"] == question).sum())


def load_ratings(path: Path) -> pd.DataFrame:
    """Return a table of ratings with the columns that analyses need, or raise UserError with every problem."""
    table = read_ratings(path)
    absent = [column for column in NEEDED if column not in table]
    if absent:
        problems = []
        for column in absent:
            near = did_you_mean(column, [name for name in table.columns if name not in NEEDED])
            problems.append(Problem(str(path), f"has no column {column}", ", ".join(NEEDED), near))
        raise UserError(problems)
    for column, value in _FILL.items():
        if column not in table:
            table[column] = value
    if "stimulus" not in table:
        table["stimulus"] = table["condition"] + "/" + table["content"]
    if "other_stimulus" not in table:
        named = table["other_condition"] + "/" + table["content"]
        table["other_stimulus"] = named.where(table["other_condition"] != "", "")
    if "use" not in table:
        table["use"] = True
    return table


def tidy(table: pd.DataFrame, order: Order | None = None) -> Ratings:
    """Return the ratings that are used, averaged over repetitions (reference: statistics 2.1).

    What can be ticked is a question of its own, `<question>: <tick>`. All ratings of a question are of one kind; where
    a table mixes them, the first counts.
    """
    order = order or Order()
    table = table.assign(question=_asked(table))
    first = table.groupby("question", sort=False)["kind"].first()
    is_rating = table["kind"].isin(KINDS) & (table["kind"] == table["question"].map(first))
    is_rating &= ~table["role"].isin(CHECK_ROLES)
    has_value = table["value"].notna()
    kept = table[is_rating & has_value & table["use"]]
    votes = kept.groupby(_KEYS, sort=True)["value"].mean().reset_index()
    kinds = {str(name): str(kind) for name, kind in first.items()}
    whole = _mirrored(votes, kinds, order.references)
    counts = {
        "rows": len(table),
        "used": len(kept),
        "not_used": int((~table["use"]).sum()),
        "missing": int((table["use"] & is_rating & ~has_value).sum()),
        "other_kinds": int((~is_rating).sum()),
        "repeated": len(kept) - len(votes),
    }
    compared = votes[votes["question"].map(kinds).isin(COMPARISONS) & (votes["other_condition"] != "")]
    named = pd.concat([votes["condition"], compared["other_condition"]])
    questions = _ordered(votes["question"], order.questions)
    methods = table.groupby("question", sort=False)["method"].first()
    return Ratings(
        whole,
        votes,
        _ordered(named, order.conditions, order.last),
        questions,
        {name: kinds[name] for name in questions},
        {name: str(methods[name]) for name in questions},
        counts,
    )


def _asked(table: pd.DataFrame) -> pd.Series:
    """Return the question of each rating; for what was ticked, with the text of the tick."""
    is_pick = (table["kind"] == "pick") & (table["unit"] != "")
    return table["question"].where(~is_pick, table["question"] + ": " + table["unit"])


def _mirrored(votes: pd.DataFrame, kinds: Mapping[str, str], references: frozenset[str]) -> pd.DataFrame:
    """Return the votes, and those between two conditions under test once more from the side of the other."""
    kind = votes["question"].map(kinds)
    is_against = (kind == "diff") & votes["other_condition"].isin(references)
    turned = votes[kind.isin(COMPARISONS) & ~is_against & (votes["other_condition"] != "")]
    if turned.empty:
        return votes
    other = turned.assign(
        value=-turned["value"],
        condition=turned["other_condition"],
        stimulus=turned["other_stimulus"],
        other_condition=turned["condition"],
        other_stimulus=turned["stimulus"],
    )
    return pd.concat([votes, other], ignore_index=True).sort_values(_KEYS, kind="stable", ignore_index=True)


def _ordered(names: pd.Series, first: Sequence[str], last: Sequence[str] = ()) -> tuple[str, ...]:
    present = set(names)
    known = [name for name in first if name in present]
    final = [name for name in last if name in present and name not in known]
    return (*known, *sorted(present.difference(known, final)), *final)
