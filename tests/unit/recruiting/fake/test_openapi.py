"""Requests and replies are checked against Prolific's published document."""

from __future__ import annotations

from typing import Any

import pytest

from support.prolific_document import document
from support.prolific_researcher import BODY, CODES, Researcher


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
