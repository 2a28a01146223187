"""Rules of a study that Prolific documents only in prose."""

from __future__ import annotations

from typing import Any

import pytest

from beholder.recruiting.fake import FakeProlific
from support.prolific_researcher import BODY, CODES, URL, Researcher, detail

WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "reward": ({"reward": 0}, "reward", "Reward must be a positive integer, in cents."),
    "fraction": ({"reward": 1.5}, "reward", "Reward must be a positive integer, in cents."),
    "places": ({"total_available_places": 0}, "total_available_places", "There must be 1 place at least."),
    "scheme": ({"external_study_url": URL.replace("https", "http")}, "external_study_url",
               "The URL must begin with https://."),
    "placeholder": ({"external_study_url": URL.replace("{{%SESSION_ID%}}", "1")}, "external_study_url",
                    "The URL has no {{%SESSION_ID%}}."),
    "time": ({"maximum_allowed_time": 28}, "maximum_allowed_time",
             "The maximum allowed time must be 29 minutes at least."),
    "tags": ({"description": "<a href='x'>y</a>"}, "description", "The tags ['a'] are not allowed."),
    "codes": ({"completion_codes": [CODES[0], CODES[0]]}, "completion_codes", "The code DONE is there 2 times."),
    "both": ({"completion_codes": [{**CODES[0], "actions": [{"action": "MANUALLY_REVIEW"},
                                                            {"action": "AUTOMATICALLY_APPROVE"}]}]},
             "completion_codes", "A code cannot both approve and leave it to a review."),
    "screen-outs": ({"completion_codes": [CODES[1], {**CODES[1], "code": "OUT2"}]}, "completion_codes",
                    "Only one code may pay a screen-out."),
    "dear screen-out": ({"reward": 30}, "completion_codes", "The screen-out reward must be below the reward."),
    "filter": ({"filters": [{"filter_id": "shoe-size", "selected_values": ["1"]}]}, "filters",
               "There is no filter shoe-size."),
    "choice": ({"filters": [{"filter_id": "fluent-languages", "selected_values": ["999"]}]}, "filters",
               "Filter fluent-languages has no choices ['999']."),
    "range": ({"filters": [{"filter_id": "age", "selected_range": {"lower": "18"}}]}, "filters",
              "Filter age needs a selected_range of numbers."),
    "project": ({"project": "000"}, "project", "There is no such project."),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
async def test_rules_of_prose_are_held(researcher: Researcher, what: str) -> None:
    change, field, words = WRONG[what]
    response = await researcher.send("POST", "/studies/", {**BODY, **change})
    assert response.status_code == 400
    assert words in detail(response)[field]


async def test_without_a_document_what_is_missing_is_still_said() -> None:
    researcher = Researcher(FakeProlific())
    response = await researcher.send("POST", "/studies/", {"name": "x"})
    assert detail(response)["reward"] == ["This field is required."]
    assert detail(await researcher.send("GET", "/submissions/")) == {"study": ["This field is required."]}
