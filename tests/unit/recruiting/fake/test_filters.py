"""Filters of the fake platform."""

from __future__ import annotations

import pytest

from beholder.recruiting.fake.http import Refusal
from support.prolific_researcher import URL, Researcher


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
