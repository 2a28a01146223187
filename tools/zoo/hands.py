"""`python -m zoo.hands`: people and programs operate a real browser, and the rule `automation` says which are which.

Each kind takes a short study of texts in Chromium, from the link to the code; `beholder clean` judges. The table of how
many were flagged is written into docs/trust.md. Hands are simulated: pointers bow and miss the middle, fingers hold
keys, and times are log-normal, as those of people.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beholder.aio import block_on
from beholder.cleaning import clean
from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.testing.browser import complete_study, open_browser
from beholder.testing.check_pages import InputDevice, input_device
from zoo.studies import write_texts_study
from zoo.visits import PAGE, put

if TYPE_CHECKING:
    from playwright.async_api import Browser, Locator, Page

BEGIN, END = "<!-- written by zoo.hands -->", "<!-- end of hands -->"
HIDDEN = "--disable-blink-features=AutomationControlled"
"""Lets Chromium keep to itself that a program drives it."""
_AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36"
_FRAME_S = 0.016
_PRESS_ALIKE = """node => {
  const alike = node.matches("input") ? "input[type=radio]" : ".button-primary";
  for (const other of document.querySelectorAll(alike)) if (other !== node) other.click();
  node.click();
}"""
Pause = Callable[[], float]
"""Returns how many seconds pass before something is pressed."""


# Hands


@dataclass
class Hand:
    """Base of who operates a page: waits, then presses."""

    page: Page
    pause: Pause
    rng: np.random.Generator

    async def press(self, button: Locator) -> None:
        await button.scroll_into_view_if_needed()
        await asyncio.sleep(self.pause())
        await self.hit(button)

    async def hit(self, target: Locator) -> None:
        await target.click()

    async def tick(self, box: Locator) -> None:
        await self.press(box)

    async def slide(self, slider: Locator, share: float) -> None:
        raise NotImplementedError("the study has no sliders")

    async def write(self, field: Locator, text: str) -> None:
        await self.press(field)
        await field.fill(text)


@dataclass
class Mouse(Hand):
    """A person's hand on a mouse: a bowed path with the speed of a reach, beside the middle, held for a while."""

    at: tuple[float, float] = (640.0, 400.0)

    async def hit(self, target: Locator) -> None:
        x, y = await _aim(target, self.rng)
        away = math.hypot(x - self.at[0], y - self.at[1])
        steps = max(6, round((0.15 + 0.1 * math.log2(away / 30 + 1)) / _FRAME_S))
        bow = self.rng.normal(0, 0.08)
        for step in range(1, steps + 1):
            share = _reach(step / steps)
            side = bow * math.sin(math.pi * share)
            dx, dy = x - self.at[0], y - self.at[1]
            await self.page.mouse.move(self.at[0] + share * dx - side * dy, self.at[1] + share * dy + side * dx)
            await asyncio.sleep(_FRAME_S)
        self.at = (x, y)
        await self.page.mouse.down()
        await asyncio.sleep(_held(self.rng))
        await self.page.mouse.up()


def _reach(share: float) -> float:
    """Return how much of its way a hand has gone: slow, fast, slow (least jerk)."""
    return 10 * share**3 - 15 * share**4 + 6 * share**5


def _held(rng: np.random.Generator) -> float:
    return float(rng.lognormal(math.log(0.09), 0.25))


async def _aim(target: Locator, rng: np.random.Generator) -> tuple[float, float]:
    """Return a point on a control, as hands find it: scattered round its middle."""
    box = await target.bounding_box()
    assert box is not None, target
    across, along = (float(np.clip(rng.normal(0.5, 0.15), 0.1, 0.9)) for _ in range(2))
    return box["x"] + across * box["width"], box["y"] + along * box["height"]


@dataclass
class Finger(Hand):
    """A person's finger on a touch screen."""

    async def hit(self, target: Locator) -> None:
        await self.page.touchscreen.tap(*await _aim(target, self.rng))


@dataclass
class Keys(Hand):
    """A person with a keyboard alone: Tab, arrows, Space and Enter, each held as fingers hold keys."""

    is_held: bool = True

    async def press(self, button: Locator) -> None:
        await self._with_keys(lambda device: device.press(button))

    async def tick(self, box: Locator) -> None:
        await self._with_keys(lambda device: device.tick(box))

    async def _with_keys(self, act: Callable[[InputDevice], Any]) -> None:
        await asyncio.sleep(self.pause())
        device: Any = await input_device(self.page, keyboard_only=True)
        if self.is_held:
            device.page = _Held(self.page, self.rng)
        await act(device)


class _Held:
    """A page whose keys are held for as long as fingers do."""

    def __init__(self, page: Page, rng: np.random.Generator) -> None:
        self._page, self._rng, self.keyboard = page, rng, self

    async def press(self, key: str) -> None:
        await asyncio.sleep(float(self._rng.lognormal(math.log(0.12), 0.4)))
        await self._page.keyboard.press(key, delay=1000 * _held(self._rng))


@dataclass
class Script(Hand):
    """A program in the page that clicks nodes."""

    async def hit(self, target: Locator) -> None:
        await target.evaluate("node => node.click()")


@dataclass
class Harvester(Script):
    """A program in the page that clicks every choice and every main button there is."""

    async def hit(self, target: Locator) -> None:
        await target.evaluate(_PRESS_ALIKE)


# Kinds


@dataclass(frozen=True)
class Kind:
    """A kind of visitor."""

    name: str
    says: str
    hand: type[Hand]
    is_person: bool = False
    pause: str = "people"
    """`people`, `none`, or `even`: a second each time."""
    is_told: bool = False
    """Whether the browser tells that it is driven."""
    context: Mapping[str, Any] = field(default_factory=dict)
    is_one_trace: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)


_TOUCH = {"has_touch": True, "is_mobile": True, "viewport": {"width": 800, "height": 1100}}
KINDS: tuple[Kind, ...] = (
    Kind("mouse", "people with a mouse, no two traces alike", Mouse, is_person=True),
    Kind("keyboard", "people with a keyboard alone", Keys, is_person=True),
    Kind("touch", "people with a touch screen", Finger, is_person=True, context=_TOUCH),
    Kind("driven", "a driver as it comes, without a pause", Hand, pause="none", is_told=True),
    Kind("quick", "a driver that hides itself, without a pause", Hand, pause="none"),
    Kind("even", "a driver that hides itself, a second before each press", Hand, pause="even"),
    Kind("typist", "keys sent by a driver that hides itself, a second before each answer", Keys, pause="even",
         more={"is_held": False}),
    Kind("script", "a script in the page, without a pause", Script, pause="none"),
    Kind("harvester", "a script in the page that presses whatever there is, with the pauses of people", Harvester),
    Kind("replayed", "one person's trace, replayed by all, in a browser that hides its driver", Mouse,
         is_one_trace=True),
    Kind("patient", "a driver that hides itself, with the pauses of people; or assistive technology that clicks for "
         "somebody", Hand),
)  # fmt: skip


async def operate(browser: Browser, link: str, kind: Kind, seed: int, speed: float = 1.0) -> None:
    """Take a study to its end as one of a kind would; `speed` shortens the pauses of people."""
    rng = np.random.default_rng(seed)
    pauses: Mapping[str, Pause] = {
        "none": lambda: 0.0, "even": lambda: 1.0 / speed,
        "people": lambda: float(rng.lognormal(math.log(0.7), 0.45)) / speed,
    }  # fmt: skip
    about = {"user_agent": _AGENT} if not kind.is_told else {}
    context = await browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **about, **kind.context})
    try:
        page = await context.new_page()
        page.set_default_timeout(60_000)
        hand = kind.hand(page, pauses[kind.pause], rng, **kind.more)
        await complete_study(page, link, device=hand)
    finally:
        await context.close()


@dataclass
class Found:
    """What the rule made of the visitors of a kind."""

    kind: Kind
    judged: int = 0
    flagged: int = 0
    noted: int = 0
    """With at least one sign."""
    signs: Counter[str] = field(default_factory=Counter)


async def visit_study(
    browser: Browser,
    folder: Path,
    kind: Kind,
    sessions: int,
    seed: int,
    *,
    at_once: int = 3,
    speed: float = 1.0,
    trials: int = 8,
) -> Found:
    """Send visitors of a kind through a study, and return what `clean` says of them."""
    path = write_texts_study(folder, sessions, trials)
    async with run_server(load_study(path), port=0) as server:
        gate = asyncio.Semaphore(at_once)

        async def one(number: int) -> None:
            async with gate:
                own = seed if kind.is_one_trace else seed + number
                await operate(browser, f"{server.link}?participant=p{number}", kind, own, speed)

        await asyncio.gather(*(one(number) for number in range(sessions)))
    found = Found(kind)
    with (clean(path).folder / "verdicts.csv").open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            if row["check"] == "automation":
                found.judged += row["verdict"] != "unknown"
                found.flagged += row["verdict"] == "fail"
                signs = json.loads(row["measured"] or "[]")
                found.noted += bool(signs)
                found.signs.update(signs)
    return found


async def _visit_all(kinds: list[Kind], sessions: int, seed: int, at_once: int) -> list[Found]:
    """Return what was found of each kind, one kind after the other."""
    results = []
    with tempfile.TemporaryDirectory(prefix="beholder-hands-", ignore_cleanup_errors=True) as scratch:
        for kind in kinds:
            async with open_browser(*(() if kind.is_told else (HIDDEN,))) as browser:
                place = Path(scratch) / kind.name
                results.append(await visit_study(browser, place, kind, sessions, seed, at_once=at_once))
            print(f"{kind.name}: {results[-1].flagged} of {sessions}", file=sys.stderr, flush=True)
    return results


# The table


def table(results: list[Found], date: str, seed: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"Run of {date}, seed {seed}, in headless Chromium: a session of 8 trials each."
    yield ""
    yield "| who | kind | n | flagged | with `least: 1` | signs that were found |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for one in results:
        signs = ", ".join(f"`{sign}` {count}" for sign, count in one.signs.most_common())
        who = "people" if one.kind.is_person else "programs"
        counts = f"{one.judged} | {one.flagged} | {one.noted}"
        yield f"| {who} | `{one.kind.name}`: {one.kind.says} | {counts} | {signs} |"


def main() -> int:
    parser = argparse.ArgumentParser(description="Let people and programs operate a browser, and write docs/trust.md.")
    parser.add_argument("--sessions", type=int, default=20, help="Sessions of each kind.")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--at-once", type=int, default=3, help="Browser windows that are open at once.")
    parser.add_argument("--only", nargs="*", choices=[kind.name for kind in KINDS], help="Print these; write nothing.")
    parser.add_argument("--date", default=f"{datetime.now(UTC):%Y-%m-%d}", help="Written above the table.")
    asked = parser.parse_args()
    kinds = [kind for kind in KINDS if not asked.only or kind.name in asked.only]
    results = block_on(_visit_all(kinds, asked.sessions, asked.seed, asked.at_once))
    made = "\n".join(table(results, asked.date, asked.seed))
    print(made)
    if not asked.only:
        PAGE.write_text(put(PAGE.read_text("utf-8"), made, BEGIN, END), "utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
