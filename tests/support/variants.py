"""Cases of a test that say once more what another case says, on another method, medium or size: for `make prove`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def variant(*values: Any) -> Any:
    """Return a case that `make test` leaves out and `make prove` runs."""
    return pytest.param(*values, marks=pytest.mark.variant)


def cases(values: Iterable[Any], kept: Collection[Any]) -> list[Any]:
    """Return a case for each value; `make test` leaves out those that are not kept."""
    every = list(values)
    assert set(kept) <= set(every), "a case of this name is gone"
    return [value if value in kept else variant(value) for value in every]
