"""Questions between trials in a real browser: by mouse, keys and touch, with files, hidden and shown by answers."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page

from support.browser import MARKS, SHORT, Site, StudyServers, barriers, overhang
from support.variants import variant

pytestmark = MARKS

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
CLIP = "stimuli/natural/greeting.mp4"
ITEMS: list[dict[str, Any]] = [
    {"id": "ease", "text": "It was **easy**.", "type": "likert"},
    {"id": "why", "text": "Why was it hard?", "type": "text", "when": "ease <= 2"},
    {"id": "shown", "text": "Like this?", "type": "single", "options": ["yes", "no"], "file": CLIP, "play": True},
]


async def serve(servers: StudyServers, **keys: Any) -> Site:
    """Serve a study with these questions after each of its two trials."""
    during = [{**item, "every": "trial"} for item in ITEMS]
    return await servers.serve(**{"during": during, "playback": {"watch": "none"}, **keys})


async def shown_items(page: Page) -> list[str]:
    names: list[str] = await page.locator("main [data-item]:visible").evaluate_all(
        "items => items.map(({ dataset }) => dataset.item)"
    )
    return names


async def test_an_item_appears_and_goes_with_the_answer_above_it_and_a_file_has_to_be_played(
    servers: StudyServers,
) -> None:
    site = await serve(servers)
    visit = await site.visit(expects_trouble=True)
    page = visit.page
    await visit.go("questions:during:1")
    assert await page.locator("main h1").inner_text() == "A few questions before you continue"
    assert await shown_items(page) == ["ease", "shown"]
    await page.locator("[data-item=ease]").get_by_label("Disagree", exact=True).check()
    assert await shown_items(page) == ["ease", "why", "shown"]
    assert await page.locator("#reason").inner_text() == "2 questions still to answer"
    await page.fill("[name=why]", "It was dark.")
    await page.locator("[data-item=shown]").get_by_label("yes").check()
    assert await page.locator("#reason").inner_text() == "1 example still to play"
    await page.click("#next", force=True)
    assert await page.locator("[data-item=shown] .item-problem").inner_text() == "Play it to its end"
    assert await barriers(page, "hidden and shown") == []
    assert await overhang(page, "hidden and shown", [(320, 640)]) == []
    await page.click("[data-item=shown] .example-play")
    await page.wait_for_selector("[data-item=shown] .example.is-played")
    assert await page.locator("#reason").inner_text() == ""

    await page.reload()  # everything is there again, and has been played
    await visit.step("questions:during:1")
    await page.wait_for_selector("[data-item=shown] .example.is-played")
    assert await page.input_value("[name=why]") == "It was dark."
    assert await page.locator("#next").get_attribute("aria-disabled") == "false"

    await page.locator("[data-item=ease]").get_by_label("Agree", exact=True).check()
    assert await shown_items(page) == ["ease", "shown"]
    await visit.context.set_offline(True)
    await page.click("#next")
    await page.wait_for_selector("main h1 >> text=Waiting for the connection")
    await visit.context.set_offline(False)
    await visit.step("trial:2")
    answer = (await site.answers())["questions:during:1"]
    assert answer["answer"] == {"answers": {"ease": 4, "shown": "yes"}}
    assert answer["playback"]["s1"]["plays"] == 1


WAYS = [("keyboard", {}, True), variant("mouse", {}, False), ("touch", PHONE, False)]


@pytest.mark.parametrize(("way", "device", "keyboard_only"), WAYS)
async def test_a_whole_session_by_each_way_of_operating_it(
    servers: StudyServers, way: str, device: dict[str, Any], keyboard_only: bool
) -> None:
    site = await serve(
        servers,
        before=[{**item, "id": f"first-{item['id']}"} for item in (ITEMS[0], ITEMS[2])],
        after=[{**ITEMS[1], "id": "last-why", "when": "ease >= 1"}],
    )
    visit = await site.visit(**device)
    problems: list[str] = []

    async def look(page: Page, key: str, moment: str) -> None:
        if key.startswith("questions") and moment == "answered" and way == "touch":
            problems.extend(await barriers(page, f"{way} {key}", ["light"]))
            problems.extend(await overhang(page, f"{way} {key}", [(390, 844)]))

    await visit.go("end", keyboard_only=keyboard_only, on_step=look)
    assert problems == []
    asked = {key: list(row["answer"]["answers"]) for key, row in (await site.answers()).items() if "questions" in key}
    assert asked["questions:before"] == ["first-ease", "first-shown"]
    assert asked["questions:after"] == ["last-why"]
    assert set(asked) == {"questions:before", "questions:during:1", "questions:during:2", "questions:after"}


async def test_the_preview_names_them_by_their_trial(servers: StudyServers) -> None:
    site = await serve(servers, design={**SHORT, "breaks": 1})
    visit = await site.visit("?" + site.server.service.preview.link.partition("?")[2])
    labels = await visit.page.locator(".preview option").all_inner_texts()
    assert "Questions after trial 1" in labels
