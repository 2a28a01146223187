"""Drafts on Prolific: their body, their creation, and the rules documented only in prose."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import RecruitError
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.fake.http import Refusal
from beholder.recruiting.prolific.draft import (
    NO_SCREEN_OUT,
    NO_SIGNATURE,
    DraftContext,
    draft_body,
    draft_problems,
    has_sound,
    plain_description,
)
from beholder.recruiting.prolific.money import completion_codes
from beholder.study.recruitment import Sum
from beholder.testing.stores.facts import study_record
from support.prolific_rehearsal import JOB, LOST, RECRUIT, prolific, study_in

CREATE = "POST /api/v1/studies/"


async def test_a_draft_says_everything_that_prolific_should_know(tmp_path: Path) -> None:
    fake = FakeProlific()
    study = study_in(
        tmp_path,
        family="walks",
        qualification={"device": {"allow": ["desktop", "phone"]}, "headphones": True},
        recruit=RECRUIT | {"screen_out": "0.30 GBP", "filters": {"countries": ["DE"], "approved_submissions": 20}},
    )
    async with prolific(study, fake) as recruiter:
        job = replace(JOB, screen_out=Sum(30, "GBP"), description="<h3>Walks</h3><a href='https://x.org'>Look</a>")
        posting = await recruiter.draft(job)
        assert not recruiter.notes
    sent = fake.studies.find(posting.id).body
    group = next(iter(fake.groups.all.values()))
    assert group.name == "beholder walks"
    joins = {"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": group.id}
    actions = {code["code_type"]: code["actions"] for code in sent["completion_codes"]}
    assert actions == {
        "COMPLETED": [{"action": "MANUALLY_REVIEW"}, joins],
        "SCREENED_OUT": [
            {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 30, "slots": 5},
            joins,
        ],
        "INCOMPATIBLE_DEVICE": [
            {"action": "REQUEST_RETURN", "return_reason": "The device does not fit this study"},
            joins,
        ],
        "NO_CONSENT": [{"action": "REQUEST_RETURN", "return_reason": "Withdrew consent"}, joins],
        "FAILED_ATTENTION_CHECK": [{"action": "MANUALLY_REVIEW"}, joins],
        "OTHER": [{"action": "MANUALLY_REVIEW"}, joins],
    }
    assert json.loads(sent["metadata"]) == {"digest": "d1", "launch": JOB.key}
    expected: dict[str, Any] = {
        "name": "Which walk looks better?",
        "internal_name": "Which walk looks better? walk-1-0a1b2c3d",
        "description": "<h2>Walks</h2>Look",
        "external_study_url": JOB.url,
        "prolific_id_option": "url_parameters",
        "total_available_places": 10,
        "estimated_completion_time": 10,
        "maximum_allowed_time": 29,
        "reward": 200,
        "device_compatibility": ["desktop", "mobile"],
        "peripheral_requirements": ["audio"],
        "submissions_config": {"max_submissions_per_participant": 1},
        "study_labels": ["annotation"],
        "project": fake.project,
        "filters": [
            {"filter_id": "current-country-of-residence", "selected_values": ["45"]},
            {"filter_id": "approval_numbers", "selected_range": {"lower": 20, "upper": 10000}},
            {"filter_id": "participant_group_blocklist", "selected_values": [group.id]},
        ],
    }
    assert {key: sent[key] for key in expected} == expected


async def test_whoever_may_submit_several_times_is_not_kept_out_by_the_group(tmp_path: Path) -> None:
    fake = FakeProlific()
    study = study_in(
        tmp_path, family="walks", design={"sessions_per_participant": 3}, recruit=RECRUIT | {"further": "submissions"}
    )
    async with prolific(study, fake) as recruiter:
        posting = await recruiter.publish((await recruiter.draft(JOB)).id)
        body = fake.studies.find(posting.id).body
        assert body["submissions_config"] == {"max_submissions_per_participant": 3}
        person = fake.people.new()
        for _ in range(3):
            fake.people.take(posting.id, person).start().finish()
        await recruiter.exclude([person.id])
        other = await recruiter.publish((await recruiter.draft(replace(JOB, key="other-1-ffff"))).id)
        with pytest.raises(Refusal, match="not for this participant"):
            fake.people.take(other.id, person)


async def test_a_workspace_without_paid_screen_outs_gets_a_draft_without_them_and_says_so(tmp_path: Path) -> None:
    fake = FakeProlific(features=frozenset())
    study = study_in(tmp_path, recruit=RECRUIT | {"screen_out": "0.30 GBP"})
    job = replace(JOB, screen_out=Sum(30, "GBP"))
    async with prolific(study, fake) as recruiter:
        for _ in range(2):
            posting = await recruiter.draft(job)
            why = (
                "Bad request: completion_codes: This workspace does not have access to FIXED_SCREEN_OUT_PAYMENT. (400)"
            )
            assert recruiter.notes == (NO_SCREEN_OUT.format(why=why),)
    codes = {code["code_type"]: code for code in fake.studies.find(posting.id).body["completion_codes"]}
    assert codes["SCREENED_OUT"]["actions"] == [
        {"action": "REQUEST_RETURN", "return_reason": "Did not fit what this study needs"}
    ]


async def test_visits_are_signed_where_the_study_asks_for_it(tmp_path: Path) -> None:
    fake = FakeProlific()
    async with prolific(study_in(tmp_path, recruit=RECRUIT | {"signed_visits": True}), fake) as recruiter:
        posting = await recruiter.draft(JOB)
        assert fake.studies.find(posting.id).body["is_external_study_url_secure"] is True
        assert not recruiter.notes
    async with prolific(study_in(tmp_path / "plain"), fake) as recruiter:
        plain = await recruiter.draft(replace(JOB, key="plain-1-ffff"))
    assert "is_external_study_url_secure" not in fake.studies.find(plain.id).body


SIGNED_OUT = "is_external_study_url_secure: This is not available in your workspace."
PAID_OUT = "completion_codes: This workspace does not have access to FIXED_SCREEN_OUT_PAYMENT."


@pytest.mark.parametrize(
    ("features", "why", "notes"),
    [
        ({"screen_out"}, SIGNED_OUT, (NO_SIGNATURE,)),
        ({"signed"}, PAID_OUT, (NO_SCREEN_OUT,)),
        (set(), f"{PAID_OUT}; {SIGNED_OUT}", (NO_SIGNATURE, NO_SCREEN_OUT)),
    ],
)
async def test_of_what_a_workspace_does_not_have_as_little_as_possible_is_left_out(
    tmp_path: Path, features: set[str], why: str, notes: tuple[str, ...]
) -> None:
    fake = FakeProlific(features=frozenset(features))
    study = study_in(tmp_path, recruit=RECRUIT | {"screen_out": "0.30 GBP", "signed_visits": True})
    async with prolific(study, fake) as recruiter:
        posting = await recruiter.draft(replace(JOB, screen_out=Sum(30, "GBP")))
        assert recruiter.notes == tuple(note.format(why=f"Bad request: {why} (400)") for note in notes)
    body = fake.studies.find(posting.id).body
    assert body.get("is_external_study_url_secure", False) is ("signed" in features)
    assert len(fake.studies.all) == 1


async def test_a_lost_answer_leaves_one_draft(tmp_path: Path) -> None:
    study = study_in(tmp_path)
    for kind in LOST:
        fake = FakeProlific()
        fake.faults.next(CREATE, kind)
        async with prolific(study, fake) as recruiter:
            first, again = await recruiter.draft(JOB), await recruiter.draft(JOB)
        assert first == again
        assert list(fake.studies.all) == [first.id]


async def test_a_draft_follows_its_study_until_it_is_published(tmp_path: Path) -> None:
    fake = FakeProlific()
    async with prolific(study_in(tmp_path), fake) as recruiter:
        first = await recruiter.draft(JOB)
        dearer = replace(JOB, reward=Sum(250, "GBP"), places=12)
        assert await recruiter.draft(dearer) == first._replace(reward=Sum(250, "GBP"), places=12)
        assert not recruiter.notes
        await recruiter.publish(first.id)
        kept = await recruiter.draft(replace(dearer, reward=Sum(300, "GBP")))
        assert kept.reward == Sum(250, "GBP")
        assert recruiter.notes == ("It is published already: Prolific keeps its reward, whatever the study says now.",)


async def test_two_drafts_of_one_launch_are_for_a_person_to_look_at(tmp_path: Path) -> None:
    fake = FakeProlific()
    async with prolific(study_in(tmp_path), fake) as recruiter:
        first = await recruiter.draft(JOB)
        fake.studies.all["copy"] = replace(fake.studies.find(first.id), id="copy")
        with pytest.raises(RecruitError) as error:
            await recruiter.draft(JOB)
    assert str(error.value) == (
        f"Prolific  has 2 studies of this launch (walk-1-0a1b2c3d): copy, {first.id}. Allowed: one. Look at them on "
        "Prolific, delete the drafts that nobody took part in, then launch again."
    )


def test_a_description_keeps_its_words() -> None:
    html = "<h4>Who</h4><p>a <code>b</code> <a href='https://x.org'>c</a><br>d</p><table><tr><td>e</td><td>f</td></tr></table>"
    assert plain_description(html) == "<h2>Who</h2><p>a b c d</p><p>e f </p>"


def test_sound_is_needed_where_something_is_heard(tmp_path: Path) -> None:
    record = study_record()
    heard = replace(record, stimuli=[{**record.stimuli[0], "probe": {"audio_codec": "aac"}}])
    study = study_in(tmp_path / "a")
    assert not has_sound(study, record)
    assert not has_sound(study, None)
    assert has_sound(study, heard)
    assert has_sound(study, replace(record, stimuli=[{**record.stimuli[0], "medium": "audio"}]))
    assert not has_sound(study_in(tmp_path / "b", playback={"sound": "off"}), heard)


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A draft that is fine."""
    codes = completion_codes(
        {"completed": "AAAA", "screened_out": "BBBB", "no_consent": "CCCC"},
        places=10,
        screen_out=Sum(30, "GBP"),
        group=None,
    )
    return draft_body(study_in(tmp_path_factory.mktemp("rules")), JOB, DraftContext("project", codes))


def test_a_draft_that_is_fine_has_no_problems(body: dict[str, Any]) -> None:
    assert draft_problems(body) == []


def test_everything_that_prolific_asks_in_prose_is_told_at_once(body: dict[str, Any]) -> None:
    wrong = deepcopy(body)
    wrong |= {"name": " ", "description": "", "reward": 30, "total_available_places": 0, "maximum_allowed_time": 28}
    wrong["external_study_url"] = "http://lab.example.org/s/walk?PROLIFIC_PID={{%PROLIFIC_PID%}}"
    done, out, _ = wrong["completion_codes"]
    done["actions"].append({"action": "AUTOMATICALLY_APPROVE"})
    wrong["completion_codes"] = [{**done, "code_type": "OTHER"}, out, {**out, "code_type": "OTHER"}]
    assert [str(problem) for problem in draft_problems(wrong)] == [
        "Prolific name  is empty. Allowed: a text that people read before they begin.",
        "Prolific description  is empty. Allowed: a text that people read before they begin.",
        "Prolific total_available_places  is 0. Allowed: a whole number, 1 or more.",
        "Prolific maximum_allowed_time  is 28 minutes for an estimate of 10. Allowed: 29 to 1439 minutes. Write "
        "recruit: {time_limit: 29 min} or longer, or leave it out.",
        "Prolific external_study_url  is http://lab.example.org/s/walk?PROLIFIC_PID={{%PROLIFIC_PID%}}. Allowed: "
        "https://. Serve the study over https and name it by --public-url.",
        "Prolific external_study_url  is without {{%STUDY_ID%}}, {{%SESSION_ID%}}. Allowed: {{%PROLIFIC_PID%}}, "
        "{{%STUDY_ID%}}, {{%SESSION_ID%}}.",
        "Prolific completion_codes  have none for those who completed. Allowed: one at least.",
        "Prolific completion_codes  have BBBB 2 times. Allowed: every code once.",
        "Prolific completion_codes  approve OTHER by themselves and by hand. Allowed: one of the two for a code.",
        "Prolific completion_codes  pay for 2 kinds of screen-out. Allowed: one at most.",
        "Prolific completion_codes  pay 30 to those who did not fit, and 30 to those who did. Allowed: 1 to 29. Write "
        "a smaller recruit: {screen_out: ..}.",
        "Prolific completion_codes  pay 30 to those who did not fit, and 30 to those who did. Allowed: 1 to 29. Write "
        "a smaller recruit: {screen_out: ..}.",
    ]


def test_a_rehearsal_may_be_on_this_machine(body: dict[str, Any]) -> None:
    here = body | {"external_study_url": body["external_study_url"].replace("https://lab.example.org", "http://[::1]")}
    assert len(draft_problems(here)) == 1
    assert draft_problems(here, is_any_address=True) == []
