"""How a browser takes the pages of checks: with mouse, touch screen or keyboard, and the answers of an oracle."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from urllib.parse import parse_qs, urlsplit

from beholder.checks.page_contract import RobotAbilities
from beholder.checks.page_registry import page_check_kinds
from beholder.server.page_checks import check_of, rng_of, seed_of
from beholder.server.process import RunningServer
from beholder.simulation.oracle import expected_percepts
from beholder.types import Json

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page


# Oracle: the answers, from the server that made the check


AnswerOracle: TypeAlias = Callable[[str], Awaitable[Json]]
"""Returns the answer to a step of a check or of training, by its key."""
_MIDDLE = 0.5


def oracle_for(server: RunningServer, page: Page, fails: Collection[str] = ()) -> AnswerOracle:
    """Return the oracle for the participant at this page, who passes everything except what is in `fails`.

    `fails` has names of checks as for robots (`colour`, `distance:far`, `training`), or keys of single attempts
    (`check:colour:1`), and may change in between. The device is the real one: its measurements cannot fail.
    """

    async def answer(key: str) -> Json:
        session = parse_qs(urlsplit(page.url).query)["resume"][0].split(".")[1]
        facts = await server.store.session_facts(session)
        assert facts is not None, session
        assert facts.list is not None, "whoever has not agreed is asked nothing"
        step = server.service.served.script(facts.list).find(key)
        assert step is not None, key
        rng = rng_of(seed_of(b"person", session, key))
        name = key.split(":")[1] if step.check is not None else "training"
        robot = RobotAbilities(frozenset(name if one == key else one for one in fails))
        if step.trial is None:
            return check_of(step).respond(server.service.context.page_checks.attempt(facts, step), robot, rng)
        percept = {f"{asked.id}.{slot.id}": _MIDDLE for asked in step.trial.asked for slot in step.trial.slots}
        percept |= expected_percepts(step.trial, is_able=robot.can(name))
        return server.service.served.method.respond(step.trial, percept, rng)

    return answer


# Input devices


_MOST_TABS = 300
_HAS_FOCUS = "node => node === document.activeElement"
_IN_GROUP = "node => document.activeElement?.type === 'radio' && document.activeElement.name === node.name"


class InputDevice(Protocol):
    """The four actions that a study needs."""

    async def press(self, button: Locator) -> None: ...

    async def tick(self, box: Locator) -> None:
        """Choose a radio button or a box."""
        ...

    async def slide(self, slider: Locator, share: float) -> None:
        """Set a slider to a share of its range, 0 to 1."""
        ...

    async def write(self, field: Locator, text: str) -> None: ...


async def input_device(page: Page, *, keyboard_only: bool) -> InputDevice:
    """Return the keyboard if requested, otherwise the touch screen if the page has one, otherwise the mouse."""
    if keyboard_only:
        return _Keyboard(page)
    is_touch: bool = await page.evaluate("() => matchMedia('(pointer: coarse)').matches")
    return _TouchScreen() if is_touch else _Mouse()


class _Mouse:
    """A pointer that clicks."""

    async def press(self, button: Locator) -> None:
        await button.click()

    async def tick(self, box: Locator) -> None:
        await box.click()

    async def slide(self, slider: Locator, share: float) -> None:
        x, y = await _place_on(slider, share)
        await slider.click(position={"x": x, "y": y})

    async def write(self, field: Locator, text: str) -> None:
        await field.click()
        await field.fill(text)


class _TouchScreen:
    """A pointer that taps."""

    async def press(self, button: Locator) -> None:
        await button.tap()

    async def tick(self, box: Locator) -> None:
        await box.tap()

    async def slide(self, slider: Locator, share: float) -> None:
        x, y = await _place_on(slider, share)
        await slider.tap(position={"x": x, "y": y})

    async def write(self, field: Locator, text: str) -> None:
        await field.tap()
        await field.fill(text)


class _Keyboard:
    """Only keys: no pointer, and only keys move the focus."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def press(self, button: Locator) -> None:
        await self._reach(button)
        await self.page.keyboard.press("Enter")

    async def tick(self, box: Locator) -> None:
        if await box.get_attribute("type") != "radio":
            await self._reach(box)
            await self.page.keyboard.press("Space")
            return
        # A group of radio buttons is one tab stop; arrow keys move and choose within it.
        await self._reach(box, _IN_GROUP)
        many: int = await box.evaluate("node => document.getElementsByName(node.name).length")
        # A page may give each arrow key its own meaning.
        for arrow in ("", *["ArrowDown"] * many, "ArrowLeft", "ArrowRight", "ArrowUp"):
            if arrow:
                await self.page.keyboard.press(arrow)
            if await box.evaluate(_HAS_FOCUS):
                if not await box.is_checked():
                    await self.page.keyboard.press("Space")
                return
        raise AssertionError(f"the arrow keys do not reach {box}")

    async def slide(self, slider: Locator, share: float) -> None:
        await self._reach(slider)
        low, high, step = [float(await slider.get_attribute(name) or 0) for name in ("min", "max", "step")]
        target = low + round(share * (high - low) / step) * step
        await self.page.keyboard.press("Home")
        while (left := target - float(await slider.input_value())) > step / 2:
            await self.page.keyboard.press("PageUp" if left >= (high - low) / 10 else "ArrowUp")

    async def write(self, field: Locator, text: str) -> None:
        await self._reach(field)
        await self.page.keyboard.press("ControlOrMeta+a")
        await self.page.keyboard.type(text)

    async def _reach(self, target: Locator, is_there: str = _HAS_FOCUS) -> None:
        node = await target.element_handle()
        for _ in range(_MOST_TABS):
            if await node.evaluate(is_there):
                return
            await self.page.keyboard.press("Tab")
        raise AssertionError(f"the Tab key does not reach {target}")


async def _place_on(slider: Locator, share: float) -> tuple[float, float]:
    """Return the point on a horizontal or vertical slider for a share of its range."""
    box = await slider.bounding_box()
    assert box is not None, f"{slider} cannot be seen"
    width, height = box["width"], box["height"]
    inside = min(0.98, max(0.02, share))
    return (width * inside, height / 2) if width > height else (width / 2, height * (1 - inside))


# Pages of checks


@dataclass(frozen=True)
class CheckPage:
    """One attempt at a check, with its answer: a `BrowserPage`. `look` is called before each screen is left."""

    page: Page
    hand: InputDevice
    key: str
    answer: Mapping[str, Any]
    look: Callable[[], Awaitable[None]]

    async def find(self, selector: str) -> Locator:
        """Wait for a part of this attempt's page."""
        part = self.page.locator(f'body[data-step="{self.key}"] main {selector}').first
        await part.wait_for()
        return part

    async def press(self, selector: str) -> None:
        await self.hand.press(await self.find(selector))

    async def tick(self, selector: str) -> None:
        await self.hand.tick(await self.find(selector))

    async def write(self, selector: str, value: object) -> None:
        await self.hand.write(await self.find(selector), str(value))

    async def slide(self, selector: str, share: float) -> None:
        await self.hand.slide(await self.find(selector), share)

    async def on_screen(self) -> None:
        await self.look()

    async def leave(self, selector: str = "#next") -> None:
        await self.look()
        button = await self.find(selector)
        pressed = await button.element_handle()
        await self.hand.press(button)
        await pressed.wait_for_element_state("hidden")

    async def pass_row(self, *buttons: str) -> None:
        here = f'body[data-step="{self.key}"] main'
        selectors = [*buttons, ".sheet-list #next", "#again"]
        element = await self.page.wait_for_selector(
            ", ".join([f'body:not([data-step="{self.key}"])', *(f"{here} {selector}" for selector in selectors)]),
            state="attached",
        )
        assert element is not None
        if await element.evaluate("node => node === document.body"):
            return
        # A busy machine may spoil a measurement; then it is repeated.
        button = self.page.locator(f"main #{await element.get_attribute('id')}")
        await self.hand.press(button)
        await element.wait_for_element_state("hidden")


async def take_check(page: CheckPage) -> None:
    """Take an attempt from its first screen to its last, as its check says."""
    await page_check_kinds()[page.key.split(":")[1]].take(page)
