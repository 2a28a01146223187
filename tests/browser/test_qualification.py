"""Both presets of qualification in a real browser: consent, every check, practice, and the last page."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import Page

from beholder.stimuli.samples import make_samples
from beholder.testing.browser import fitting_answers, oracle_for, walk
from beholder.workflow.check import check
from support.browser import MARKS, QUICK_SOUNDS, StudyServers, Visit, barriers, overhang

if TYPE_CHECKING:
    from playwright.async_api import Browser, Route

pytestmark = MARKS

SIZES = ((390, 844), (1280, 800))
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "screen": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
    "user_agent": "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36",
}
VIDEO: dict[str, Any] = {
    "method": "acr",
    "preset": "p910",
    "checks": {"trap": False},
    "design": {"participants": 6, "trials": 2, "seed": 3},
    "texts": {
        "instructions": [
            "Watch each video to its end, then say how good it looked.",
            {
                "text": "# What flaws look like",
                "play": True,
                "examples": [
                    {"file": "stimuli/jerky/greeting.mp4", "caption": "A picture that jumps"},
                    {"file": "stimuli/frozen/greeting.mp4", "caption": "A picture that stands still"},
                ],
            },
        ]
    },
    "training": {
        "items": [
            {"file": "stimuli/natural/greeting.mp4", "content": "best", "expected": 5, "anchor": "Excellent"},
            {"file": "stimuli/frozen/greeting.mp4", "content": "worst", "expected": 1, "message": "It stands still."},
        ]
    },
}
EYES_AND_ROOM = ["colour", "card", "acuity", "display", "brightness", "brightness_second", "distance"]
SOUND: dict[str, Any] = {
    "method": "acr",
    "preset": "audio",
    "conditions": ["light", "strong"],
    "design": {"participants": 6, "trials": 2, "seed": 3},
    # As few sounds as the checks allow, because they play in real time.
    "qualification": {"headphones": {"trials": 2, "right": 2}, "tones": {"clips": 1}, "sides": {"sounds": 2}},
    "training": {
        "items": [
            {"file": "stimuli/light/choir.wav", "content": "best", "expected": 5, "anchor": "Excellent"},
            {"file": "stimuli/strong/choir.wav", "content": "worst", "expected": 1},
        ]
    },
}


@pytest.fixture(scope="session")
def sounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with some short sounds, as `tiny` has videos."""
    folder = tmp_path_factory.mktemp("sounds")
    make_samples(folder / "stimuli", contents=2, conditions=("light", "strong"), seconds=0.5)
    (folder / "media").mkdir()
    return folder


@pytest.fixture
def listening(servers: StudyServers, sounds: Path, chromium: Browser) -> StudyServers:
    """Studies to listen to; `servers` closes them too."""
    return StudyServers(servers.folder, sounds, chromium, servers.sites)


async def verdicts(visit: Visit) -> dict[str, list[str]]:
    """Return the verdicts on each check and on training, in the order of the attempts."""
    by_check: dict[str, list[str]] = {}
    for row in await visit.site.rows("told"):
        by_check.setdefault(row["check"], []).append(row["verdict"])
    return by_check


class PageInspector:
    """Inspects each page of a session: counts the screens and collects barriers and overflow."""

    def __init__(self, *, sizes: tuple[tuple[int, int], ...]) -> None:
        self.sizes = sizes
        self.screens = Counter[str]()
        self.troubles: list[str] = []

    async def __call__(self, page: Page, key: str, moment: str) -> None:
        name = key.rpartition(":")[0] if key.startswith(("check:", "training:")) else key
        # The device checks advance automatically, except for their one question.
        is_seen = key == "check:remote:1" if moment == "shown" else True
        self.screens[name] += moment == "answered" or name in ("consent", "check:remote")
        if is_seen and key.startswith("check:"):
            self.troubles += await barriers(page, key)
            self.troubles += await overhang(page, key, self.sizes)


async def test_a_person_goes_through_the_whole_of_p910_from_consent_to_the_code(servers: StudyServers) -> None:
    site = await servers.serve(**VIDEO)
    visit = await site.visit()
    inspector = PageInspector(sizes=SIZES)
    oracle = oracle_for(site.server, visit.page)
    assert await visit.go("trial:1", oracle=oracle, on_step=inspector) == "trial:1"
    before = dict(+inspector.screens)
    await visit.go("end", oracle=oracle)
    assert await visit.page.locator("#code").count() == 1
    assert inspector.troubles == []
    by_check = await verdicts(visit)
    looks = ["device", "screen", "refresh", "media", "network", "remote"]
    assert list(by_check) == [*looks, *EYES_AND_ROOM, "training"]
    assert {name: by_check[name] for name in EYES_AND_ROOM} == {
        name: ["unknown" if name == "acuity" else "pass"] for name in EYES_AND_ROOM
    }, "a screen of one device pixel in each of its own is too coarse for the ring of 20/30"
    assert by_check["training"] == ["pass", "pass"]
    assert before == {
        "consent": 1, "check:remote": 1, "check:colour": 3, "check:card": 2, "check:acuity": 2, "text:instructions": 1,
        "text:instructions:2": 1, "check:display": 1, "check:brightness": 1, "check:brightness_second": 1,
        "check:distance": 3, "training:1": 1, "training:2": 1,
    }  # fmt: skip
    assert sum(before.values()) == check(site.path).screens_before


@pytest.mark.variant
async def test_listening_is_qualified_for_by_keyboard_alone(listening: StudyServers) -> None:
    site = await listening.serve(**SOUND)
    visit = await site.visit(script=QUICK_SOUNDS)
    await visit.go("end", oracle=oracle_for(site.server, visit.page), keyboard_only=True)
    by_check = await verdicts(visit)
    assert list(by_check) == ["device", "media", "network", "headphones", "tones", "sides", "training"]
    assert {name: by_check[name] for name in ("headphones", "tones", "sides", "training")} == {
        "headphones": ["pass"], "tones": ["pass"], "sides": ["pass"], "training": ["pass", "pass"],
    }  # fmt: skip
    assert {row["input"] for key, row in (await site.answers()).items() if key != "consent"} == {"keyboard"}


@pytest.mark.variant
async def test_a_phone_qualifies_for_listening_by_touch(listening: StudyServers) -> None:
    site = await listening.serve(**SOUND)
    visit = await site.visit(script=QUICK_SOUNDS, **PHONE)
    inspector = PageInspector(sizes=SIZES[:1])
    await visit.go("end", oracle=oracle_for(site.server, visit.page), on_step=inspector)
    assert inspector.troubles == []
    assert [row["outcome"] for row in await site.rows("ends")] == ["completed"]
    by_check = await verdicts(visit)
    assert [by_check[name] for name in ("headphones", "tones", "sides")] == [["pass"]] * 3


@pytest.mark.variant
async def test_who_miscounts_once_reads_what_helps_and_passes(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"brightness": True})
    visit = await site.visit()
    oracle = oracle_for(site.server, visit.page, fails=["check:brightness:1"])
    await visit.go("check:brightness:2", oracle=oracle)
    feedback = await visit.page.locator(".check-told").inner_text()
    assert feedback.startswith("This was not the right count. Raise the brightness of your screen")
    assert feedback.endswith("3 tries left.")
    await visit.go("trial", oracle=oracle)
    assert await verdicts(visit) == {"brightness": ["fail", "pass"], "brightness_second": ["pass"]}


@pytest.mark.variant
async def test_who_cannot_read_the_plates_is_let_go_kindly_with_a_code(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"colour": True})
    visit = await site.visit()
    await visit.go("end", oracle=oracle_for(site.server, visit.page, fails=["colour"]))
    page = visit.page
    assert await page.locator("main h1").inner_text() == "Thank you for your interest"
    words = await page.locator("main").inner_text()
    assert "This study needs full colour vision on this screen" in words
    assert "You did nothing wrong." in words
    assert await barriers(page, "let go") == []
    assert await overhang(page, "let go", SIZES) == []
    (end,) = await site.rows("ends")
    assert (end["outcome"], end["reason"]) == ("screened_out", "colour:plates")
    assert end["code"] == await page.locator("#code").inner_text()


@pytest.mark.variant
async def test_a_walk_needs_eyes_for_what_has_to_be_seen(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"colour": True})
    visit = await site.visit()
    with pytest.raises(AssertionError, match="check:colour:1 has to be seen or heard: walk with an oracle"):
        await walk(visit.page, until="trial", answers=fitting_answers(site.study))


@pytest.mark.variant
async def test_a_page_says_what_it_is_about_before_its_picture_is_drawn(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"colour": True})
    visit = await site.visit()
    page, is_drawn = visit.page, asyncio.Event()

    async def hold(route: Route) -> None:
        await is_drawn.wait()
        await route.continue_()

    await page.route(f"{site.server.address}/media/*", hold)
    await page.click("#agree")
    await page.locator("main .check-place").wait_for()
    assert await page.locator("main h1").inner_text() == "Read the numbers"
    size = await page.locator(".check-place").bounding_box()
    assert await page.locator("#none").get_attribute("aria-disabled") == "true"
    await page.fill("#number", "12")
    assert await page.locator("#reason").inner_text() == "The picture is on its way"
    is_drawn.set()
    await page.locator(".check-picture").wait_for()
    assert await page.locator(".check-place").bounding_box() == size, "nothing moves when it comes"
    await page.locator("#reason:empty").wait_for(state="attached")
