"""What we rely on in Prolific's API, checked against its document, the fake platform or the live API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from beholder.recruiting.fake.filters import USUAL_ANSWERS
from beholder.recruiting.fake.http import routes
from beholder.recruiting.fake.openapi import OpenApiDocument
from beholder.recruiting.fake.platform import FakeProlific

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "CreateStudy": (
        "name", "internal_name", "description", "external_study_url", "prolific_id_option", "completion_codes",
        "total_available_places", "estimated_completion_time", "maximum_allowed_time", "reward",
        "device_compatibility", "peripheral_requirements", "filters", "project", "submissions_config",
        "study_labels", "metadata", "is_external_study_url_secure",
    ),
    "Study": ("id", "status", "total_available_places", "reward", "completion_codes", "filters"),
    "StudyShort": ("id", "internal_name", "status"),
    "StudyTransition": ("action",),
    "SubmissionShort": (
        "id", "participant_id", "status", "started_at", "completed_at", "study_code", "return_requested",
    ),
    "SubmissionDetail": ("id", "participant", "status", "entered_code", "bonus_payments", "return_requested"),
    "SubmissionTransition": ("action", "message", "rejection_category"),
    "SubmissionsCountResponse": ("TOTAL", "AWAITING REVIEW"),
    "BulkBonus": ("id", "amount", "fees", "vat", "total_amount"),
    "WorkspaceBalance": ("currency_code", "available_balance"),
    "StudyCostResponse": ("total_cost",),
    "FixedScreenOut": ("action", "fixed_screen_out_reward", "slots"),
    "JWK": ("kty", "kid", "alg", "n", "e"),
}  # fmt: skip
"""The fields that we read and write, by schema."""


def missing_in(document: OpenApiDocument) -> list[str]:
    """Return the operations and fields that we rely on and a document does not have."""
    return [*_operations(document), *_fields(document)]


def _operations(document: OpenApiDocument) -> Iterator[str]:
    for route in routes(FakeProlific()):
        if document.operation(route.method, route.template) is None:
            yield route.operation


def _fields(document: OpenApiDocument) -> Iterator[str]:
    for name, fields in _FIELDS.items():
        known = document.schema(name)["properties"]
        yield from (f"{name}.{field}" for field in fields if field not in known)


async def check_prolific(client: httpx.AsyncClient) -> None:
    """Assert what we rely on in a running API, of the fake platform or of Prolific. Nothing is changed.

    `client` has the address and the token.
    """
    assert (await _get(client, "/users/me/"))["id"]
    workspaces = (await _get(client, "/workspaces/"))["results"]
    assert workspaces, "there is no workspace"
    workspace = workspaces[0]["id"]
    balance = await _get(client, f"/workspaces/{workspace}/balance/")
    assert len(balance["currency_code"]) == 3
    assert isinstance(balance["available_balance"], int)
    assert all(one["id"] for one in (await _get(client, f"/workspaces/{workspace}/projects/"))["results"])
    filters = {one["filter_id"]: one for one in (await _get(client, "/filters/", workspace_id=workspace))["results"]}
    assert set(USUAL_ANSWERS) <= set(filters), sorted(set(USUAL_ANSWERS) - set(filters))
    assert {"participant_group_blocklist", "previous_studies_blocklist"} <= set(filters)
    assert all(isinstance(one, str) for one in filters["current-country-of-residence"]["choices"].values())
    recommended = await _get(client, "/reward-recommendations/", workspace_id=workspace, currency="GBP")
    assert 0 < recommended[0]["min_reward_per_hour"] <= recommended[0]["recommended_reward_per_hour"]
    for study in (await _get(client, "/studies/"))["results"][:1]:
        assert (await _get(client, f"/studies/{study['id']}/"))["id"] == study["id"]
        counts = await _get(client, f"/studies/{study['id']}/submissions/counts/")
        first = (await _get(client, "/submissions/", study=study["id"], page_size="1", page="1"))["results"]
        assert len(first) == min(1, counts["TOTAL"])
        beyond = str(int(counts["TOTAL"]) + 2)
        assert (await _get(client, "/submissions/", study=study["id"], page_size="1", page=beyond))["results"] == []
    published = await client.get("/.well-known/study/jwks.json")
    assert all((one["kty"], one["alg"]) == ("RSA", "RS256") and one["kid"] for one in published.json()["keys"])
    unknown = await client.get("/api/v1/studies/000000000000000000000000/")
    assert unknown.status_code == 404


async def _get(client: httpx.AsyncClient, path: str, **query: str) -> Any:
    response = await client.get(f"/api/v1{path}", params=query)
    assert response.status_code == 200, f"GET {path}: {response.status_code}"
    return response.json()
