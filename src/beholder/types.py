"""Type aliases that every package shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, get_args

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Medium = Literal["video", "audio", "image", "text"]
MessageRole = Literal["attention", "trap"]
"""Roles of stimuli that say themselves which answer to give."""
KeyedRole = Literal["gold", "trap", "attention"]
"""Roles of a researcher's own stimuli for checks: each has an answer that is known."""
CheckRole = Literal[MessageRole, "gold", "repeat", "trap_item"]
"""Roles of stimuli that a rule over sessions puts among the others; the rule says which is its own."""
PracticeRole = Literal["training", "example"]
Role = Literal[
    "test", "reference", "hidden_reference", "anchor", "attention", "gold", "trap", "training", "repeat",
    "trap_item", "matched", "mismatched", "example",
]  # fmt: skip
"""In the order of the dictionary of data."""
MESSAGE_ROLES: tuple[MessageRole, ...] = get_args(MessageRole)
KEYED_ROLES: tuple[KeyedRole, ...] = get_args(KeyedRole)
CHECK_ROLES: frozenset[Role] = frozenset(get_args(CheckRole))
UNRATED_ROLES: frozenset[Role] = CHECK_ROLES | frozenset(get_args(PracticeRole))
"""Roles of stimuli whose answers are evidence for checks, never ratings."""
Outcome = Literal[
    "completed", "screened_out", "wrong_device", "no_consent", "failed_checks", "technical", "withdrawn"
]  # fmt: skip
