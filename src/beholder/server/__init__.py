"""The server of a study: who may take part, which step comes next, and what is stored.

Functions of one `context`; only what holds state between two requests is an object, such as leases and moderation.
HTTP: `app` (routes), `requests` (what browsers send), `media`, `assets`, `lab`. `service` is the study without HTTP.
Participants: `entrances` (of each mode), `participants`, `admission`, `further_sessions`, `moderation`, `tokens`.
Steps: `script` (all steps of a list), `flow` (which one is next), `attempts`, `rendering`, `public_steps`, `endings`,
`preview`. Answers: `answers`, `playback`, `views`, `page_checks`, `trial_rules`. `process` runs it all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ServerStatus:
    """The state of a running server for its terminal: the links, and counts that are reported whenever they change."""

    link: str
    preview_link: str
    counts: Mapping[str, int]
    lab: Mapping[str, str] = field(default_factory=dict)
    """The addresses of the operator and of every station, by name; empty outside of a laboratory."""
    is_personal: bool = False
    """Whether nobody can begin by `link`, because every participant needs a personal link."""
    shut: str = ""
    """Why nobody can begin, and how to resume, after a researcher paused the study; empty while it is open."""
