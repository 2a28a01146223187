"""Studies of the fake platform."""

from __future__ import annotations

import pytest

from beholder.recruiting.fake.http import Refusal
from support.prolific_researcher import BODY, CODES, Researcher, detail, make


async def test_places_only_grow_and_most_fields_freeze(researcher: Researcher) -> None:
    study = await researcher.publish()
    for body, field in (
        ({"total_available_places": 2}, "total_available_places"),
        ({"reward": 300}, "reward"),
        ({"filters": []}, "filters"),
        ({"completion_codes": [{**CODES[0], "code": "NEW"}]}, "completion_codes"),
    ):
        response = await researcher.send("PATCH", f"/studies/{study}/", body)
        assert response.status_code == 400
        assert set(detail(response)) == {field}
    for _ in range(2):
        more = await researcher.send("PATCH", f"/studies/{study}/", {"total_available_places": 5})
        assert more.json()["total_available_places"] == 5
    assert (await researcher.send("DELETE", f"/studies/{study}/")).status_code == 400


async def test_a_study_that_is_full_waits_for_review_and_opens_again_with_more_places(researcher: Researcher) -> None:
    study = await researcher.publish(total_available_places=1)
    visit = researcher.fake.people.finish(study)[0]
    assert await researcher.status(study) == "AWAITING REVIEW"
    with pytest.raises(Refusal, match="AWAITING REVIEW"):
        researcher.fake.people.take(study)
    await researcher.decide(visit.submission.id, "APPROVE")
    assert await researcher.status(study) == "COMPLETED"
    await researcher.send("PATCH", f"/studies/{study}/", {"total_available_places": 2})
    assert await researcher.status(study) == "ACTIVE"
    await researcher.move(study, "STOP")
    assert (await researcher.move(study, "START")).status_code == 400
    await researcher.send("PATCH", f"/studies/{study}/", {"total_available_places": 3})
    assert await researcher.status(study) == "ACTIVE"


async def test_pausing_keeps_people_out_and_lets_those_inside_finish(researcher: Researcher) -> None:
    study = await researcher.publish()
    inside = researcher.fake.people.take(study).start()
    await researcher.move(study, "PAUSE")
    with pytest.raises(Refusal):
        researcher.fake.people.take(study)
    inside.finish()
    assert inside.submission.status == "AWAITING REVIEW"
    assert (await researcher.move(study, "START")).json()["status"] == "ACTIVE"
    assert (await researcher.move(study, "PUBLISH")).status_code == 400


async def test_a_scheduled_study_opens_by_itself(researcher: Researcher) -> None:
    study = (await researcher.send("POST", "/studies/", BODY)).json()["id"]
    opens = "2026-10-05T10:00:00Z"
    assert (await researcher.move(study, "SCHEDULE_PUBLISH", publish_at=opens)).json()["status"] == "SCHEDULED"
    researcher.fake.advance(minutes=59)
    assert await researcher.status(study) == "SCHEDULED"
    researcher.fake.advance(minutes=2)
    assert await researcher.status(study) == "ACTIVE"


async def test_used_up_screen_outs_pause_a_study_until_there_are_more(researcher: Researcher) -> None:
    study = await researcher.publish()
    for _ in range(2):
        researcher.fake.people.take(study).start().finish("OUT")
    assert await researcher.status(study) == "PAUSED"
    act = {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 30, "slots": 4}
    more = {**CODES[1], "actions": [act]}
    assert (await researcher.send("PATCH", f"/studies/{study}/", {"completion_codes": [more]})).status_code == 200
    assert (await researcher.move(study, "START")).json()["status"] == "ACTIVE"
    assert len((await researcher.get(f"/studies/{study}/"))["completion_codes"]) == 4
    assert [one.amount for one in researcher.fake.payments] == [30, 30]


async def test_a_workspace_may_lack_paid_screen_outs() -> None:
    researcher = Researcher(make(features=frozenset()))
    response = await researcher.send("POST", "/studies/", BODY)
    assert detail(response) == {
        "completion_codes": ["This workspace does not have access to FIXED_SCREEN_OUT_PAYMENT."]
    }
