"""The context of the server: one for each served study, which no function changes."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from support.clock_service import Person
from support.qualified_sessions import HostedStudy


async def test_the_context_stays_what_it_was_and_its_objects_hold_the_state(visited: HostedStudy) -> None:
    host, clock, store = visited
    ctx = host.context
    assert (ctx.served, ctx.store, ctx.now, ctx.words) == (host.served, store, clock, host.words)
    assert [host.preview] == list(ctx.previews.values())
    with pytest.raises(FrozenInstanceError):
        ctx.store = store  # type: ignore[misc]
    ann = await Person(host, clock).come()
    await ann.until("trial:")
    assert host.context is ctx
