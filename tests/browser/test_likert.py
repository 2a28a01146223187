"""The method likert in a real browser: the stimulus, then the statements next to it, in three layouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from support.browser import MARKS, Site, StudyServers, Visit, barriers, overhang, values_on
from support.variants import variant

pytestmark = MARKS

SIZES = [(390, 844), (360, 740), (1280, 800)]
THREE = [
    {"id": "real", "text": "It looks real.", "scale": "agree5"},
    {"id": "odd", "text": "It makes me uneasy.", "scale": "agree5", "keyed": "-"},
    {"id": "nice", "text": "I find it pleasant.", "scale": "agree5"},
]
WRONG = [{"id": "wrong", "text": "What was wrong?", "ticks": ["It froze", "It was blurred", "It jumped"]}]


async def serve(servers: StudyServers, layout: str = "grid", **keys: Any) -> Site:
    """Serve two pages with three statements each, in the order of the study."""
    options = {"layout": layout, "shuffle": False, "scenario": "Think of a call at work."}
    return await servers.serve(**{
        "method": "likert", "options": options, "questions": THREE, "playback": {"fullscreen": False},
        "design": {"participants": 4, "trials": 2, "seed": 3},
        **keys,
    })  # fmt: skip


async def start(site: Site, **device: Any) -> Visit:
    """Go to the first trial and play the clip once."""
    visit = await site.visit(**device)
    await visit.go("trial")
    await visit.page.click("#play")
    await visit.page.wait_for_selector("main .survey")
    return visit


@pytest.mark.variant
async def test_the_clip_comes_first_and_then_goes_on_small_beside_the_statements(servers: StudyServers) -> None:
    site = await serve(servers)
    visit = await site.visit()
    page = visit.page
    await visit.go("trial")
    assert await page.locator("main input").count() == 0
    await page.click("#play")
    await page.wait_for_selector("main .survey")
    assert await page.locator(".survey-scenario").inner_text() == "Think of a call at work."
    assert await page.locator("main h1").inner_text() == "How much do you agree with each statement?"
    video = page.locator(".survey-clip video")
    await page.wait_for_function("() => !document.querySelector('.survey-clip video').paused")
    await video.evaluate("video => new Promise((resolve) => video.addEventListener('seeked', resolve, { once: true }))")
    await page.click("#pause")
    assert await video.evaluate("video => video.paused")
    assert await page.locator("#pause").inner_text() == "Play"


async def test_each_statement_is_a_group_of_named_radio_buttons_from_agree_to_disagree(servers: StudyServers) -> None:
    site = await serve(servers)
    page = (await start(site)).page
    groups = page.get_by_role("radiogroup")
    assert await groups.count() == 3
    second = page.get_by_role("radiogroup", name="It makes me uneasy.")
    names = ["Strongly agree", "Agree", "Neutral", "Disagree", "Strongly disagree"]
    assert [await second.get_by_role("radio", name=name, exact=True).count() for name in names] == [1] * 5
    values = await second.get_by_role("radio").evaluate_all("nodes => nodes.map(({ value }) => Number(value))")
    assert values == [5, 4, 3, 2, 1]


async def test_an_early_next_marks_what_is_open_and_the_answers_on_the_screen_are_stored(servers: StudyServers) -> None:
    site = await serve(servers)
    visit = await start(site)
    page = visit.page
    reason = page.locator("#reason")
    assert await reason.inner_text() == "3 statements still to answer"
    assert await page.locator(".is-missing").count() == 0
    await page.get_by_role("radiogroup", name="It makes me uneasy.").get_by_text("Neutral").click(force=True)
    assert await values_on(page) == {"q2": {"s1": 3}}
    await page.click("#next", force=True)
    assert await reason.inner_text() == "2 statements still to answer, marked above"
    assert await page.locator(".is-missing .statement-text").all_inner_texts() == [
        "It looks real.", "I find it pleasant.",
    ]  # fmt: skip
    assert await page.evaluate("() => document.activeElement.dataset.question") == "q1"
    await page.keyboard.press("1")  # the first column, from the start of the row
    assert await page.locator(".is-missing .statement-text").all_inner_texts() == ["I find it pleasant."]
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await page.keyboard.press("4")
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("ArrowRight")
    assert await reason.inner_text() == "All answered. You can still change."
    shown = await values_on(page)
    await page.reload()
    await page.wait_for_selector("main .survey")
    assert await values_on(page) == shown
    await page.keyboard.press("Enter")
    await visit.step("trial:2")
    assert shown == {"q1": {"s1": 5}, "q2": {"s1": 3}, "q3": {"s1": 1}}
    assert await site.scores("trial:1") == shown


@pytest.mark.variant
async def test_marked_words_are_drawn_as_marks_and_named_and_stored_without_them(servers: StudyServers) -> None:
    labels = {1: "*not* at all", 2: "<b>a</b> little", 3: r"\*very\*"}
    asked = {
        "text": "It looks **very real** & 2*3*4.",
        "scale": {"min": 1, "max": 3, "labels": labels, "look": "radio"},
    }
    who = {"id": "who", "text": "Who **are** you?", "type": "single", "options": ["A **robot**", "A `person`"]}
    site = await serve(
        servers, questions=[{"id": "real", **asked}, {"id": "odd", **asked}], before=[who],
        options={"shuffle": False, "scenario": "Think of a *call*."},
    )  # fmt: skip
    visit = await site.visit()
    page = visit.page
    await visit.go("questions")
    assert await page.locator(".choice code").inner_text() == "person"
    await page.get_by_role("radio", name="A robot", exact=True).check(force=True)
    await page.click("#next")
    await visit.go("trial")
    await page.click("#play")
    await page.wait_for_selector("main .survey")
    assert await page.locator(".survey-scenario em").inner_text() == "call"
    text = page.locator(".statement-text").first
    assert await text.inner_html() == "It looks <strong>very real</strong> &amp; 2*3*4."
    group = page.get_by_role("radiogroup", name="It looks very real & 2*3*4.").first
    assert await group.get_by_role("radio", name="not at all", exact=True).count() == 1
    assert await group.locator(".answer-word").all_inner_texts() == ["*very*", "<b>a</b> little", "not at all"]
    assert await page.locator("main b").count() == 0, "what looks like HTML is text"
    assert (await site.answers())["questions:before"]["answer"]["answers"] == {"who": "A robot"}


@pytest.mark.variant
async def test_tabs_show_one_statement_each_in_any_order(servers: StudyServers) -> None:
    site = await serve(servers, "tabs")
    visit = await start(site)
    page = visit.page
    tabs = page.get_by_role("tab")
    assert await tabs.count() == 3
    assert await page.locator("main h1").inner_text() == "It looks real."
    await page.click("#next", force=True)
    assert await page.locator("#reason").inner_text() == "Choose an answer to continue"
    await tabs.nth(0).focus()
    await page.keyboard.press("End")
    assert await page.locator("main h1").inner_text() == "I find it pleasant."
    assert await page.evaluate("() => document.activeElement.id") == "tab-3"
    await page.keyboard.press("2")
    assert await page.locator("#next").inner_text() == "Next"
    await page.click("#next", force=True)  # two are open: to the first of them
    await page.wait_for_selector("main h1 >> text=It looks real.")
    await page.keyboard.press("1")
    assert await page.locator("#next").inner_text() == "Next statement"
    await page.click("#next")
    await page.wait_for_selector("main h1 >> text=It makes me uneasy.")
    await page.keyboard.press("5")
    assert await tabs.evaluate_all("nodes => nodes.map((node) => node.ariaLabel)") == [
        f"Statement {place} of 3, answered" for place in (1, 2, 3)
    ]
    await page.click("#back")
    await page.wait_for_selector("main h1 >> text=It looks real.")
    assert await values_on(page) == {"q1": {"s1": 5}}
    await page.click("#tab-3")
    await page.wait_for_selector("main h1 >> text=I find it pleasant.")
    await page.click("#next")
    await visit.step("trial:2")
    assert await site.scores("trial:1") == {"q1": {"s1": 5}, "q2": {"s1": 1}, "q3": {"s1": 4}}


@pytest.mark.variant
async def test_with_the_layout_random_each_trial_has_one_statement(servers: StudyServers) -> None:
    site = await serve(servers, "random", design={"participants": 4, "trials": 6, "seed": 3})
    visit = await start(site)
    page = visit.page
    assert await page.get_by_role("radiogroup").count() == 1
    text = await page.locator("main h1").inner_text()
    assert text in [question["text"] for question in THREE]
    await page.get_by_text("Disagree", exact=True).click()
    await page.click("#next")
    await visit.step("trial:2")
    assert await site.scores("trial:1") == {"q1": {"s1": 2}}


@pytest.mark.variant
async def test_free_text_comes_last_wherever_the_boxes_stand(servers: StudyServers) -> None:
    site = await serve(servers, questions=[THREE[0], *WRONG, *THREE[1:]])
    page = (await start(site)).page
    assert await page.locator("main h1").inner_text() == "Please answer each question"
    last = page.locator(".survey-body > *").last
    assert await last.get_by_label("Anything else?").count() == 1
    assert await page.locator("textarea").count() == 1


@pytest.mark.variant
async def test_boxes_are_ticked_or_none_of_them_and_untouched_ones_are_no_answer(servers: StudyServers) -> None:
    site = await serve(servers, questions=WRONG)
    visit = await start(site)
    page = visit.page
    boxes = page.get_by_role("checkbox")
    assert await boxes.count() == 4
    await page.click("#next", force=True)
    assert await page.locator("#reason").inner_text() == "Choose an answer to continue"
    none = page.get_by_role("checkbox", name="None of these")
    await boxes.nth(0).click()
    await boxes.nth(2).click()
    await none.click()
    assert [await box.is_checked() for box in await boxes.all()] == [False, False, False, True]
    await boxes.nth(2).click()
    await boxes.nth(0).click()
    assert not await none.is_checked()
    await page.get_by_label("Anything else?").fill("A hum, 1 time.")
    await page.reload()
    await page.wait_for_selector("main .survey")
    assert [await box.is_checked() for box in await boxes.all()] == [True, False, True, False]
    await page.click("#next")
    await visit.step("trial:2")
    answer = (await site.answers())["trial:1"]["answer"]
    assert answer["ticks"] == {"q1": {"s1": [0, 2]}}
    assert answer["comment"] == "A hum, 1 time."
    assert not answer.get("scores")
    await page.click("#play")
    await page.wait_for_selector("main .survey")
    await none.click()
    await page.click("#next")
    await page.wait_for_selector("body[data-kind=end]")
    assert (await site.answers())["trial:2"]["answer"]["ticks"] == {"q1": {"s1": []}}


@pytest.mark.variant
async def test_an_avatar_runs_beside_its_driving_video_whose_sound_is_heard(servers: StudyServers, tiny: Path) -> None:
    conditions = sorted(path.name for path in (tiny / "stimuli").iterdir())
    site = await serve(
        servers,
        options={"items": "avatar-b", "shuffle": False},
        questions=None,
        conditions=[{"name": conditions[0], "role": "reference"}, *conditions[1:]],
    )
    visit = await start(site)
    page = visit.page
    assert await page.locator(".survey-frame figcaption").all_inner_texts() == ["Avatar", "Filmed person"]
    await page.wait_for_function(
        "() => [...document.querySelectorAll('.survey-clip video')].every((video) => !video.paused)"
    )
    muted = await page.locator(".survey-clip video").evaluate_all("nodes => nodes.map(({ muted }) => muted)")
    assert muted == [True, False]
    boxes = [await frame.bounding_box() for frame in await page.locator(".survey-frame video").all()]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["x"] < boxes[1]["x"]
    assert boxes[0]["y"] == boxes[1]["y"]
    await page.keyboard.press("2")
    await page.keyboard.press("Tab")
    await page.keyboard.press("3")
    await page.click("#next")
    await visit.step("trial:2")
    assert await site.scores("trial:1") == {"q1": {"s1": 4}, "q2": {"s1": 3}}


async def test_a_page_can_be_completed_with_keys_alone(servers: StudyServers) -> None:
    site = await serve(servers)
    visit = await site.visit()
    page = visit.page
    await visit.go("trial", keyboard_only=True)
    await page.keyboard.press("Enter")  # the play button has the focus
    await page.wait_for_selector("main .survey")
    for key in ("2", "3", "4"):
        await page.keyboard.press(key)
        await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await visit.step("trial:2")
    assert await site.scores("trial:1") == {"q1": {"s1": 4}, "q2": {"s1": 3}, "q3": {"s1": 2}}


@pytest.mark.variant
async def test_statements_about_images_stand_beside_them(servers: StudyServers) -> None:
    folder = servers.folder / "study0" / "things"
    for condition in ("plain", "rich"):
        (folder / condition).mkdir(parents=True)
        Image.new("RGB", (120, 80), (90, 90, 200)).save(folder / condition / "one.png")
        Image.new("RGB", (120, 80), (90, 190, 20)).save(folder / condition / "two.png")
    site = await serve(servers, stimuli="things", conditions=["plain", "rich"], playback={"look_seconds": 1})
    visit = await site.visit()
    page = visit.page
    await visit.go("trial")
    await page.click("#play")
    await page.click(".cinema #next")
    await page.wait_for_selector("main .survey")
    assert await page.locator(".survey-clip img").is_visible()
    assert not await page.locator("#pause").is_visible()
    for key in ("1", "2", "3"):
        await page.keyboard.press(key)
    assert await values_on(page) == {"q1": {"s1": 3}}, "digits stay on the statement that has the focus"


@pytest.mark.parametrize("layout", [variant("grid"), "tabs"])
async def test_no_state_has_a_serious_barrier_or_is_wider_than_a_phone(servers: StudyServers, layout: str) -> None:
    site = await serve(servers, layout, questions=[*THREE, *WRONG])
    page = (await start(site, reduced_motion="reduce")).page
    assert await barriers(page, "fresh") + await overhang(page, "fresh", SIZES) == []
    await page.keyboard.press("2")
    await page.click("#next", force=True)
    assert await barriers(page, "half") + await overhang(page, "half", SIZES) == []
