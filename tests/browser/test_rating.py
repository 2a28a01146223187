"""Rating in a real browser: when controls are enabled, what Next says, and which value is stored."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image, ImageColor

from support.browser import MARKS, StudyServers, play, play_button, rate, slider, values_on
from support.variants import variant

pytestmark = MARKS

TWO = [{"id": "natural", "text": "How natural is it?"}, {"id": "fit", "text": "How well does it fit?"}]


async def test_the_last_value_before_next_counts(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit()
    page = visit.page
    await visit.go("trial")
    await play(page, "s1", "s2")
    await rate(page, s1=20, s2=40)
    await slider(page, "s1").press("PageUp")
    box = await slider(page, "s2").bounding_box()
    assert box is not None
    middle = box["x"] + box["width"] / 2
    await page.mouse.move(middle, box["y"] + 0.6 * box["height"])
    await page.mouse.down()
    await page.mouse.move(middle, box["y"] + 0.3 * box["height"], steps=4)
    await page.mouse.move(middle, box["y"] + 0.1 * box["height"], steps=4)
    await page.mouse.up()
    shown = await values_on(page)
    await page.click("#next")
    await visit.step("trial:2")
    assert await site.scores("trial:1") == shown
    assert shown["q1"]["s1"] == 30
    assert shown["q1"]["s2"] > 80


@pytest.mark.variant
async def test_next_pressed_early_says_what_is_missing_and_goes_there(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit()
    page = visit.page
    await visit.go("trial")
    reason = page.locator("#reason")

    async def press() -> tuple[str, str]:
        await page.click("#next", force=True)  # aria-disabled, and can still be pressed
        assert "is-asked" in (await reason.get_attribute("class") or "")
        assert await page.locator("#status").inner_text() == await reason.inner_text()
        focus: str = await page.evaluate(
            "() => `${document.activeElement.type} ${document.activeElement.dataset.slot}`"
        )
        return await reason.inner_text(), focus

    assert await press() == ("2 videos still to play, 2 sliders to set", "button s1")
    await play(page, "s1")
    assert await press() == ("1 video still to play, 2 sliders to set", "button s2")
    await play(page, "s2")
    assert await press() == ("2 sliders to set", "range s1")
    await rate(page, s1=10)
    assert await press() == ("1 slider to set", "range s2")
    assert await page.locator("#next").get_attribute("aria-disabled") == "true"
    assert "trial:1" not in await site.answers()
    await rate(page, s2=90)
    assert await reason.inner_text() == "All set. You can still play and change."
    await page.click("#next")
    await visit.step("trial:2")
    assert await site.scores("trial:1") == {"q1": {"s1": 10, "s2": 90}}


async def test_a_slider_is_locked_until_its_clip_was_watched_and_has_no_value_until_set(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit()
    page = visit.page
    await visit.go("trial")
    first = slider(page, "s1")

    async def look() -> tuple[str | None, str | None, str | None, str]:
        fader = page.locator('.fader:has(input[data-slot="s1"])')
        return (
            await fader.get_attribute("data-state"), await first.get_attribute("aria-disabled"),
            await first.get_attribute("aria-valuetext"), await fader.locator("output").inner_text(),
        )  # fmt: skip

    async def has_handle() -> bool:
        """Return whether the slider shows the colour of its handle and filled track."""
        colour: str = await first.evaluate("node => getComputedStyle(node).getPropertyValue('--slot')")
        picture = Image.open(io.BytesIO(await first.screenshot())).convert("RGB")
        return ImageColor.getrgb(colour) in picture.get_flattened_data()

    assert await look() == ("locked", "true", "not set", "–")
    await first.click(position={"x": 10, "y": 10}, force=True)
    await first.press("ArrowUp")
    await first.press("End")
    assert await look() == ("locked", "true", "not set", "–")
    assert await page.locator("#status").inner_text() == "Play A to the end first. Then its slider opens."
    await play(page, "s1")
    assert await look() == ("open", "false", "not set", "Rate")
    assert await values_on(page) == {}
    assert not await has_handle()
    await first.focus()
    await page.keyboard.press("Tab")
    assert await look() == ("open", "false", "not set", "Rate")
    await first.click()  # the very middle, where the handle would be
    assert await look() == ("set", "false", "50, Fair", "50")
    assert await has_handle()


@pytest.mark.variant
async def test_a_locked_slider_shows_why_and_what_to_press(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit()
    page = visit.page
    await visit.go("trial")
    reason = page.locator("#reason")
    meant = page.locator(".play.is-meant")
    await slider(page, "s2").click(force=True)
    assert await reason.inner_text() == "Play B to the end first. Then its slider opens."
    assert "is-asked" in (await reason.get_attribute("class") or "")
    assert await meant.evaluate_all("nodes => nodes.map((node) => node.dataset.slot)") == ["s2"]
    await slider(page, "s1").press("ArrowUp")
    assert await reason.inner_text() == "Play A to the end first. Then its slider opens."
    assert await meant.evaluate_all("nodes => nodes.map((node) => node.dataset.slot)") == ["s1"]
    await play(page, "s1")
    assert await reason.inner_text() == "1 video still to play, 2 sliders to set"
    assert await meant.count() == 0


@pytest.mark.variant
async def test_what_a_locked_slider_says_goes_away_by_itself(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit()
    page = visit.page
    await visit.go("trial")
    await page.clock.install()
    await slider(page, "s1").click(force=True)
    assert await page.locator("#reason").inner_text() == "Play A to the end first. Then its slider opens."
    await page.clock.run_for(10_000)
    assert await page.locator("#reason").inner_text() == "2 videos still to play, 2 sliders to set"
    assert await page.locator(".play.is-meant").count() == 0


async def test_digits_play_and_arrows_set_the_slider_of_what_plays(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit()
    page = visit.page
    await visit.go("trial", keyboard_only=True)
    for key, slot, move in (("1", "s1", "Home"), ("b", "s2", "End")):
        await page.keyboard.press(key)
        await page.wait_for_selector(f'main .column.is-played[data-slot="{slot}"]')
        await page.keyboard.press(move)
    assert await values_on(page) == {"q1": {"s1": 0, "s2": 100}}
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("PageDown")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await visit.step("trial:2")
    assert await site.scores("trial:1") == {"q1": {"s1": 0, "s2": 89}}


@pytest.mark.variant
@pytest.mark.parametrize("layout", ["turns", variant("rows")])
async def test_several_questions_are_asked_about_the_same_clips(servers: StudyServers, layout: str) -> None:
    site = await servers.serve(questions=TWO, options={"layout": layout})
    visit = await site.visit()
    page = visit.page
    await visit.go("trial")
    await play(page, "s1", "s2")

    async def colours() -> list[Any]:
        names: list[Any] = await page.locator("main button.play").evaluate_all(
            "nodes => nodes.map((node) => [node.dataset.slot, getComputedStyle(node).getPropertyValue('--slot')])"
        )
        return names

    before = await colours()
    await rate(page, s1=11, s2=12)
    if layout == "turns":
        assert await page.locator("main input[type=range]").count() == 2
        assert await page.locator(".question-count").inner_text() == "Question 1 of 2"
        await page.click("#next")
        await page.wait_for_selector("#back")
        assert await page.locator("main h1").inner_text() == "How well does it fit?"
        assert await page.locator("main .column.is-played").count() == 2
        await page.click("#back")
        await slider(page, "s1").wait_for()
        assert await values_on(page) == {"q1": {"s1": 11, "s2": 12}}
        await rate(page, s1=13)
        await page.click("#next")
        await page.wait_for_selector("#back")
    else:
        assert await page.locator("main input[type=range]").count() == 4
        await rate(page, s1=13)
    assert await colours() == before
    await slider(page, "s1", "q2").fill("21")
    assert await page.locator("#reason").inner_text() == "1 slider to set"
    await slider(page, "s2", "q2").fill("22")
    await page.click("#next")
    await visit.step("trial:2")
    assert await site.scores("trial:1") == {"q1": {"s1": 13, "s2": 12}, "q2": {"s1": 21, "s2": 22}}


@pytest.mark.variant
async def test_another_clip_starts_at_once_and_only_one_plays(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit()
    page = visit.page
    await visit.go("trial")
    # Both in one call: the first clip must not end before the second press.
    await page.evaluate(
        "() => ['s1', 's2'].forEach((slot) => document.querySelector(`main button.play[data-slot=${slot}]`).click())"
    )
    await page.wait_for_selector('main .column.is-played[data-slot="s2"]')
    assert await page.locator("main .column.is-played").count() == 1
    assert await page.locator("main video.is-shown").get_attribute("data-slot") == "s2"
    assert await slider(page, "s1").get_attribute("aria-disabled") == "true"
    frame = await page.locator(".frame").evaluate("node => getComputedStyle(node).getPropertyValue('--slot')")
    button = await play_button(page, "s2").evaluate("node => getComputedStyle(node).getPropertyValue('--slot')")
    assert frame == button != ""


@pytest.mark.variant
@pytest.mark.parametrize(("scale", "shown", "value"), [variant("acr9", "9 Excellent", 9), ("acr11", "10", 10)])
async def test_where_some_answers_have_no_word_all_show_the_number_that_is_stored(
    servers: StudyServers, scale: str, shown: str, value: int
) -> None:
    questions = [{"id": "quality", "text": "How good is it?", "scale": scale}]
    site = await servers.serve(method="acr", questions=questions, design={"participants": 6, "trials": 2})
    visit = await site.visit()
    page = visit.page
    await visit.go("trial")
    await page.click("#play")
    await page.get_by_role("radio", name=shown, exact=True).click()
    words = await page.locator("main .choice span").all_inner_texts()
    values = await page.locator("main .choice input").evaluate_all("nodes => nodes.map((node) => node.value)")
    assert [word.split()[0] for word in words] == values
    await page.click("#next")
    await visit.step("trial:2")
    assert await site.scores("trial:1") == {"q1": {"s1": value}}


async def test_a_vote_comes_after_the_clip_and_can_be_changed_and_the_clip_seen_again(servers: StudyServers) -> None:
    site = await servers.serve(
        method="acr",
        questions=[{"id": "quality", "text": "How good is it?", "scale": "acr5"}],
        design={"participants": 6, "trials": 2},
    )
    visit = await site.visit()
    page = visit.page
    await visit.go("trial")
    assert await page.locator("main input").count() == 0
    await page.click("#play")
    await page.wait_for_selector("main input[type=radio]")
    assert await values_on(page) == {}
    await page.click("#next", force=True)
    assert await page.locator("#reason").inner_text() == "Choose an answer to continue"
    await page.keyboard.press("2")
    assert await values_on(page) == {"q1": {"s1": 2}}
    again = await page.wait_for_selector("#again")
    assert again is not None
    await again.click()
    await again.wait_for_element_state("hidden")  # wait until this card is replaced
    await page.wait_for_selector("main input[type=radio]")
    assert await values_on(page) == {"q1": {"s1": 2}}
    await page.get_by_text("Excellent").click()
    await page.keyboard.press("Enter")
    await visit.step("trial:2")
    row = (await site.answers())["trial:1"]
    assert row["answer"]["scores"] == {"q1": {"s1": 5}}
    assert row["playback"]["s1"]["plays"] == 2
    events = [event for batch in await site.rows("events") if batch["key"] == "trial:1" for event in batch["events"]]
    assert [event[3]["on"] for event in events if event[1] == "fullscreen"] == [True, False, True, False]
