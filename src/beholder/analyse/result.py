"""What an analysis gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Result:
    """A tidy table, a note that names unit, method and correction, and where the method comes from."""

    table: DataFrame
    note: str
    citation: str
    """Sources, with semicolons between them."""


def records(table: DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table by column name."""
    return cast("list[dict[str, Any]]", table.to_dict("records"))
