"""The pictures of the docs: pages of a running server with sample stimuli, taken by Chromium."""

from __future__ import annotations

import asyncio
import html
import io
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml
from PIL import Image
from playwright.async_api import Browser, Page, ViewportSize, async_playwright

from beholder.leaderboard import board as make_board
from beholder.methods import load_study
from beholder.server.process import RunningServer, run_server
from beholder.simulation import simulate
from beholder.testing.browser import StepMoment, fitting_answers, oracle_for, walk
from beholder.workflow.new import new
from beholder.workflow.plan import plan
from beholder.workflow.run import run

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
) -> AsyncIterator[tuple[RunningServer, Page]]:
    """Give the server too, which knows what the page does not tell."""
    async with run_server(load_study(study), port=0) as server:
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


SMALL = 60_000


SIGHTS: dict[tuple[str, StepMoment], str] = {
    ("check:remote:1", "shown"): "check-device",
    ("check:colour:1", "answered"): "check-plate",
    ("check:acuity:1", "answered"): "check-ring",
    ("check:brightness:2", "answered"): "check-matrix",
    ("check:headphones:1", "answered"): "check-headphones",
    ("training:1:2", "shown"): "training-note",
}
"""By the key of a step and the moment; of a check with several screens the last one."""


async def picture_qualification(browser: Browser, folder: Path, scratch: Path) -> list[Path]:
    """Write the pictures; return their paths."""
    path = _write_study(scratch / "qualification")
    made: dict[str, Path] = {}
    async with guest(browser, path, "qualification") as (server, page):
        fails = ("check:brightness:1", "training:1:1")

        async def on_step(page: Page, key: str, moment: StepMoment) -> None:
            name = SIGHTS.get((key, moment))
            if name is not None:
                made[name] = await save(page, folder / f"{name}.png", largest=SMALL)

        await walk(
            page, until="training:2:1", answers=fitting_answers(load_study(path)), on_step=on_step,
            oracle=oracle_for(server, page, fails),
        )  # fmt: skip
    assert set(made) == set(SIGHTS.values()), set(SIGHTS.values()) - set(made)
    return list(made.values())


def _write_study(folder: Path) -> Path:
    """Write a study with all checks of P.910, headphones, and two examples to practise with."""
    path = new("acr", folder)
    study: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    clips = sorted(clip.relative_to(folder).as_posix() for clip in (folder / "stimuli").glob("*/*.mp4"))
    study |= {
        "preset": "p910",
        "qualification": {"headphones": {"trials": 2, "right": 2}},
        "training": {
            "items": [
                {"file": clips[0], "content": "first", "expected": 5, "anchor": "Excellent: no flaw can be seen",
                 "message": "Nothing is torn, blurred or frozen here. Most people call it excellent."},
                {"file": clips[-1], "content": "last", "expected": 1},
            ]
        },
    }  # fmt: skip
    path.write_text(yaml.safe_dump(study, sort_keys=False, allow_unicode=True), "utf-8")
    return path


async def take_pictures(folder: Path, scratch: Path, chromium: str) -> list[Path]:
    """Write all pictures to a folder; return their paths."""
    from documentation.desk import picture_desk
    from documentation.gallery import picture_gallery  # which takes its pictures by the functions above

    folder.mkdir(parents=True, exist_ok=True)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            made = await _picture_ends(browser, new("parallel", scratch / "parallel"), folder)
            made += await picture_gallery(browser, folder, scratch)
            made += await picture_qualification(browser, folder, scratch)
            made += await _picture_report(browser, new("parallel", scratch / "report"), folder)
            made += await picture_board(browser, new("pair", scratch / "board"), folder)
            made += await _picture_plan(browser, new("parallel", scratch / "plan"), folder)
            made += await picture_deployment(browser, folder, scratch)
            made += await picture_desk(browser, folder, scratch / "desk")
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


async def picture_board(browser: Browser, study: Path, folder: Path) -> list[Path]:
    """Take the top of the board of an arena, on a computer and on a phone; its votes are those of robots."""
    written: dict[str, Any] = yaml.safe_load(study.read_text("utf-8"))
    written["design"] = {"trials": 12, "seed": 1, "arena": {"per_day": 1}}
    written["analyse"] = {"claim": "these"}
    study.write_text(yaml.safe_dump(written, sort_keys=False, allow_unicode=True), "utf-8")
    board = await asyncio.to_thread(lambda: (simulate(study, participants=120), make_board(study))[1])
    made = []
    for name, size, ratio in (("board", ViewportSize(width=1280, height=1080), 1), ("board-phone", PHONE, 2)):
        page = await browser.new_page(viewport=size, device_scale_factor=ratio)
        await page.goto(board.page.as_uri())
        made.append(await save(page, folder / f"{name}.png"))
        await page.close()
    return made


# What a command prints, as a terminal shows it

_TERMINAL = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: #1d2026; color: #e8e6e0 }}
pre {{ margin: 18px 22px; white-space: pre-wrap; font: 15px/1.5 "DejaVu Sans Mono", "Liberation Mono", monospace }}
b {{ color: #9fd09f; font-weight: normal }}
i {{ color: #8fb3d9; font-style: normal }}
</style><pre><b>$ {command}</b>
{lines}</pre>"""


async def picture_deployment(browser: Browser, folder: Path, scratch: Path) -> list[Path]:
    """Write what `deploy status` prints of a study that was deployed on this machine for it."""
    from documentation.deployed import status_of_a_deployment

    study = new("acr", scratch / "deployed")
    status = await asyncio.to_thread(status_of_a_deployment, study, scratch / "machine")
    lines = "\n".join(f"<i>{html.escape(f'{name:<12}')}</i> {html.escape(words)}" for name, words in status.rows)
    page = await browser.new_page(viewport={"width": 860, "height": 378}, device_scale_factor=2)
    await page.set_content(_TERMINAL.format(command="beholder deploy status", lines=lines))
    made = await save(page, folder / "deploy-status.png")
    await page.close()
    return [made]


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
