"""Studies and submissions of the fake Prolific: how they move, by themselves, by people and by decisions."""

from __future__ import annotations

import pytest

from beholder.recruiting.fake.http import Refusal
from support.prolific_researcher import BODY, CODES, URL, Researcher, detail, make


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


async def test_places_are_reserved_for_ten_minutes_and_work_times_out(researcher: Researcher) -> None:
    study = await researcher.publish(total_available_places=1)
    people = researcher.fake.people
    reserved = people.take(study)
    with pytest.raises(Refusal, match="full"):
        people.take(study)
    researcher.fake.advance(minutes=10)
    assert reserved.submission.status == "RETURNED"
    slow = people.take(study).start()
    researcher.fake.advance(minutes=29)
    assert slow.submission.status == "TIMED-OUT"
    slow.finish()
    assert (slow.submission.status, slow.submission.code) == ("TIMED-OUT", "DONE")
    assert (await researcher.decide(slow.submission.id, "APPROVE")).status_code == 400
    people.finish(study)
    counts = await researcher.get(f"/studies/{study}/submissions/counts/")
    assert (counts["TOTAL"], counts["TIMED-OUT"], counts["AWAITING REVIEW"]) == (3, 1, 1)


async def test_who_nobody_looks_at_is_approved_after_21_days(researcher: Researcher) -> None:
    study = await researcher.publish()
    visit = researcher.fake.people.finish(study)[0]
    researcher.fake.advance(days=20, hours=23)
    assert visit.submission.status == "AWAITING REVIEW"
    researcher.fake.advance(hours=1)
    assert [(one.kind, one.amount) for one in researcher.fake.payments] == [("reward", 200)]


async def test_a_code_does_what_the_study_says(researcher: Researcher) -> None:
    group = (
        await researcher.send(
            "POST", "/participant-groups/", {"workspace_id": researcher.fake.workspace, "name": "family"}
        )
    ).json()["id"]
    add = {"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": group}
    codes = [{**code, "actions": [*code["actions"], add]} for code in CODES]
    study = await researcher.publish(total_available_places=10, completion_codes=codes)
    people = researcher.fake.people
    ends = {
        code: people.take(study).start().finish(code).submission for code in ("DONE", "OUT", "NO", "AUTO", "NOCODE")
    }
    assert {code: one.status for code, one in ends.items()} == {
        "DONE": "AWAITING REVIEW", "OUT": "SCREENED OUT", "NO": "AWAITING REVIEW", "AUTO": "APPROVED",
        "NOCODE": "AWAITING REVIEW",
    }  # fmt: skip
    assert ends["NO"].return_requested is not None
    members = (await researcher.get(f"/participant-groups/{group}/participants/"))["results"]
    assert {one["participant_id"] for one in members} == {ends[c].person.id for c in ("DONE", "OUT", "NO", "AUTO")}
    blocked = [{"filter_id": "participant_group_blocklist", "selected_values": [group]}]
    other = await researcher.publish(filters=blocked)
    with pytest.raises(Refusal, match="not for this participant"):
        people.take(other, ends["DONE"].person)
    assert people.take(other, ends["NOCODE"].person).submission.status == "RESERVED"


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


async def test_filters_and_earlier_studies_keep_people_out(researcher: Researcher) -> None:
    people = researcher.fake.people
    first = await researcher.publish()
    been = people.take(first).start().return_place().submission.person
    filters = [
        {"filter_id": "previous_studies_blocklist", "selected_values": [first]},
        {"filter_id": "current-country-of-residence", "selected_values": ["45"]},
        {"filter_id": "approval_rate", "selected_range": {"lower": 95}},
    ]
    second = await researcher.publish(filters=filters)
    german = {"current-country-of-residence": "45"}
    for person in (been, people.new(), people.new({**german, "approval_rate": 90})):
        with pytest.raises(Refusal, match="not for this participant"):
            people.take(second, person)
    assert people.take(second, people.new(german)).url == (
        URL.replace("{{%STUDY_ID%}}", second)
        .replace("{{%PROLIFIC_PID%}}", list(people.all)[-1])
        .replace("{{%SESSION_ID%}}", list(researcher.fake.submissions.all)[-1])
    )


@pytest.mark.parametrize(("most", "times"), [(1, 1), (3, 3)])
async def test_a_person_comes_as_often_as_the_study_says(researcher: Researcher, most: int, times: int) -> None:
    study = await researcher.publish(
        total_available_places=9, submissions_config={"max_submissions_per_participant": most}
    )
    people = researcher.fake.people
    person = people.new()
    for _ in range(times):
        people.take(study, person).start().finish()
    with pytest.raises(Refusal, match="before"):
        people.take(study, person)
    listed = await researcher.get("/submissions/", study=study)
    assert [one["has_siblings"] for one in listed["results"]] == [times > 1] * times


async def test_decisions_are_final_and_may_be_repeated(researcher: Researcher) -> None:
    study = await researcher.publish()
    good, bad = (visit.submission.id for visit in researcher.fake.people.finish(study, 2))
    assert detail(await researcher.decide(bad, "REJECT", message="No.", rejection_category="LOW_EFFORT")) == {
        "message": ["This must have 100 characters at least."]
    }
    assert set(detail(await researcher.decide(bad, "REJECT", message="w" * 100))) == {"rejection_category"}
    for _ in range(2):
        assert (await researcher.decide(good, "APPROVE")).json()["status"] == "APPROVED"
        rejected = await researcher.decide(bad, "REJECT", message="w" * 100, rejection_category="LOW_EFFORT")
        assert rejected.json()["status"] == "REJECTED"
    assert (await researcher.decide(good, "REJECT", message="w" * 100, rejection_category="OTHER")).status_code == 400
    assert (await researcher.decide(bad, "APPROVE")).status_code == 400
    assert [one.submission for one in researcher.fake.payments] == [good]


async def test_bulk_approval_happens_later(researcher: Researcher) -> None:
    study = await researcher.publish()
    ids = [visit.submission.id for visit in researcher.fake.people.finish(study, 2)]
    assert (await researcher.send("POST", "/submissions/bulk-approve/", {"submission_ids": ids})).status_code == 200
    assert {(await researcher.get(f"/submissions/{id_}/"))["status"] for id_ in ids} == {"AWAITING REVIEW"}
    await researcher.fake.sleep(10)
    assert {(await researcher.get(f"/submissions/{id_}/"))["status"] for id_ in ids} == {"APPROVED"}


async def test_asking_for_a_return_writes_each_time(researcher: Researcher) -> None:
    study = await researcher.publish()
    id_ = researcher.fake.people.finish(study)[0].submission.id
    for _ in range(2):
        response = await researcher.send(
            "POST", f"/submissions/{id_}/request-return/", {"request_return_reasons": ["Didn't finish the study"]}
        )
        assert response.json()["return_requested"] == "2026-10-05T09:00:00Z"
    assert len(researcher.fake.messages) == 2
