"""The desk in a real browser: every page, and a replay that shows what the log of a real session has."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from beholder.desk.desk_server import run_desk
from beholder.store.contract import Answer, End, Events, Session
from beholder.testing import write_study
from support.answered_trials import PLAYED
from support.browser import MARKS, StudyServers, barriers, events_of_step, overhang, play, rate
from support.cleaning_store import START
from support.commands import command
from support.decision_store import CARELESS, decision_setup, write_study_file
from support.taken_study import TAKEN_KEYS, TakenStudy

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

pytestmark = MARKS

PHONE, LAPTOP = (360, 740), (1366, 800)
FIRST_SCREEN = 150_000
"""The most bytes, compressed, that the first page may take."""
TOLD = ("shown", "load", "play", "pause", "ended", "seek", "stall", "rate", "error", "visibility", "focus",
        "fullscreen", "change", "key", "click", "press", "view")  # fmt: skip
"""Kinds of events that a replay tells one by one."""


@dataclass
class DeskVisit:
    """A researcher at a desk; `troubles` are errors that must not occur."""

    page: Page
    address: str
    troubles: list[str] = field(default_factory=list)

    async def go(self, path: str) -> None:
        await self.page.goto(f"{self.address}{path}")
        await self.page.wait_for_selector("body:has(.bar .home) main:not([aria-busy]) h1")

    async def read(self, path: str) -> Any:
        return await (await self.page.request.get(f"{self.address}{path}")).json()

    async def clock(self) -> str:
        return (await self.page.locator(".replay-clock").inner_text()).partition(" /")[0]


@asynccontextmanager
async def desk(browser: Browser, folder: Path, *studies: Path, **device: Any) -> AsyncIterator[DeskVisit]:
    """Yield somebody who is logged in at a desk with these studies, and check that nothing went wrong."""
    async with run_desk(studies, port=0, accounts=folder / "desk.sqlite") as running:
        context = await browser.new_context(**{"viewport": {"width": LAPTOP[0], "height": LAPTOP[1]}, **device})
        page = await context.new_page()
        page.set_default_timeout(60_000)
        visit = DeskVisit(page, running.address)
        page.on("pageerror", lambda error: visit.troubles.append(str(error)))
        page.on("console", lambda one: visit.troubles.append(one.text) if one.type in ("error", "warning") else None)
        await page.goto(running.link("Ada"))
        await page.wait_for_selector("body:has(.bar .home) main:not([aria-busy]) h1")
        try:
            yield visit
        finally:
            await context.close()
        assert visit.troubles == []


# A replay


async def test_a_replay_shows_the_moments_that_the_log_has(servers: StudyServers, tmp_path: Path) -> None:
    site = await servers.serve()
    visit = await site.visit()
    await visit.go("trial")
    await play(visit.page, "s1")
    await rate(visit.page, s1=20)
    await visit.page.evaluate("() => dispatchEvent(new Event('blur'))")
    await visit.page.evaluate("() => dispatchEvent(new Event('focus'))")
    await rate(visit.page, s1=35)
    await play(visit.page, "s2")
    await rate(visit.page, s2=80)
    await visit.page.click("#next")
    await visit.step("trial:2")
    log = await events_of_step(site, "trial:1")
    (session,) = await site.rows("sessions")
    who, key = session["participant"], session["session"]

    async with desk(servers.browser, tmp_path, site.path) as there:
        page = there.page
        path = f"/studies/{site.study.name}/people/{who}/{key}"
        told = (await there.read(f"/api{path.replace(f'/{key}', f'/sessions/{key}/replay')}?page=trial:1"))["page"]
        expected = [event for event in log if event[1] in TOLD]
        assert [(one["ms"], one["kind"], one["slot"]) for one in told["moments"]] == [
            (ms, kind, slot) for ms, kind, slot, _ in expected
        ]
        paths = {one["slot"]: one["path"] for one in told["controls"]}
        assert paths == {
            slot: [[ms, data["value"]] for ms, kind, own, data in log if kind == "change" and own == slot]
            for slot in ("s1", "s2")
        }
        scores = await site.scores("trial:1")
        assert {slot: path[-1][1] for slot, path in paths.items()} == scores["q1"] == {"s1": 35, "s2": 80}
        blur, focus = (event[0] for event in log if event[1] == "focus")
        assert told["away"] == [{"from_ms": blur, "to_ms": focus}]

        await there.go(f"{path}?page=trial:1")
        assert await page.locator(".pill-blinded").count() == 1
        assert (await page.locator("h1").inner_text()) == "Replay"
        # Moment by moment, with the keyboard alone.
        await page.keyboard.press("Home")
        later = [event for event in expected if event[0] > 1]
        await page.keyboard.press(".")
        assert await there.clock() == clock_of(later[0][0])
        # In the middle of the first play the stimulus stands where the log says.
        first = next(one for one in told["plays"] if one["slot"] == "s1")
        middle = (first["from_ms"] + first["to_ms"]) / 2
        await there.go(f"{path}?page=trial:1&at={middle}")
        screen = page.locator('.screen[data-slot="s1"]')
        assert (
            await screen.locator(".screen-state").inner_text() == f"Plays, {clock_of((first['at'] + first['to']) / 2)}"
        )
        assert await screen.locator(".screen-value").inner_text() == "–"
        await page.wait_for_function(
            "at => Math.abs(document.querySelector('.screen[data-slot=s1] video').currentTime - at) < 0.1",
            arg=(first["at"] + first["to"]) / 2000,
        )
        # Values stand as they were at that moment, and in the end as they were sent.
        set_at = next(ms for ms, kind, slot, _ in log if kind == "change" and slot == "s1")
        await there.go(f"{path}?page=trial:1&at={set_at + 1}")
        assert await screen.locator(".screen-value").inner_text() == "20"
        await page.keyboard.press("End")
        assert await screen.locator(".screen-value").inner_text() == "35"
        # A link to a moment is the moment.
        await page.keyboard.press("ArrowLeft")
        link, shown = page.url, await there.clock()
        await page.goto(link)
        await page.wait_for_selector(".replay-clock")
        assert await there.clock() == shown
        # It plays, and at 16 times the speed it is soon over.
        await page.keyboard.press("Home")
        for _ in range(4):
            await page.keyboard.press("+")
        assert await page.locator('[data-speed="16"]').get_attribute("aria-pressed") == "true"
        await page.keyboard.press(" ")
        await page.wait_for_function("() => document.querySelector('.replay-play').textContent === 'Play'")
        assert await there.clock() == clock_of(told["length_ms"])


def clock_of(ms: float) -> str:
    """Return milliseconds of a page as the desk shows them; halves go up, as in a browser."""
    tenths = int(ms / 100 + 0.5)
    return f"{tenths // 600}:{tenths % 600 // 10:02}.{tenths % 10}"


# Every page


async def test_every_page_is_whole_on_a_laptop_and_a_phone_in_light_and_dark(
    chromium: Browser, tmp_path: Path, tiny: Path
) -> None:
    folder = write_study(tmp_path / "study", tiny, **TAKEN_KEYS).parent
    command("simulate", "--participants", "6", cwd=folder)
    for verb in ("clean", "analyse"):
        command(verb, cwd=folder)
    async with desk(chromium, tmp_path, folder / "study.yaml") as there:
        page = there.page
        sizes = await page.evaluate(
            "() => performance.getEntriesByType('resource').map(one => one.transferSize).reduce((a, b) => a + b, 0)"
        )
        assert 0 < sizes <= FIRST_SCREEN
        (one,) = (await there.read("/api/studies"))["studies"]
        study = f"/studies/{one['key']}"
        person = (await there.read(f"/api{study}/people"))["people"][0]
        pages = {
            "now": study, "people": f"{study}/people", "person": f"{study}/people/{person['participant']}",
            "replay": f"{study}/people/{person['participant']}/{person['session_ids'][0]}?page=trial:1",
            "decisions": f"{study}/decisions", "results": f"{study}/results", "study": f"{study}/study",
            "studies": "/?all",
        }  # fmt: skip
        problems = []
        for name, path in pages.items():
            await there.go(path)
            problems += await barriers(page, name)
            problems += await overhang(page, name, [PHONE, LAPTOP])
        assert problems == []


async def test_the_pages_are_reached_and_people_found_with_the_keyboard_alone(
    chromium: Browser, tmp_path: Path, tiny: Path
) -> None:
    folder = write_study(tmp_path / "study", tiny, **TAKEN_KEYS).parent
    command("simulate", "--participants", "4", cwd=folder)
    async with desk(chromium, tmp_path, folder / "study.yaml") as there:
        page = there.page

        async def reach(what: Callable[[], Awaitable[Any]]) -> None:
            for _ in range(40):
                await page.keyboard.press("Tab")
                if await what():
                    return
            raise AssertionError("not reached by Tab")

        def is_focused(selector: str) -> Callable[[], Awaitable[Any]]:
            return lambda: page.evaluate("one => document.activeElement.matches(one)", selector)

        await page.focus("body")
        await reach(is_focused('.tab[href$="/people"]'))
        await page.keyboard.press("Enter")
        await page.wait_for_selector(".rows-people .rows-row")
        people = (await there.read(f"/api{urlpath(page)}"))["people"]
        await reach(is_focused("input[type=search]"))
        await page.keyboard.type(people[2]["participant"][:10])
        await page.wait_for_function("() => document.querySelectorAll('.rows-row').length === 1")
        await reach(is_focused(".rows-row a"))
        await page.keyboard.press("Enter")
        await page.wait_for_selector('main[data-page="person"]:not([aria-busy]) h1')
        assert await page.locator("h1").inner_text() == people[2]["participant"]
        assert page.url.endswith(f"/people/{people[2]['participant']}")
        await page.go_back()
        await page.wait_for_selector('main[data-page="people"]:not([aria-busy]) h1')


def urlpath(page: Page) -> str:
    return re.sub(r"^https?://[^/]+", "", page.url)


# Nobody, and very many


async def test_where_nobody_has_come_every_page_says_so(chromium: Browser, tmp_path: Path, tiny: Path) -> None:
    folder = write_study(tmp_path / "study", tiny, **TAKEN_KEYS).parent
    async with desk(chromium, tmp_path, folder / "study.yaml") as there:
        study = there.page.url.partition("/studies/")[2]
        words = {
            "": "Nobody has come yet", "/people": "Nobody has come yet", "/decisions": "Nothing to decide yet",
            "/results": "Nothing to see yet",
        }  # fmt: skip
        for path, expected in words.items():
            await there.go(f"/studies/{study}{path}")
            assert expected in await there.page.locator("main").inner_text(), path


@pytest.mark.variant
async def test_two_thousand_sessions_and_forty_thousand_events_stay_fluid(chromium: Browser, tmp_path: Path) -> None:
    number = 2000
    folder = tmp_path / "study"
    folder.mkdir()
    async with decision_setup(folder, listed=False, recruit={"mode": "link"}) as setup:
        write_study_file(folder)
        for n in range(number):
            name, at = f"session-{n:04}", START + timedelta(minutes=n)
            await setup.store.arrive(Session(name, f"person-{n:04}", "d1", 1, "link", 1, {}, at))
            answer = Answer(name, "trial:1", {"scores": {"q1": {"s1": 3}}}, {"s1": PLAYED}, 0, 60_000, "mouse", "t", at)
            events: list[Any] = [[ms * 10, "change", "s1", {"question": "q1", "value": ms % 5 + 1}] for ms in range(20)]
            log = Events(name, "trial:1", "t", 0, events, at)
            await setup.store.append([answer, log, End(name, "technical", "", "", f"r{n}", at)])
    async with desk(chromium, tmp_path, folder / "study.yaml") as there:
        page = there.page
        study = there.page.url.partition("/studies/")[2]
        await there.go(f"/studies/{study}/people")
        assert await page.locator(".rows").get_attribute("aria-rowcount") == f"{number + 1}"
        most = 0
        for share in (0, 0.3, 0.6, 1):
            await page.evaluate("share => { const box = document.querySelector('.rows'); "
                                "box.scrollTop = share * box.scrollHeight; }", share)  # fmt: skip
            await page.wait_for_function(
                "at => [...document.querySelectorAll('.rows-row:not(.is-waiting)')]"
                ".some(row => Math.abs(Number(row.getAttribute('aria-rowindex')) - at) < 30)",
                arg=share * (number - 1) + 2,
            )
            most = max(most, await page.locator(".rows-row").count())
        assert "person-0000" in await page.locator(".rows-body").inner_text()
        assert most < 80, "only what is in sight is drawn"


# What is done


async def test_what_is_done_on_the_pages_is_recorded_with_who_did_it(
    chromium: Browser, tmp_path: Path, taken: TakenStudy
) -> None:
    folder, names = taken
    async with desk(chromium, tmp_path, folder / "study.yaml") as there:
        page = there.page
        dialog, told = page.locator("dialog[open]"), page.locator("#told p")

        async def reason(words: str) -> None:
            await dialog.locator("textarea[name=reason]").fill(words)

        await there.go(f"/studies/tiny/people/{names['done']}")
        await page.get_by_role("button", name="Leave their answers out").click()
        await dialog.locator("button[type=submit]").click()
        assert await dialog.get_by_role("alert").inner_text() == "Give a reason, in a few words."
        await reason("they told us that they guessed")
        await dialog.locator("button[type=submit]").click()
        await told.wait_for()
        await page.locator(".panel-history").get_by_text("they told us that they guessed").wait_for()

        await there.go("/studies/tiny/decisions")
        await page.locator(".rows-decisions .button").first.click()
        await dialog.locator('input[name=use][value="yes"]').check()
        await reason("they had meant another study")
        await dialog.locator("button[type=submit]").click()
        await told.wait_for()
        await page.get_by_role("button", name=re.compile("^Sign ")).click()
        await dialog.locator("input[name=typed]").fill("Bob")
        await dialog.locator("button[type=submit]").click()
        assert await dialog.get_by_role("alert").inner_text() == "Type exactly: Ada"
        await dialog.locator("input[name=typed]").fill("Ada")
        await dialog.locator("button[type=submit]").click()
        await page.get_by_role("button", name=re.compile("^Write the list of £4.00")).click()
        await dialog.locator("input[name=typed]").fill("4.00 GBP")
        await dialog.locator("button[type=submit]").click()
        await page.locator("#told p").filter(has_text="payments.csv").wait_for()
        assert (folder / "pay" / "payments.csv").is_file()

        # The list is paid; somebody is still at it, so the study is closed when they have gone.
        async def say_and_do(button: str) -> None:
            await page.get_by_role("button", name=button).click()
            await reason("that is how it was")
            await dialog.locator("button[type=submit]").click()

        await say_and_do("The list is paid …")
        await page.get_by_text("waits to be paid").wait_for(state="detached")
        await say_and_do("Close the study …")
        await dialog.locator(".dialog-trouble .status").wait_for()
        assert "1 person is at work" in await dialog.get_by_role("alert").inner_text()
        assert len(there.troubles) == 1, "the browser notes that the desk refused"
        assert "422" in there.troubles.pop()
        command("participants", "release", names["open"], "--reason", "has gone home", cwd=folder)
        await dialog.locator("button[type=submit]").click()
        await page.locator(".panel-closing").get_by_text("It was closed on").wait_for()
        assert (folder / "close" / "summary.md").is_file()

        await there.go("/studies/tiny/results")
        await page.get_by_role("button", name="Unblind …").click()
        await reason("the paper is written")
        await dialog.locator("button[type=submit]").click()
        await page.locator(".pill-open").first.wait_for()
        row = await page.locator(".panel-blinding tbody tr").inner_text()
        assert "Ada" in row
        assert "the paper is written" in row


async def test_somebody_is_rejected_asked_back_and_what_was_proposed_comes_back(
    chromium: Browser, tmp_path: Path
) -> None:
    folder, paid_by_hand = tmp_path / "study", {"mode": "link", "reward": "2.00 GBP"}
    folder.mkdir()
    async with decision_setup(folder, listed=False, recruit=paid_by_hand) as setup:
        write_study_file(folder, recruit=paid_by_hand)
        await setup.come("careless", mode="link", obeys=CARELESS)
        await setup.come("good", mode="link")
    async with desk(chromium, tmp_path, folder / "study.yaml") as there:
        page, dialog = there.page, there.page.locator("dialog[open]")
        study = page.url.partition("/studies/")[2]
        own = "You were asked twice to choose a number that was read out, and chose another. Write to lab@example.org."

        async def decided() -> tuple[str | None, ...]:
            rows = {row["submission"]: row for row in (await there.read(f"/api/studies/{study}/decisions"))["rows"]}
            return tuple(rows["careless"][name] for name in ("pay", "category", "message"))

        async def begin(who: str) -> None:
            await there.go(f"/studies/{study}/decisions?search={who}")
            await page.locator(".rows-decisions .button").click()

        async def keep(why: str) -> None:
            await dialog.locator("textarea[name=reason]").fill(why)
            await dialog.locator("button[type=submit]").click()
            await page.locator("#told p").wait_for()

        proposed = await decided()
        assert proposed[:2] == ("reject", "FAILED_CHECK")
        # Who gave no ground cannot be rejected at all.
        await begin("good")
        assert await dialog.locator('input[name=pay][value="reject"]').count() == 0
        # Ask back: the words of the rejection do not go with it.
        await begin("careless")
        category, message = dialog.locator("select"), dialog.locator("textarea[name=message]")
        assert await message.input_value() == proposed[2]
        await dialog.locator('input[name=pay][value="return"]').check()
        assert not await category.is_visible()
        assert await message.input_value() == ""
        await keep("they wrote that the sound was broken")
        assert await decided() == ("return", None, "")
        # Reject, with words of our own: too few are told, and the category goes along.
        await begin("careless")
        await dialog.locator('input[name=pay][value="reject"]').check()
        assert await category.locator("option").all_inner_texts() == ["A check was failed"]
        await message.fill("Too short.")
        await dialog.locator("textarea[name=reason]").fill("the sound was not broken")
        await dialog.locator("button[type=submit]").click()
        assert "needs 90 more characters" in await dialog.get_by_role("alert").inner_text()
        await message.fill(own)
        await keep("the sound was not broken")
        assert await decided() == ("reject", "FAILED_CHECK", own)
        # And back to what was proposed, with its use and its words.
        await begin("careless")
        await dialog.locator('input[name=pay][value="approve"]').check()
        await dialog.locator('input[name=use][value="yes"]').check()
        await keep("we were too strict")
        assert await decided() == ("approve", None, "")
        await begin("careless")
        await dialog.get_by_role("button", name="Back to what was proposed").click()
        await keep("a mistake of mine")
        assert await decided() == proposed


async def test_a_share_shows_what_was_chosen_and_nothing_else(
    chromium: Browser, tmp_path: Path, taken: TakenStudy
) -> None:
    folder, _ = taken
    async with desk(chromium, tmp_path, folder / "study.yaml") as there:
        page = there.page
        await there.go("/studies/tiny/study")
        await page.get_by_role("button", name="Share …").click()
        dialog = page.locator("dialog[open]")
        await dialog.locator("fieldset .check").first.wait_for()
        assert await dialog.locator("fieldset .check").count() == 6, "what it may show is listed before it is made"
        await dialog.locator("input[required]").fill("Ethics board")
        await dialog.locator("button[type=submit]").click()
        link = await dialog.locator(".share-made input").input_value()
        context = await chromium.new_context()
        guest = await context.new_page()
        await guest.goto(link)
        await guest.wait_for_selector("body:has(.bar .home) main:not([aria-busy]) h1")
        assert await guest.locator(".tab").all_inner_texts() == ["Now", "Study"]
        assert (await guest.request.get(f"{there.address}/api/studies/tiny/people")).status == 403
        await dialog.get_by_role("button", name="Revoke").click()
        await dialog.locator(".shares li").wait_for(state="detached")
        assert (await guest.request.get(f"{there.address}/api/studies/tiny/now")).status == 401
        await context.close()
