"""What takes the pictures of the docs: a participant's page of a real server, and a small PNG of what it shows."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from PIL import Image
from playwright.async_api import Browser, Page, ViewportSize

from beholder.methods import load_study
from beholder.server.process import Running, running
from beholder.testing.browser import fitting_answers, walk

LARGEST = 150_000
WIDE = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=390, height=844)
_COLOURS = (256, 128, 64, 48, 32)


@asynccontextmanager
async def visitor(browser: Browser, study: Path, name: str, *, on_phone: bool = False) -> AsyncIterator[Page]:
    """Give a page at the door of the study, as the participant of this name opens it."""
    async with guest(browser, study, name, on_phone=on_phone) as (_, page):
        yield page


@asynccontextmanager
async def guest(
    browser: Browser, study: Path, name: str, *, on_phone: bool = False
) -> AsyncIterator[tuple[Running, Page]]:
    """Give the server too, which knows what the page does not tell."""
    async with running(load_study(study), port=0) as server:
        context = await browser.new_context(
            viewport=PHONE if on_phone else WIDE,
            is_mobile=on_phone,
            has_touch=on_phone,
            device_scale_factor=2 if on_phone else 1,
            reduced_motion="reduce",
            color_scheme="light",
        )
        page = await context.new_page()
        await page.goto(f"{server.link}?participant={name}")
        yield server, page
        await context.close()


async def go_to_first_trial(page: Page, study: Path) -> None:
    """Go through everything that comes before the first rating page."""
    await walk(page, until="trial", answers=fitting_answers(load_study(study)))
    await page.locator("body[data-kind=trial][data-state=ready]").wait_for()


async def save(page: Page, path: Path, *, largest: int = LARGEST) -> Path:
    """Write what the page shows, with as many colours as keep the file small."""
    await page.evaluate("document.fonts.ready")
    shot = Image.open(io.BytesIO(await page.screenshot(animations="disabled", caret="hide"))).convert("RGB")
    for colours in _COLOURS:
        written = io.BytesIO()
        shot.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
            written, "PNG", optimize=True
        )
        if written.tell() < largest:
            break
    path.write_bytes(written.getvalue())
    return path
