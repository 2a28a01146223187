"""The results of one question: means, pairs and tests, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, permutations
from typing import Any, NamedTuple

import pandas as pd

from beholder.analysis.means import PAIR_INTERVAL
from beholder.analysis.result import records
from beholder.analysis.tests import UNNAMED, Claim, is_clear, verdict_words
from beholder.formats import decimals_for, number
from beholder.methods.contract import PERCENTAGE_POINTS, MetricWords
from beholder.stats.intervals import is_share
from beholder.study.questions import Scale

_SCORE_WORDS = MetricWords(heading="Scores")
_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]*")


class Wording(NamedTuple):
    """A question or a title as people read it, and how many used participants did."""

    text: str
    people: int


@dataclass(frozen=True)
class QuestionResults:
    """The results of one question."""

    id: str
    wordings: tuple[Wording, ...]
    """In the order in which they were used."""
    scale: Scale
    conditions: pd.DataFrame
    """As conditions.csv, in the order of the study."""
    pairs: pd.DataFrame
    contents: pd.DataFrame
    scores: pd.DataFrame
    alpha: float
    kind: str = "score"
    metric: str = "Score"
    """The name of the mean, with its method."""
    meaning: str = ""
    words: MetricWords = _SCORE_WORDS
    keyed: str = "+"
    label: str = ""
    """What figures and tables call it; empty where the study has no label for it."""
    is_turned: bool = False
    """Whether it is reversed and its scores are turned round, with the words of the scale."""
    reference: str | None = None
    """The condition that all others were compared with, where it has no mean of its own."""
    place: int = 1
    """The place of the question among all, from 1."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """Condition to its role, of those that are not under test: reference and anchors."""
    claim: Claim = "beyond"
    """What counts as clear: what holds beyond these contents, or on them."""
    tests: pd.DataFrame = field(default_factory=pd.DataFrame)
    """As tests.csv."""

    @property
    def slug(self) -> str:
        """The name of the question in file names and anchors: its id if that is one word."""
        return self.id if _SLUG.fullmatch(self.id) else f"question-{self.place}"

    @property
    def zero(self) -> float | None:
        """The value without an effect: no preference, no difference, chance."""
        return {"diff": 0.0, "choice": 0.0, "correct": 0.5}.get(self.kind)

    @property
    def metric_name(self) -> str:
        """The name of the mean, without its method."""
        return self.metric.partition("(")[0].strip()

    @property
    def is_quality(self) -> bool:
        """Whether higher means better quality."""
        return (self.keyed == "+" or self.is_turned) and self.words.is_quality

    @property
    def heading(self) -> str:
        """The heading of the figure of the means."""
        return f"{self.words.heading or self.metric}, {'best' if self.is_quality else 'highest'} first"

    @property
    def both_words(self) -> str:
        """What participants did with both conditions of a pair."""
        return "compared both" if self.is_compared else "rated both"

    @property
    def adjusted_words(self) -> str:
        """How a pair was compared where its means do not say it."""
        return f"for those who {self.both_words}," if self.is_compared else "with people and contents held equal"

    @property
    def is_compared(self) -> bool:
        """Whether a rating compares two stimuli."""
        return self.kind in ("diff", "choice")

    @property
    def is_among_equals(self) -> bool:
        """Whether conditions were compared with each other, and not each with a reference."""
        return self.is_compared and "reference" not in self.roles.values()

    @property
    def has_pair_intervals(self) -> bool:
        """Whether the mean of every condition is a difference of two, with the interval of that."""
        return bool(len(self.conditions)) and bool(self.conditions["interval"].str.endswith(PAIR_INTERVAL).all())

    @property
    def is_share(self) -> bool:
        """Whether the mean is a share or a preference, with an asymmetric interval."""
        return is_share(self.kind)

    def difference_words(self, difference: float, write: Callable[[float, int], str] = number) -> str:
        """Return a difference in the unit of the question, as `write` writes numbers."""
        if self.words.unit == PERCENTAGE_POINTS and self.is_share:
            return f"{write(100 * difference, 0)} {PERCENTAGE_POINTS}"
        return f"{write(difference, self.decimals)} {self.words.unit}"

    @property
    def under_test(self) -> QuestionResults:
        """The same without the reference and the anchors."""
        kept = self.conditions[~self.conditions["condition"].isin(list(self.roles))]
        return replace(self, conditions=kept.reset_index(drop=True)) if len(kept) else self

    @property
    def decimals(self) -> int:
        return decimals_for(self.scale.min, self.scale.max)

    @property
    def name(self) -> str:
        """The name of the question: its label, else its text, or its id if there are several wordings."""
        if self.label:
            return self.label
        name = self.wordings[0].text if len(self.wordings) == 1 else self.id
        return f"{name} (turned)" if self.is_turned else name

    @property
    def caption(self) -> str:
        """The name of the question in captions and in tables for papers: its label, else its id."""
        return self.label or (f"{self.id} (turned)" if self.is_turned else self.id)

    @property
    def short(self) -> str:
        """The name in a list of all questions, without the question before a tick."""
        return self.id.partition(": ")[2] or self.name if self.kind == "pick" else self.name

    @cached_property
    def best_first(self) -> pd.DataFrame:
        """The conditions from the highest mean to the lowest."""
        return self.conditions.sort_values("mean", ascending=False, kind="stable", ignore_index=True)

    @property
    def order(self) -> list[str]:
        """The names of the conditions, best first."""
        return list(self.best_first["condition"])

    @property
    def matrix_order(self) -> list[str]:
        """The conditions of the matrix, best first; the common reference stands at zero."""
        if self.reference is None:
            return self.order
        above = [str(row["condition"]) for row in records(self.best_first) if row["mean"] > 0]
        return [*above, self.reference, *self.order[len(above) :]]

    @cached_property
    def inner_pairs(self) -> pd.DataFrame:
        """The pairs of conditions that have a mean, and of each with the common reference."""
        names = {*self.order, self.reference}
        return self.pairs[self.pairs["condition"].isin(names) & self.pairs["other_condition"].isin(names)]

    @cached_property
    def against_reference(self) -> Mapping[str, tuple[float, bool]]:
        """For each condition that was compared with the reference: its mean difference, and whether that is clear."""
        differences = {}
        for pair in records(self.pairs):
            both, sign = (pair["condition"], pair["other_condition"]), 1.0
            if self.reference == both[0]:
                both, sign = both[::-1], -1.0
            if self.reference == both[1] and both[0] in self.order:
                differences[both[0]] = (sign * pair["mean_difference"], is_clear(pair["verdict"], self.claim))
        return differences

    @cached_property
    def differences(self) -> Mapping[tuple[str, str], float]:
        """Mean difference of participants, row minus column, for both directions of every pair."""
        differences = {}
        for pair in records(self.inner_pairs):
            differences[pair["condition"], pair["other_condition"]] = pair["mean_difference"]
            differences[pair["other_condition"], pair["condition"]] = -pair["mean_difference"]
        return differences

    @cached_property
    def counts(self) -> Mapping[tuple[str, str], int]:
        """How many participants a pair rests on, of the condition that fewer rated, for both directions."""
        counts, rated = {}, dict(zip(self.conditions["condition"], self.conditions["participants"], strict=True))
        for pair in records(self.inner_pairs):
            both = (pair["condition"], pair["other_condition"])
            fewest = min(int(rated.get(name, pair["participants"])) for name in both)
            counts[both] = counts[both[::-1]] = min(int(pair["participants"]), fewest)
        return counts

    @cached_property
    def contents_by_pair(self) -> Mapping[tuple[str, str], int]:
        """How many contents a pair rests on, for both directions."""
        return self._by_pair("contents")

    @cached_property
    def verdicts(self) -> Mapping[tuple[str, str], str]:
        """How far a pair is clear, as in pairs.csv, for both directions."""
        return self._by_pair("verdict")

    def _by_pair(self, column: str) -> dict[tuple[str, str], Any]:
        rows = records(self.inner_pairs)
        return {pair: row[column] for row in rows for pair in permutations((row["condition"], row["other_condition"]))}

    def verdict_words(self, pair: tuple[str, str]) -> str:
        """Return `clear on these 4 contents; beyond them undecided`, or another verdict in words."""
        return verdict_words(self.verdicts[pair], int(self.contents_by_pair[pair]))

    @property
    def contents_words(self) -> str:
        """What the contents of the pairs are called: `these 4 contents`."""
        counts = {int(self.contents_by_pair[pair]) for pair in self.tested}
        if counts == {1}:
            return "this one content"
        return f"these {counts.pop()} contents" if len(counts) == 1 else "these contents"

    @property
    def claim_words(self) -> str:
        """Where a clear difference holds, as the study claims: `beyond these 4 contents`."""
        is_one = self.contents_words == "this one content"
        return f"{'on' if is_one or self.claim == 'these' else 'beyond'} {self.contents_words}"

    @cached_property
    def clear_on_these(self) -> frozenset[tuple[str, str]]:
        """Every pair, in both directions, that differs clearly on these contents, whatever the study claims."""
        return frozenset(pair for pair in self.tested if is_clear(self.verdicts[pair], "these"))

    @cached_property
    def only_on_these(self) -> frozenset[tuple[str, str]]:
        """Those of them that are undecided beyond these contents."""
        return frozenset(pair for pair in self.tested if self.verdicts[pair] == "these")

    @cached_property
    def clear(self) -> frozenset[tuple[str, str]]:
        """Every pair, in both directions, that differs clearly, after correction where it is corrected for."""
        return frozenset(pair for above in self.above for pair in (above, above[::-1]))

    @cached_property
    def above(self) -> frozenset[tuple[str, str]]:
        """Every clear pair, the higher condition first: by the sign of the tested difference, not by the means."""
        passed = _both_ways(self.inner_pairs[self._is_clear])
        return frozenset(pair for pair in passed if round(self.differences[pair], 9) > 0)

    @property
    def _is_clear(self) -> pd.Series:
        return self.inner_pairs["verdict"].map(lambda verdict: is_clear(verdict, self.claim)).astype(bool)

    @property
    def reversed(self) -> list[tuple[str, str]]:
        """Every pair whose order by means contradicts its clear difference, in the order of the means."""
        return [pair for pair in combinations(self.order, 2) if pair[::-1] in self.above]

    @cached_property
    def tested(self) -> frozenset[tuple[str, str]]:
        """Every pair, in both directions, that was tested and that the study names, if it names contrasts."""
        return _both_ways(self.inner_pairs[self.inner_pairs["p"].notna()]) - self.unnamed

    @cached_property
    def unnamed(self) -> frozenset[tuple[str, str]]:
        """Every pair, in both directions, that is not among the contrasts that the study names."""
        is_unnamed = self.inner_pairs["note"].map(lambda note: UNNAMED in note).astype(bool)
        return _both_ways(self.inner_pairs[is_unnamed])

    @property
    def correction_note(self) -> str:
        """A note for sentences on the correction, if some pairs are tested without it."""
        is_judged = self._is_clear & self.inner_pairs["p_holm"].isna()
        return " (pairs with an anchor or the hidden reference without correction)" if is_judged.any() else ""

    @cached_property
    def between(self) -> frozenset[tuple[str, str]]:
        """Every pair, in both directions, that different people rated the two of."""
        return _both_ways(self.inner_pairs[self.inner_pairs["comparison"] == "between"])

    @cached_property
    def direct(self) -> frozenset[tuple[str, str]]:
        """Every pair, in both directions, that was compared in one vote."""
        return _both_ways(self.inner_pairs[self.inner_pairs["comparison"] == "direct"])


def _both_ways(pairs: pd.DataFrame) -> frozenset[tuple[str, str]]:
    both = zip(pairs["condition"], pairs["other_condition"], strict=True)
    return frozenset(pair for one, other in both for pair in ((one, other), (other, one)))
