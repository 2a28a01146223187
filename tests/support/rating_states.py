"""Rating pages of every method, taken through all of their states by one visitor."""

from __future__ import annotations

import math
import struct
import wave
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from support.browser import Site, StudyServers, Visit
from support.small_media import write_stimulus

if TYPE_CHECKING:
    from playwright.async_api import Page, Route

DESIGN = {"participants": 4, "trials": 2, "seed": 3}
REFERENCED = [{"name": "source", "role": "reference"}, "clear", "dull"]
EIGHT = [f"c{number}" for number in range(8)]
TWO = ["clear", "dull"]
ASKED = [{"id": "quality", "text": "How good is it?"}]
STATEMENTS = [
    {"id": "real", "text": "It looks real.", "scale": "agree5"},
    {"id": "odd", "text": "It makes me uneasy.", "scale": "agree5"},
]
SECONDS = 0.6
PAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "mushra": ("audio", {"method": "mushra", "conditions": REFERENCED, "playback": {"volume": False}}),
    "ab": ("image", {"method": "ab", "conditions": TWO, "options": {"tie": True}}),
    "pair texts": ("text", {"method": "pair", "conditions": TWO}),
    "parallel": ("video", {"method": "parallel", "design": {**DESIGN, "per_trial": 3}}),
    "parallel of eight": ("image", {"method": "parallel", "conditions": EIGHT, "design": {**DESIGN, "per_trial": 8}}),
    "acr": ("video", {"method": "acr", "questions": [{**ASKED[0], "scale": "cont100"}]}),
    "acr-hr": ("image", {"method": "acr-hr", "conditions": REFERENCED, "design": {**DESIGN, "trials": 4}}),
    "dcr": ("video", {"method": "dcr", "conditions": [{"name": "natural", "role": "reference"}, "smooth"]}),
    "ccr": ("image", {"method": "ccr", "conditions": REFERENCED[:2], "options": {"presentation": "side-by-side"}}),
    "pair": ("video", {"method": "pair", "options": {"presentation": "free", "reason": "optional"}}),
    "abx": ("audio", {"method": "abx", "conditions": TWO, "options": {"mode": "identify", "unsure": True},
                      "playback": {"volume": False}}),
    "likert": ("video", {"method": "likert", "questions": STATEMENTS, "playback": {"loop": "after-first"}}),
}  # fmt: skip
"""A medium and the keys of a study, for each kind of rating page."""


def write_stimuli(folder: Path, medium: str, conditions: list[Any]) -> None:
    """Write two contents under each condition."""
    names = [one if isinstance(one, str) else one["name"] for one in conditions]
    for place, name in enumerate(names):
        for number, content in enumerate(("one", "two")):
            path = folder / name / content
            path.parent.mkdir(parents=True, exist_ok=True)
            if medium == "image":
                Image.new("RGB", (320, 180), (25 * place, 90, 120 * number)).save(path.with_suffix(".png"))
            elif medium == "text":
                path.with_suffix(".txt").write_text(f"Some {name} words about {content}. " * 12, "utf-8")
            elif medium == "video":
                write_stimulus(path.with_suffix(".mp4"), 1 + 2 * place + number)
            else:
                _write_tone(path.with_suffix(".wav"), 300 + 100 * place)


def _write_tone(path: Path, pitch: float) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        samples = (math.sin(2 * math.pi * pitch * n / 16000) for n in range(int(SECONDS * 16000)))
        file.writeframes(b"".join(struct.pack("<h", int(6000 * sample)) for sample in samples))


async def serve_page(servers: StudyServers, name: str) -> Site:
    """Serve the study of one kind of rating page."""
    medium, keys = PAGES[name]
    keys = {"questions": ASKED, "design": DESIGN, **keys}
    if medium != "video":
        write_stimuli(servers.folder / f"study{len(servers.sites)}" / "own", medium, keys["conditions"])
        quick = {"look_seconds": 0.3, "words_per_second": 1000}
        keys |= {"stimuli": "own", "playback": {**quick, **keys.get("playback", {})}}
    return await servers.serve(**keys)


async def rating_states(visit: Visit) -> AsyncIterator[str]:
    """Go to the first trial and yield the name of each state that its page is in: from unseen to saving."""
    page = visit.page
    await visit.go("trial")
    await _see_alone(page)
    yield "shown"
    await _press_locked(page)
    yield "locked"
    await page.click("#next", force=True)
    yield "asked"
    is_first = True
    for button in await page.locator("main button.play[data-slot]").all():
        slot = await button.get_attribute("data-slot")
        await button.click()
        if is_first:
            yield "playing"
        await page.wait_for_selector(f'main .is-played[data-slot="{slot}"]')
        if is_first:
            yield "heard"
        is_first = False
    await page.wait_for_selector("main :is(.vote-question, .deck, .survey):not(.is-locked)")
    yield "seen"
    await _answer(page)
    yield "rated"
    await visit.context.set_offline(True)
    await page.wait_for_selector('.banner[data-kind="offline"]:visible')
    yield "offline"
    await visit.context.set_offline(False)
    await page.locator(".banner").wait_for(state="hidden")
    yield "back"

    async def refuse(route: Route) -> None:
        told = {"error": {"code": "invalid", "message": "Something in this answer cannot be stored as it is."}}
        await route.fulfill(status=422, json=told)

    await page.route("**/api/answers/*", refuse, times=1)
    await page.click("#next")
    await page.wait_for_selector('.banner[data-kind="notice"]:visible')
    await page.wait_for_selector("main #next")
    yield "refused"
    held: list[Route] = []
    await page.route("**/api/answers/*", lambda route: held.append(route))
    await page.click("#next")
    await page.wait_for_selector('body[data-state="sending"]')
    yield "saving"
    for route in held:
        await route.abort()


async def _see_alone(page: Page) -> None:
    """See what is shown before its question, if anything is."""
    while True:
        control = await page.wait_for_selector(
            "main #play:visible, .cinema #next:visible, main :is(input[type=radio], input[type=range]):visible"
        )
        assert control is not None
        if await control.get_attribute("id") not in ("play", "next"):
            return
        await control.click()
        await control.wait_for_element_state("hidden")


async def _press_locked(page: Page) -> None:
    """Press an answer that is not open yet, if there is one."""
    closed = page.locator("main :is(.is-locked .choice, .fader[data-state=locked] input)")
    if await closed.count():
        await closed.first.click(force=True)


async def _answer(page: Page) -> None:
    """Set every slider and choose the first answer to every question."""
    for slider in await page.locator("main input[type=range]").all():
        await slider.fill("70")
    names = await page.locator("main input[type=radio]").evaluate_all(
        "nodes => [...new Set(nodes.map(({ name }) => name))]"
    )
    for name in names:
        await page.locator(f'main input[type=radio][name="{name}"]').first.check(force=True)
