"""The pictures of the docs: real pages of a real server with sample stimuli, taken by Chromium."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from playwright.async_api import Browser, ViewportSize, async_playwright

from beholder.methods import load_study
from beholder.testing.browser import fitting_answers, walk
from beholder.workflow.new import new
from beholder.workflow.plan import plan
from beholder.workflow.run import run
from docs_camera import save, visitor
from docs_gallery import picture_gallery
from docs_qualification import picture_qualification


async def take_pictures(folder: Path, scratch: Path, chromium: str) -> list[Path]:
    """Write all pictures to a folder; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            made = await _picture_ends(browser, new("parallel", scratch / "parallel"), folder)
            made += await picture_gallery(browser, folder, scratch)
            made += await picture_qualification(browser, folder, scratch)
            made += await _picture_report(browser, new("parallel", scratch / "report"), folder)
            made += await _picture_plan(browser, new("parallel", scratch / "plan"), folder)
        finally:
            await browser.close()
    return made


async def _picture_ends(browser: Browser, study: Path, folder: Path) -> list[Path]:
    """Take the first page of a study and its last."""
    async with visitor(browser, study, "ends") as page:
        await page.locator("#agree").wait_for()
        made = [await save(page, folder / "consent.png")]
        await walk(page, answers=fitting_answers(load_study(study)))
        made.append(await save(page, folder / "end-page.png"))
        return made


async def _picture_report(browser: Browser, study: Path, folder: Path) -> list[Path]:
    """Take the top of a report, of a study in which nobody has been but robots."""
    results = await asyncio.to_thread(lambda: run(study, simulate=True, participants=20))
    assert results.report is not None
    page = await browser.new_page(viewport=ViewportSize(width=1280, height=900))
    await page.goto(results.report.as_uri())
    return [await save(page, folder / "report.png")]


def _in_order(names: list[str], is_drawn: bool) -> list[str]:
    return names if is_drawn else sorted(names)


async def _picture_plan(browser: Browser, study: Path, folder: Path) -> list[Path]:
    """Take the heat maps of a plan that was given, and in which some come too often in one place."""
    made = await asyncio.to_thread(lambda: plan(study))
    rows = [
        f"{planned.number},{position},{slot},{name}"
        for planned in made.lists
        for position, trial in enumerate(planned.rated, 1)
        # Half of the people meet the stimuli in the order of the alphabet.
        for slot, name in enumerate(_in_order([one.stimulus for one in trial.slots], planned.number % 2 == 0), 1)
    ]
    (study.parent / "mine.csv").write_text("\n".join(["list,position,slot,stimulus", *rows]), "utf-8")
    text = study.read_text("utf-8")
    study.write_text(re.sub(r"design:\n(  .*\n)+", "design: {plan: mine.csv}\n", text), "utf-8")
    await asyncio.to_thread(lambda: plan(study, report=True))
    page = await browser.new_page(viewport=ViewportSize(width=1280, height=900))
    await page.goto((study.parent / "plan" / "report" / "index.html").as_uri())
    await page.locator("#condition-slot").scroll_into_view_if_needed()
    return [await save(page, folder / "plan-report.png")]
