"""The pages around the rating: consent, questionnaires, help, leaving, and the researcher's preview."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Route

from support.browser import MARKS, SHORT, StudyServers, play, rate
from support.variants import variant

pytestmark = MARKS

EVERY_TYPE = [
    {"id": "device", "text": "Which **device**?", "type": "single", "options": ["phone", "computer"]},
    {"id": "uses", "text": "What for?", "type": "multiple", "options": ["work", "films", "games"]},
    {"id": "ease", "text": "It was easy.", "type": "likert"},
    {"id": "worth", "text": "It was worth it.", "type": "likert", "options": ["no", "so so", "yes"]},
    {"id": "age", "text": "Your age", "type": "number", "min": 18, "max": 99.5, "placeholder": "in years"},
    {"id": "remarks", "text": "Remarks", "type": "text", "max": 40, "placeholder": "anything"},
    {"id": "town", "text": "Your town", "type": "text", "required": False},
    {"id": "screens", "text": "How many screens?", "type": "number", "min": 1, "required": False},
]
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
ENDS = {
    "end:completed": "All done",
    "end:no_consent": "You did not take part",
    "end:withdrawn": "You have stopped",
    "end:screened_out": "Thank you for your interest",
}
FIELD = {"id": "field", "text": "Do you work on video?", "type": "single", "options": ["yes", "no"], "correct": ["no"]}


async def test_a_questionnaire_of_every_type_is_checked_and_stored(servers: StudyServers) -> None:
    site = await servers.serve(before=EVERY_TYPE)
    visit = await site.visit()
    page = visit.page
    await visit.go("questions")

    async def problems() -> dict[str, str]:
        """Press Next and return the message next to each item."""
        await page.click("#next", force=True)
        messages: dict[str, str] = await page.locator("main .item.is-missing").evaluate_all(
            """nodes => Object.fromEntries(nodes.map((node) => [
              node.dataset.item, node.querySelector(".item-problem").textContent,
            ]))"""
        )
        return messages

    assert await page.locator("[data-item=device] strong").inner_text() == "device"
    assert await page.get_attribute("[name=age]", "placeholder") == "in years"
    assert await page.get_attribute("[name=remarks]", "placeholder") == "anything"
    assert "Optional" in await page.locator("[data-item=town]").inner_text()
    choose, fill = "Choose an answer", "Fill this in"
    missing = {"device": choose, "uses": choose, "ease": choose, "worth": choose, "age": fill, "remarks": fill}
    assert await problems() == missing
    assert await page.locator("#reason").inner_text() == "6 questions still to answer"
    assert await page.evaluate("() => document.activeElement.name") == "device"
    await page.get_by_label("computer").check()
    await page.get_by_label("films").check()
    await page.get_by_label("games").check()
    await page.locator("[data-item=ease]").get_by_label("Agree", exact=True).check()
    await page.locator("[data-item=worth]").get_by_label("so so").check()
    await page.locator("[name=remarks]").press_sequentially("none at all, thank you very much, and bye")
    for wrong, what in (("twelve", "Write a number"), ("17", "Write a number from 18 to 99.5")):
        await page.fill("[name=age]", wrong)
        assert await problems() == {"age": what}
        assert await page.evaluate("() => document.activeElement.name") == "age"
    reason = page.locator("#reason")
    await page.fill("[name=screens]", "0")
    assert await reason.inner_text() == "2 answers to correct"
    await page.fill("[name=age]", "")
    assert await reason.inner_text() == "1 question still to answer, 1 answer to correct"
    await page.fill("[name=age]", "41,5")  # as people write it in half of Europe
    assert await reason.inner_text() == "1 answer to correct"
    await page.fill("[name=screens]", "")
    assert await reason.inner_text() == ""
    await page.click("#next")
    await visit.step("text:instructions")
    assert (await site.answers())["questions:before"]["answer"]["answers"] == {
        "device": "computer", "uses": ["films", "games"], "ease": 4, "worth": 2, "age": 41.5,
        "remarks": "none at all, thank you very much, and by",
    }  # fmt: skip


async def test_a_wrong_answer_to_a_prescreening_question_ends_kindly(servers: StudyServers) -> None:
    site = await servers.serve(before=[FIELD])
    visit = await site.visit()
    await visit.go("end", answers={"field": "yes"})
    words = await visit.page.locator("main").inner_text()
    assert "Thank you for your interest" in words
    assert "You did nothing wrong." in words
    assert [row["outcome"] for row in await site.rows("ends")] == ["screened_out"]


async def test_who_does_not_agree_takes_no_part_and_nothing_is_kept(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit()
    await visit.page.click("#decline")
    await visit.step("end")
    assert "You did not take part" in await visit.page.locator("main").inner_text()
    assert await visit.page.locator(".code, .receipt, #stop").count() == 0
    assert await site.answers() == {}
    assert await site.rows("events") == []


@pytest.mark.variant
async def test_help_holds_instructions_keys_contact_and_the_way_out_on_every_page(servers: StudyServers) -> None:
    site = await servers.serve(
        texts={"instructions": "Look at the **hands**."}, after=[{"id": "remarks", "text": "Remarks", "type": "text"}]
    )
    visit = await site.visit()
    page = visit.page
    keys = []

    async def look(_: Any, key: str, moment: str) -> None:
        if moment == "answered":
            return
        await page.keyboard.press("?")
        dialog = page.locator("dialog[open]")
        words = await dialog.inner_text()
        assert "Look at the hands." in words
        assert "Questions about this study: tiny@example.org" in words
        assert await dialog.locator("#withdraw").is_visible()
        assert await dialog.locator("a").get_attribute("href") == "mailto:tiny@example.org"
        await page.keyboard.press("?")
        await dialog.wait_for(state="hidden")
        keys.append(key)

    await visit.go("end", on_step=look)
    assert keys == ["consent", "text:instructions", "trial:1", "trial:2", "questions:after", "end"]


@pytest.mark.variant
async def test_single_keys_can_be_switched_off(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit()
    page = visit.page
    await visit.go("trial")
    await page.click("#help")
    await page.locator("#keys-switch").click()
    await page.click("#help-close")
    await page.keyboard.press("1")
    await page.keyboard.press("?")
    assert await page.locator("dialog[open]").count() == 0
    assert await page.locator("main .column.is-current").count() == 0
    await page.reload()
    await page.wait_for_selector("main .column")
    await page.keyboard.press("1")
    assert await page.locator("main .column.is-current").count() == 0


@pytest.mark.parametrize("where", [variant("consent"), variant("trial:2"), "end"])
async def test_withdrawing_erases_the_answers_and_shows_the_end(servers: StudyServers, where: str) -> None:
    site = await servers.serve()
    visit = await site.visit()
    page = visit.page
    await visit.go(where)
    if where == "trial:2":
        assert "trial:1" in await site.answers()
        await play(page, "s1")
        await rate(page, s1=5)
    await page.click("#help")
    await page.click("#withdraw")
    await page.click("#withdraw-not")
    await page.locator("dialog").wait_for(state="hidden")
    assert await page.locator("body").get_attribute("data-step") == where
    await page.keyboard.press("?")
    await page.click("#withdraw")
    words = await page.locator("dialog").inner_text()
    if where == "end":
        assert "Withdraw my answers" in words
        assert "Your answers are then erased. That cannot be undone." in words
    else:
        assert "Stop and withdraw" in words
        assert "Your answers so far are then erased" in words
    await page.click("#withdraw-sure")
    await page.wait_for_selector("main h1 >> text=You have stopped")
    assert "Your answers have been erased." in await page.locator("main").inner_text()
    assert await page.locator(".code, .receipt, #stop").count() == 0
    assert await site.answers() == {}
    assert await site.rows("events") == []
    assert len(await site.rows("erasures")) == 1
    await page.reload()
    await page.wait_for_selector("main h1 >> text=You have stopped")


@pytest.mark.variant
async def test_a_preview_shows_any_step_and_stores_nothing(servers: StudyServers) -> None:
    site = await servers.serve(before=[FIELD], after=[{"id": "remarks", "text": "Remarks", "type": "text"}])
    visit = await site.visit("?" + site.server.service.preview.link.partition("?")[2])
    page = visit.page
    await visit.step("consent")
    picker = page.locator("#preview-step")
    keys = await picker.locator("option").evaluate_all("nodes => nodes.map((node) => node.value)")
    steps = ["consent", "questions:before", "text:instructions", "trial:1", "trial:2", "questions:after"]
    assert keys == [*steps, *ENDS]
    assert await picker.locator("option").all_inner_texts() == [
        "Consent", "Questions before", "Instructions", "Trial 1 of 2", "Trial 2 of 2", "Questions after",
        "End: finished", "End: did not agree", "End: withdrawn", "End: not eligible",
    ]  # fmt: skip

    async def is_shown(key: str) -> None:
        shown = "end" if key in ENDS else key
        await page.wait_for_selector(f'body[data-step="{shown}"] main h1 >> text={ENDS.get(key, "")}')
        assert await picker.input_value() == key
        assert "Preview: nothing is stored" in await page.locator(".preview").inner_text()

    for key in reversed(keys):
        await picker.select_option(key)
        await is_shown(key)
    assert await page.get_attribute("#preview-back", "aria-disabled") == "true"
    for key in keys[1:]:
        await page.get_by_role("button", name="Next step").click()
        await is_shown(key)
    assert await page.get_attribute("#preview-next", "aria-disabled") == "true"
    await page.get_by_role("button", name="Previous step").click()
    await is_shown("end:withdrawn")
    await picker.select_option("consent")
    await is_shown("consent")
    await visit.go("end", answers={"field": "no"})
    for table in ("sessions", "claims", "answers", "events", "ends"):
        assert await site.rows(table) == []
    stranger = await site.visit("?preview=guess", expects_trouble=True)
    await stranger.page.wait_for_selector("main h1 >> text=This link does not work")


@pytest.mark.variant
async def test_the_end_tells_what_is_stored_and_what_the_code_is_for(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit()
    page = visit.page
    assert await page.locator("#stop").inner_text() == "Stop and withdraw"
    await visit.go("end")
    assert await page.locator(".lead p").inner_text() == (
        "All your answers have arrived and are stored. If you were asked for a code, copy it before you close this "
        "page: it may not open again."
    )
    assert await page.locator(".code").is_visible()
    assert await page.locator(".saved").inner_text() == "All answers saved"
    assert "Rating pages answered\n2" in await page.locator(".receipt").inner_text()
    assert await page.locator("#stop").inner_text() == "Withdraw my answers"
    changes: dict[str, Any] = {}

    async def change(route: Route) -> None:
        response = await route.fetch()
        arrival = await response.json()
        await route.fulfill(response=response, json={**arrival, "step": {**arrival["step"], **changes}})

    await page.route("**/api/arrive", change)
    stored = "All your answers have arrived and are stored. "
    panel = site.link + "?back"
    for code, back, lead, seconds, time in (
        (None, None, "You can close this page.", 42.6, "43 s"),
        ("C7", panel, "Last step: take this code back to the page you came from.", 119.7, "2 min 0 s"),
        (None, panel, "Last step: go back to the page you came from.", 61, "1 min 1 s"),
    ):
        changes.update(code=code, return_url=back, seconds=seconds)
        await page.reload()
        await page.wait_for_selector(f".lead p >> text={lead}")
        assert await page.locator(".lead p").inner_text() == stored + lead
        assert f"Time\n{time}\n" in await page.locator(".receipt").inner_text()
        assert await page.locator(".code").count() == (0 if code is None and back is None else 1)
        assert await page.locator("#code").count() == (0 if code is None else 1)
    changes.update(outcome="technical", code=None, return_url=None)
    await page.reload()
    await page.wait_for_selector("main h1 >> text=The study ends here")
    assert await page.locator(".code").count() == 0


@pytest.mark.variant
async def test_help_has_its_name_and_no_keys_on_a_phone(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit(**PHONE)
    page = visit.page
    for width in (390, 360):
        await page.set_viewport_size({"width": width, "height": 844})
        await page.get_by_role("button", name="Help", exact=True).tap()
        assert await page.locator("dialog[open] h2").inner_text() == "Help"
        assert await page.locator("dialog[open] kbd, #keys-switch").count() == 0
        await page.tap("#help-close")
    await page.keyboard.press("?")  # so there is a keyboard
    assert await page.get_by_label("Single-key shortcuts").is_visible()


@pytest.mark.variant
async def test_who_has_finished_is_told_so_kindly(servers: StudyServers) -> None:
    (servers.folder / "study0").mkdir()
    (servers.folder / "study0" / "blocked.txt").write_text("mallory\n", "utf-8")
    site = await servers.serve(design={**SHORT, "trials": 1}, recruit={"mode": "link", "block": "blocked.txt"})
    visit = await site.visit()
    await visit.go("end")
    again = await site.visit(expects_trouble=True)
    await again.page.wait_for_selector("text=You have already finished this study.")
    blocked = await site.visit("?participant=mallory", expects_trouble=True)
    await blocked.page.wait_for_selector("text=This study is not open to you.")
