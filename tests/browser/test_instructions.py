"""Instructions in a browser: examples of every medium, requirements, the quiz, and the final text."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from beholder.stimuli.samples import make_samples
from support.browser import MARKS, Site, StudyServers, barriers

pytestmark = MARKS

QUIZ = {
    "items": [
        {"id": "end", "text": "How long do you watch?", "options": ["A while", "To the end"], "correct": "To the end"},
        {"id": "what", "text": "What is rated?", "options": ["Story", "Picture"], "correct": "Picture",
         "topic": "what to rate"},
    ]
}  # fmt: skip
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


async def serve(servers: StudyServers, media: tuple[str, ...], *, play: bool = True, **keys: Any) -> Site:
    """Serve a study whose second page of instructions shows one example of each of these media."""
    folder = servers.folder / "study0"
    (folder / "examples").mkdir(parents=True)
    names = {"video": "natural", "audio": "light", "image": "soft", "text": "plain"}
    files = []
    for medium in media:
        samples = servers.folder / f"made-{medium}"
        if medium == "video":
            source = sorted((servers.like / "stimuli" / names[medium]).iterdir())[0]
        else:
            make_samples(samples, contents=1, conditions=[names[medium]], seconds=0.5, size=(160, 90))
            source = next(path for path in sorted(samples.rglob("*")) if path.is_file())
        shutil.copy(source, folder / "examples" / f"{medium}{source.suffix}")
        files.append(f"examples/{medium}{source.suffix}")
    page = {
        "text": "# What to look for",
        "play": play,
        "examples": [{"file": file, "caption": f"An example, {Path(file).stem}"} for file in files],
    }
    return await servers.serve(
        texts={"instructions": ["Please rate.", page], "reminder": "Rate the *motion* only."},
        playback={"look_seconds": 0.5, "words_per_second": 1000},
        **keys,
    )  # fmt: skip


async def test_clips_are_played_by_keys_and_the_way_on_says_what_is_left(servers: StudyServers) -> None:
    site = await serve(servers, ("video", "audio"))
    visit = await site.visit()
    page = visit.page
    await visit.go("text:instructions:2")
    await page.wait_for_selector(".example-play")
    assert await page.locator("#reason").inner_text() == "Play each example to the end to continue. 2 left."
    assert await barriers(page, "here") == []
    await page.click("#next", force=True)
    assert await page.evaluate("() => document.activeElement.dataset.slot") == "s1", "it leads to what is left"
    await page.keyboard.press("Enter")
    await page.wait_for_selector(".example.is-played[data-slot=s1]")
    assert await page.locator("#reason").inner_text() == "Play each example to the end to continue. 1 left."
    await page.keyboard.press("2")
    await page.wait_for_selector(".example.is-played[data-slot=s2]")
    await page.get_by_role("button", name="Play again").nth(1).wait_for()
    assert not await page.locator("#reminder").is_visible()
    await page.click("#next")
    await visit.step("trial:1")
    assert await page.locator("#reminder").inner_text() == "Rate the motion only."
    assert await page.get_by_role("complementary", name="What to keep in mind").locator("em").inner_text() == "motion"
    assert await barriers(page, "here") == []
    evidence = (await site.answers())["text:instructions:2"]["playback"]
    assert [evidence[slot]["plays"] for slot in ("s1", "s2")] == [1, 1]
    await page.keyboard.press("?")
    help_text = await page.locator("dialog.help").inner_text()
    assert "Please rate." in help_text
    assert "An example, audio" in help_text


@pytest.mark.variant
async def test_what_stands_still_is_looked_at_without_a_press(servers: StudyServers) -> None:
    site = await serve(servers, ("image", "text"))
    visit = await site.visit(**PHONE)
    page = visit.page
    await visit.go("text:instructions:2")
    await page.wait_for_selector(".example")
    assert "Look at each example to continue." in await page.locator("#reason").inner_text()
    assert await page.locator(".example-play").count() == 0
    for slot in ("s1", "s2"):
        await page.locator(f".example[data-slot={slot}]").scroll_into_view_if_needed()
        await page.wait_for_selector(f".example.is-played[data-slot={slot}]")
    await page.tap("#next")
    await visit.step("trial:1")


@pytest.mark.variant
async def test_the_hands_that_take_any_study_take_examples_of_every_medium(servers: StudyServers) -> None:
    site = await serve(servers, ("video", "audio", "image", "text"))
    visit = await site.visit()
    await visit.go("end")
    answers = await site.answers()
    assert all(slot["coverage"] >= 0.97 for name, slot in answers["text:instructions:2"]["playback"].items()
               if name != "page")  # fmt: skip


@pytest.mark.variant
async def test_a_page_that_was_loaded_again_knows_what_was_played(servers: StudyServers) -> None:
    site = await serve(servers, ("video", "audio"))
    visit = await site.visit()
    page = visit.page
    await visit.go("text:instructions:2")
    await page.locator(".example-play").first.click()
    await page.wait_for_selector(".example.is-played[data-slot=s1]")
    await page.reload()
    await page.wait_for_selector(".example.is-played[data-slot=s1]")
    assert await page.locator("#reason").inner_text() == "Play each example to the end to continue. 1 left."


async def test_what_is_needed_stands_above_the_choice_and_a_quiz_ends_politely(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"questions": QUIZ, "tones": True})
    visit = await site.visit()
    page = visit.page
    needs = await page.locator("#needs").inner_text()
    assert needs.startswith("What you need for this study")
    assert "If you cannot hear them, you cannot take part" in needs
    assert await barriers(page, "here") == []
    await page.click("#agree")
    for attempt in (1, 2):
        await visit.step(f"check:questions:{attempt}")
        await page.wait_for_selector("main [data-item]")
        await page.click("#next", force=True)
        assert await page.locator("#reason").inner_text() == "2 questions still to answer"
        await page.get_by_label("A while").check()
        await page.get_by_label("Story").check()
        assert await barriers(page, "here") == []
        await page.click("#next")
        if attempt == 1:
            feedback = await page.locator(".check-told").inner_text()
            assert "Please look again at: How long do you watch; what to rate." in feedback
            assert "To the end" not in feedback
    await page.wait_for_selector("body[data-kind=end] main h1")
    assert await page.locator("main h1").inner_text() == "Thank you for your interest"
    assert "You did nothing wrong." in await page.locator("main .prose").inner_text()
    assert await page.locator("#code").count() == 1
    assert await barriers(page, "here") == []


async def test_a_study_without_checks_needs_nothing_said(servers: StudyServers) -> None:
    visit = await (await servers.serve()).visit()
    assert await visit.page.locator("#needs").count() == 0
