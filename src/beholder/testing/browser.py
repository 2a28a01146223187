"""A real browser that takes a study from its link to its completion code, as a person would.

    async with open_browser() as browser:
        page = await browser.new_page()
        code = await complete_study(page, link, answers=fitting_answers(study), oracle=oracle_for(server, page))

It knows no method, only the controls that every view has: `#play` or `button.play[data-slot]` plays a clip, range
inputs and radio buttons rate it, `#next` leaves the page. Checks need eyes and ears, or an oracle
(`beholder.testing.check_pages`). Needs Playwright, which is not a dependency, and an installed Chromium.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from beholder.methods.choices import compared_slots
from beholder.methods.contract import Trial
from beholder.simulation import CHROMIUM_NAMES, HEADLESS_NAME, find_chromium
from beholder.study.model import Study
from beholder.testing.check_pages import (
    AnswerOracle,
    CheckPage,
    InputDevice,
    input_device,
    oracle_for,
    take_check,
)
from beholder.types import Json

if TYPE_CHECKING:
    from playwright.async_api import Browser, Locator, Page

__all__ = [
    "CHROMIUM_NAMES",
    "HEADLESS_NAME",
    "AnswerOracle",
    "OnStep",
    "Rater",
    "StepMoment",
    "complete_study",
    "find_chromium",
    "fitting_answers",
    "open_browser",
    "oracle_for",
    "walk",
]


# Each window draws two invisible pages for its address bar: a third of the processor time of a visit.
# Only the last --disable-features counts, so it repeats those of Playwright.
_DISABLED_FEATURES = (
    "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "AimEnabled", "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose", "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter",
    "PaintHolding", "ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "TcpPortRandomizationWin",
    "OptimizationHints", "NetworkTimeServiceQuerying", "PreconnectToSearch",
)  # fmt: skip
_ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run",
    f"--disable-features={','.join(_DISABLED_FEATURES)}",
)  # fmt: skip
_MOST_PRESSES = 60

ControlValues: TypeAlias = Mapping[tuple[str, str], tuple[str, ...]]
"""From a question and its slot (empty for a comparison) to the values of its controls."""
StepMoment: TypeAlias = Literal["shown", "answered"]
OnStep: TypeAlias = Callable[["Page", str, StepMoment], Awaitable[None]]
"""Called with the key of each step when it is `shown`, and when it is `answered` but not yet left; for a check with
several screens, on each of them."""
Rater: TypeAlias = Callable[[str], Awaitable[ControlValues]]
"""Returns the control values for a trial, by its key."""


@asynccontextmanager
async def open_browser(*options: str) -> AsyncIterator[Browser]:
    """Yield a headless Chromium, started with these options."""
    from playwright.async_api import async_playwright

    path = find_chromium()
    assert path is not None, f"there is no Chromium here: install {CHROMIUM_NAMES[0]}, or name one in BEHOLDER_CHROMIUM"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=[*_ARGUMENTS, *options])
        try:
            yield browser
        finally:
            await browser.close()


def fitting_answers(study: Study) -> dict[str, Json]:
    """Return answers that pass a study's questionnaires: correct ones, and numbers within limits."""
    answers: dict[str, Json] = {}
    for item in study.asks:
        answer = item.kind.fitting_answer(item)
        if answer is not None:
            answers[item.id] = answer
    return answers


async def complete_study(
    page: Page,
    link: str,
    *,
    answers: Mapping[str, Json] | None = None,
    keyboard_only: bool = False,
    on_step: OnStep | None = None,
    oracle: AnswerOracle | None = None,
    rater: Rater | None = None,
    device: InputDevice | None = None,
) -> str:
    """Take a study to its end and return the completion code.

    `answers` is by item of the questionnaires; other items get an arbitrary answer. With `keyboard_only` no pointer
    is used; a touch screen is tapped; or `device` operates the page. `oracle` answers checks and training, `rater`
    trials.
    """
    await page.goto(link)
    await walk(
        page, answers=answers, keyboard_only=keyboard_only, on_step=on_step, oracle=oracle, rater=rater, device=device
    )
    code = page.locator("#code")
    assert await code.count() == 1, f"the study ended without a code: {await _words_on(page)}"
    return await code.inner_text()


async def walk(
    page: Page,
    *,
    until: str = "end",
    answers: Mapping[str, Json] | None = None,
    keyboard_only: bool = False,
    on_step: OnStep | None = None,
    oracle: AnswerOracle | None = None,
    rater: Rater | None = None,
    device: InputDevice | None = None,
) -> str:
    """Go on from the current step until one of this kind or key, and return its key."""
    device = device or await input_device(page, keyboard_only=keyboard_only)
    key, presses = "", 0
    watched: set[str] = set()
    while True:
        control, here, kind = await _next_control(page)
        if here != key:
            key, presses = here, 0
            watched.clear()
            if on_step is not None:
                await on_step(page, key, "shown")
        if until in (kind, key):
            return key
        if control in ("look", "exam") and kind != "check":
            continue  # the page changed in between
        assert kind != "end", f"the study ended before {until}: {await _words_on(page)}"
        presses += 1
        assert presses < _MOST_PRESSES, f"{key} does not end: {await _words_on(page)}"
        if control in ("look", "exam"):
            await _take_check(page, device, key, on_step, oracle, is_look=control == "look")
            continue
        if control == "next":
            if kind == "questions":
                await _play_examples(page, device)
                await _fill_questions(page, device, answers or {})
            elif kind == "volume":
                await device.press(page.locator("main #play-sound"))
            elif kind == "text":
                await _play_examples(page, device)
            elif kind == "trial":
                await _play_all(page, device, watched)
                await _rate_all(page, device, await _values_for(key, oracle, rater))
            if on_step is not None:
                await on_step(page, key, "answered")
        await _leave(page, device, control)


async def _values_for(key: str, oracle: AnswerOracle | None, rater: Rater | None) -> ControlValues:
    """Return the control values for a page; empty if any answer will do."""
    if key.startswith("training:"):
        return _score_values(await oracle(key)) if oracle is not None else {}
    return await rater(key) if rater is not None else {}


async def _take_check(
    page: Page, device: InputDevice, key: str, on_step: OnStep | None, oracle: AnswerOracle | None, *, is_look: bool
) -> None:
    """Take one attempt at a check. Checks of the device need an oracle only for their questions."""
    answer = await oracle(key) if oracle is not None else {}
    assert isinstance(answer, Mapping), key
    assert is_look or oracle is not None, f"{key} has to be seen or heard: walk with an oracle"

    async def look() -> None:
        if on_step is not None:
            await on_step(page, key, "answered")

    await take_check(CheckPage(page, device, key, answer, look))


async def _play_all(page: Page, device: InputDevice, watched: set[str]) -> None:
    """Play each slot of a page to its end, except those in `watched`; add them to it."""
    for button in await page.locator("main button.play[data-slot]:visible").all():
        slot = await button.get_attribute("data-slot") or ""
        if slot in watched or await button.get_attribute("aria-disabled") == "true":
            continue
        await device.press(button)
        finished = ", ".join(f'main {name}[data-slot="{slot}"]' for name in (".is-played", ".is-failed"))
        while not await _is_over(page, slot, finished):
            await device.press(button)  # it has to be played more than once
        watched.add(slot)
    if await page.locator("main .pair").count():
        await _look_at_pair(page, device)
    # Stimuli that are always in view enable the answers after a while.
    await page.wait_for_function("() => !document.querySelector('main input[type=radio][aria-disabled=true]')")


async def _look_at_pair(page: Page, device: InputDevice) -> None:
    """Look at both of a pair as long as is asked, in the view that is open; move a line between them to both sides."""
    pair, line = page.locator("main .pair"), page.locator("main .wipe-handle:visible")
    play, flip = page.locator("#pair-play:visible"), page.locator("#pair-flip:visible")
    for slot in await pair.locator(".pair-side").evaluate_all("sides => sides.map(({ dataset }) => dataset.slot)"):
        if await flip.count() and await pair.get_attribute("data-shown") != slot:
            await device.press(flip)
        while slot in (await pair.get_attribute("data-due") or "").split():
            if await play.count() and await pair.get_attribute("data-state") != "playing":
                await device.press(play)
            await page.wait_for_function(_SEEN_OR_STOPPED, arg=slot)
    for end in ("End", "Home") if await line.count() else ():
        await line.press(end)


_SEEN_OR_STOPPED = """(slot) => {
  const { due, state } = document.querySelector("main .pair").dataset;
  const isOver = document.querySelector("main .pair video.clip[data-state=ended]") !== null;
  return !due.split(" ").includes(slot) || (isOver && state !== "playing");
}"""
"""Whether all that is asked was seen of a slot, or both have come to their end."""
_STOPPED = """([slot, finished]) => {
  if (document.querySelector(finished) !== null) return "over";
  const button = document.querySelector(`main button.play[data-slot="${slot}"]`);
  const isIdle = button?.closest(".is-current") !== null && button?.closest(".is-playing") === null;
  const isBegun = Number(button?.style.getPropertyValue("--watched")) > 0;
  return isIdle && isBegun && button?.getAttribute("aria-disabled") !== "true" ? "begun" : false;
}"""
"""Whether a slot was played, or has come to its end without that: it went on where another one was."""


async def _is_over(page: Page, slot: str, finished: str) -> bool:
    """Wait until a slot was played as often as it has to be, or came to the end of a play; return whether the first."""
    box = page.locator(f'main [data-due][data-slot="{slot}"]')
    if not await box.count():
        stopped = await page.wait_for_function(_STOPPED, arg=[slot, finished])
        return bool(await stopped.json_value() == "over")
    before = await box.get_attribute("data-due")
    changed = f'main [data-slot="{slot}"][data-due]:not([data-due="{before}"])'
    await page.locator(f"{changed}, {finished}").first.wait_for(state="attached")
    return bool(await page.locator(finished).count())


async def _play_examples(page: Page, device: InputDevice) -> None:
    """Play each example in the instructions to its end; still ones only have to be in view."""
    for example in await page.locator("main .example").all():
        await example.scroll_into_view_if_needed()
        button = example.locator("button.example-play:visible")
        if await button.count():
            await device.press(button)
        slot = await example.get_attribute("data-slot")
        finished = ", ".join(f'main .example.{name}[data-slot="{slot}"]' for name in ("is-played", "is-failed"))
        if await button.count() or await page.locator("main #next").get_attribute("aria-disabled") == "true":
            await page.locator(finished).first.wait_for(state="attached")


async def _fill_questions(page: Page, device: InputDevice, answers: Mapping[str, Json]) -> None:
    """Fill in a questionnaire: with these answers, and otherwise with arbitrary ones."""
    items = page.locator("main [data-item]")
    for place, name in enumerate(await items.evaluate_all("items => items.map(({ dataset }) => dataset.item)")):
        item, answer = items.nth(place), answers.get(name)
        if not await item.is_visible():
            continue  # what was answered above does not ask it
        boxes = await _boxes(item.locator("input[type=radio], input[type=checkbox]"))
        if not boxes:
            field = item.locator("input, textarea")
            is_number = await field.get_attribute("inputmode") == "decimal"
            fallback = "30" if is_number else "Nothing to add."
            await device.write(field, fallback if answer is None else f"{answer:g}" if is_number else str(answer))
            continue
        chosen = [str(one) for one in (answer if isinstance(answer, list) else [answer])]
        matching = [box for box in boxes if answer is not None and box.value in chosen]
        for box in matching or boxes[-1:]:
            if not await box.locator.is_checked():
                await device.tick(box.locator)


async def _leave(page: Page, device: InputDevice, control: str) -> None:
    """Press a control as soon as it is enabled, and wait until the page has changed."""
    from playwright.async_api import TimeoutError as WaitedTooLong

    try:
        pressed = await page.wait_for_selector(f"main #{control}:not([aria-disabled=true])")
    except WaitedTooLong:
        raise AssertionError(f"the way on is closed: {await _words_on(page)}") from None
    assert pressed is not None
    await device.press(page.locator(f"main #{control}"))
    await pressed.wait_for_element_state("hidden")


async def _next_control(page: Page) -> tuple[str, str, str]:
    """Return the id of the control to press next, the key of the step and its kind.

    Instead of an id, `look` or `exam` at a check, "" at the end.
    """
    from playwright.async_api import TimeoutError as WaitedTooLong

    # A page is inert while its answer is sent: what stands there is pressed already, and about to go.
    here = "main:not([inert])"
    controls = [f"{here} #{name}:visible" for name in ("agree", "next", "play", "try-again")]
    others = [f"{here} .sheet-list", f"{here} .sheet-check", f"body[data-kind=end] {here} h1"]
    try:
        element = await page.wait_for_selector(", ".join([*others, *controls]))
    except WaitedTooLong:
        raise AssertionError(f"the page does not go on: {await _words_on(page)}") from None
    assert element is not None
    sheets = {"sheet-list": "look", "sheet-check": "exam"}
    classes, name, key, kind = await element.evaluate(
        """({ className, id }) => [className, id, document.body.dataset.step ?? "", document.body.dataset.kind ?? ""]"""
    )
    return next((sheets[one] for one in classes.split() if one in sheets), name), key, kind


async def _words_on(page: Page) -> str:
    banner = page.locator(".banner:visible")
    words = [await part.inner_text() for part in (*await banner.all(), page.locator("main"))]
    return " ".join(" | ".join(words).split())


# Ratings


# The first at the top: where one of several must be the best, as in `bs1116`, the page can be left.
_SHARES = (1.0, 0.18, 0.87, 0.41, 0.73, 0.29)
_MOST_STEPS = 40


def control_values(trial: Trial, answer: Json) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the control values that give this answer to a trial."""
    given = cast("Mapping[str, Any]", answer)
    values = _score_values(answer)
    for question, slots in given.get("ticks", {}).items():
        for slot, places in slots.items():
            values[question, slot] = tuple(str(place) for place in places) or ("nothing",)
    for question, pick in given.get("picks", {}).items():
        values[question, trial.slots[0].id] = tuple(str(place) for place in pick["words"]) or ("nothing",)
    for question, slots in given.get("texts", {}).items():
        values |= {(question, slot): (text or "nothing",) for slot, text in slots.items()}
    for question, choice in given.get("choices", {}).items():
        if "order" in choice:
            values[question, "order"] = tuple(slot for group in choice["order"] for slot in group)
        elif "best" in choice:
            values |= {(question, mark): (slot,) for mark, slot in choice.items()}
        else:
            values[question, ""] = (_chosen(trial, question, choice),)
    return values


def _score_values(answer: Json) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the control values of an answer's scores; empty if it has none."""
    scores = cast("Mapping[str, Any]", answer).get("scores", {})
    return {(question, slot): (f"{value:g}",) for question, slots in scores.items() for slot, value in slots.items()}


def _chosen(trial: Trial, question: str, choice: Mapping[str, Any]) -> str:
    """Return the value of the button for a choice: a slot, or how much better the second one is."""
    if "same_as" in choice:
        return str(choice["same_as"])
    if choice["better"] == "tie":
        return "0"
    scale = next(asked.scale for asked in trial.asked if asked.id == question)
    grade = choice.get("grade", scale.max)
    return f"{grade if choice['better'] == compared_slots(trial)[1].id else -grade:g}"


async def _rate_all(page: Page, device: InputDevice, wanted: ControlValues | None = None) -> None:
    """Answer everything on a page: sliders, radio buttons, boxes, fields and required reasons.

    What `wanted` leaves out gets an arbitrary answer, no two neighbours alike.
    """
    main, values = page.locator("main"), wanted or {}
    for place, slider in enumerate(await _boxes(main.locator(".fader-input:visible"))):
        if await slider.locator.get_attribute("aria-disabled") == "true":
            await _open_slider(page, device, slider.locator)
            if await slider.locator.get_attribute("aria-disabled") == "true":
                continue
        await _set_slider(device, slider.locator, values.get(slider.key), _SHARES[place % len(_SHARES)])
    for place, group in enumerate((await _groups(main.locator("input[type=radio]:visible"))).values()):
        chosen = _chosen_boxes(group, values)
        await device.tick((chosen[0] if chosen else group[(1 + place) % len(group)]).locator)
    for place, rank in enumerate(await main.locator(".rank:visible").all()):
        await _put_in_order(device, rank, values, place)
    for place, group in enumerate((await _groups(main.locator("input[type=checkbox]:visible"))).values()):
        if not any([await box.locator.is_checked() for box in group]):
            # A box that is alone says that the field above it stays empty.
            for box in _chosen_boxes(group, values) or ([group[place % len(group)]] if len(group) > 1 else []):
                await device.tick(box.locator)
    for field in await _boxes(main.locator("textarea[aria-required=true]:visible, textarea[required]:visible")):
        text = values.get(field.key, ("It looked right.",))[0]
        if text != "nothing":
            await device.write(field.locator, text)


async def _put_in_order(device: InputDevice, rank: Locator, values: ControlValues, place: int) -> None:
    """Give every stimulus that has none a place: in this order, else the last one first."""
    read = (
        "(rank) => [rank.dataset.question, ...[...rank.querySelectorAll('.rank-add')].map((one) => one.dataset.slot)]"
    )
    question, *slots = await rank.evaluate(read)
    for slot in values.get((question, "order"), (*slots[::-1][place:], *slots[::-1][:place])):
        await device.press(rank.locator(f'.rank-add[data-slot="{slot}"]'))


async def _set_slider(device: InputDevice, slider: Locator, values: tuple[str, ...] | None, share: float) -> None:
    """Set a slider: exactly to a value, by keys after coming near it, or to a share of its range."""
    low, high = [float(await slider.get_attribute(name) or 0) for name in ("min", "max")]
    await device.slide(slider, share if values is None else (float(values[0]) - low) / (high - low))
    for _ in range(_MOST_STEPS if values is not None else 0):
        left = float(values[0] if values else 0) - float(await slider.input_value())
        if not left:
            break
        await slider.press("ArrowUp" if left > 0 else "ArrowDown")


@dataclass(frozen=True)
class _Box:
    """A control with what it is for: its question and its slot."""

    locator: Locator
    name: str
    value: str
    key: tuple[str, str]


async def _boxes(boxes: Locator) -> list[_Box]:
    """Return controls; all are read at once, because a page of questions has hundreds."""
    read = await boxes.evaluate_all(
        "boxes => boxes.map(({ name, value, dataset: { question, slot } }) => [name, value, question, slot])"
    )
    return [
        _Box(boxes.nth(place), name, value, (question or "", slot or ""))
        for place, (name, value, question, slot) in enumerate(read)
    ]


def _chosen_boxes(group: list[_Box], values: ControlValues) -> list[_Box]:
    """Return the boxes of a group that are to be ticked."""
    chosen = values.get(group[0].key, ())
    return [box for box in group if box.value in chosen]


async def _groups(boxes: Locator) -> dict[str, list[_Box]]:
    """Return boxes grouped by their name."""
    groups: dict[str, list[_Box]] = {}
    for box in await _boxes(boxes):
        groups.setdefault(box.name, []).append(box)
    return groups


async def _open_slider(page: Page, device: InputDevice, slider: Locator) -> None:
    """Play the slot of a slider that is enabled only during playback."""
    slot = await slider.evaluate("node => node.closest('[data-slot]')?.dataset.slot ?? ''")
    button = page.locator(f'main button.play[data-slot="{slot}"]:visible')
    if await button.count() == 1 and await button.get_attribute("aria-disabled") != "true":
        await device.press(button)
