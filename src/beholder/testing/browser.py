"""A real browser that takes a study from its link to its completion code, as a person would.

    async with open_browser() as browser:
        page = await browser.new_page()
        code = await complete_study(page, link, answers=fitting_answers(study))

It knows no method: only the controls that a stage gives to every view. A clip is played by `#play` or by a
`button.play[data-slot]`, rated by range inputs and radio buttons, and left by `#next`.
Needs Playwright (not a dependency of the package) and a Chromium of this machine.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal, TypeAlias

from beholder.study.model import Study
from beholder.testing.hands import Hand, hand_for
from beholder.types import Json

if TYPE_CHECKING:
    from playwright.async_api import Browser, Locator, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run",
)  # fmt: skip
_SHARES = (0.62, 0.18, 0.87, 0.41, 0.73, 0.29)
_MOST_PRESSES = 60

Moment: TypeAlias = Literal["shown", "answered"]
OnStep: TypeAlias = Callable[["Page", str, Moment], Awaitable[None]]
"""Called with the key of each step: when it is `shown`, and when it is `answered` but not yet left."""


def find_chromium() -> str | None:
    """Return the path of a Chromium on this machine; BEHOLDER_CHROMIUM names another one."""
    named = os.environ.get("BEHOLDER_CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


@asynccontextmanager
async def open_browser() -> AsyncIterator[Browser]:
    """Give a Chromium without a window, closed in the end."""
    from playwright.async_api import async_playwright

    path = find_chromium()
    assert path is not None, f"there is no Chromium here: install {NAMES[0]}, or name one in BEHOLDER_CHROMIUM"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(_ARGUMENTS))
        try:
            yield browser
        finally:
            await browser.close()


def fitting_answers(study: Study) -> dict[str, Json]:
    """Return answers to a study's questionnaires that let a person pass: right ones, and numbers within limits."""
    found: dict[str, Json] = {}
    for item in (*study.before, *study.after):
        if item.correct:
            found[item.id] = list(item.correct) if item.type == "multiple" else item.correct[0]
        elif item.type == "number" and (item.min, item.max) != (None, None):
            found[item.id] = item.min if item.min is not None else item.max
    return found


async def complete_study(
    page: Page,
    link: str,
    *,
    answers: Mapping[str, Json] | None = None,
    keyboard_only: bool = False,
    on_step: OnStep | None = None,
) -> str:
    """Take a study to its end and return the completion code.

    `answers` is by item of the questionnaires; what it leaves out gets any answer. With keyboard_only no pointer is
    used at all; a page on a touch screen is tapped.
    """
    await page.goto(link)
    await walk(page, answers=answers, keyboard_only=keyboard_only, on_step=on_step)
    code = page.locator("#code")
    assert await code.count() == 1, f"the study ended without a code: {await _words_on(page)}"
    return await code.inner_text()


async def walk(
    page: Page,
    *,
    until: str = "end",
    answers: Mapping[str, Json] | None = None,
    keyboard_only: bool = False,
    on_step: OnStep | None = None,
) -> str:
    """Go on from the step that is shown until one of this kind or key, and return its key."""
    hand = await hand_for(page, keyboard_only=keyboard_only)
    key, presses = "", 0
    watched: set[str] = set()
    while True:
        control = await _next_control(page)
        body = page.locator("body")
        here, kind = await body.get_attribute("data-step") or "", await body.get_attribute("data-kind") or ""
        if here != key:
            key, presses = here, 0
            watched.clear()
            if on_step is not None:
                await on_step(page, key, "shown")
        if until in (kind, key):
            return key
        assert kind != "end", f"the study ended before {until}: {await _words_on(page)}"
        if control == "next":
            if kind == "questions":
                await fill_questions(page, hand, answers or {})
            elif kind == "volume":
                await hand.press(page.locator("main #play-sound"))
            elif kind == "trial":
                await play_all(page, hand, watched)
                await rate_all(page, hand)
            if on_step is not None:
                await on_step(page, key, "answered")
        presses += 1
        assert presses < _MOST_PRESSES, f"{key} does not end: {await _words_on(page)}"
        await leave(page, hand, control)


async def play_all(page: Page, hand: Hand, watched: set[str]) -> None:
    """Play each slot of a page until it has been watched, but for those in `watched`; add them to it."""
    for button in await page.locator("main button.play[data-slot]:visible").all():
        slot = await button.get_attribute("data-slot") or ""
        if slot in watched or await button.get_attribute("aria-disabled") == "true":
            continue
        await hand.press(button)
        told = ", ".join(f'main {name}[data-slot="{slot}"]' for name in (".is-played", ".is-failed"))
        await page.locator(told).first.wait_for(state="attached")
        watched.add(slot)
    # What is in view all the time opens the answers by itself, when it has been seen for long enough.
    await page.wait_for_function("() => !document.querySelector('main input[type=radio][aria-disabled=true]')")


async def rate_all(page: Page, hand: Hand) -> None:
    """Answer everything on a page: sliders, radio buttons, boxes and required reasons, no two neighbours alike."""
    main = page.locator("main")
    for place, slider in enumerate(await main.locator(".fader-input:visible").all()):
        if await slider.get_attribute("aria-disabled") == "true":
            await _open_slider(page, hand, slider)
        if await slider.get_attribute("aria-disabled") != "true":
            await hand.slide(slider, _SHARES[place % len(_SHARES)])
    for place, group in enumerate((await _groups(main.locator("input[type=radio]:visible"))).values()):
        await hand.tick(group[(1 + place) % len(group)])
    for place, group in enumerate((await _groups(main.locator("input[type=checkbox]:visible"))).values()):
        if not any([await box.is_checked() for box in group]):
            await hand.tick(group[place % len(group)])
    for field in await main.locator("textarea[aria-required=true]:visible, textarea[required]:visible").all():
        await hand.write(field, "It looked right.")


async def _groups(boxes: Locator) -> dict[str, list[Locator]]:
    """Return the boxes that belong together, by their name."""
    groups: dict[str, list[Locator]] = {}
    for box in await boxes.all():
        groups.setdefault(await box.get_attribute("name") or "", []).append(box)
    return groups


async def _open_slider(page: Page, hand: Hand, slider: Locator) -> None:
    """Play the slot of a slider that is open only meanwhile."""
    slot = await slider.evaluate("node => node.closest('[data-slot]')?.dataset.slot ?? ''")
    button = page.locator(f'main button.play[data-slot="{slot}"]:visible')
    if await button.count() == 1 and await button.get_attribute("aria-disabled") != "true":
        await hand.press(button)


async def fill_questions(page: Page, hand: Hand, answers: Mapping[str, Json]) -> None:
    """Fill in a questionnaire: the answers that are given, and any where none is."""
    for item in await page.locator("main [data-item]").all():
        answer = answers.get(await item.get_attribute("data-item") or "")
        boxes = await item.locator("input[type=radio], input[type=checkbox]").all()
        if not boxes:
            field = item.locator("input, textarea")
            is_number = await field.get_attribute("inputmode") == "decimal"
            fallback = "30" if is_number else "Nothing to add."
            await hand.write(field, fallback if answer is None else f"{answer:g}" if is_number else str(answer))
            continue
        chosen = [str(one) for one in (answer if isinstance(answer, list) else [answer])]
        wanted = [box for box in boxes if answer is not None and await box.get_attribute("value") in chosen]
        for box in wanted or boxes[-1:]:
            if not await box.is_checked():
                await hand.tick(box)


async def leave(page: Page, hand: Hand, control: str) -> None:
    """Press what leads on, and wait until it has."""
    button = page.locator(f"main #{control}")
    assert await button.get_attribute("aria-disabled") != "true", f"the way on is closed: {await _words_on(page)}"
    pressed = await button.element_handle()
    await hand.press(button)
    await pressed.wait_for_element_state("hidden")


async def _next_control(page: Page) -> str:
    """Wait for what a step needs to be pressed and return its id; "" at the end."""
    from playwright.async_api import TimeoutError as WaitedTooLong

    wanted = ", ".join(f"main #{name}:visible" for name in ("agree", "next", "play", "try-again"))
    try:
        found = await page.wait_for_selector(f"{wanted}, body[data-kind=end] main h1")
    except WaitedTooLong:
        raise AssertionError(f"the page does not go on: {await _words_on(page)}") from None
    return await found.get_attribute("id") or "" if found else ""


async def _words_on(page: Page) -> str:
    banner = page.locator(".banner:visible")
    words = [await part.inner_text() for part in (*await banner.all(), page.locator("main"))]
    return " ".join(" | ".join(words).split())
