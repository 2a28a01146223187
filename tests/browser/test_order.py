"""Orders in a real browser: places by pressing, dragging, buttons and keys; two marks that are never the same."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Locator, Page

from beholder.testing.browser import complete_study
from support.browser import MARKS, Site, StudyServers, Visit, barriers, overhang, play
from support.rating_states import write_stimuli
from support.variants import variant

pytestmark = MARKS

FOUR = ["a", "b", "c", "d"]
SIZES = [(320, 640), (360, 740), (768, 1024), (1366, 768)]
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


async def serve(servers: StudyServers, method: str, medium: str = "image", **keys: Any) -> Site:
    """Serve pages of four stimuli, which need only a glance."""
    write_stimuli(servers.folder / f"study{len(servers.sites)}" / "own", medium, FOUR)
    return await servers.serve(
        method=method, stimuli="own", conditions=FOUR, questions=[{"id": "best", "text": "Which is best?"}],
        design={"participants": 4, "trials": 2, "seed": 3},
        playback={"look_seconds": 0.2, "words_per_second": 1000, "volume": False}, **keys,
    )  # fmt: skip


async def see_all(visit: Visit) -> Page:
    await visit.go("trial")
    await visit.page.wait_for_selector("main button.play")
    await play(visit.page, "s1", "s2", "s3", "s4")
    return visit.page


async def listed(page: Page) -> list[str]:
    slots: list[str] = await page.locator(".rank-handle").evaluate_all("nodes => nodes.map((one) => one.dataset.slot)")
    return slots


async def middle(node: Locator) -> tuple[float, float]:
    box = await node.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


async def drag(page: Page, node: Locator, x: float, y: float) -> None:
    """Drag by mouse."""
    await page.mouse.move(*await middle(node))
    await page.mouse.down()
    await page.mouse.move(x, y, steps=4)
    await page.mouse.up()


async def drag_by_finger(visit: Visit, node: Locator, x: float, y: float) -> None:
    touch = await visit.context.new_cdp_session(visit.page)
    left, top = await middle(node)
    for kind, part in (("Start", 0.0), ("Move", 0.3), ("Move", 0.6), ("Move", 1.0)):
        at = {"x": left + part * (x - left), "y": top + part * (y - top)}
        await touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": [at]})
    await touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def handle(page: Page, slot: str) -> Locator:
    return page.locator(f'.rank-handle[data-slot="{slot}"]')


def letter(page: Page, slot: str) -> Locator:
    return page.locator(f'.mark-handles [data-slot="{slot}"]')


def place_of(page: Page, mark: str) -> Locator:
    return page.locator(f'.mark-place[data-mark="{mark}"]')


async def marked(page: Page) -> dict[str, str]:
    """Return the slots whose radio buttons are chosen, by mark."""
    chosen = await page.locator("main input:checked").evaluate_all(
        "nodes => nodes.map((n) => [n.dataset.slot, n.value])"
    )
    return dict(chosen)


async def stored(site: Site) -> dict[str, Any]:
    answer: dict[str, Any] = (await site.answers())["trial:1"]["answer"]
    return answer


async def test_an_order_is_made_by_pressing_dragging_buttons_and_keys_alike(servers: StudyServers) -> None:
    site = await serve(servers, "rank", options={"ties": True})
    visit = await site.visit()
    await visit.go("trial")
    page = visit.page
    await page.wait_for_selector("main button.play")
    await page.locator(".rank-add").first.click(force=True)  # before everything was seen
    assert await listed(page) == []
    assert await page.locator("#reason").inner_text() == "Still to look at: A, B, C, D"
    await see_all(visit)
    for slot in ("s2", "s1", "s4"):
        await page.click(f'.rank-add[data-slot="{slot}"]')
    assert await listed(page) == ["s2", "s1", "s4"]
    assert await page.locator("#reason").inner_text() == "1 has no place yet"
    x, y = await middle(handle(page, "s1"))
    told, place = page.locator(".rank-left"), await page.locator(".rank-list").bounding_box()
    assert await told.inner_text() == "Press or drag them into order"
    await drag(page, page.locator('.rank-add[data-slot="s3"]'), x, y - 5)  # into the middle, from above
    assert await listed(page) == ["s2", "s3", "s1", "s4"]
    assert await told.inner_text() == "Drag them to change the order"
    assert await page.locator(".rank-list").bounding_box() == place  # nothing has moved
    await handle(page, "s4").focus()
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowUp")  # the focus stays on what moves
    assert await listed(page) == ["s2", "s4", "s3", "s1"]
    await page.get_by_role("button", name="Move C down").click()
    assert await listed(page) == ["s2", "s4", "s1", "s3"]
    await page.locator('.rank-tie[data-slot="s1"]').click()
    places = await page.locator(".rank-handle").evaluate_all("nodes => nodes.map((one) => one.dataset.place)")
    assert places == ["1", "2", "2", "4"]
    assert await barriers(page, "rank") == []
    assert await overhang(page, "rank", SIZES) == []
    await page.reload()
    await page.wait_for_selector(".rank-handle")
    assert await listed(page) == ["s2", "s4", "s1", "s3"]
    await page.click("#next")
    await visit.step("trial:2")
    assert await stored(site) == {"choices": {"q1": {"order": [["s2"], ["s1", "s4"], ["s3"]]}}}


async def test_a_finger_puts_them_in_order_on_a_phone(servers: StudyServers) -> None:
    site = await serve(servers, "rank", options={"partial": True})
    visit = await site.visit(**PHONE)
    page = await see_all(visit)
    for slot in ("s2", "s1"):
        await page.tap(f'.rank-add[data-slot="{slot}"]')
    await handle(page, "s1").evaluate("node => node.scrollIntoView({ block: 'center' })")
    (x, _), (_, top) = await middle(handle(page, "s1")), await middle(handle(page, "s2"))
    await drag_by_finger(visit, handle(page, "s1"), x, top - 8)
    assert await listed(page) == ["s1", "s2"]
    await page.click("#next")  # Chromium takes a tap right after a drag as its end
    await visit.step("trial:2")
    assert await stored(site) == {"choices": {"q1": {"order": [["s1"], ["s2"]]}}}


@pytest.mark.variant
async def test_the_best_is_never_the_worst(servers: StudyServers) -> None:
    site = await serve(servers, "best-worst")
    visit = await site.visit(has_touch=True)
    page = await see_all(visit)
    best, worst = (page.get_by_role("radiogroup", name=name) for name in ("Best", "Worst"))
    await best.get_by_text("C").click()
    await worst.get_by_text("C").click()
    assert await best.locator("input:checked").count() == 0
    assert await page.locator("#reason").inner_text() == "Still to mark: Best"
    assert await barriers(page, "best-worst") == []
    assert await overhang(page, "best-worst", SIZES) == []
    await page.keyboard.press("ArrowRight")  # on from the one that was the best, which it is again
    assert await marked(page) == {"best": "s3", "worst": "s4"}
    await worst.get_by_text("C").click()
    await best.get_by_text("A").click()
    await page.click("#next")
    await visit.step("trial:2")
    assert await stored(site) == {"choices": {"q1": {"best": "s1", "worst": "s3"}}}
    await page.wait_for_selector("main button.play")
    await drag(page, letter(page, "s2"), *await middle(place_of(page, "best")))  # before everything was seen
    assert await marked(page) == {}
    await play(page, "s1", "s2", "s3", "s4")
    height = await page.locator(".vote-question").bounding_box()
    await drag(page, letter(page, "s2"), *await middle(place_of(page, "best")))
    await drag(page, letter(page, "s4"), *await middle(worst))  # anywhere in its row
    assert await marked(page) == {"best": "s2", "worst": "s4"}
    assert await page.locator(".mark-place").all_inner_texts() == ["B", "D"]
    assert await page.locator(".vote-question").bounding_box() == height  # nothing has moved
    assert await barriers(page, "dragged") == []
    await page.set_viewport_size({"width": 360, "height": 740})
    await place_of(page, "best").evaluate("node => node.scrollIntoView({ block: 'center' })")
    await drag_by_finger(visit, letter(page, "s1"), *await middle(place_of(page, "best")))
    assert await marked(page) == {"best": "s1", "worst": "s4"}
    # From one place to the other, which leaves the first one empty.
    await drag_by_finger(visit, place_of(page, "worst").locator(".mark-handle"), *await middle(place_of(page, "best")))
    assert await marked(page) == {"best": "s4"}
    assert await page.locator(".mark-place").all_inner_texts() == ["D", "Drop here"]
    await drag_by_finger(visit, letter(page, "s3"), 5, 5)  # let go elsewhere, it changes nothing
    assert await marked(page) == {"best": "s4"}


@pytest.mark.parametrize("method", [variant("rank"), variant("best-worst")])
@pytest.mark.parametrize("medium", ["image", "text", "audio", "video"])
@pytest.mark.parametrize("by", ["keyboard", "touch", "mouse"])
async def test_a_study_of_every_medium_is_completed_by_keyboard_alone_by_touch_and_by_mouse(
    servers: StudyServers, method: str, by: str, medium: str
) -> None:
    site = await serve(servers, method, medium)
    visit = await site.visit(**(PHONE if by == "touch" else {}))
    link = f"{site.link}?participant=bob"
    troubles: list[str] = []

    async def look(page: Page, key: str, moment: str) -> None:
        if key == "trial:1" and by == "keyboard":
            troubles.extend(await overhang(page, moment, SIZES) + await barriers(page, moment, ["light"]))

    assert await complete_study(visit.page, link, keyboard_only=by == "keyboard", on_step=look)
    assert troubles == []
    assert (await site.answers())["trial:1"]["input"] == by
