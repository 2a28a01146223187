"""Metadata that a copied sound must not keep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

MARKS = ("-metadata", "title=MARKTITLE", "-metadata", "comment=MARKCOMMENT", "-metadata", "encoder=MARKENCODER")


Make = Callable[..., Path]
