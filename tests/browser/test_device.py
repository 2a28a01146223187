"""The device checks in a real browser: measured automatically in one list; failed checks are expanded."""

from __future__ import annotations

from typing import Any

import pytest

from support.browser import MARKS, Site, StudyServers, Visit, barriers, overhang

pytestmark = MARKS

ALL = dict.fromkeys(("device", "screen", "refresh", "media", "network", "remote"), True)
FULL_HD: dict[str, Any] = {"screen": {"width": 1920, "height": 1080}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "screen": {"width": 390, "height": 844},
    "device_scale_factor": 3,
    "is_mobile": True,
    "has_touch": True,
    "user_agent": "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36",
}
ZOOMED = "let zoom = 1.25; addEventListener('keydown', ({ key }) => { if (key === '0') zoom = 1; });"
"""A browser whose zoom is reset to 100 % by the key 0."""
WIDER = "Object.defineProperty(window, 'outerWidth', { get: () => Math.round(innerWidth * zoom) });"


async def begin(site: Site, script: str = "", query: str = "?participant=ada", **device: Any) -> Visit:
    """Open a study, consent, and wait for the list of device checks."""
    visit = await site.visit(query, **{**FULL_HD, **device})
    if script:
        await visit.page.add_init_script(script)
        await visit.page.reload()
    await visit.page.click("#agree")
    return visit


async def verdict_rows(site: Site) -> dict[str, dict[str, Any]]:
    return {row["key"]: row for row in await site.rows("told") if row["key"].startswith("check:")}


async def states(visit: Visit) -> dict[str, str]:
    classes: dict[str, str] = await visit.page.locator("main .looks").evaluate(
        "list => Object.fromEntries([...list.children].map(({ dataset }) => [dataset.name, dataset.state]))"
    )
    return classes


async def test_the_look_at_the_device_runs_by_itself_up_to_its_one_question(servers: StudyServers) -> None:
    site = await servers.serve(qualification=ALL)
    visit = await begin(site)
    await visit.page.wait_for_selector("#remote-no")
    assert await states(visit) == {
        "device": "pass", "screen": "pass", "refresh": "pass", "media": "pass", "network": "unknown", "remote": "asks",
    }  # fmt: skip
    texts = await visit.page.locator(".look-found").all_inner_texts()
    assert texts[:2] == ["A computer with a mouse or trackpad", "1920 x 1080 pixels"]
    assert await barriers(visit.page, "the list") == []
    assert await overhang(visit.page, "the list", [(1280, 800), (390, 844), (320, 640)]) == []
    await visit.page.click("#remote-no")
    await visit.step("text:instructions")
    rows = await verdict_rows(site)
    assert len(rows["check:refresh:1"]["evidence"]["answer"]["intervals"]) == 120
    media = rows["check:media:1"]["evidence"]["answer"]
    assert (media["decoded"], media["fullscreen"]) == (True, True)
    assert media["plays"]


@pytest.mark.variant
async def test_a_full_hd_laptop_at_175_per_cent_is_measured_in_device_pixels(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"screen": True})
    laptop: dict[str, Any] = {"screen": {"width": 1097, "height": 617}, "viewport": {"width": 1097, "height": 520}}
    visit = await begin(site, device_scale_factor=1.75, **laptop)
    await visit.step("text:instructions")
    assert (await verdict_rows(site))["check:screen:1"]["evidence"]["measured"] == [1920, 1080]


async def test_a_phone_is_told_what_is_needed_and_the_same_link_goes_on_at_a_computer(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"device": True, "screen": True})
    phone = await begin(site, **PHONE)
    row = phone.page.locator('.look[data-name="device"]')
    await row.locator("#again").wait_for()
    assert "you seem to be on a phone. Open the same link there; your place is kept." in await row.inner_text()
    assert await barriers(phone.page, "a phone") == []
    assert await overhang(phone.page, "a phone", [(390, 844), (320, 640)]) == []
    sizes = await row.locator("button, input").evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert min(sizes) >= 44
    link = await row.locator("#link").input_value()
    assert "resume=" in link
    computer = await site.visit("?" + link.partition("?")[2], **FULL_HD)
    await computer.step("text:instructions")
    rows = await verdict_rows(site)
    verdicts = [row["verdict"] for key, row in rows.items() if key.startswith("check:device:")]
    assert (verdicts[0], verdicts[-1]) == ("fail", "pass")


async def test_who_has_no_other_device_can_leave_with_a_word(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"device": True})
    visit = await begin(site, **PHONE)
    await visit.page.click("#cannot")
    await visit.page.click("#cannot-sure")
    await visit.step("end")
    assert "needs another kind of device" in await visit.page.inner_text("main")
    assert [row["outcome"] for row in await site.rows("ends")] == ["wrong_device"]


@pytest.mark.variant
async def test_signals_that_disagree_are_put_to_the_person(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"device": True})
    mobile = (
        "Object.defineProperty(navigator, 'userAgentData', { get: () => ({ mobile: true, platform: 'Android' }) });"
    )
    visit = await begin(site, mobile)
    await visit.page.click("#say-desktop")
    await visit.step("text:instructions")
    rows = await verdict_rows(site)
    assert [(one["verdict"], one["reason"]) for one in rows.values()] == [("unknown", "signals"), ("unknown", "said")]


@pytest.mark.variant
async def test_a_zoomed_page_is_set_to_100_per_cent_by_keyboard_alone(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"screen": True})
    visit = await begin(site, ZOOMED + WIDER)
    row = visit.page.locator('.look[data-name="screen"]')
    await row.locator("#again").wait_for()
    assert "zoomed to 125 %. We need 100 %" in await row.inner_text()
    assert await visit.page.evaluate("() => document.activeElement.tagName") == "H1"
    await visit.page.keyboard.press("Control+0")
    await visit.page.keyboard.press("Tab")
    await visit.page.keyboard.press("Enter")
    await visit.step("text:instructions")
    rows = await verdict_rows(site)
    assert [rows[f"check:screen:{number}"]["verdict"] for number in (1, 2)] == ["unknown", "pass"]


@pytest.mark.variant
async def test_a_screen_that_stays_too_small_ends_the_study_politely(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"screen": {"min": [2560, 1440], "attempts": 2}})
    visit = await begin(site)
    row = visit.page.locator('.look[data-name="screen"]')
    await row.locator("#again").wait_for()
    assert "Your screen offers 1920 x 1080 pixels, this study needs 2560 x 1440." in await row.inner_text()
    assert "This is the last try." in await row.inner_text()
    await visit.page.click("#again")
    await visit.step("end")
    assert "You did nothing wrong." in await visit.page.inner_text("main")
    assert [(row["outcome"], row["reason"]) for row in await site.rows("ends")] == [("screened_out", "screen:small")]


@pytest.mark.variant
async def test_a_slow_line_is_told_with_its_wait_and_lets_people_go_on(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"network": True, "remote": True})
    # Ten seconds pass in one, so that slow checks are reported at once.
    visit = await site.visit()
    await visit.page.add_init_script(
        "const now = performance.now.bind(performance); performance.now = () => 20 * now();"
    )
    await visit.page.reload()
    session = await visit.context.new_cdp_session(visit.page)
    slow = {"offline": False, "latency": 0, "downloadThroughput": 30_000, "uploadThroughput": -1}
    await session.send("Network.emulateNetworkConditions", slow)
    await visit.page.click("#agree")
    row = visit.page.locator('.look[data-name="network"]')
    await row.locator("#next").wait_for()
    assert await row.get_attribute("data-state") == "attention"
    assert "Mbit/s. The first page takes about" in await row.inner_text()
    assert await visit.page.locator("#cannot").count() == 0
    await visit.page.click("#next")
    await visit.page.wait_for_selector("#remote-no")
    assert (await states(visit))["network"] == "attention"
    answer = (await verdict_rows(site))["check:network:1"]["evidence"]["answer"]
    assert answer["bytes"] > 0


@pytest.mark.variant
async def test_who_answers_yes_to_a_remote_desktop_can_come_back_and_say_no(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"remote": True})
    visit = await begin(site)
    await visit.page.click("#remote-yes")
    await visit.page.wait_for_selector('body[data-step="check:remote:2"] #remote-no')
    assert "compressed once more" in await visit.page.inner_text("main")
    await visit.page.click("#remote-no")
    await visit.step("text:instructions")
    answers = [row["evidence"]["answer"] for row in await site.rows("told")]
    assert [answer["remote"] for answer in answers] == [True, False]
    # Yes, no, or unknown: nothing that would identify a device.
    assert all(value in (True, False, None) for answer in answers for value in answer.values())


@pytest.mark.variant
async def test_what_the_browser_has_already_tells_nothing_of_the_line(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"remote": True})
    visit = await begin(site)
    await visit.page.wait_for_selector("#remote-no")
    counted = await visit.page.evaluate(
        """async () => {
          const named = (part) => performance.getEntriesByType("resource").filter(({ name }) => name.includes(part));
          while (!named("/media/").some(({ responseEnd }) => responseEnd > 0)) {
            await new Promise((resolve) => requestAnimationFrame(resolve));
          }
          const { openShelf } = (await import(named("/bundle/page.js")[0].name)).modules["media/shelf.js"];
          const clip = named("/media/").find(({ name }) => !name.endsWith(".js"));
          const count = async (url) => {
            const shelf = openShelf();
            await shelf.get({ url, bytes: clip.encodedBodySize }, () => {});
            return shelf.arrived();
          };
          return [await count(clip.name), await count(`${clip.name}?anew`), clip.encodedBodySize];
        }"""
    )
    cached, fresh, size = counted
    assert cached["bytes"] == 0
    assert fresh["bytes"] == size
    assert fresh["ms"] > 0
