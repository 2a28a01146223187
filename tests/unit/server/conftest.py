"""Fixtures that several test files of the server share."""

from __future__ import annotations

from support.qualified_sessions import room, visited
from support.rule_studies import board, jerky, study
from support.training_sessions import serve

__all__ = ["board", "jerky", "room", "serve", "study", "visited"]
