"""Type aliases that every package shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Medium = Literal["video", "audio", "image", "text"]
Role = Literal[
    "test", "reference", "hidden_reference", "anchor", "attention", "gold", "trap", "training", "repeat",
    "matched", "mismatched", "example",
]  # fmt: skip
Outcome = Literal[
    "completed", "screened_out", "wrong_device", "no_consent", "failed_checks", "technical", "withdrawn"
]  # fmt: skip
