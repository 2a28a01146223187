"""How a page is operated, in a browser: every click is logged, programs are flagged, and people are not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from beholder.cleaning import clean
from beholder.server.tokens import robot_signature
from beholder.testing.browser import open_browser
from support.browser import MARKS, StudyServers, barriers, events_of_step
from support.cleaning_store import rows

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = MARKS
SCRIPT = "() => { for (const node of document.querySelectorAll('.button-primary, input[type=radio]')) node.click(); }"
"""What a program in the page does that looks for something to press."""
TEXTS: dict[str, Any] = {"method": "acr", "playback": {"fullscreen": False}, "checks": {"automation": True}}


def write_texts(folder: Path) -> None:
    """Write stimuli that need no time: two short texts."""
    for condition in ("good", "bad"):
        (folder / condition).mkdir(parents=True)
        (folder / condition / "note.txt").write_text(f"A {condition} note.", "utf-8")


async def test_clicks_beside_controls_a_driver_and_a_script_are_in_the_log(servers: StudyServers) -> None:
    write_texts(servers.folder / "study0" / "texts")
    keys = {**TEXTS, "stimuli": "texts", "conditions": ["good", "bad"]}
    site = await servers.serve(**keys, design={"participants": 2, "trials": 1, "seed": 3})
    _, robot = await site.server.service.arrive(
        {"robot": "r1", "signature": robot_signature(site.server.store.secret, "r1")}, {}
    )
    assert robot["study"]["presses"] is False, "robots that rehearse are no news"  # type: ignore[index,call-overload]
    visit = await site.visit()
    page = visit.page
    await visit.go("trial:1")
    await page.locator("main h1, main h2").first.click()
    await page.locator("#help").click()  # logs nothing itself
    await page.keyboard.press("Escape")
    assert await barriers(page, "decoys", ("light",)) == []
    assert await page.locator("[inert] button, [inert] input").count() == 2
    spoken = [await page.locator(part).aria_snapshot() for part in ("body", "main")]
    for words in ('button "Next"', "radio"):
        assert len({tree.count(words) for tree in spoken}) == 1, "a decoy is in the tree that screen readers read"
    await page.keyboard.press("Tab")
    assert not await page.evaluate("() => document.activeElement.closest('[inert]')")
    # What follows a press in the same moment is taken for our own: the page's timer ends that before this one.
    await page.evaluate("() => new Promise((done) => setTimeout(done))")
    await page.evaluate(SCRIPT)
    await visit.go("end")
    log = await events_of_step(site, "trial:1")
    clicks = [data for _, kind, _, data in log if kind == "click"]
    assert [one["what"] for one in clicks][:2] == ["beside", "control"]
    assert clicks[1] == {"what": "control", "on": "help"}
    assert {"what": "control", "on": "choice-dot"} in clicks, "a click on a field is a click, whatever it changes"
    told = [data["driver"] for _, kind, _, data in log if kind == "measure" and "driver" in data]
    assert "webdriver" in told[0]
    presses = [data for _, kind, _, data in log if kind == "press"]
    assert {"by": "none", "decoy": True} in presses
    assert {"by": "none", "trusted": False} in presses
    assert any(one["by"] == "mouse" and one["moves"] <= 2 for one in presses)
    assert not any("press" in kind for _, kind, *_ in await events_of_step(site, "consent"))
    assert not {"key", "text", "x", "y"} & {name for one in presses for name in one}, "more is kept than is needed"
    cleaned = clean(site.path)
    (verdict,) = [row for row in rows(cleaned, "verdicts") if row["check"] == "automation"]
    assert (verdict["verdict"], verdict["reason"]) == ("fail", "driver")
    (session,) = rows(cleaned, "sessions")
    assert (session["use"], session["accept"]) == ("true", "true"), "it costs neither use nor pay"


@pytest.mark.variant
@pytest.mark.long
async def test_people_with_keys_alone_or_a_touch_screen_leave_no_sign_and_programs_do(
    chromium: Browser, tmp_path: Path, whole: bool
) -> None:
    from zoo.hands import HIDDEN, KINDS, visit_study

    async with open_browser(HIDDEN) as hidden:
        for kind in KINDS:
            if not whole and kind.name not in ("keyboard", "touch"):
                continue
            browser, many = chromium if kind.is_told else hidden, 2 if whole else 1
            how = {"trials": 8} if whole else {"trials": 2, "speed": 20.0}
            found = await visit_study(browser, tmp_path / kind.name, kind, many, 7, **how)
            assert found.judged == many
            assert not (kind.is_person and found.signs), f"{kind.name}: {found.signs}"
            if kind.name in ("driven", "harvester"):  # the others are found by times, which a busy machine blurs
                assert found.flagged == many, f"{kind.name}: {found.signs}"
