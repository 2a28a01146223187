"""Serving a desk: on its own port, with a link that logs in."""

from __future__ import annotations

from pathlib import Path

import httpx

from beholder.desk.access_file import noted_desks
from beholder.desk.desk_server import run_desk
from beholder.testing import write_study


async def test_a_desk_listens_and_its_link_logs_in(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny)
    async with run_desk([study], port=0, accounts=tmp_path / "desk.sqlite") as running:
        address, _, code = running.link("Ada").partition("/login#code=")
        assert address == running.address
        async with httpx.AsyncClient(base_url=address, headers={"origin": address}) as browser:
            assert (await browser.get("/api/me")).status_code == 401
            assert (await browser.post("/api/login", json={"code": code})).status_code == 200
            assert (await browser.get("/api/me")).json()["name"] == "Ada"
        ((noted, studies),) = noted_desks(running.file)
        assert (noted, list(studies.values())) == (address, [str(study)])
