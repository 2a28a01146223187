"""views.csv: in which view each pair was looked at, for how long, and what was done there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from beholder.cleaning import columns as c
from beholder.cleaning.facts import SessionRecord, trial_answers
from beholder.cleaning.sessions import JudgedSession
from beholder.columns import Column
from beholder.methods.views import VIEWS, offered_views

_PAGE = "page"
VIEW_USE = (
    c.SESSION, c.PARTICIPANT, c.POSITION, c.TRIAL, c.CONTENT,
    Column("offered", "text", "The views of the page, the one it began with first, with `; ` between."),
    Column("view", "text", "The view in which the answer was given.", VIEWS),
    Column("side_by_side_ms", "number", "How long the two were side by side."),
    Column("flip_ms", "number", "How long they were in one place, to flip."),
    Column("wipe_ms", "number", "How long they were in one place, with a line between."),
    Column("flips", "integer", "How often it was flipped to the other one, or back."),
    Column("moves", "integer", "How often the line was moved and came to rest."),
    Column("magnified", "integer", "How often the magnifier was opened."),
    Column("magnified_ms", "number", "How long it was open."),
    c.INPUT, c.USE,
)  # fmt: skip


def has_views(visits: Iterable[SessionRecord]) -> bool:
    """Return whether any trial of these sessions has views."""
    return any(offered_views(trial) for visit in visits for trial in visit.trials)


def view_rows(one: JudgedSession) -> Iterator[dict[str, Any]]:
    """Yield a row for each answered page of a session that has views."""
    visit = one.visit
    for position, given in trial_answers(visit):
        trial = visit.trials[position - 1]
        offered = offered_views(trial)
        if not offered:
            continue
        told: Mapping[str, Any] = (given.playback.get(_PAGE) or {}).get("views") or {}
        spent: Mapping[str, Any] = told.get("ms") or {}
        yield {
            "session": visit.session, "participant": visit.participant, "position": position, "trial": trial.id,
            "content": trial.content, "offered": "; ".join(offered), "view": told.get("view"),
            **{f"{view.replace('-', '_')}_ms": spent.get(view, 0) for view in VIEWS if view in offered},
            **{name: told.get(name) for name in ("flips", "moves", "magnified", "magnified_ms")},
            "input": given.input, "use": one.decision.use,
        }  # fmt: skip
