"""The newcomer's walk: a picture of every page that a participant of a study meets, at four widths, and of its report.

    PYTHONPATH=tools python -m documentation.walk STUDY FOLDER [--phone]

The pictures of one width are also put on contact sheets, to look at many at once. Nothing of it is kept in the docs.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw
from playwright.async_api import Browser, Page, ViewportSize, async_playwright

from beholder.methods import load_study
from beholder.server.process import RunningServer, run_server
from beholder.testing.browser import StepMoment, find_chromium, fitting_answers, oracle_for, walk

SIZES = (ViewportSize(width=360, height=740), ViewportSize(width=768, height=1024),
         ViewportSize(width=1366, height=768), ViewportSize(width=2560, height=1440))  # fmt: skip
_TALLEST = 4000
"""No page is looked at further down than this: a report is long."""
_HOME = SIZES[2]
_SHEET = {360: (7, 250), 768: (6, 300), 1366: (4, 480), 2560: (3, 640)}
"""By width, the pictures in a row of a contact sheet, and how wide each is there."""


async def picture(page: Page, folder: Path, name: str, sizes: Sequence[ViewportSize] = SIZES) -> None:
    """Write the page as it is at each width, as far as it can be scrolled; in full screen as it is."""
    home = page.viewport_size or _HOME
    is_full = await page.evaluate("document.fullscreenElement !== null")
    for size in [home] if is_full else sizes:
        if size != page.viewport_size:
            await page.set_viewport_size(size)
            await page.wait_for_timeout(150)
        height = await page.evaluate("document.documentElement.scrollHeight")
        tall = min(max(height, size["height"]), _TALLEST)
        place = folder / str(size["width"])
        place.mkdir(parents=True, exist_ok=True)
        await page.screenshot(
            path=place / f"{name}.png",
            full_page=True,
            clip={"x": 0, "y": 0, "width": size["width"], "height": tall},
            animations="disabled",
        )
    if home != page.viewport_size:
        await page.set_viewport_size(home)


async def walk_through(browser: Browser, server: RunningServer, study: Path, folder: Path, *, phone: bool) -> None:
    """Take the study as a participant who fails nothing, and picture each step as it is shown and as it is answered."""
    sizes = SIZES[:1] if phone else SIZES
    context = await browser.new_context(
        viewport=SIZES[0] if phone else _HOME,
        screen=sizes[-1],
        is_mobile=phone,
        has_touch=phone,
        reduced_motion="reduce",
    )
    page = await context.new_page()
    number = 0

    async def on_step(page: Page, key: str, moment: StepMoment) -> None:
        nonlocal number
        number += 1
        name = re.sub(r"[^a-z0-9]+", "-", key.lower())
        await picture(page, folder, f"{number:02d}-{name}-{moment}", sizes)

    await page.goto(f"{server.link}?participant=newcomer")
    await walk(page, answers=fitting_answers(load_study(study)), on_step=on_step, oracle=oracle_for(server, page, ()))
    await context.close()


async def turned_away(browser: Browser, server: RunningServer, folder: Path) -> None:
    """Picture what somebody meets whose link is wrong or who came by none."""
    page = await browser.new_page(viewport=_HOME)
    base = str(server.link).split("?")[0].rstrip("/")
    forget = f"{server.address}/forget"
    for name, address in (("no-id", base), ("unknown-address", f"{base}/nowhere"), ("forget", forget)):
        await page.goto(address)
        await picture(page, folder, f"90-{name}")
    await page.close()


def contact_sheets(folder: Path) -> None:
    """Write all pictures of a width side by side, as few to a sheet as can still be read."""
    for width, (columns, shown) in _SHEET.items():
        files = sorted((folder / str(width)).glob("*.png"))
        for start in range(0, len(files), columns * 2):
            pictures = []
            for file in files[start : start + columns * 2]:
                whole = Image.open(file).convert("RGB")
                part = whole.resize((shown, max(1, round(whole.height * shown / whole.width))))
                pictures.append((file.stem, part.crop((0, 0, shown, min(part.height, 2 * shown)))))
            rows = [pictures[place : place + columns] for place in range(0, len(pictures), columns)]
            heights = [max(one.height for _, one in row) + 22 for row in rows]
            sheet = Image.new("RGB", (columns * (shown + 8), sum(heights)), "#888")
            for row, pictures_of_row in enumerate(rows):
                for column, (name, one) in enumerate(pictures_of_row):
                    at = (column * (shown + 8), sum(heights[:row]))
                    ImageDraw.Draw(sheet).text((at[0] + 4, at[1] + 4), name, fill="white")
                    sheet.paste(one, (at[0], at[1] + 18))
            sheet.save(folder / f"sheet-{width}-{start // (columns * 2) + 1}.png")


async def take(study: Path, folder: Path, *, phone: bool) -> None:
    """Write all pictures and their contact sheets."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        with tempfile.TemporaryDirectory(prefix="beholder-walk-") as store:
            async with run_server(load_study(study), port=0, store=store) as server:
                await walk_through(browser, server, study, folder, phone=phone)
                await turned_away(browser, server, folder)
        report = study.parent / "report" / "index.html"
        if report.is_file():
            page = await browser.new_page(viewport=_HOME)
            await page.goto(report.absolute().as_uri())
            await picture(page, folder, "99-report")
        await browser.close()
    contact_sheets(folder)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("study", type=Path)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--phone", action="store_true", help="on a phone, at its one width")
    given = asked.parse_args()
    asyncio.run(take(given.study, given.folder, phone=given.phone))


if __name__ == "__main__":
    main()
