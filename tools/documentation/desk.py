"""The pictures of the desk: a study under way, and the replay of a session that was taken in a browser."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import yaml
from playwright.async_api import Browser, ViewportSize

from beholder.desk.desk_server import run_desk
from beholder.simulation import simulate
from beholder.testing.browser import walk
from beholder.workflow.new import new
from documentation.pictures import PHONE, go_to_first_trial, guest, save

_WIDE = ViewportSize(width=1366, height=860)
_SHOWN = "body:has(.bar .home) main:not([aria-busy]) h1"


async def picture_desk(browser: Browser, folder: Path, scratch: Path) -> list[Path]:
    """Take the page Now of a study with robots, also on a phone, and the replay of a person who looked away."""
    rehearsed = new("parallel", scratch / "rehearsed")
    written: dict[str, Any] = yaml.safe_load(rehearsed.read_text("utf-8"))
    written["design"]["participants"] = 40
    rehearsed.write_text(yaml.safe_dump(written, sort_keys=False, allow_unicode=True), "utf-8")
    await asyncio.to_thread(lambda: simulate(rehearsed, participants=27))
    taken = new("parallel", scratch / "taken")
    async with guest(browser, taken, "ada") as (_, page):
        await go_to_first_trial(page, taken)
        await page.locator("button.play").first.click()
        await page.locator(".column.is-played").first.wait_for()
        for event in ("blur", "focus"):
            await page.evaluate("kind => dispatchEvent(new Event(kind))", event)
            await page.wait_for_function(
                "since => performance.now() > since + 2500", arg=await page.evaluate("performance.now()")
            )
        await walk(page, until="trial:2")
    async with run_desk([rehearsed, taken], port=0, accounts=scratch / "desk.sqlite") as desk:
        page = await browser.new_page(viewport=_WIDE, reduced_motion="reduce", color_scheme="light")
        await page.goto(desk.link("Ada"))
        await page.locator(_SHOWN).wait_for()
        studies = (await (await page.request.get(f"{desk.address}/api/studies")).json())["studies"]
        first, second = (one["key"] for one in studies)
        await page.goto(f"{desk.address}/studies/{first}")
        await page.locator(".live.is-live").wait_for()
        made = [await save(page, folder / "desk-now.png")]
        phone = await browser.new_page(viewport=PHONE, device_scale_factor=2, color_scheme="dark")
        await phone.goto(desk.link("Ada"))
        await phone.locator(_SHOWN).wait_for()
        await phone.goto(f"{desk.address}/studies/{first}")
        await phone.locator(".live.is-live").wait_for()
        made.append(await save(phone, folder / "desk-now-phone.png"))
        await phone.close()
        people = (await (await page.request.get(f"{desk.address}/api/studies/{second}/people")).json())["people"]
        (person,) = people
        replay = f"/studies/{second}/people/{person['participant']}/{person['session_ids'][0]}"
        await page.goto(f"{desk.address}{replay}?page=trial:1&at=2500")
        await page.locator(_SHOWN).wait_for()
        await page.wait_for_function("() => [...document.querySelectorAll('video')].every(one => one.readyState > 1)")
        made.append(await save(page, folder / "desk-replay.png"))
        await page.close()
    return made
