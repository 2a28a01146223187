"""Cases of a test that say once more what another case says, on another method, medium or size: for `make prove`."""

from __future__ import annotations

from typing import Any

import pytest


def variant(*values: Any) -> Any:
    """Return a case that `make test` leaves out and `make prove` runs."""
    return pytest.param(*values, marks=pytest.mark.variant)
