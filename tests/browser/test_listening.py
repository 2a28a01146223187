"""The pages of the listening checks in a real browser: playback, keyboard answers, reload, and blocked sound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.browser import MARKS, QUICK_SOUNDS, Site, StudyServers, Visit, barriers, overhang

if TYPE_CHECKING:
    from playwright.async_api import Page, Route

pytestmark = MARKS
KEYS = {"left": "ArrowLeft", "middle": "ArrowDown", "right": "ArrowRight"}
CORRELATIONS = """async ({ url, intervals }) => {
  const bytes = await (await fetch(url)).arrayBuffer();
  const buffer = await new OfflineAudioContext(2, 1, 48000).decodeAudioData(bytes);
  const [left, right] = [0, 1].map((channel) => buffer.getChannelData(channel));
  return intervals.map(([from, to]) => {
    let [both, one, other] = [0, 0, 0];
    for (let at = Math.round(from * 48000); at < Math.round(to * 48000); at += 1) {
      both += left[at] * right[at];
      one += left[at] ** 2;
      other += right[at] ** 2;
    }
    return { phase: both / Math.sqrt(one * other), power: one };
  });
}"""


async def private(site: Site, key: str) -> dict[str, Any]:
    """Return the private part of an attempt from the store."""
    rows = {row["key"]: row for row in await site.rows("posed")}
    kept: dict[str, Any] = rows[key]["private"]
    return kept


async def arrive(site: Site, **device: Any) -> Visit:
    visit = await site.visit(**device)
    await visit.page.click("#agree")
    await visit.step("text:instructions")
    await visit.page.click("#next")
    return visit


async def play_sound(page: Page, place: str) -> None:
    """Play the current sound to its end by keyboard."""
    await page.wait_for_selector(f"main #place:text-is('{place}')")
    await page.keyboard.press(" ")
    await page.wait_for_selector("main #play-sound:has-text('Play once more')")


async def test_listening_by_keyboard_alone_with_sounds_that_keep_their_phase(servers: StudyServers) -> None:
    rules = {"headphones": {"trials": 2, "right": 2}, "sides": {"sounds": 2}}
    site = await servers.serve(qualification=rules)
    visit = await arrive(site)
    page = visit.page

    await visit.step("check:headphones:1")
    assert await barriers(page, "headphones") == []
    await page.keyboard.press("1")
    assert await page.locator("main input:checked").count() == 0, "nobody answers before hearing"
    await page.keyboard.press("Enter")
    assert await page.locator("#reason").inner_text() == "Play the tones first"
    await page.locator("h1").focus()
    trials = (await private(site, "check:headphones:1"))["trials"]
    await page.keyboard.press(" ")
    await page.wait_for_selector("main [data-tile='1'].is-sounding")
    await page.wait_for_selector("main [data-tile='3'].is-sounding")
    await page.wait_for_selector("main #play-sound:has-text('Play once more')")
    assert await barriers(page, "headphones, heard") == []
    assert await overhang(page, "headphones", [(390, 844), (320, 640), (1280, 800)]) == []
    await page.keyboard.press(str(trials[0]["softest"]))
    await page.keyboard.press("Enter")

    await page.wait_for_selector("main #place:text-is('2 of 2')")
    async with page.expect_response(lambda response: response.url.endswith(("/api/arrive", "/api/step"))) as coming:
        await page.reload()
    told = await (await coming.value).json()
    step = told.get("step", told)
    await visit.step("check:headphones:1")
    first = step["media"][step["public"]["sounds"][0]]["url"]
    correlations = await page.evaluate(
        CORRELATIONS, {"url": first, "intervals": [[0.35, 1.25], [1.85, 2.75], [3.35, 4.25]]}
    )
    for place, interval in enumerate(correlations, 1):
        assert interval["phase"] == pytest.approx(-1 if place == trials[0]["antiphase"] else 1, abs=1e-3)
    assert min(correlations, key=lambda one: one["power"]) == correlations[trials[0]["softest"] - 1]

    await play_sound(page, "2 of 2")
    await page.keyboard.press(str(trials[1]["softest"]))
    await page.keyboard.press("Enter")

    await visit.step("check:sides:1")
    assert await barriers(page, "sides") == []
    for place, (side, _) in enumerate((await private(site, "check:sides:1"))["sounds"], 1):
        await play_sound(page, f"{place} of 2")
        await page.keyboard.press(KEYS[side])
        await page.keyboard.press("Enter")
    await visit.step("trial:1")
    verdicts = {row["key"]: (row["verdict"], row["evidence"]["answer"]["plays"]) for row in await site.rows("told")}
    assert verdicts == {"check:headphones:1": ("pass", [1, 1]), "check:sides:1": ("pass", [1, 1])}


async def test_tones_are_counted_by_touch_and_a_wrong_count_is_told_on_fresh_ones(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"tones": {"clips": 1, "attempts": 2}})
    visit = await arrive(site, script=QUICK_SOUNDS, viewport={"width": 390, "height": 844}, has_touch=True)
    page = visit.page
    await visit.step("check:tones:1")
    await page.fill("#count", "3")
    await page.tap("#next", force=True)
    assert await page.locator("#reason").inner_text() == "Play the tones first"
    await page.tap("#play-sound")
    await page.wait_for_selector("main #play-sound:has-text('Play once more')")
    await page.tap("#next")
    await visit.step("check:tones:2")
    assert await page.locator(".check-told p").first.inner_text() == (
        "Some tones were missed. Go where it is quieter, use headphones, or turn the volume up a little."
    )
    assert await barriers(page, "tones, told") == []
    assert (await private(site, "check:tones:1")) != (await private(site, "check:tones:2"))
    assert await overhang(page, "tones", [(390, 844), (320, 640)]) == []


@pytest.mark.variant
async def test_a_sound_that_does_not_play_costs_nobody_the_study(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"sides": {"sounds": 1, "attempts": 2}})

    async def garbled(route: Route) -> None:
        await route.fulfill(status=200, body="no sound", content_type="audio/wav")

    visit = await site.visit()
    page = visit.page
    await page.click("#agree")
    await visit.step("text:instructions")
    sounds = f"{site.server.address}/media/*"
    await page.route(sounds, garbled)
    await page.click("#next")
    for attempt in (1, 2):
        await visit.step(f"check:sides:{attempt}")
        await page.click("#play-sound")
        await page.wait_for_selector("main #no-sound")
        if attempt == 2:
            await page.unroute(sounds)
        await page.click("#no-sound")
    await visit.step("trial:1")
    verdicts = [(row["verdict"], row["reason"], row["evidence"]["answer"]) for row in await site.rows("told")]
    assert verdicts == [("unknown", "blocked", {"blocked": True, "why": "decode"})] * 2
