"""The fake Prolific: what it takes and refuses, and that it is as the published document says."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from beholder.recruiting.fake import FakeProlific, serve_fake
from beholder.recruiting.fake.openapi import OpenApiDocument
from beholder.testing.prolific import check_prolific, missing_in
from support.data import DATA
from support.prolific_researcher import AUTH, BODY, CODES, OPENAPI, URL, Researcher, detail


def document() -> OpenApiDocument:
    if not OPENAPI.is_file():
        pytest.skip(f"prolific_openapi.yml is not in {DATA}; set BEHOLDER_TEST_DATA")
    return OpenApiDocument.read(OPENAPI)


def test_the_document_still_has_everything_that_we_rely_on() -> None:
    assert missing_in(document()) == []


def test_a_field_that_a_newer_document_drops_is_named() -> None:
    text = OPENAPI.read_text("utf-8") if OPENAPI.is_file() else pytest.skip(f"no document in {DATA}")
    newer = OpenApiDocument(re.sub(r"^( +)bonus_payments:$", r"\1extras:", text, flags=re.MULTILINE))
    assert missing_in(newer) == ["SubmissionDetail.bonus_payments"]


async def test_the_fake_is_as_the_live_api_promises(researcher: Researcher) -> None:
    study = await researcher.publish()
    researcher.fake.people.finish(study, 2)
    await check_prolific(researcher.client)


async def test_over_real_http_it_answers_the_same(fake: FakeProlific) -> None:
    async with serve_fake(fake) as url, httpx.AsyncClient(base_url=url, headers=AUTH) as client:
        await check_prolific(client)
        made = await client.post("/api/v1/studies/", json=BODY)
        assert made.status_code == 201
        fake.faults.next("GET /api/v1/users/me/", "cut_before", "502", "429_wait")
        with pytest.raises(httpx.TransportError):
            await client.get("/api/v1/users/me/")
        assert (await client.get("/api/v1/users/me/")).text.startswith("<html>")
        slow = await client.get("/api/v1/users/me/")
        assert (slow.status_code, slow.headers["retry-after"]) == (429, "7")


async def test_the_token_is_asked_for(fake: FakeProlific) -> None:
    async with httpx.AsyncClient(base_url="https://x", transport=fake.transport()) as client:
        for headers in ({}, {"Authorization": "Bearer rehearsal"}, {"Authorization": "Token other"}):
            assert (await client.get("/api/v1/users/me/", headers=headers)).status_code == 401


@pytest.mark.parametrize("path", ["/users/me", "/studies", "/nothing/", "/studies/x/transition"])
async def test_paths_are_exact(researcher: Researcher, path: str) -> None:
    assert (await researcher.send("GET", path)).status_code == 404


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


@pytest.mark.parametrize(
    ("method", "path", "body", "query"),
    [
        ("POST", "/studies/", {**BODY, "colour": "red"}, {}),
        ("POST", "/studies/", {**BODY, "prolific_id_option": "telepathy"}, {}),
        ("POST", "/studies/", {**BODY, "completion_codes": [{**CODES[0], "code_type": "FINE"}]}, {}),
        ("POST", "/studies/", None, {}),
        ("GET", "/submissions/", None, {"study": "x", "limit": "5"}),
        ("GET", "/submissions/", None, {"study": "x", "page": "first"}),
        ("GET", "/studies/", None, {"state": "OPEN"}),
        ("POST", "/study-cost-calculator/", {"reward": "200", "total_available_places": 3}, {}),
    ],
)
async def test_requests_are_held_against_the_document(
    researcher: Researcher, method: str, path: str, body: Any, query: dict[str, str]
) -> None:
    document()
    assert (await researcher.send(method, path, body, **query)).status_code == 400
