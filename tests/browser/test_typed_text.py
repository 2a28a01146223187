"""A clip and a field in a real browser: what was heard is typed, or that nothing was understood is said."""

from __future__ import annotations

from typing import Any

import pytest

from support.browser import MARKS, Site, StudyServers, Visit, barriers, events_of_step, overhang
from support.small_media import write_stimulus
from support.variants import variant

pytestmark = MARKS

SIZES = [(360, 740), (1366, 768)]
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
SUFFIXES = {"audio": "wav", "video": "mp4"}
MISSING = "Type what you heard, or choose “I could not understand anything”"


async def serve(servers: StudyServers, medium: str = "audio", **keys: Any) -> Site:
    """Serve two pages with a clip of half a second."""
    folder = servers.folder / f"study{len(servers.sites)}"
    (folder / "transcripts").mkdir(parents=True)
    for place, content in enumerate(("one", "two")):
        for condition in ("a", "b"):
            write_stimulus(folder / "own" / condition / f"{content}.{SUFFIXES[medium]}", 1 + place)
        (folder / "transcripts" / f"{content}.txt").write_text("Zebras never whistle.", "utf-8")
    return await servers.serve(**{
        "method": "transcribe", "stimuli": {"folder": "own", "accept": ["loudness", "file_size"]},
        "conditions": ["a", "b"], "questions": [{"id": "heard", "text": "What did you hear?"}],
        "playback": {"volume": False}, "design": {"participants": 4, "trials": 2, "seed": 3}, **keys,
    })  # fmt: skip


async def start(site: Site, **device: Any) -> Visit:
    visit = await site.visit(**device)
    await visit.go("trial")
    await visit.page.wait_for_selector("main textarea")
    return visit


async def test_a_text_is_typed_kept_over_a_reload_and_stored_and_no_word_of_it_is_suggested(
    servers: StudyServers,
) -> None:
    site = await serve(servers, playback={"volume": False, "max_plays": 1})
    visit = await start(site)
    page = visit.page
    field = page.get_by_role("textbox", name="What did you hear?")
    nothing = page.get_by_label("I could not understand anything")
    reason, way_on = page.locator("#reason"), page.locator("#next")
    for name, value in (("spellcheck", "false"), ("autocorrect", "off"), ("autocapitalize", "none"),
                        ("autocomplete", "off"), ("dir", "auto")):  # fmt: skip
        assert await field.get_attribute(name) == value
    assert await reason.inner_text() == "Listen to the recording to the end"
    assert await barriers(page, "before") == []
    await page.click("main button.play")
    await page.wait_for_selector("main .clip-box.is-played")
    await page.get_by_role("button", name="No plays left").wait_for()
    assert await reason.inner_text() == MISSING
    # Keys are letters in the field, and none of our own.
    await field.press_sequentially("pn?")
    assert (await field.input_value(), await nothing.is_checked()) == ("pn?", False)
    # What an input method is composing is kept and counts as it stands.
    session = await page.context.new_cdp_session(page)
    await field.fill("")
    await session.send("Input.imeSetComposition", {"text": "にほん", "selectionStart": 3, "selectionEnd": 3})
    assert (await field.input_value(), await way_on.get_attribute("aria-disabled")) == ("にほん", "false")
    await session.send("Input.insertText", {"text": "日本"})
    assert await field.input_value() == "日本"
    await field.fill("   ")
    assert await way_on.get_attribute("aria-disabled") == "true"
    await field.fill("שלום zebras")
    assert await field.evaluate("(node) => getComputedStyle(node).direction") == "rtl"
    await page.reload()
    await page.wait_for_selector("main textarea")
    assert await field.input_value() == "שלום zebras"
    # A slip does not cost what was typed.
    await nothing.click()
    assert (await field.input_value(), await way_on.get_attribute("aria-disabled")) == ("", "false")
    await nothing.click()
    assert await field.input_value() == "שלום zebras"
    assert await barriers(page, "answered") == []
    assert await overhang(page, "answered", SIZES) == []
    await way_on.click()
    await visit.step("trial:2")
    assert (await site.answers())["trial:1"]["answer"] == {"texts": {"q1": {"s1": "שלום zebras"}}}
    # What is typed is an answer and a draft, and no part of the rest of the log.
    log = [event for event in await events_of_step(site, "trial:1") if event[1] != "draft"]
    assert "zebras" not in str(log)
    assert "whistle" not in (await page.content()).lower()


@pytest.mark.variant
async def test_keys_alone_play_say_that_nothing_was_understood_and_go_on(servers: StudyServers) -> None:
    site = await serve(servers)
    visit = await start(site)
    page = visit.page
    await page.keyboard.press("p")
    await page.wait_for_selector("main .clip-box.is-played")
    await page.keyboard.press("t")
    assert await page.evaluate("() => document.activeElement?.tagName") == "TEXTAREA"
    for key in ("Tab", "Space", "Tab", "Enter"):  # the box, which is ticked, and the way on
        await page.keyboard.press(key)
    await visit.step("trial:2")
    assert (await site.answers())["trial:1"]["answer"] == {"texts": {"q1": {"s1": ""}}}


@pytest.mark.parametrize("medium", ["audio", variant("video")])
async def test_a_phone_takes_it_by_touch(servers: StudyServers, medium: str) -> None:
    site = await serve(servers, medium)
    visit = await site.visit(**PHONE)
    await visit.go("trial:2")
    stored = (await site.answers())["trial:1"]
    assert (stored["answer"], stored["input"]) == ({"texts": {"q1": {"s1": "It looked right."}}}, "touch")
