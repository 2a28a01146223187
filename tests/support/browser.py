"""One Chromium for all browser tests, served studies, and the people who visit them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from beholder.methods import load_study
from beholder.server.process import RunningServer, run_server
from beholder.study.model import Study
from beholder.testing import write_study
from beholder.testing.browser import find_chromium, open_browser, walk
from support.data import ROOT

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request

# What waited in vain, on a machine that does much else, is tried once more, and named at the end. Nothing else is.
SECOND_TRY = pytest.mark.flaky(reruns=1, only_rerun=["TimeoutError", "does not go on", "the way on is closed"])
MARKS = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), SECOND_TRY]
DESKTOP = {"width": 1280, "height": 800}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
SHORT = {"participants": 6, "trials": 2, "per_trial": 2, "seed": 3}
"""A design of two pages with two clips each."""
QUICK_SOUNDS = """
const { start } = AudioBufferSourceNode.prototype;
AudioBufferSourceNode.prototype.start = function (...when) {
  if (this.buffer.duration > 1) this.playbackRate.value = 6;
  return start.call(this, ...when);
};
"""
"""Plays the long sounds of checks faster; stimuli play in real time, because their duration is judged."""
RULES_OF_COLOUR = ["color-contrast", "link-in-text-block"]
SERIOUS_BARRIERS = """async rules => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"], ...(rules[0] && { runOnly: rules }) });
  return violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 120))]);
}"""
"""What axe finds on a page: each broken rule with its elements; of all rules, or of these."""


@dataclass
class Visit:
    """A person with their own browser context; `troubles` collects errors that must not occur."""

    site: Site
    context: BrowserContext
    page: Page
    troubles: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    expects_trouble: bool = False

    def watch(self, page: Page) -> Page:
        """Record the errors and the requests of a page."""

        def console(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                self.troubles.append(f"console {message.type}: {message.text}")

        def request(request: Request) -> None:
            if urlsplit(request.url).scheme in ("http", "https"):
                self.hosts.add(urlsplit(request.url).netloc)

        def failed(request: Request) -> None:
            if request.failure != "net::ERR_ABORTED":  # requests of a page that is left are aborted
                self.troubles.append(f"failed: {request.method} {urlsplit(request.url).path} {request.failure}")

        page.on("console", console)
        page.on("pageerror", lambda error: self.troubles.append(f"page error: {error}"))
        page.on("request", request)
        page.on("requestfailed", failed)
        page.set_default_timeout(60_000)  # generous, because the machine may be busy
        return page

    async def go(self, until: str, **how: Any) -> str:
        """Answer steps until one of this kind or key."""
        return await walk(self.page, until=until, **how)

    async def new_tab(self, link: str) -> Page:
        page = self.watch(await self.context.new_page())
        await page.goto(link)
        await page.wait_for_selector("main h1")
        return page

    async def step(self, key: str) -> None:
        """Wait until this step is shown; its module may still have to load."""
        await self.page.wait_for_selector(f'body[data-step="{key}"] main > :not(:has(.first))')


class Site:
    """A served study. It can be stopped and restarted at the same address."""

    def __init__(self, path: Path, browser: Browser) -> None:
        self.path, self.browser = path, browser
        self.study: Study = load_study(path)
        self.visits: list[Visit] = []
        self.other_hosts: set[str] = set()
        """Where its pages fetch media from, beside their own server."""
        self._server: RunningServer | None = None
        self._running = AsyncExitStack()

    @property
    def server(self) -> RunningServer:
        assert self._server is not None
        return self._server

    @property
    def link(self) -> str:
        return self.server.link

    async def start(self) -> None:
        port = urlsplit(self.server.address).port or 0 if self._server else 0
        self._server = await self._running.enter_async_context(run_server(self.study, port=port))

    async def stop(self) -> None:
        await self._running.aclose()

    async def visit(
        self, query: str = "?participant=ada", *, expects_trouble: bool = False, script: str = "", **device: Any
    ) -> Visit:
        """Open the link in a new browser context; `script` runs before ours on every page."""
        context = await self.browser.new_context(**{"viewport": DESKTOP, **device})
        if script:
            await context.add_init_script(script)
        visit = Visit(self, context, await context.new_page(), expects_trouble=expects_trouble)
        visit.watch(visit.page)
        self.visits.append(visit)
        await visit.page.goto(self.link + query)
        await visit.page.wait_for_selector("main h1")
        return visit

    async def rows(self, table: Any) -> list[dict[str, Any]]:
        return [row async for row in self.server.store.rows(table)]

    async def answers(self) -> dict[str, dict[str, Any]]:
        """Return the stored answers by step, of a study with one visitor."""
        rows = await self.rows("answers")
        assert len({row["key"] for row in rows}) == len(rows), "a step was answered twice"
        return {row["key"]: row for row in rows}

    async def scores(self, key: str) -> dict[str, Any]:
        scores: dict[str, Any] = (await self.answers())[key]["answer"]["scores"]
        return scores


@dataclass
class StudyServers:
    """The tiny studies that one test serves."""

    folder: Path
    like: Path
    browser: Browser
    sites: list[Site] = field(default_factory=list)

    async def serve(self, **keys: Any) -> Site:
        """Serve a tiny study of two short pages, with these keys in its study.yaml."""
        path = write_study(self.folder / f"study{len(self.sites)}", self.like, **{"design": SHORT, **keys})
        site = Site(path, self.browser)
        self.sites.append(site)
        await site.start()
        return site

    async def close(self) -> None:
        """Close everything; check that no visitor had an error or contacted another host."""
        visits = [visit for site in self.sites for visit in site.visits]
        for visit in visits:
            await visit.context.close()
        for site in self.sites:
            await site.stop()
        for visit in visits:
            assert visit.hosts == {urlsplit(visit.site.link).netloc} | visit.site.other_hosts
            assert visit.expects_trouble or visit.troubles == []


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def installed_chromium() -> AsyncIterator[Browser | None]:
    """One browser for all tests; each person has their own context. None where the machine has no Chromium."""
    if find_chromium() is None:
        yield None
        return
    async with open_browser() as browser:
        yield browser


@pytest.fixture
def chromium(installed_chromium: Browser | None) -> Browser:
    """The browser, for tests that make no sense without."""
    if installed_chromium is None:
        pytest.skip("there is no Chromium on this machine: install chromium, or name one in BEHOLDER_CHROMIUM")
    return installed_chromium


@pytest_asyncio.fixture(loop_scope="session")
async def servers(tmp_path: Path, tiny: Path, chromium: Browser) -> AsyncIterator[StudyServers]:
    """Studies to visit; the teardown checks that no visitor had an error."""
    servers = StudyServers(tmp_path, tiny, chromium)
    yield servers
    await servers.close()


async def values_on(page: Page) -> dict[str, dict[str, float]]:
    """Return the values on a rating page by question and slot; untouched controls are left out."""
    shown: dict[str, dict[str, float]] = await page.locator("main").evaluate(
        """main => {
          const values = {};
          const tell = ({ dataset: { question, slot } }, value) => { (values[question] ??= {})[slot] = Number(value); };
          for (const fader of main.querySelectorAll(".fader[data-state=set]")) {
            tell(fader.querySelector("input"), fader.querySelector("output").textContent);
          }
          for (const input of main.querySelectorAll("input[type=radio]:checked")) tell(input, input.value);
          return values;
        }"""
    )
    return shown


async def events_of_step(site: Site, key: str) -> list[Any]:
    """Return the log of a step, of a study with one visitor."""
    batches = sorted((row for row in await site.rows("events") if row["key"] == key), key=lambda row: row["from"])
    return [event for row in batches for event in row["events"]]


def slider(page: Page, slot: str, question: str = "q1") -> Locator:
    return page.locator(f'main input[type=range][data-slot="{slot}"][data-question="{question}"]')


def play_button(page: Page, slot: str) -> Locator:
    return page.locator(f'main button.play[data-slot="{slot}"]')


async def play(page: Page, *slots: str) -> None:
    """Play clips to their end, one after the other, and wait until the page has registered it."""
    for slot in slots:
        await play_button(page, slot).click()
        await page.wait_for_selector(f'main .column.is-played[data-slot="{slot}"]')


async def rate(page: Page, **values: float) -> None:
    """Set sliders of the first question, by slot."""
    for slot, value in values.items():
        await slider(page, slot).fill(str(value))


async def barriers(page: Page, moment: str, themes: Iterable[Literal["light", "dark"]] = THEMES) -> list[str]:
    """Return every serious violation that axe reports for the current page; skip the test without axe."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm ci")
    problems = []
    # It stays for all pages of a visit: reading it takes longer than a look at a page.
    if not await page.evaluate("() => 'axe' in window"):
        await page.evaluate(AXE.read_text("utf-8"))
    # A theme changes colours and nothing else, so that only the first one needs the other rules.
    for place, theme in enumerate(themes):
        await page.emulate_media(color_scheme=theme)
        # Buttons fade between themes: contrast is measured after the transition.
        await page.evaluate("() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished))")
        for rule, nodes in await page.evaluate(SERIOUS_BARRIERS, RULES_OF_COLOUR if place else []):
            problems.append(f"{moment} {theme}: {rule} {nodes}")
    return problems


async def overhang(page: Page, moment: str, sizes: Iterable[tuple[int, int]]) -> list[str]:
    """Return where a page is wider than its window, for windows of these sizes."""
    problems, usual = [], page.viewport_size
    for width, height in sizes:
        await page.set_viewport_size({"width": width, "height": height})
        over: int = await page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        if over > 0:
            problems.append(f"{moment}: {over} px over {width}")
    if usual is not None:
        await page.set_viewport_size(usual)  # drawing a visit in the largest window takes twice the time
    return problems
