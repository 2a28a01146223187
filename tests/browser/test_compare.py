"""Comparison methods in a real browser: presentation order, stored answers and their meaning."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal

import pytest
from PIL import Image
from playwright.async_api import Page, Route

from beholder.cleaning import clean
from beholder.cleaning.ratings import read_ratings
from support.browser import MARKS, Site, StudyServers, Visit, barriers, overhang, play, play_button
from support.variants import variant

pytestmark = MARKS

SIZES = [(360, 740), (768, 1024), (1280, 800)]
ONE = [{"id": "quality", "text": "How is the quality?"}]
REFERENCED = [{"name": "natural", "role": "reference"}, "smooth"]
TWO = ["natural", "smooth"]
DESIGN = {"participants": 4, "trials": 2, "seed": 3}
STILL = {"look_seconds": 0.2, "words_per_second": 1000}
SIDE = {"presentation": "side-by-side"}


def write_images(folder: Path, conditions: list[Any]) -> None:
    """Write two contents under each condition, as plain pictures."""
    for place, condition in enumerate(names_of(conditions)):
        for number, content in enumerate(("one", "two")):
            (folder / condition).mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (160, 90), (60 * place, 90, 120 * number)).save(folder / condition / f"{content}.png")


def write_texts(folder: Path, conditions: list[Any]) -> None:
    """Write two contents under each condition, as a few words."""
    for condition in names_of(conditions):
        for content in ("one", "two"):
            (folder / condition).mkdir(parents=True, exist_ok=True)
            (folder / condition / f"{content}.txt").write_text(f"Some {condition} words of {content}.", "utf-8")


def names_of(conditions: list[Any]) -> list[str]:
    return [one if isinstance(one, str) else one["name"] for one in conditions]


async def serve(servers: StudyServers, medium: str = "video", **keys: Any) -> Site:
    """Serve a comparison of two conditions, on videos, images or texts."""
    keys = {"questions": ONE, "conditions": TWO, "design": DESIGN, **keys}
    if medium != "video":
        folder = servers.folder / f"study{len(servers.sites)}" / medium
        {"image": write_images, "text": write_texts}[medium](folder, keys["conditions"])
        keys |= {"stimuli": medium, "playback": {**STILL, **keys.get("playback", {})}}
    return await servers.serve(**keys)


async def reach(visit: Visit) -> Page:
    """Go to the answers of a page: press the focused control until all stimuli have been shown."""
    page = visit.page
    await visit.go("trial")
    while True:
        control = await page.wait_for_selector(
            "main input[type=radio]:visible, main #play:visible, .cinema #next:visible"
        )
        assert control is not None
        if await control.get_attribute("type") == "radio":
            return page
        await page.keyboard.press("Enter")
        await control.wait_for_element_state("hidden")


async def opened(page: Page) -> None:
    """Wait until the answers of a page can be chosen."""
    await page.wait_for_selector("main .vote-question:not(.is-locked)")


async def checked(page: Page) -> list[str]:
    labels: list[str] = await page.locator("main input[type=radio]:checked").evaluate_all(
        "nodes => nodes.map((node) => node.closest('.choice').innerText.split('\\n')[0])"
    )
    return labels


async def stored(site: Site, key: str = "trial:1") -> dict[str, Any]:
    answer: dict[str, Any] = (await site.answers())[key]["answer"]
    return answer


@pytest.mark.parametrize("words", ["Much better", variant("Slightly worse")])
async def test_what_is_said_of_the_second_clip_gets_its_sign_from_the_order_it_was_shown_in(
    servers: StudyServers, words: str
) -> None:
    site = await serve(servers, method="ccr", conditions=REFERENCED)
    visit = await site.visit()
    for key in ("trial:1", "trial:2"):
        page = await reach(visit)
        line = await page.locator(".compare-line").inner_text()
        assert line == "The second video, compared with the first, is …"
        await page.get_by_text(words, exact=True).click()
        await page.click("#next")
        await page.wait_for_selector(f'body:not([data-step="{key}"])')
        better, grade = ("s2", 3) if words == "Much better" else ("s1", 1)
        assert await stored(site, key) == {"choices": {"q1": {"better": better, "grade": grade}}}
    await visit.go("end")
    await asyncio.to_thread(clean, site.path)
    ratings = read_ratings(site.path.parent / "clean" / "ratings.csv")
    rows = ratings[["condition", "slot", "value", "raw_value"]].sort_values("slot").to_numpy().tolist()
    raw = 3 if words == "Much better" else -1
    assert rows == [["smooth", "s1", -raw, raw], ["smooth", "s2", raw, raw]]  # one list contains both orders


async def test_the_answer_on_the_screen_at_next_is_the_one_that_is_stored(servers: StudyServers) -> None:
    site = await serve(servers, method="ccr", conditions=REFERENCED)
    visit = await site.visit()
    page = await reach(visit)
    await page.get_by_text("Much better", exact=True).click()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("2")
    assert await checked(page) == ["Worse"]
    await page.keyboard.press("Enter")
    await visit.step("trial:2")
    assert await stored(site) == {"choices": {"q1": {"better": "s1", "grade": 2}}}


@pytest.mark.variant
async def test_an_untouched_comparison_is_no_answer(servers: StudyServers) -> None:
    site = await serve(servers, method="pair", options={"tie": True, "reason": "required"})
    visit = await site.visit()
    page = await reach(visit)
    reason = page.locator("#reason")

    async def press() -> tuple[str, str]:
        await page.click("#next", force=True)
        focus: str = await page.evaluate("() => document.activeElement.type")
        return await reason.inner_text(), focus

    assert await checked(page) == []
    assert await press() == ("Choose an answer to continue", "radio")
    assert await checked(page) == []
    await page.keyboard.press("ArrowDown")
    assert await checked(page) == ["No difference"]
    assert await press() == ("Say why to continue", "textarea")
    await page.keyboard.type("They look alike. → ← 1")
    assert await checked(page) == ["No difference"]
    assert "trial:1" not in await site.answers()
    await page.click("#next")
    await visit.step("trial:2")
    assert await stored(site) == {
        "choices": {"q1": {"better": "tie"}}, "reasons": {"q1": ["They look alike. → ← 1"]}
    }  # fmt: skip


@pytest.mark.variant
async def test_arrows_choose_by_the_order_of_the_screen_wherever_the_focus_is(servers: StudyServers) -> None:
    site = await serve(servers, method="pair", options={"tie": True})
    visit = await site.visit()
    page = await reach(visit)
    for key, words in (
        ("ArrowRight", "The second"),
        ("ArrowLeft", "The first"),
        ("ArrowDown", "No difference"),
        ("ArrowRight", "The second"),
    ):
        await page.keyboard.press(key)
        assert await checked(page) == [words]
    await page.keyboard.press("?")
    keys = await page.locator(".help-keys dt").all_inner_texts()
    assert keys == ["← ↓ →", "R", "Enter", "?"]
    await page.keyboard.press("Escape")
    await page.keyboard.press("Enter")
    await visit.step("trial:2")
    assert await stored(site) == {"choices": {"q1": {"better": "s2"}}}


@pytest.mark.variant
async def test_a_reload_keeps_what_was_seen_chosen_and_written(servers: StudyServers) -> None:
    site = await serve(servers, method="pair", options={"reason": "optional"})
    visit = await site.visit()
    page = await reach(visit)
    await page.get_by_text("The first", exact=True).click()
    await page.locator("main textarea").fill("It moves more smoothly.")
    await page.wait_for_function("() => JSON.stringify({ ...localStorage }).includes('more smoothly')")
    await page.reload()
    await page.wait_for_selector("main input[type=radio]")
    assert await checked(page) == ["The first"]
    await page.click("#next")
    await visit.step("trial:2")
    assert await stored(site) == {
        "choices": {"q1": {"better": "s1"}}, "reasons": {"q1": ["It moves more smoothly."]}
    }  # fmt: skip


@pytest.mark.variant
async def test_the_pair_can_be_seen_again_and_every_play_counts(servers: StudyServers) -> None:
    site = await serve(servers, method="dcr", conditions=REFERENCED)
    visit = await site.visit()
    page = await reach(visit)
    await page.get_by_text("Annoying", exact=True).click()
    again = await page.wait_for_selector("#again")
    assert again is not None
    await page.keyboard.press("r")
    await again.wait_for_element_state("hidden")
    await page.wait_for_selector("main input[type=radio]")
    assert await checked(page) == ["Annoying"]
    await page.keyboard.press("5")
    await page.click("#next")
    await visit.step("trial:2")
    assert await stored(site) == {"scores": {"q1": {"s2": 5}}}
    playback = (await site.answers())["trial:1"]["playback"]
    assert [playback[slot]["plays"] for slot in ("s1", "s2")] == [2, 2]


@pytest.mark.variant
async def test_behind_buttons_answers_open_when_everything_was_played(servers: StudyServers) -> None:
    site = await serve(servers, method="ab")
    visit = await site.visit()
    page = visit.page
    await visit.go("trial")
    reason = page.locator("#reason")
    first = page.locator("main input[type=radio]").first
    assert await reason.inner_text() == "Still to play to the end: A, B"
    assert await first.get_attribute("aria-disabled") == "true"
    await page.locator("main .choice").first.click(force=True)
    await page.keyboard.press("2")
    assert await checked(page) == []
    assert "is-asked" in (await reason.get_attribute("class") or "")
    assert await page.locator(".play.is-meant").get_attribute("data-slot") == "s1"
    await play(page, "s1")
    await page.click("#next", force=True)
    assert await reason.inner_text() == "Still to play to the end: B"
    assert await play_button(page, "s2").evaluate("node => node === document.activeElement")
    await play(page, "s2")
    await opened(page)
    assert await reason.inner_text() == "Choose an answer to continue"
    await page.keyboard.press("1")
    assert await checked(page) == ["I choose A"]
    await page.click("#next")
    await visit.step("trial:2")
    assert await stored(site) == {"choices": {"q1": {"better": "s1"}}}


@pytest.mark.variant
async def test_letters_bring_a_and_b_and_x_and_x_is_named_after_one_of_them(servers: StudyServers) -> None:
    site = await serve(servers, "image", method="abx", options={"mode": "identify", "unsure": True})
    visit = await site.visit()
    page = visit.page
    await visit.go("trial", keyboard_only=True)
    for key, slot in (("a", "s1"), ("b", "s2"), ("x", "s3")):
        await page.keyboard.press(key)
        await page.wait_for_selector(f'main .column.is-played[data-slot="{slot}"]')
        shown = await page.locator("main .screen-clips .is-shown").evaluate_all(
            "nodes => nodes.map((n) => n.dataset.slot)"
        )
        assert shown == [slot]
    await opened(page)
    assert await page.locator("main .choice").all_inner_texts() == [
        "A is the same as X\n1", "I cannot tell\n2", "B is the same as X\n3"
    ]  # fmt: skip
    await page.keyboard.press("2")
    await page.keyboard.press("3")
    await page.keyboard.press("Enter")
    await visit.step("trial:2")
    assert await stored(site) == {"choices": {"q1": {"same_as": "s2"}}}


@pytest.mark.variant
@pytest.mark.parametrize("width", [variant(1280), 390])
async def test_images_side_by_side_stay_in_view_while_they_are_judged(servers: StudyServers, width: int) -> None:
    site = await serve(servers, "image", method="ccr", conditions=REFERENCED, options=SIDE)
    visit = await site.visit(viewport={"width": width, "height": 844})
    page = visit.page
    await visit.go("trial")
    for slot in ("s1", "s2"):
        await page.locator(f'.spread-side[data-slot="{slot}"]').scroll_into_view_if_needed()
        assert await page.locator(f'.spread-side[data-slot="{slot}"] img').is_visible()
    await opened(page)
    side = "Right" if width > 900 else "Below"
    assert await page.locator("main .spread-name").nth(1).inner_text() == side
    graded = side if width > 900 else "The lower one"
    await page.get_by_text(f"{graded} slightly better", exact=True).click()
    await page.click("#next")
    await visit.step("trial:2")
    row = (await site.answers())["trial:1"]
    assert row["answer"] == {"choices": {"q1": {"better": "s2", "grade": 1}}}
    assert all(row["playback"][slot]["coverage"] >= 0.97 for slot in ("s1", "s2"))


@pytest.mark.variant
async def test_a_pair_with_a_part_that_will_not_play_has_no_choice_and_the_session_goes_on(
    servers: StudyServers,
) -> None:
    site = await serve(servers, method="pair", options={"presentation": "sequential"})
    visit = await site.visit(expects_trouble=True)
    page = visit.page
    async with page.expect_response("**/api/answers/consent") as answering:
        await page.click("#agree")
    broken = (await (await answering.value).json())["step"]["prefetch"][0]["url"]

    async def spoil(route: Route) -> None:
        response = await route.fetch()
        await route.fulfill(response=response, body=b"\0" * len(await response.body()))

    await page.route(f"**{broken}", spoil)
    await page.reload()  # discard the cached file
    await visit.step("text:instructions")
    await page.click("#next")
    await page.click("#try-again")
    await page.get_by_text("Report it and continue").click()
    await page.wait_for_selector("main .vote #next")
    assert await page.locator("main h1").inner_text() == "These videos could not both be shown"
    await page.click("#next")
    await visit.step("trial:2")
    assert await stored(site) == {"choices": {}, "missing": {"s1": "media_error"}}


PAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "acr-hr": ("video", {"method": "acr-hr", "conditions": REFERENCED, "design": {**DESIGN, "trials": 4}}),
    "dcr": ("video", {"method": "dcr", "conditions": REFERENCED}),
    "dcr beside": ("image", {"method": "dcr", "conditions": REFERENCED, "options": SIDE}),
    "ccr": ("text", {"method": "ccr", "conditions": REFERENCED, "questions": [{**ONE[0], "scale": "ccr9"}]}),
    "ccr beside": ("image", {"method": "ccr", "conditions": REFERENCED, "options": SIDE}),
    "pair": ("video", {"method": "pair", "options": {"tie": True, "reason": "optional"}}),
    "pair beside": ("text", {"method": "pair", "options": {**SIDE, "tie": True}}),
    "ab": ("image", {"method": "ab"}),
    "ab texts": ("text", {"method": "ab"}),
    "abx": ("video", {"method": "abx", "options": {"mode": "identify", "unsure": True}}),
}

USUAL = ("ccr beside", "abx")
"""One of each way in which two are shown."""


@pytest.mark.parametrize("name", [name if name in USUAL else variant(name) for name in PAGES])
async def test_every_comparison_can_be_made_by_keyboard_alone_without_a_barrier(
    servers: StudyServers, name: str
) -> None:
    medium, keys = PAGES[name]
    site = await serve(servers, medium, **keys)
    visit = await site.visit(reduced_motion="reduce")
    page = visit.page
    troubles: list[str] = []

    async def look(moment: str, theme: Literal["light", "dark"]) -> None:
        troubles.extend(await overhang(page, moment, SIZES) + await barriers(page, moment, [theme]))

    await visit.go("trial", keyboard_only=True)
    await page.wait_for_selector("main #play:visible, main #next:visible")
    await look("shown", "dark")
    await reach(visit)
    for slot, letter in (("s1", "a"), ("s2", "b"), ("s3", "x")):
        if await play_button(page, slot).count():
            await page.keyboard.press(letter)
            await page.wait_for_selector(f'main .column.is-played[data-slot="{slot}"]')
    await opened(page)
    await page.keyboard.press("ArrowLeft" if await page.locator(".choices-sides").count() else "1")
    assert len(await checked(page)) == 1
    await look("answered", "light")
    await page.keyboard.press("Enter")
    await visit.step("trial:2")
    low = {"acr-hr": {"s1": 1}, "dcr": {"s2": 1}}.get(name.split()[0])
    expected = {
        "ccr": {"better": "s1", "grade": 4 if name == "ccr" else 3},
        "abx": {"same_as": "s1"},
    }.get(name.split()[0], {"better": "s1"})
    answer = await stored(site)
    assert answer == ({"choices": {"q1": expected}} if low is None else {"scores": {"q1": low}})
    assert (await site.answers())["trial:1"]["input"] == "keyboard"
    assert troubles == []


@pytest.mark.parametrize("name", [variant("pair"), variant("ab"), "ccr beside"])
async def test_a_comparison_is_made_on_a_phone_by_touch(servers: StudyServers, name: str) -> None:
    medium, keys = PAGES[name]
    site = await serve(servers, medium, **keys)
    visit = await site.visit(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = visit.page
    await visit.go("trial")
    if await page.locator("main #play").count():
        await page.locator("#play").tap()
    await page.wait_for_selector("main input[type=radio]:visible")
    for slot in ("s1", "s2"):
        if await play_button(page, slot).count():
            await play_button(page, slot).tap()
            await page.wait_for_selector(f'main .column.is-played[data-slot="{slot}"]')
        elif await page.locator(".spread").count():
            await page.locator(f'.spread-side[data-slot="{slot}"]').scroll_into_view_if_needed()
    await opened(page)
    choice = page.locator("main .choice").last
    box = await choice.bounding_box()
    assert box is not None
    assert box["height"] >= 44
    await choice.tap()
    await page.locator("#next").tap()
    await visit.step("trial:2")
    assert (await site.answers())["trial:1"]["input"] == "touch"


@pytest.mark.variant
@pytest.mark.parametrize(("shown", "told"), [variant("+4 Clearly better", ("s2", 4)), ("−1", ("s1", 1))])
async def test_where_some_grades_have_no_word_all_show_the_number_that_is_stored(
    servers: StudyServers, shown: str, told: tuple[str, int]
) -> None:
    site = await serve(servers, method="ccr", conditions=REFERENCED, questions=[{**ONE[0], "scale": "ccr9"}])
    visit = await site.visit()
    page = await reach(visit)
    await page.get_by_role("radio", name=shown, exact=True).click()
    assert await checked(page) == [shown]
    await page.click("#next")
    await visit.step("trial:2")
    assert await stored(site) == {"choices": {"q1": {"better": told[0], "grade": told[1]}}}


@pytest.mark.variant
@pytest.mark.parametrize("name", [variant("ab"), "abx"])
async def test_nobody_answers_who_means_to_look(servers: StudyServers, name: str) -> None:
    medium, keys = PAGES[name]
    site = await serve(servers, medium, **keys)
    page = await reach(await site.visit())
    shows = page.locator("main .showcase-view button.play .play-action")
    word = "Show" if medium == "image" else "Play"
    assert await shows.all_inner_texts() == [word] * await page.locator("main button.play").count()
    assert await page.locator("main .showcase-view input, main .showcase-deck button.play").count() == 0
    for key, slot in (("a", "s1"), ("ArrowRight", "s1"), ("b", "s2"), ("ArrowLeft", "s2"), ("x", "s2"), (" ", "s2")):
        await page.keyboard.press(key)
        if key in "ab":
            await page.wait_for_selector(f'main .column.is-played[data-slot="{slot}"]')
        assert await checked(page) == []
    if name == "abx":
        await play(page, "s3")
    await opened(page)
    await page.keyboard.press("1")
    assert await checked(page) == ["I choose A" if name == "ab" else "A is the same as X"]


@pytest.mark.variant
@pytest.mark.parametrize("method", [variant("pair"), "ab"])
async def test_two_texts_are_both_in_view_by_default_and_stay_there(servers: StudyServers, method: str) -> None:
    site = await serve(servers, "text", method=method)
    visit = await site.visit()
    await visit.go("trial")
    page = visit.page
    boxes = [await page.locator(f'.spread-side[data-slot="{slot}"] .clip-text').bounding_box() for slot in ("s1", "s2")]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    await page.set_viewport_size({"width": 768, "height": 1024})
    frames = [await page.locator(f'.spread-side[data-slot="{slot}"] .frame').bounding_box() for slot in ("s1", "s2")]
    assert frames[0] is not None
    assert frames[1] is not None
    assert frames[0]["y"] < frames[1]["y"]
    assert (frames[0]["x"], frames[0]["width"]) == (frames[1]["x"], frames[1]["width"])
    await opened(page)
    await page.locator("main .choice").first.click()
    await page.click("#next")
    await visit.step("trial:2")


@pytest.mark.variant
async def test_show_both_is_only_said_where_both_are_shown(servers: StudyServers) -> None:
    site = await serve(servers, "text", method="pair", options={"presentation": "sequential"})
    visit = await site.visit()
    await visit.go("trial")
    assert await visit.page.locator("#play").inner_text() == "Show the first"


@pytest.mark.variant
async def test_two_videos_at_once_ask_for_a_wide_screen_and_go_on_without(servers: StudyServers) -> None:
    site = await serve(servers, method="pair", options=SIDE)
    visit = await site.visit(viewport={"width": 390, "height": 844})
    page = visit.page
    await visit.go("trial")
    assert await page.locator("main h1").inner_text() == "Turn your device sideways"
    await page.set_viewport_size({"width": 844, "height": 390})
    await page.wait_for_selector("#play")
    await page.click("#play")
    await page.wait_for_selector("main input[type=radio]")
    assert await page.locator("main .choice").all_inner_texts() == ["Left\n←", "Right\n→"]
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Enter")
    await visit.step("trial:2")
    row = (await site.answers())["trial:1"]
    assert row["answer"] == {"choices": {"q1": {"better": "s2"}}}
    assert row["playback"]["page"]["skew_ms"] is not None
