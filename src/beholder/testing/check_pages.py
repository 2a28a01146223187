"""How a person takes the page of each check: real presses, keys and typing, with the answers of an oracle."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from beholder.testing.hands import Hand

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

_MOST_NUDGES = 200
_NONE = "none"


@dataclass(frozen=True)
class Exam:
    """One attempt at a check: who takes it, and what they say. `on_screen` hears of each screen before it is left."""

    page: Page
    hand: Hand
    key: str
    answer: Mapping[str, Any]
    on_screen: Callable[[], Awaitable[None]]

    @property
    def name(self) -> str:
        return self.key.split(":")[1]

    async def find(self, selector: str) -> Locator:
        """Wait for a part of this attempt's page."""
        found = self.page.locator(f'body[data-step="{self.key}"] main {selector}').first
        await found.wait_for()
        return found

    async def write(self, field: str, value: object) -> None:
        await self.hand.write(await self.find(field), str(value))

    async def leave(self, way: str = "#next") -> None:
        """Press what leads to the next screen, and wait until this one is gone."""
        await self.on_screen()
        button = await self.find(way)
        pressed = await button.element_handle()
        await self.hand.press(button)
        await pressed.wait_for_element_state("hidden")


async def take_check(exam: Exam) -> None:
    """Take an attempt from its first screen to its last."""
    take = _TAKES.get(exam.name)
    assert take is not None, f"nobody here knows how to take {exam.name}"
    await take(exam)


async def take_look(page: Page, hand: Hand, key: str, *, is_remote: bool = False) -> None:
    """Go on from a row of the look at the device: what measures by itself is waited for, what asks is answered."""
    here = f'body[data-step="{key}"] main'
    ways = ["#remote-yes" if is_remote else "#remote-no", ".sheet-list #next", "#again", "#say-desktop"]
    found = await page.wait_for_selector(
        ", ".join([f'body:not([data-step="{key}"])', *(f"{here} {way}" for way in ways)]), state="attached"
    )
    assert found is not None
    if await found.evaluate("node => node === document.body"):
        return
    # Nothing is measured twice the same: where a busy machine spoilt it, it is tried again.
    button = page.locator(f"main #{await found.get_attribute('id')}")
    await hand.press(button)
    await found.wait_for_element_state("hidden")


async def _read_plates(exam: Exam) -> None:
    for number in exam.answer["numbers"].values():
        await exam.find(".check-picture")
        if number == _NONE:
            await exam.leave("#none")
            continue
        await exam.write("#number", number)
        await exam.leave()


async def _set_card(exam: Exam) -> None:
    if exam.answer.get("none"):
        return await exam.leave("#none")
    for width in exam.answer["widths"]:
        slider = await exam.find("#width")
        low, high = [float(await slider.get_attribute(name) or 0) for name in ("min", "max")]
        width = min(width, high)
        await exam.hand.slide(slider, (width - low) / (high - low))
        for _ in range(_MOST_NUDGES):
            off = width - float(await slider.input_value())
            if abs(off) < 0.5:
                break
            await exam.hand.press(await exam.find("#larger" if off > 0 else "#smaller"))
        await exam.leave()


async def _find_gaps(exam: Exam) -> None:
    if "directions" not in exam.answer:
        return  # without a card no ring is shown
    await exam.find(".acuity-list")
    await exam.leave()
    for place, direction in enumerate(exam.answer["directions"]):
        ring = await exam.find(".acuity-patch img")
        if place == 0:
            await exam.on_screen()
        seen = await ring.element_handle()
        await exam.hand.press(await exam.find(f'[data-direction="{direction}"]'))
        await seen.wait_for_element_state("hidden")
    # The last one leads on by itself.
    await exam.page.wait_for_selector(f'body:not([data-step="{exam.key}"]), main .notice', state="attached")


async def _set_up_display(exam: Exam) -> None:
    boxes = [name for name in ("screen", "steady") if exam.answer[name]]
    for name in boxes:
        await exam.hand.tick(await exam.find(f"#display-{name}"))
    if not boxes:
        await (await exam.find("#next")).press("Enter")  # it only reminds
    await exam.leave()


async def _count_shapes(exam: Exam) -> None:
    await exam.find(".check-picture")
    for shape in ("circles", "triangles"):
        await exam.write(f"#{shape}", exam.answer[shape])
    await exam.leave()


async def _compare_pairs(exam: Exam) -> None:
    for better in exam.answer["better"]:
        await exam.find(".check-picture")
        await exam.hand.tick(await exam.find(f"#better-{better}"))
        await exam.leave()


async def _hear(exam: Exam) -> None:
    """Play the sound at hand to its end: the button is no longer the first thing to press."""
    await exam.hand.press(await exam.find("#play-sound.button-primary"))
    await exam.find("#play-sound:not(.button-primary)")


async def _choose_tiles(exam: Exam) -> None:
    for chosen in exam.answer["chosen" if "chosen" in exam.answer else "sides"]:
        await _hear(exam)
        await exam.hand.tick(await exam.find(f'.listen-tiles:not(:disabled) input[value="{chosen}"]'))
        await exam.leave()


async def _count_tones(exam: Exam) -> None:
    for count in exam.answer["counts"]:
        await _hear(exam)
        await exam.write("#count", count)
        await exam.leave()


async def _answer_quiz(exam: Exam) -> None:
    for item, option in exam.answer["answers"].items():
        await exam.hand.tick(await exam.find(f'[data-item="{item}"] input[value="{option}"]'))
    await exam.leave()


_TAKES: Mapping[str, Callable[[Exam], Awaitable[None]]] = {
    "questions": _answer_quiz,
    "colour": _read_plates,
    "card": _set_card,
    "acuity": _find_gaps,
    "display": _set_up_display,
    "brightness": _count_shapes,
    "brightness_second": _count_shapes,
    "distance": _compare_pairs,
    "headphones": _choose_tiles,
    "pitch": _choose_tiles,
    "tones": _count_tones,
    "sides": _choose_tiles,
}
