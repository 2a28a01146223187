"""Unblinding: recorded once, with name, time and reason."""

from __future__ import annotations

import pytest

from beholder.desk.unblinding import StudyBlinding, record_unblinding
from beholder.errors import RecruitError
from beholder.recruiting.context import open_context
from support.taken_study import TakenStudy


async def test_the_first_unblinding_is_recorded_and_counts(taken: TakenStudy) -> None:
    folder, _ = taken
    async with open_context(folder) as context:
        blinding = StudyBlinding(context)
        assert await blinding.unblinding() is None
        with pytest.raises(RecruitError):
            await record_unblinding(context, "Ada", " ")
        first = await record_unblinding(context, "Ada", "everybody has come")
        again = await record_unblinding(context, "Bob", "me too")
        known = await blinding.unblinding()
        assert known is not None
        assert (known.by, known.reason) == ("Ada", "everybody has come")
        assert first[0] == "Unblinded by Ada: the desk shows conditions under their own names from now on."
        assert again == (f"Unblinded already, by Ada on {known.at:%Y-%m-%d at %H:%M} UTC. Nothing is recorded.",)
        assert sum(entry.kind == "unblind" for entry in await context.store.ledger.entries()) == 1
