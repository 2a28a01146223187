"""A view as JSON: the document of `beholder monitor --json`."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.recruit.document import plain
from beholder.recruit.monitoring.found import View
from beholder.types import Json

VERSION = 1


def document(view: View) -> Mapping[str, Json]:
    """Return the view with its version, and null where nothing is known."""
    return {"version": VERSION, **{name: plain(value) for name, value in vars(view).items()}}
