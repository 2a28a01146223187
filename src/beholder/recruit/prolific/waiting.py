"""Waiting for what Prolific is still working on, with looks in between."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

from beholder.recruit.contract import PlatformAway, PlatformUnsure, Posting, State
from beholder.recruit.prolific.client import Client

WAITS = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds between looks."""
_BUSY: frozenset[State] = frozenset(("publishing", "unknown"))


async def moved(
    client: Client,
    look: Callable[[], Awaitable[Posting]],
    path: str,
    steps: Mapping[State, Mapping[str, Any]],
    until: Collection[State],
) -> Posting:
    """Return a posting after the step that its state allows, sent once; one that is busy is looked at again.

    A lost answer is settled by looking: only a state that shows that nothing happened is acted on again.
    """
    lost: PlatformAway | PlatformUnsure | None = None
    is_sent = False
    for wait in (0.0, *WAITS):
        if wait:
            await client.sleep(wait)
        posting = await look()
        if posting.state not in _BUSY and (posting.state in until or posting.state not in steps):
            return posting
        if posting.state in steps and not is_sent:
            try:
                await client.once(path, steps[posting.state])
            except (PlatformAway, PlatformUnsure) as error:
                lost = error
            else:
                is_sent, posting = True, await look()
                if posting.state in until:
                    return posting
    if lost is not None and not is_sent:
        raise lost
    return posting
