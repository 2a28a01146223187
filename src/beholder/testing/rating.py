"""What is answered on a page of rating, by the controls that a stage gives to every view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from beholder.methods.ballots import compared
from beholder.methods.contract import Trial
from beholder.testing.hands import Hand
from beholder.types import Json

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

_SHARES = (0.62, 0.18, 0.87, 0.41, 0.73, 0.29)
_MOST_STEPS = 40

Wanted: TypeAlias = Mapping[tuple[str, str], tuple[str, ...]]
"""From a question and its slot, empty where two are compared, to the values of the controls that answer it."""


def wanted_of(trial: Trial, answer: Json) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the controls that give this answer to a trial."""
    given = cast("Mapping[str, Any]", answer)
    wanted = wanted_scores(answer)
    for question, slots in given.get("ticks", {}).items():
        for slot, places in slots.items():
            wanted[question, slot] = tuple(str(place) for place in places) or ("nothing",)
    for question, choice in given.get("choices", {}).items():
        wanted[question, ""] = (_chosen(trial, question, choice),)
    return wanted


def wanted_scores(answer: Json) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the scores of an answer by question and slot; none where it is of another kind."""
    scores = cast("Mapping[str, Any]", answer).get("scores", {})
    return {(question, slot): (f"{value:g}",) for question, slots in scores.items() for slot, value in slots.items()}


def _chosen(trial: Trial, question: str, choice: Mapping[str, Any]) -> str:
    """Return the value of the button for a choice: which slot it is, or how much better the second one is."""
    if "same_as" in choice:
        return str(choice["same_as"])
    if choice["better"] == "tie":
        return "0"
    scale = next(asked.scale for asked in trial.asked if asked.id == question)
    grade = choice.get("grade", scale.max)
    return f"{grade if choice['better'] == compared(trial)[1].id else -grade:g}"


async def rate_all(page: Page, hand: Hand, wanted: Wanted | None = None) -> None:
    """Answer everything on a page: sliders, radio buttons, boxes and required reasons, no two neighbours alike.

    What `wanted` leaves out gets any answer.
    """
    main, given = page.locator("main"), wanted or {}
    for place, slider in enumerate(await main.locator(".fader-input:visible").all()):
        if await slider.get_attribute("aria-disabled") == "true":
            await _open_slider(page, hand, slider)
        if await slider.get_attribute("aria-disabled") != "true":
            await _set_slider(hand, slider, given.get(await _where(slider)), _SHARES[place % len(_SHARES)])
    for place, group in enumerate((await _groups(main.locator("input[type=radio]:visible"))).values()):
        chosen = await _among(group, given)
        await hand.tick(chosen[0] if chosen else group[(1 + place) % len(group)])
    for place, group in enumerate((await _groups(main.locator("input[type=checkbox]:visible"))).values()):
        if not any([await box.is_checked() for box in group]):
            for box in await _among(group, given) or [group[place % len(group)]]:
                await hand.tick(box)
    for field in await main.locator("textarea[aria-required=true]:visible, textarea[required]:visible").all():
        await hand.write(field, "It looked right.")


async def _set_slider(hand: Hand, slider: Locator, wanted: tuple[str, ...] | None, share: float) -> None:
    """Set a slider: to a value that is wanted exactly, by keys after the hand has come near; else to a share."""
    low, high = [float(await slider.get_attribute(name) or 0) for name in ("min", "max")]
    await hand.slide(slider, share if wanted is None else (float(wanted[0]) - low) / (high - low))
    for _ in range(_MOST_STEPS if wanted is not None else 0):
        left = float(wanted[0] if wanted else 0) - float(await slider.input_value())
        if not left:
            break
        await slider.press("ArrowUp" if left > 0 else "ArrowDown")


async def _among(group: list[Locator], given: Wanted) -> list[Locator]:
    """Return the boxes of a group that are wanted."""
    values = given.get(await _where(group[0]), ())
    return [box for box in group if await box.input_value() in values]


async def _groups(boxes: Locator) -> dict[str, list[Locator]]:
    """Return the boxes that belong together, by their name."""
    groups: dict[str, list[Locator]] = {}
    for box in await boxes.all():
        groups.setdefault(await box.get_attribute("name") or "", []).append(box)
    return groups


async def _where(control: Locator) -> tuple[str, str]:
    """Return the question and the slot that a control belongs to."""
    return await control.get_attribute("data-question") or "", await control.get_attribute("data-slot") or ""


async def _open_slider(page: Page, hand: Hand, slider: Locator) -> None:
    """Play the slot of a slider that is open only meanwhile."""
    slot = await slider.evaluate("node => node.closest('[data-slot]')?.dataset.slot ?? ''")
    button = page.locator(f'main button.play[data-slot="{slot}"]:visible')
    if await button.count() == 1 and await button.get_attribute("aria-disabled") != "true":
        await hand.press(button)
