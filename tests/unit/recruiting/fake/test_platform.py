"""The fake platform as a whole."""

from __future__ import annotations

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.fake.http import FakeCall, Refusal
from beholder.recruiting.fake.state import price
from support.prolific_researcher import BODY


@given(
    st.lists(
        st.sampled_from(
            ["take", "start", "finish", "out", "return", "approve", "pause", "start_study", "places", "wait"]
        ),
        max_size=40,
    )
)
def test_money_and_places_add_up_whatever_happens(acts: list[str]) -> None:
    """Wallet and places after any order of events: nobody is paid twice, nothing is spent that was not there."""
    fake = FakeProlific(balance=100_000)
    study_id = _published(fake)
    study = fake.studies.all[study_id]
    for act in acts:
        with contextlib.suppress(Refusal):
            _do(fake, study_id, act)
        inside = fake.submissions.of(study_id)
        placed = sum(one.status in ("RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED") for one in inside)
        assert placed <= study.places
        rewarded = [one.submission for one in fake.payments if one.kind == "reward"]
        assert len(rewarded) == len(set(rewarded))
        assert {one.id for one in inside if one.status == "APPROVED"} == set(rewarded)
        assert fake.balance == 100_000 - sum(price(one.amount).total for one in fake.payments)
        assert sum(one.status == "SCREENED OUT" for one in inside) <= 2


def _published(fake: FakeProlific) -> str:
    study = fake.studies.create(FakeCall((), {}, BODY)).body["id"]
    fake.studies.move(FakeCall((study,), {}, {"action": "PUBLISH"}))
    return str(study)


def _do(fake: FakeProlific, study: str, act: str) -> None:
    submissions = fake.submissions
    latest = submissions.of(study)[-1] if submissions.of(study) else None
    match act:
        case "take":
            fake.people.take(study)
        case "pause" | "start_study":
            fake.studies.move(FakeCall((study,), {}, {"action": "PAUSE" if act == "pause" else "START"}))
        case "places":
            fake.studies.change(FakeCall((study,), {}, {"total_available_places": fake.studies.all[study].places + 1}))
        case "wait":
            fake.advance(minutes=15)
        case _ if latest is None:
            return
        case "start":
            submissions.start(latest)
        case "finish" | "out":
            submissions.complete(latest, "DONE" if act == "finish" else "OUT")
        case "return":
            submissions.return_place(latest)
        case "approve":
            fake.reviews.move(FakeCall((latest.id,), {}, {"action": "APPROVE"}))
