"""What ratings and their sessions failed: each different text is read once, however many ratings have it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from beholder.analysis.ratings import Ratings

Reasons: TypeAlias = frozenset[str]
"""As `check:reason`."""
_NONE: Reasons = frozenset()


class FailedReasons:
    """What each rating failed: the different sets of reasons, and which of them is whose."""

    def __init__(self, reasons: Sequence[Reasons], place: NDArray[np.intp]) -> None:
        """Take a set of reasons of each kind, and which kind each rating is of."""
        number: dict[Reasons, int] = {}
        kind = np.array([number.setdefault(one, len(number)) for one in reasons], np.intp)
        self.reasons: tuple[Reasons, ...] = tuple(number)
        self.place: NDArray[np.intp] = kind[place]

    @cached_property
    def rules(self) -> tuple[frozenset[str], ...]:
        """The rules of each set of reasons."""
        return tuple(frozenset(map(rule_of, reasons)) for reasons in self.reasons)

    @property
    def is_nothing(self) -> NDArray[np.bool_]:
        """Of each rating, whether it failed nothing."""
        return self._where(not reasons for reasons in self.reasons)

    def has_rule(self, rule: str, *, only: bool = False) -> NDArray[np.bool_]:
        """Return of each rating whether it failed a rule; with `only`, and no other one."""
        return self._where(rules == {rule} if only else rule in rules for rules in self.rules)

    def has_reason(self, reason: str, *, only: bool = False) -> NDArray[np.bool_]:
        """Return of each rating whether this is what it failed; with `only`, and nothing else."""
        return self._where(reasons == {reason} if only else reason in reasons for reasons in self.reasons)

    def _where(self, holds: Iterable[bool]) -> NDArray[np.bool_]:
        return np.array([*holds], bool)[self.place]

    def rules_among(self, chosen: NDArray[np.bool_] | slice = slice(None)) -> list[str]:
        """Return the rules that any of these ratings failed, in order."""
        return sorted({rule for place in np.unique(self.place[chosen]) for rule in self.rules[place]})

    def by_unit(self, unit: pd.Series) -> FailedReasons:
        """Return for each rating what any rating of the same unit failed, such as any of the same person."""
        pairs, pair = np.unique(pd.factorize(unit)[0] * len(self.reasons) + self.place, return_inverse=True)
        units, own = np.divmod(pairs, max(1, len(self.reasons)))
        whole: dict[int, Reasons] = {}
        for one, place in zip(units.tolist(), own, strict=True):
            whole[one] = whole.get(one, _NONE) | self.reasons[place]
        return FailedReasons([whole[one] for one in units.tolist()], pair)

    def is_same(self, other: FailedReasons) -> bool:
        """Return whether every rating failed the same by both."""
        number = {reasons: place for place, reasons in enumerate(other.reasons)}
        as_other = np.array([number.get(reasons, -1) for reasons in self.reasons], np.intp)
        return bool((as_other[self.place] == other.place).all())


def failed_reasons(ratings: Ratings, *told: Mapping[str, str]) -> FailedReasons:
    """Return why each rating is not used, and what is `told` of its session: texts by session."""
    rows = ratings.rows
    own, texts = pd.factorize(rows["reasons"])
    reasons = [_read(text) for text in texts]
    if "session" not in rows or not any(told):
        return FailedReasons(reasons, own)
    session, names = pd.factorize(rows["session"])
    # A rating without a session has the last number, -1.
    of_sessions = [_NONE.union(*(_read(some.get(name, "")) for some in told)) for name in names] + [_NONE]
    pairs, pair = np.unique(session * len(texts) + own, return_inverse=True)
    both = zip(*np.divmod(pairs, max(1, len(texts))), strict=True)
    return FailedReasons([of_sessions[place] | reasons[text] for place, text in both], pair)


def _read(text: str) -> Reasons:
    """Return the reasons in `check:reason; check:reason`."""
    return frozenset(one for one in text.split("; ") if one) if text else _NONE


def rule_of(reason: str) -> str:
    """Return the rule of `check:reason`."""
    return reason.partition(":")[0]
