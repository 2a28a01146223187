"""The gallery: one half-done page of each method, some of them on a phone too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from playwright.async_api import Browser, Locator, Page

from beholder.workflow.new import new
from documentation.pictures import go_to_first_trial, save, visitor


class Sight(NamedTuple):
    """A picture: its name, the method, what is done before it is taken, and where."""

    picture: str
    method: str
    do: Callable[[Page], Awaitable[None]]
    on_phone: bool = False


async def answer_after(page: Page) -> None:
    """See what is shown by itself, then choose the second answer."""
    answers = page.locator("main .vote-question .choice")
    await _sit_through(page, answers)
    await answers.nth(1).click()


async def score_both(page: Page) -> None:
    """See both, twice, then score each."""
    await _sit_through(page, page.locator("main .fader-input"))
    await _set(page, 0, 82)
    await _set(page, 1, 47)


async def sit_and_look(page: Page) -> None:
    """Start what is shown by itself, and stop while it is there."""
    await page.locator("main #play").click()
    await page.locator("main .cinema-figure.is-shown").first.wait_for()


async def weigh_texts(page: Page) -> None:
    """Read both texts, choose one, and begin to write why."""
    await _until_open(page)
    await page.locator("main .choice").first.click()
    reason = page.locator("main textarea")
    if await reason.count():
        await reason.fill("It is shorter, and says the same.")


async def flip(page: Page) -> None:
    """Look at all that stands behind buttons, choose the first, and stay with the last."""
    buttons = page.locator("main button.play[data-slot]")
    for place in range(await buttons.count()):
        await _play_whole(page, buttons.nth(place))
    await page.locator("main .choice").first.click()


async def listen(page: Page) -> None:
    """Hear all behind the buttons but the last, which is playing."""
    buttons = page.locator("main button.play[data-slot]")
    for place in range(await buttons.count() - 1):
        await _play_whole(page, buttons.nth(place))
        # It counts a little before its end; the next one would begin where this one is.
        await page.wait_for_function("() => !document.querySelector('main .is-playing')")
    await _play_part(buttons.last)


async def set_sliders(page: Page, *, scores: tuple[float, ...], is_done: bool = False) -> None:
    """Play the reference if there is one, play and rate as many as there are scores, and play the next if not done."""
    reference = page.locator("main button.play-reference")
    if await reference.count():
        await _play_whole(page, reference)
    buttons = page.locator("main .column button.play")
    for place, score in enumerate(scores):
        await _play_whole(page, buttons.nth(place))
        await _set(page, place, score)
    if not is_done:
        await _play_part(buttons.nth(len(scores)))


async def hold_against_reference(page: Page) -> None:
    await set_sliders(page, scores=(64, 100, 23))


async def grade_two(page: Page) -> None:
    """Hear the reference and both versions, and grade them."""
    await set_sliders(page, scores=(5, 3.6), is_done=True)


async def rate_two(page: Page) -> None:
    await set_sliders(page, scores=(78, 46))


async def agree_with_five(page: Page) -> None:
    """See what it is about, then answer the first five statements."""
    await agree_with(page, (1, 2, 1, 3, 1))


async def agree_with_two(page: Page) -> None:
    await agree_with(page, (1, 2))


async def agree_with(page: Page, places: tuple[int, ...]) -> None:
    statements = page.locator("main .statement")
    await _sit_through(page, statements)
    for statement, place in enumerate(places):
        await statements.nth(statement).locator(".answer").nth(place).click()


async def put_two_in_order(page: Page) -> None:
    """Watch all behind the buttons, and give two of them a place."""
    await _watch_all(page)
    for place in (2, 0):
        await page.locator("main .rank-add").nth(place).click()


async def mark_the_best(page: Page) -> None:
    """Watch all behind the buttons, and mark the best."""
    await _watch_all(page)
    await page.locator("main .mark").nth(1).click()


async def _watch_all(page: Page) -> None:
    for button in await page.locator("main button.play[data-slot]").all():
        await _play_whole(page, button)
        await page.wait_for_function("() => !document.querySelector('main .is-playing')")


async def mark_two(page: Page) -> None:
    """Hear the recording twice, then mark two words."""
    for left in (1, 0):
        await page.click("main button.play")
        await page.wait_for_selector(f'main .clip-box[data-due="{left}"]')
    for place in (1, 5):
        await page.locator("main .word").nth(place).click()


async def type_most(page: Page) -> None:
    """Hear the recording, then type the most of it."""
    await page.click("main button.play")
    await page.wait_for_selector("main .clip-box.is-played")
    await page.locator("main textarea").fill("the small boat reached the harbour before")


SIGHTS = (
    Sight("acr-scale", "acr", answer_after),
    Sight("acr-hr", "acr-hr", answer_after),
    Sight("p835", "p835", answer_after),
    Sight("av", "av", answer_after),
    Sight("dcr-reference", "dcr", sit_and_look),
    Sight("dcr", "dcr", answer_after),
    Sight("dscqs", "dscqs", score_both),
    Sight("ccr", "ccr", answer_after),
    Sight("pair", "pair", weigh_texts),
    Sight("rank", "rank", put_two_in_order),
    Sight("best-worst", "best-worst", mark_the_best),
    Sight("ab", "ab", flip),
    Sight("abx", "abx", listen),
    Sight("mismatch", "mismatch", listen),
    Sight("mushra", "mushra", hold_against_reference),
    Sight("samviq", "samviq", rate_two),
    Sight("bs1116", "bs1116", grade_two),
    Sight("rating-page", "parallel", rate_two),
    Sight("likert", "likert", agree_with_five),
    Sight("word-select", "word-select", mark_two),
    Sight("transcribe", "transcribe", type_most),
    Sight("rating-page-phone", "parallel", rate_two, on_phone=True),
    Sight("mushra-phone", "mushra", hold_against_reference, on_phone=True),
    Sight("ab-phone", "ab", flip, on_phone=True),
    Sight("likert-phone", "likert", agree_with_two, on_phone=True),
    Sight("word-select-phone", "word-select", mark_two, on_phone=True),
    Sight("transcribe-phone", "transcribe", type_most, on_phone=True),
)
"""In the order of the gallery; a picture has the name of its method, but for those that stand elsewhere too."""


async def picture_gallery(browser: Browser, folder: Path, scratch: Path) -> list[Path]:
    """Write the pictures of the gallery; return their paths."""
    made = []
    for sight in SIGHTS:
        study = scratch / sight.method / "study.yaml"
        if not study.exists():
            new(sight.method, scratch / sight.method)
        async with visitor(browser, study, sight.picture, on_phone=sight.on_phone) as page:
            await go_to_first_trial(page, study)
            await sight.do(page)
            made.append(await save(page, folder / f"{sight.picture}.png"))
    return made


async def _sit_through(page: Page, then: Locator) -> None:
    """Press what leads on until the questions are there."""
    on = page.locator("main #play:visible, main #next:visible")
    while True:
        await on.or_(then).first.wait_for()
        if await then.first.is_visible():
            return
        pressed = await on.first.element_handle()
        await on.first.click()
        await pressed.wait_for_element_state("hidden")


async def _until_open(page: Page) -> None:
    """Wait until what is in view has been seen for long enough."""
    await page.wait_for_function("() => !document.querySelector('main input[type=radio][aria-disabled=true]')")


async def _play_whole(page: Page, button: Locator) -> None:
    """Play one slot to its end."""
    await button.click()
    slot = await button.get_attribute("data-slot")
    await page.locator(f'main .is-played[data-slot="{slot}"]').first.wait_for()


async def _play_part(button: Locator) -> None:
    """Play one slot until more than a third is over, and let it go on."""
    await button.click()
    while float(await button.evaluate("node => node.style.getPropertyValue('--watched') || 0")) < 35:
        await button.page.evaluate("() => new Promise(requestAnimationFrame)")


async def _set(page: Page, place: int, score: float) -> None:
    """Set one slider by keys, from the middle."""
    fader = page.locator(".fader-input").nth(place)
    await fader.focus()
    await fader.press("ArrowUp")
    low, high, step = [float(await fader.get_attribute(name) or 0) for name in ("min", "max", "step")]
    steps = round((score - (low + high) / 2) / step)
    for _ in range(abs(steps)):
        await fader.press("ArrowUp" if steps > 0 else "ArrowDown")
