"""A separate stage in real browsers: one context shows, the other asks; each is killed, reloaded and cut off once."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page

from support.browser import MARKS, StudyServers, Visit, barriers, overhang

pytestmark = MARKS

KEYS: dict[str, Any] = {
    "method": "acr", "stage": "separate",
    "questions": [{"id": "quality", "text": "How good is it?", "scale": "acr5"}],
    "design": {"participants": 6, "trials": 2, "seed": 3},
}  # fmt: skip
TELEVISION: dict[str, Any] = {"viewport": {"width": 1920, "height": 1080}}
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 640}, "is_mobile": True, "has_touch": True}
HOLD = """
if (!sessionStorage.held) HTMLMediaElement.prototype.play = () => new Promise(() => {});
sessionStorage.held = 1;
"""
"""Lets nothing begin to play on the first page of a device, so that a test can end it in the middle."""


async def at_trial(servers: StudyServers, **keys: Any) -> Visit:
    """Return a person at their first trial, with no other device yet."""
    site = await servers.serve(**{**KEYS, **keys})
    visit = await site.visit(expects_trouble=True)
    await begin(visit)
    return visit


async def begin(visit: Visit) -> None:
    await visit.go("text:instructions")
    await visit.page.click("#next")
    await visit.page.wait_for_selector("#stage-code")


async def couple(visit: Visit, script: str = "", **device: Any) -> Page:
    """Return the page of a device that was coupled by the code that a person sees."""
    code = await visit.page.locator("#stage-code").inner_text()
    context = await visit.site.browser.new_context(**(device or TELEVISION))
    if script:
        await context.add_init_script(script)
    stage = visit.watch(await context.new_page())
    await stage.goto(f"{visit.site.server.address}/s/tiny/stage#{code.replace(' ', '')}")
    await stage.click("#couple")
    return stage


async def rate(visit: Visit, then: str = "trial:2") -> None:
    """Answer what is asked after it has been shown, and wait until that is stored."""
    await visit.page.locator("input[type=radio]").first.check()
    await visit.page.click("#next")
    await visit.step(then)


async def finish(visit: Visit) -> None:
    """Take the second trial, and come to the end."""
    await visit.page.click("#play")
    await rate(visit, "end")


async def evidence(visit: Visit, key: str) -> Any:
    return (await visit.site.answers())[key]["playback"]


async def test_what_one_device_shows_is_rated_on_the_other_and_proved_by_the_one_that_showed_it(
    servers: StudyServers,
) -> None:
    visit = await at_trial(servers)
    page = visit.page
    assert await barriers(page, "the code") == []
    assert await overhang(page, "the code", [(360, 640)]) == []
    stage = await couple(visit)
    await page.wait_for_selector("#play")
    assert await page.locator("main").inner_text() == (
        "Ready on the other screen\n\n"
        "Press the button and look at the other screen. When the clip is over, answer here.\n\n"
        "Connected screen: 1,920 × 1,080 pixels\n\nPlay on the other screen"
    )
    assert await barriers(page, "before it plays") == []
    assert await barriers(stage, "the stage", ["dark"]) == []
    await page.click("#play")
    await rate(visit)
    played = await evidence(visit, "trial:1")
    assert (played["s1"]["plays"], played["s1"]["displayed"]) == (1, [1920, 1080])
    assert (played["page"]["screen"], played["page"]["interrupted"]) == ([1920, 1080], 0)
    await finish(visit)
    await stage.wait_for_selector("h1 >> text=The study is over")
    assert list(visit.hosts) == [visit.site.server.address.removeprefix("http://")]
    await stage.context.close()


async def test_a_stage_that_is_killed_in_the_middle_pauses_the_session_and_a_new_one_takes_its_place(
    servers: StudyServers,
) -> None:
    visit = await at_trial(servers)
    page = visit.page
    stage = await couple(visit, HOLD)
    await page.click("#play")
    await stage.wait_for_selector("body[data-state=playing]")
    await stage.context.set_offline(True)  # not even its last word comes
    await stage.context.close()
    await page.wait_for_selector("h1 >> text=The other screen does not answer")
    assert await barriers(page, "lost") == []
    await page.click("#anew")
    await page.wait_for_selector("#stage-code")
    await page.click("#keep")
    await page.wait_for_selector("h1 >> text=The other screen does not answer")
    await page.click("#anew")
    stage = await couple(visit, **PHONE)
    await page.wait_for_selector("h1 >> text=It did not come to its end")
    await page.click("#play")
    await rate(visit)
    played = await evidence(visit, "trial:1")
    assert (played["page"]["interrupted"], played["page"]["screen"]) == (1, [360, 640])
    await finish(visit)
    await stage.context.close()


async def test_a_hand_set_that_is_killed_in_the_middle_goes_on_with_the_stage_that_it_had(
    servers: StudyServers,
) -> None:
    visit = await at_trial(servers)
    link = visit.page.url
    stage = await couple(visit)
    await visit.page.wait_for_selector("#play")
    await visit.page.close()
    visit.page = await visit.new_tab(link)
    await visit.page.click("#play")
    await visit.page.wait_for_selector("input[type=radio]")
    await visit.page.reload()  # what was watched is known
    await rate(visit)
    await finish(visit)
    assert (await evidence(visit, "trial:1"))["s1"]["plays"] == 1
    await stage.context.close()


@pytest.mark.variant
async def test_a_stage_that_is_reloaded_comes_back_by_itself_and_wants_one_press(servers: StudyServers) -> None:
    visit = await at_trial(servers)
    page = visit.page
    stage = await couple(visit, HOLD)
    await page.click("#play")
    await stage.wait_for_selector("body[data-state=playing]")
    await stage.reload()
    await stage.wait_for_selector("#press")
    assert await barriers(stage, "reloaded", ["dark"]) == []
    assert await overhang(stage, "reloaded", [(360, 640)]) == []
    await page.wait_for_selector("h1 >> text=Press the button on the other screen")
    await stage.click("#press")
    await page.wait_for_selector("h1 >> text=It did not come to its end")
    await page.click("#play")
    await rate(visit)
    assert (await evidence(visit, "trial:1"))["page"]["interrupted"] == 1
    await finish(visit)
    await stage.context.close()


@pytest.mark.variant
async def test_either_device_goes_offline_and_comes_back(servers: StudyServers) -> None:
    visit = await at_trial(servers)
    page = visit.page
    stage = await couple(visit)
    await page.wait_for_selector("#play")
    await stage.context.set_offline(True)
    await stage.wait_for_selector("h1 >> text=No connection")
    await page.wait_for_selector("h1 >> text=The other screen does not answer")
    await stage.context.set_offline(False)
    await page.wait_for_selector("#play")
    await visit.context.set_offline(True)
    await page.wait_for_selector('.banner[data-kind="offline"]:visible')
    await page.click("#play")
    await visit.context.set_offline(False)
    await rate(visit)
    await finish(visit)
    await stage.context.close()


@pytest.mark.variant
async def test_two_sessions_with_a_stage_each_never_mix(servers: StudyServers) -> None:
    visit = await at_trial(servers)
    other = await visit.site.visit("?participant=bob", expects_trouble=True)
    await begin(other)
    stages = [await couple(visit), await couple(other, **PHONE)]
    for one in (visit, other):
        await one.page.wait_for_selector("#play")
    await other.page.click("#play")
    await other.page.wait_for_selector("input[type=radio]")
    assert await visit.page.locator("#play").is_visible()
    await visit.page.click("#play")
    for one in (visit, other):
        await rate(one)
    screens = {
        tuple(row["playback"]["page"]["screen"]) for row in await visit.site.rows("answers") if row["key"] == "trial:1"
    }
    assert screens == {(1920, 1080), (360, 640)}
    for stage in stages:
        await stage.context.close()


@pytest.mark.variant
async def test_a_pair_comes_one_after_the_other_and_a_wrong_code_is_told(servers: StudyServers) -> None:
    visit = await at_trial(servers, method="ccr", questions=[{"id": "better", "text": "Which?", "scale": "ccr7"}])
    context = await visit.site.browser.new_context(**PHONE)
    stage = visit.watch(await context.new_page())
    await stage.goto(f"{visit.site.server.address}/s/tiny/stage")
    assert await overhang(stage, "the field", [(360, 640)]) == []
    assert await barriers(stage, "the field", ["light", "dark"]) == []
    await stage.fill("#code", "222222")
    await stage.click("#couple")
    await stage.wait_for_selector("#problem >> text=This code is not right")
    await stage.fill("#code", (await visit.page.locator("#stage-code").inner_text()).lower())
    await stage.click("#couple")
    await visit.page.wait_for_selector("text=Two come, one after the other.")
    await visit.page.click("#play")
    await rate(visit)
    played = await evidence(visit, "trial:1")
    assert [played[slot]["plays"] for slot in ("s1", "s2")] == [1, 1]
    assert played["s2"]["ended_ms"] - played["s1"]["ended_ms"] > 1000  # the gap
    await context.close()
