"""The board of an arena in a real browser: no barriers, nothing too wide, by keyboard, in a frame, and empty."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import beholder
from support.arena_votes import arena, as_ratings, write_votes
from support.browser import MARKS, barriers, overhang

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = MARKS

SIZES = [(360, 740), (768, 1024), (1280, 800)]


async def test_a_board_has_no_barriers_fits_every_width_and_scrolls_by_keyboard(
    chromium: Browser, tmp_path: Path
) -> None:
    made = beholder.board(write_votes(tmp_path), retired=["c2"])
    page = await chromium.new_page(viewport={"width": 360, "height": 740})
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    await page.goto(made.page.as_uri())
    assert await overhang(page, "board", SIZES) == []
    assert await barriers(page, "board") == []
    table = page.locator("#ranks .scroll")
    await table.focus()
    # The policy of the page lets no text be run, so that the wait is for an event and not for an expression.
    await table.evaluate("box => { window.moved = new Promise((done) => { box.onscroll = done; }); }")
    await page.keyboard.press("ArrowRight")
    await page.evaluate("() => window.moved.then(() => true)")
    assert await table.evaluate("box => box.scrollLeft") > 0
    assert await page.locator("#ranks tbody tr").count() == 4
    assert await page.locator("#ranks tbody tr").last.inner_text() != ""
    assert errors == []
    await page.close()


@pytest.mark.variant
async def test_a_board_can_be_put_into_another_page(chromium: Browser, tmp_path: Path) -> None:
    made = beholder.board(write_votes(tmp_path))
    host = tmp_path / "host.html"
    host.write_text(f'<iframe title="Standings" src="{made.page.as_uri()}" width="340" height="700"></iframe>', "utf-8")
    page = await chromium.new_page()
    await page.goto(host.as_uri())
    inner = page.frame_locator("iframe")
    await inner.locator("h2", has_text="Ranks").wait_for()
    await page.close()


@pytest.mark.variant
async def test_a_board_of_nearly_nobody_has_no_barriers(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    as_ratings(arena(np.random.default_rng(1), [0.5, 0.0, 0.0], people=2)).to_csv(path, index=False)
    made = beholder.board(path)
    page = await chromium.new_page(viewport={"width": 360, "height": 740})
    await page.goto(made.page.as_uri())
    assert await overhang(page, "few", SIZES) == []
    assert await barriers(page, "few") == []
    await page.close()
