"""The OpenAPI document of the desk: valid, and of every route."""

from __future__ import annotations

import re
from pathlib import Path

from support.desk_browsers import open_desk


async def test_the_document_lists_every_route_of_the_api_and_each_says_what_it_needs(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as bench:
        document = (await (await bench.logged_in()).get("/api/openapi.json")).json()
    ids = [operation["operationId"] for methods in document["paths"].values() for operation in methods.values()]
    assert len(ids) == len(set(ids)) == 27
    for path, methods in document["paths"].items():
        for operation in methods.values():
            named = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "path"}
            assert named == set(re.findall(r"{(\w+)}", path))
            assert ("security" in operation) is (path != "/api/login")
            assert operation["summary"].endswith(".")
