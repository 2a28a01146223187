"""What an analysis gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
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
    draw: Callable[[DataFrame], Any] | None = field(default=None, repr=False, compare=False)
    """How the table is drawn, where a picture helps."""

    def plot(self) -> Any:
        """Return the table as an Altair chart, which a notebook shows and `.save("figure.svg")` writes."""
        if self.draw is None:
            raise ValueError("This result is best read as a table: it has no picture.")
        return self.draw(self.table)


def records(table: DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table by column name."""
    return cast("list[dict[str, Any]]", table.to_dict("records"))
