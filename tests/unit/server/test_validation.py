"""Validating answers: what has to be played is proved by the event log and the server's clock."""

from __future__ import annotations

from pathlib import Path

from beholder.simulation.robot import watch_events
from support.instruction_pages import PLAYED, served, until, written
from support.training_sessions import Serve, start_training, stored_verdicts
from support.visitor import Visitor


async def test_what_has_to_be_played_is_proved_before_the_next_page(tmp_path: Path, tiny: Path) -> None:
    async with served(written(tmp_path, tiny, ["First.", PLAYED])) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "text:instructions:2")
        step = visitor.step
        assert step["captions"] == ["Torn blocks", "It stands still"]
        assert step["trial"]["asked"] == []
        assert "torn.mp4" not in str(step)
        refused = await visitor.answer({})
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "not_watched")
        refused = await visitor.answer({"missing": {"s1": "media_error"}}, watch_events(step["trial"]))
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "not_missing")
        refused = await visitor.answer({"scores": {}}, watch_events(step["trial"]))
        assert (refused.status_code, refused.json()["error"]["allowed"]) == (422, "{}, or what would not play")
        refused = await visitor.answer({"missing": {"s9": "media_error"}}, watch_events(step["trial"]))
        assert (refused.status_code, refused.json()["error"]["allowed"]) == (422, "s1, s2")
        for slot in step["trial"]["slots"]:
            media = await site.client.get(slot["media"]["url"])
            assert media.status_code == 200
            assert len(media.content) == slot["media"]["bytes"]


async def test_the_clock_of_the_server_has_to_allow_what_was_played(tmp_path: Path, tiny: Path) -> None:
    async with served(written(tmp_path, tiny, [PLAYED])) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "text:instructions")
        refused = await visitor.answer({}, watch_events(visitor.step["trial"]))
        assert refused.json()["error"]["allowed"] == "no more than the time that passed"


async def test_an_example_that_would_not_play_keeps_nobody_from_going_on(tmp_path: Path, tiny: Path) -> None:
    async with served(written(tmp_path, tiny, [PLAYED])) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "text:instructions")
        missing = {"missing": {"s1": "media_error", "s2": "media_error"}}
        errors = [[10, "error", slot, {"what": "decode"}] for slot in ("s1", "s2")]
        assert (await visitor.answer(missing, errors)).status_code == 200
        assert visitor.step["kind"] == "trial"


async def test_examples_that_may_be_left_out_are_left_out(tmp_path: Path, tiny: Path) -> None:
    async with served(written(tmp_path, tiny, [{**PLAYED, "play": False}])) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "text:instructions")
        assert visitor.step["trial"]["playback"]["watch"] == "none"
        assert (await visitor.answer({})).status_code == 200


async def test_an_example_has_to_be_watched(serve: Serve) -> None:
    visitor = await start_training(await serve())
    response = await visitor.answer(visitor.scores(5))
    assert (response.status_code, response.json()["error"]["code"]) == (422, "not_watched")
    assert await stored_verdicts(visitor.server) == {}


async def test_an_example_that_will_not_play_costs_nothing(serve: Serve) -> None:
    visitor = await start_training(await serve())
    broken = {"scores": {"q1": {}}, "missing": {"s1": "media_error"}}
    response = await visitor.answer(broken, [[0, "shown", None, {}], [9, "error", "s1", {"what": "decode"}]])
    response.raise_for_status()
    assert visitor.step["key"] == "training:2:1"
    assert await stored_verdicts(visitor.server) == {"training:1:1": ("unknown", "media_error")}
