"""The gate: which hosts and origins are the desk's own, and the cookie."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

from beholder.desk.access_file import AccessFile
from beholder.desk.gate import Gate


def request(**headers: str) -> Request:
    return Request({"type": "http", "headers": [(name.encode(), value.encode()) for name, value in headers.items()]})


@pytest.mark.parametrize(
    ("host", "origin", "is_own"),
    [
        ("localhost:8800", "http://localhost:8800", True),
        ("127.0.0.1:9000", "http://127.0.0.1:9000", True),  # through ssh
        ("localhost:8800", "http://localhost:8000", False),  # a study that is tried out beside it
        ("localhost:8800", "https://evil.example", False),
        ("localhost:8800", "null", False),
        ("localhost:8800", "", False),
        ("evil.example", "http://evil.example", False),
    ],
)
def test_a_change_comes_from_a_page_of_the_desk(host: str, origin: str, is_own: bool, tmp_path: Path) -> None:
    gate = Gate(AccessFile(tmp_path / "desk.sqlite"))
    assert gate.is_own_origin(request(host=host, origin=origin)) == is_own
    gate.file.close()


def test_behind_tls_only_its_own_address_counts_and_the_cookie_is_secure(tmp_path: Path) -> None:
    gate = Gate(AccessFile(tmp_path / "desk.sqlite"), "https://desk.lab.org")
    assert gate.is_own_host("desk.lab.org")
    assert not gate.is_own_host("evil.example")
    assert gate.is_own_origin(request(host="desk.lab.org", origin="https://desk.lab.org"))
    assert not gate.is_own_origin(request(host="desk.lab.org", origin="http://desk.lab.org"))
    reply = Response()
    gate.set_cookie(reply, "secret")
    name, *rules = reply.headers["set-cookie"].split("; ")
    assert name == "__Host-beholder_desk=secret"
    assert {one.lower() for one in rules} == {"httponly", "path=/", "samesite=strict", "secure"}
    gate.file.close()
