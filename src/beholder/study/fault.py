"""What a validator of the model finds wrong, in parts that a problem can be made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One thing wrong within a part of the study; `place` is relative to that part."""

    what: str
    allowed: str = ""
    fix: str = ""
    place: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        subject = ".".join(str(step) for step in self.place)
        parts = [
            f"{subject} {self.what}".strip(),
            f"Allowed: {self.allowed}" if self.allowed else "",
            self.fix.rstrip("."),
        ]
        return ". ".join(part for part in parts if part)


class FaultsError(ValueError):
    """All faults of one part at once. pydantic keeps it, because it is a ValueError."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(str(fault) for fault in faults))


def raise_faults(faults: Sequence[Fault]) -> None:
    """Raise what was found, if anything was."""
    if faults:
        raise FaultsError(faults)
