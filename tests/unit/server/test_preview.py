"""The researcher's preview of any list and any step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.errors import Refused
from beholder.server import tokens
from beholder.server.requests import SubmittedAnswer
from support.group_studies import TWO, write_served
from support.message_studies import Hosted, scores, serving, write_asking
from support.rule_studies import STAY, left
from support.training_sessions import Serve, rate
from support.visitor import Visitor


async def test_a_preview_shows_the_end_by_a_rule_and_walks_past_pages_that_would_come_again(tmp_path: Path) -> None:
    rules = {"attention": True, "focus": {"action": "retry"}}
    path = write_asking(tmp_path / "study", checks=rules)
    async with serving(path, tmp_path / "store") as (host, _):
        preview = tokens.preview_secret(host.store.secret)
        arrival: Any = (await host.arrive({"preview": preview}, {}))[1]
        assert "end:failed_checks" in [step["key"] for step in arrival["preview"]["steps"]]
        token = arrival["token"]
        end = await host.step(token, "end:failed_checks")
        assert (end["outcome"], end["code"]) == ("failed_checks", "XXXX-XXXX")
        assert str(end["text"]).count("asked to be set to") == 2
        step: Any = await host.step(token, "trial:1")
        sent = SubmittedAnswer(scores(step, {}, obeys=True), events=left(step["trial"]))
        said: Any = await host.answer(token, "trial:1", sent)
        assert said["feedback"] == STAY
        assert said["step"]["key"] == "trial:2"


async def test_a_preview_of_a_study_that_ends_nobody_has_no_such_end(jerky: Hosted) -> None:
    host, _ = jerky
    assert "end:failed_checks" not in host.preview.keys


async def test_a_preview_is_of_any_list(tmp_path: Path) -> None:
    async with serving(write_served(tmp_path / "study"), tmp_path / "store") as (host, _):
        secret = host.preview.link.partition("preview=")[2]
        for number, text in ((1, TWO[0]["text"]), (3, TWO[1]["text"])):
            _, arrival = await host.arrive({"preview": secret, "list": str(number)}, {})
            assert "Only the" in str(arrival["study"])
            step = await host.step(str(arrival["token"]), "trial:1")
            assert step["trial"]["asked"][0]["text"] == text  # type: ignore[call-overload, index]
            url = step["trial"]["slots"][0]["media"]["url"]  # type: ignore[call-overload, index]
            await host.media(str(url).rpartition("/")[2])
        for other in ("0", "9", "-1", "x", "9" * 30):
            with pytest.raises(Refused):
                await host.arrive({"preview": secret, "list": other}, {})
        with pytest.raises(Refused):
            await host.media("preview5-00")


async def test_a_preview_shows_examples_and_what_is_said_about_answers(serve: Serve) -> None:
    site = await serve()
    link = httpx.URL(site.service.preview.link)
    visitor = Visitor(site, preview=link.params["preview"])
    await visitor.arrive()
    visitor.step = (await visitor.send("GET", "/api/step?key=training:2:1")).json()
    assert visitor.step["training"] == {"place": 2, "total": 4, "anchor": None}
    said = await rate(visitor, 5)
    assert (said["stored_at"], said["feedback"], said["step"]["key"]) == (None, "It stands still.", "training:3:1")


async def test_a_preview_asks_to_sit_as_far_away_as_from_a_usual_screen(tmp_path: Path) -> None:
    path = write_asking(tmp_path / "study", checks={}, qualification={"card": True, "distance": True})
    async with serving(path, tmp_path / "store") as (host, _):
        preview = tokens.preview_secret(host.store.secret)
        devices: list[Any] = [{}, {"screen": [2560, 1440], "dpr": 1}, {"screen": [1440, 900], "dpr": 2}]
        for device in devices:
            arrival: Any = (await host.arrive({"preview": preview}, device))[1]
            step: Any = await host.step(arrival["token"], "check:distance:1")
            assert '"cm": 45,' in json.dumps(step)
