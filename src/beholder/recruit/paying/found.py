"""What `pay` found and did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from beholder.errors import Problem
from beholder.study.money import Sum

Standing = Literal["owed", "sent", "paid", "done", "nothing", "refused", "unknown"]
"""owed: not sent. sent: taken, and not yet seen to arrive. paid: seen to arrive, or said so by a person. done: the same
of what is no payment. nothing: owed nothing, by the rules. refused: the platform said no, for good. unknown: sent, and
nobody knows whether it arrived."""

_REASONS = {
    "reward": "the reward",
    "screen_out": "did not fit",
    "session": "a further session",
    "fair_pay": "up to the least pay",
}


@dataclass(frozen=True)
class Line:
    """One thing that is owed to one person, or to be done about one submission."""

    kind: str
    """approve, bonus, reject, return"""
    submission: str
    participant: str
    """The pseudonym."""
    reason: str
    """reward, screen_out, quantity, quality, fair_pay, session:ID; of a rejection its category"""
    amount: Sum
    standing: Standing
    words: str
    payment: str = ""
    """The payment that it went with, such as B2."""

    @property
    def what(self) -> str:
        """What it is, in words."""
        if self.kind == "reject":
            return f"reject ({self.reason})"
        if self.kind == "return":
            return "ask to return it"
        if self.kind == "bonus" and self.reason == "reward":
            return "the reward, as a bonus"
        rule = self.reason.partition(":")[0]
        return _REASONS.get(rule, f"bonus ({rule})")


@dataclass(frozen=True)
class Payment:
    """Everything that is owed, and how it stands."""

    lines: tuple[Line, ...]
    is_sent: bool
    """Whether anything could be sent; not in a dry run."""
    problems: tuple[Problem, ...]
    """What a person has to see to. Nothing of it holds up the other lines."""
    notes: tuple[str, ...]
    file: Path | None
    """The list that a person pays by hand; None where a platform pays."""
    is_unsigned: bool = False
    """Whether somebody has come who may have earned something, and nobody has signed anything."""

    def of(self, *standings: Standing) -> tuple[Line, ...]:
        """Return the lines that stand so."""
        return tuple(line for line in self.lines if line.standing in standings)

    def total(self, *standings: Standing) -> Sum | None:
        """Return what the lines that stand so come to; None where there is no money in them."""
        found = [line.amount for line in self.of(*standings) if line.amount.minor]
        return Sum(sum(one.minor for one in found), found[0].currency) if found else None

    @property
    def words(self) -> tuple[str, ...]:
        """All of this in sentences, but for the problems."""
        if not self.lines and not self.is_unsigned:
            return (*(() if self.problems else ("Nothing is owed to anybody.",)), *self.notes)
        if not self.lines:
            return ("Nothing is owed: nobody has signed a decision yet. `beholder decide --sign NAME` does.",)
        found = [f"{name}: {_sum_up(self.of(*some))}" for name, some in _HEADS if self.of(*some)]
        if self.file is not None:
            found.append(f"Pay what is in {self.file}, then run `beholder pay --paid`.")
        elif not self.is_sent and self.of("owed"):
            found.append("Nothing was sent. `beholder pay --send` does it.")
        return (*found, *self.notes)

    @property
    def unknown(self) -> tuple[Line, ...]:
        """What nobody knows."""
        return self.of("unknown")

    @property
    def is_settled(self) -> bool:
        """Whether nothing is owed, on its way, or unknown."""
        return not self.of("owed", "sent", "unknown")


_HEADS: tuple[tuple[str, tuple[Standing, ...]], ...] = (
    ("Owed", ("owed",)),
    ("On its way", ("sent",)),
    ("Paid or done", ("paid", "done")),
    ("Owed nothing", ("nothing",)),
    ("Refused by the platform", ("refused",)),
    ("Unknown", ("unknown",)),
)


def _sum_up(lines: Sequence[Line]) -> str:
    money = [line.amount for line in lines if line.amount.minor]
    other = len(lines) - len(money)
    parts = []
    if money:
        total = Sum(sum(one.minor for one in money), money[0].currency)
        parts.append(f"{len(money)} payment{'s' * (len(money) != 1)} of {total} in all")
    if other:
        is_money = lines[0].kind in ("approve", "bonus") and lines[0].standing == "nothing"
        name = "bonus" if is_money else "message"
        plural = "es" if is_money else "s"
        parts.append(f"{other} {name}{plural * (other != 1)}")
    return ", ".join(parts)
