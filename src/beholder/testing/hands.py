"""How a person works a page: by mouse, by finger, or by keyboard alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

_MOST_TABS = 300
_HAS_FOCUS = "node => node === document.activeElement"
_IN_GROUP = "node => document.activeElement?.type === 'radio' && document.activeElement.name === node.name"


class Hand(Protocol):
    """The four things that a study asks a hand to do."""

    async def press(self, button: Locator) -> None: ...

    async def tick(self, box: Locator) -> None:
        """Choose a radio button or a box."""
        ...

    async def slide(self, slider: Locator, share: float) -> None:
        """Set a slider to a share of its range, 0 to 1."""
        ...

    async def write(self, field: Locator, text: str) -> None: ...


async def hand_for(page: Page, *, keyboard_only: bool) -> Hand:
    """Return the keyboard where it is asked for, else a finger on a touch screen, else the mouse."""
    if keyboard_only:
        return Keyboard(page)
    is_touch: bool = await page.evaluate("() => matchMedia('(pointer: coarse)').matches")
    return Finger() if is_touch else Mouse()


class Mouse:
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


class Finger:
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


class Keyboard:
    """Keys and nothing else: no pointer, and no focus that a key did not move."""

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
        # A group of radio buttons is one stop of the Tab key; arrows go round in it, and choose.
        await self._reach(box, _IN_GROUP)
        many: int = await box.evaluate("node => document.getElementsByName(node.name).length")
        # A page may give each arrow a meaning of its own, as left and right have.
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
        wanted = low + round(share * (high - low) / step) * step
        await self.page.keyboard.press("Home")
        while (left := wanted - float(await slider.input_value())) > step / 2:
            await self.page.keyboard.press("PageUp" if left >= (high - low) / 10 else "ArrowUp")

    async def write(self, field: Locator, text: str) -> None:
        await self._reach(field)
        await self.page.keyboard.press("ControlOrMeta+a")
        await self.page.keyboard.type(text)

    async def _reach(self, target: Locator, is_there: str = _HAS_FOCUS) -> None:
        for _ in range(_MOST_TABS):
            if await target.evaluate(is_there):
                return
            await self.page.keyboard.press("Tab")
        raise AssertionError(f"the Tab key does not reach {target}")


async def _place_on(slider: Locator, share: float) -> tuple[float, float]:
    """Return where on a slider a share of its range lies, whether it lies or stands."""
    await slider.scroll_into_view_if_needed()
    box = await slider.bounding_box()
    assert box is not None, f"{slider} cannot be seen"
    width, height = box["width"], box["height"]
    inside = min(0.98, max(0.02, share))
    return (width * inside, height / 2) if width > height else (width / 2, height * (1 - inside))
