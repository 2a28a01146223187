"""What an analysis gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Result:
    """A tidy table, a note that names unit, method and correction, and where the method comes from."""

    table: DataFrame
    note: str
    citation: str
