"""The words of a clip in a real browser: marked by clicks, by drawing over them and by keys, while it plays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.browser import MARKS, Site, StudyServers, Visit, barriers, events_of_step, overhang
from support.small_media import write_stimulus
from support.variants import variant

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = MARKS

SIZES = [(360, 740), (1366, 768)]
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
TWO = [{"id": "unclear", "text": "Which words were unclear?"}, {"id": "stressed", "text": "Which were stressed?"}]
SENTENCE = "The small boat reached the harbour before the storm."
TIMES = [f"{one},{n * 0.05:.2f},{n * 0.05 + 0.05:.2f}" for n, one in enumerate(SENTENCE.split())]
TIMED = "\n".join(["word,start,end", *TIMES])
SUFFIXES = {"audio": "wav", "video": "mp4", "text": "txt"}


async def serve(servers: StudyServers, medium: str = "audio", listens: int = 1, **keys: Any) -> Site:
    """Serve two pages with the words of a sentence, all of them said in half a second."""
    folder = servers.folder / f"study{len(servers.sites)}"
    for place, content in enumerate(("one", "two")):
        for condition in ("a", "b"):
            path = folder / "own" / condition / f"{content}.{SUFFIXES[medium]}"
            write_stimulus(path, 1 + place)
            if medium == "text":
                path.write_text(SENTENCE, "utf-8")
        if medium != "text":
            (folder / "transcripts").mkdir(exist_ok=True)
            (folder / "transcripts" / f"{content}.csv").write_text(TIMED, "utf-8")
    return await servers.serve(**{
        "method": "word-select", "stimuli": {"folder": "own", "accept": ["loudness", "file_size"]},
        "conditions": ["a", "b"], "questions": TWO, "options": {"listens": listens},
        "playback": {"volume": False, "words_per_second": 1000}, "design": {"participants": 4, "trials": 2, "seed": 3},
        **keys,
    })  # fmt: skip


async def start(site: Site, **device: Any) -> Visit:
    visit = await site.visit(**device)
    await visit.go("trial")
    await visit.page.wait_for_selector("main .words")
    return visit


def word(page: Page, question: str, place: int) -> Any:
    return page.locator(f'main .words input[data-question="{question}"][value="{place}"]')


async def marked(page: Page, question: str) -> list[int]:
    boxes = page.locator(f'main .words input[data-question="{question}"]:checked')
    return [int(value) for value in await boxes.evaluate_all("boxes => boxes.map(({ value }) => value)")]


async def play(page: Page) -> None:
    await page.click("main button.play")
    await page.wait_for_selector("main .clip-box.is-played")


async def draw_over(page: Page, question: str, start: int, end: int) -> None:
    for place, act in ((start, page.mouse.down), (end, page.mouse.up)):
        box = await word(page, question, place).bounding_box()
        await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
        await act()


async def test_words_are_marked_by_clicks_by_drawing_and_by_keys_once_the_clip_plays(servers: StudyServers) -> None:
    site = await serve(servers)
    visit = await start(site)
    page = visit.page
    assert await page.get_by_role("group", name="Which words were unclear?").get_by_role("checkbox").count() == 9
    await word(page, "q1", 1).click(force=True)
    assert await page.locator("#reason").inner_text() == "Play the recording first, then mark its words"
    assert await marked(page, "q1") == []
    assert await barriers(page, "closed") == []
    await play(page)
    assert await page.locator("#reason").inner_text() == "2 questions are open: mark words, or choose “None of these”"
    await draw_over(page, "q1", 1, 3)
    assert await marked(page, "q1") == [1, 2, 3]
    await word(page, "q1", 2).click()
    assert await marked(page, "q1") == [1, 3]
    await word(page, "q1", 7).focus()
    for key in ("Space", "Shift+ArrowRight", "Home", "Space"):
        await page.keyboard.press(key)
    assert await marked(page, "q1") == [0, 1, 3, 7, 8]
    await draw_over(page, "q1", 8, 3)
    assert await marked(page, "q1") == [0, 1]
    await page.reload()
    await page.wait_for_selector("main .words")
    assert await marked(page, "q1") == [0, 1]
    await page.get_by_label("None of these").last.click()
    assert await barriers(page, "answered") == []
    assert await overhang(page, "answered", SIZES) == []
    await page.click("#next")
    await visit.step("trial:2")
    answer = (await site.answers())["trial:1"]["answer"]
    assert answer == {"picks": {"q1": {"words": [0, 1], "none": False}, "q2": {"words": [], "none": True}}}
    changes = [data for _, kind, _, data in await events_of_step(site, "trial:1") if kind == "change"]
    assert changes[0] == {"question": "q1", "value": [1, 2, 3]}


@pytest.mark.variant
async def test_next_opens_when_the_clip_was_played_whole_as_often_as_asked(servers: StudyServers) -> None:
    site = await serve(servers, listens=2, questions=TWO[:1])
    visit = await start(site)
    page, reason = visit.page, visit.page.locator("#reason")
    button, box = page.locator("main button.play"), page.locator("main .clip-box")
    await button.click()
    await page.wait_for_selector('main .clip-box[data-due="1"]')
    assert await reason.inner_text() == "Listen to the recording once more, to the end"
    await word(page, "q1", 2).click()
    assert await page.locator("#next").get_attribute("aria-disabled") == "true"
    await page.reload()
    await page.wait_for_selector("main .words")
    assert await reason.inner_text() == "Listen to the recording once more, to the end"
    await button.click()
    await page.wait_for_selector("main .clip-box.is-played")
    assert await box.get_attribute("class") == "clip-box clip-audio-box is-played"
    await page.click("#next")
    await visit.step("trial:2")
    assert (await site.answers())["trial:1"]["answer"] == {"picks": {"q1": {"words": [2], "none": False}}}


@pytest.mark.variant
async def test_none_of_these_takes_the_marks_away_and_a_mark_takes_it_away(servers: StudyServers) -> None:
    page = (await start(await serve(servers, questions=TWO[:1]))).page
    await play(page)
    none = page.get_by_label("None of these")
    await word(page, "q1", 0).click()
    await page.keyboard.press("n")
    assert (await marked(page, "q1"), await none.is_checked()) == ([], True)
    await word(page, "q1", 4).click()
    assert (await marked(page, "q1"), await none.is_checked()) == ([4], False)
    await word(page, "q1", 4).click()
    assert await page.locator("#next").get_attribute("aria-disabled") == "true"


async def test_the_word_that_is_heard_is_seen(servers: StudyServers) -> None:
    page = (await start(await serve(servers, questions=TWO[:1]))).page
    await page.evaluate(
        """() => {
          window.heard = [];
          new MutationObserver(() => {
            const place = [...document.querySelectorAll(".word")].findIndex((one) => one.matches(".is-now"));
            if (place >= 0 && heard.at(-1) !== place) heard.push(place);
          }).observe(document.querySelector(".words"), { subtree: true, attributes: true });
        }"""
    )
    await play(page)
    heard: list[int] = await page.evaluate("() => window.heard")
    assert heard
    assert heard == sorted(heard)
    await page.wait_for_function("() => !document.querySelector('.word.is-now')")


@pytest.mark.parametrize("medium", [variant("video"), variant("text")])
async def test_videos_and_texts_have_their_words_too(servers: StudyServers, medium: str) -> None:
    site = await serve(servers, medium)
    visit = await site.visit(**PHONE)
    await visit.go("trial:2")
    picks = (await site.answers())["trial:1"]["answer"]["picks"]
    assert all(len(one["words"]) == 1 for one in picks.values())
    assert (await site.answers())["trial:1"]["input"] == "touch"


@pytest.mark.variant
async def test_words_and_the_way_on_are_in_view_below_a_video(servers: StudyServers) -> None:
    site = await serve(servers, "video", questions=TWO[:1])
    visit = await start(site, viewport={"width": 1366, "height": 768})
    box = await visit.page.locator("#next").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 768
    await visit.page.set_viewport_size({"width": 360, "height": 740})
    reason, button = [await visit.page.locator(f"main {name}").bounding_box() for name in (".reason", "#next")]
    assert reason is not None
    assert button is not None
    assert button["x"] > reason["x"] + reason["width"]  # in one row, where the thumb is
