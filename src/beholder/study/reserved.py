"""Names that the study file will know later. They are refused by name, so that nobody takes them for typing errors."""

from __future__ import annotations

METHODS = frozenset(("dscqs", "samviq", "mismatch", "best-worst", "rank", "word-select"))
