"""The pictures of the docs: real pages of a real server with sample stimuli, taken by Chromium."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from PIL import Image
from playwright.async_api import Browser, Page, ViewportSize, async_playwright

from beholder.methods import load_study
from beholder.new import new
from beholder.run import run
from beholder.serve.server import running

LARGEST = 150_000
_WIDE = ViewportSize(width=1280, height=800)
_COLOURS = (256, 128, 64)
_SCORES = (78, 46)
"""The sliders that are set on the half-done page; the other videos are still to be watched."""


async def take_pictures(folder: Path, scratch: Path, chromium: str) -> list[Path]:
    """Write all pictures to a folder; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    parallel, acr = new("parallel", scratch / "parallel"), new("acr", scratch / "acr")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            made = await _picture_parallel(browser, parallel, folder)
            made += await _picture_acr(browser, acr, folder)
            made += await _picture_report(browser, parallel, folder)
        finally:
            await browser.close()
    return made


async def _picture_parallel(browser: Browser, study: Path, folder: Path) -> list[Path]:
    async with _visitor(browser, study) as page:
        await page.locator("#agree").wait_for()
        made = [await _save(page, folder / "consent.png")]
        await page.locator("#agree").click()
        await _confirm_instructions(page)
        faders = page.locator(".fader-input")
        await faders.first.wait_for()
        for place, score in enumerate(_SCORES):
            await _watch(page, place)
            await _set(page, place, score)
        await page.locator("button.play").nth(len(_SCORES)).click()
        await page.locator(".screen-time", has_text="0:01").wait_for()
        made.append(await _save(page, folder / "rating-page.png"))
        while await page.locator("body").get_attribute("data-kind") == "trial":
            await _rate_page(page)
        await page.locator("body[data-kind=questions] #next").click()
        await page.locator("body[data-kind=end] main h1").wait_for()
        made.append(await _save(page, folder / "end-page.png"))
        return made


async def _picture_acr(browser: Browser, study: Path, folder: Path) -> list[Path]:
    async with _visitor(browser, study) as page:
        await page.locator("#agree").click()
        await page.get_by_label("no", exact=True).check()
        await page.locator("#next").click()
        await _confirm_instructions(page)
        await page.locator("#play").click()
        await page.locator(".vote-question .choice").nth(1).click()
        return [await _save(page, folder / "acr-scale.png")]


async def _picture_report(browser: Browser, study: Path, folder: Path) -> list[Path]:
    results = await asyncio.to_thread(lambda: run(study, simulate=True, participants=20))
    assert results.report is not None
    page = await browser.new_page(viewport=ViewportSize(width=1280, height=900))
    await page.goto(results.report.as_uri())
    return [await _save(page, folder / "report.png")]


@asynccontextmanager
async def _visitor(browser: Browser, study: Path) -> AsyncIterator[Page]:
    """Give a page at the door of the study, as one participant opens it."""
    async with running(load_study(study), port=0) as server:
        context = await browser.new_context(viewport=_WIDE, reduced_motion="reduce", color_scheme="light")
        page = await context.new_page()
        await page.goto(f"{server.link}?participant=picture")
        yield page
        await context.close()


async def _confirm_instructions(page: Page) -> None:
    await page.locator("body[data-kind=text] #next").click()
    await page.locator("body[data-kind=trial][data-state=ready]").wait_for()


async def _watch(page: Page, place: int) -> None:
    """Play one video of a page to its end."""
    await page.locator("button.play").nth(place).click()
    await page.locator(".column").nth(place).and_(page.locator(".is-played:not(.is-playing)")).wait_for()


async def _set(page: Page, place: int, score: int) -> None:
    """Set one slider by keys, from the middle."""
    fader = page.locator(".fader-input").nth(place)
    await fader.focus()
    await fader.press("ArrowUp")
    for _ in range(abs(score - 50)):
        await fader.press("ArrowUp" if score > 50 else "ArrowDown")


async def _rate_page(page: Page) -> None:
    """Finish a rating page and wait for what comes after it."""
    key = await page.locator("body").get_attribute("data-step")
    for place in range(await page.locator("button.play").count()):
        await _watch(page, place)
        fader = page.locator(".fader-input").nth(place)
        await fader.focus()
        await fader.press("PageUp")
    await page.locator("#next").click()
    await page.locator(f"body:not([data-step='{key}'])[data-state=ready]").wait_for()


async def _save(page: Page, path: Path) -> Path:
    """Write what the page shows, with as many colours as keep the file small."""
    await page.evaluate("document.fonts.ready")
    shot = Image.open(io.BytesIO(await page.screenshot(animations="disabled", caret="hide"))).convert("RGB")
    for colours in _COLOURS:
        written = io.BytesIO()
        shot.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
            written, "PNG", optimize=True
        )
        if written.tell() < LARGEST:
            break
    path.write_bytes(written.getvalue())
    return path
