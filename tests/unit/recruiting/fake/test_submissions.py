"""Submissions of the fake platform."""

from __future__ import annotations

import pytest

from beholder.recruiting.fake.http import Refusal
from support.prolific_researcher import CODES, Researcher, detail


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


async def test_people_of_a_rehearsal_come_from_many_countries_and_fit_the_filters(researcher: Researcher) -> None:
    people, country = researcher.fake.people, "current-country-of-residence"
    anybody = await researcher.publish()
    drawn = [people.draw(anybody).about for _ in range(24)]
    assert len({about[country] for about in drawn}) == 12
    assert len({about["fluent-languages"] for about in drawn}) == 6
    spanish = {"filter_id": "fluent-languages", "selected_values": ["58"]}
    grown = {"filter_id": "age", "selected_range": {"lower": 40, "upper": 60}}
    fitting = await researcher.publish(filters=[spanish, grown])
    for _ in range(4):
        person = people.draw(fitting)
        assert person.about[country] in ("110", "166")
        assert person.about["age"] in (47, 58)
    people.take(fitting, person)
    old = {"filter_id": "age", "selected_range": {"lower": 90, "upper": 100}}
    nobody = await researcher.publish(filters=[old])
    with pytest.raises(Refusal, match="Nobody of the simulated people fits recruit"):
        people.draw(nobody)


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
