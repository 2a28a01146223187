"""Storyboards: robots take a study in real browsers, and a picture of every step is kept."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode, urlsplit

from beholder.aio import block_on
from beholder.errors import Problem, UserError
from beholder.formats import count
from beholder.methods import load_study
from beholder.reporting.html import Markup, policy, tag
from beholder.result_view import PagedResult, ResultView
from beholder.server.process import RunningServer, run_server
from beholder.server.tokens import robot_signature
from beholder.simulation.cheats import CHEATS
from beholder.simulation.oracle import Oracle, OracleResponder
from beholder.simulation.participants import robot_name
from beholder.simulation.raters import abilities_of, assign_kinds, read_mixture
from beholder.simulation.truth import Truth, truth_of
from beholder.simulation.variance import PopulationSource
from beholder.study.model import Study

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

    from beholder.testing.browser import ControlValues

_PATIENCE_MS = 120_000
_ANSWERED_KINDS = ("trial", "training", "questions", "check")
"""Kinds of steps with a second picture, after answering."""
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1c1f24; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; }
figure { margin: 0 0 2rem; break-inside: avoid; }
figcaption { font-size: .9rem; color: #4d545e; margin: 0 0 .4rem; }
code { float: right; color: #6a717b; }
img { width: 100%; height: auto; border: 1px solid #cfd4da; border-radius: 6px; }
"""


@dataclass(frozen=True)
class Picture:
    """A picture of a page."""

    file: str
    key: str
    moment: str
    title: str


@dataclass
class BrowserSession:
    """One robot's session in a browser: its pictures and its completion code."""

    name: str
    folder: Path
    pictures: list[Picture] = field(default_factory=list)
    code: str = ""

    async def take_picture(self, page: Page, key: str, moment: str) -> None:
        """Take a picture of the whole page."""
        kind = key.partition(":")[0]
        if moment == "answered" and kind not in _ANSWERED_KINDS:
            return
        step = key.replace(":", "-") + ("-answered" if moment == "answered" else "")
        file = self.folder / f"{len(self.pictures) + 1:02}-{step}.png"
        # Without animations, so that nothing is caught while fading in.
        await page.screenshot(path=file, full_page=True, animations="disabled")
        title = await page.locator("main h1").first.inner_text() if await page.locator("main h1").count() else ""
        self.pictures.append(Picture(file.name, key, moment, " ".join(title.split())))


@dataclass(frozen=True, repr=False)
class Storyboard(PagedResult):
    """The truth, the sessions with their pictures, and the page that shows them."""

    truth: Truth
    sittings: tuple[BrowserSession, ...]
    page: Path

    def _view(self) -> ResultView:
        pictures = sum(len(one.pictures) for one in self.sittings)
        words = f"{count(pictures, 'picture')} of {count(len(self.sittings), 'session')} in a real browser."
        return ResultView([words], page=self.page)


def storyboard(
    study: str | Path | Study,
    count: int,
    *,
    raters: str,
    seed: int,
    source: PopulationSource,
    store: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Storyboard:
    """Return the storyboard of robots that took a study in real browsers, written to storyboard/.

    They answer like robots of the same seed over HTTP, and stay to the end. Their answers are kept only if a store is
    named, so that the pictures can be taken again.
    """
    _check_browser()
    loaded = load_study(study) if isinstance(study, str | Path) else study
    kinds = assign_kinds(read_mixture(raters), count, seed, loaded.run)
    _check_kinds(kinds)

    async def draw(store: str | Path) -> Storyboard:
        async with run_server(loaded, store=store, port=0, hosts_media=False) as server:
            return await _take_pictures(server, kinds, seed, source, progress)

    if store is not None:
        return block_on(draw(store))
    with tempfile.TemporaryDirectory(prefix="beholder-storyboard-", ignore_cleanup_errors=True) as name:
        return block_on(draw(Path(name)))


def _check_browser() -> None:
    """Raise UserError if Playwright or Chromium is missing."""
    from beholder.simulation import CHROMIUM_NAMES, find_chromium

    if importlib.util.find_spec("playwright") is None:
        raise UserError(Problem("--browser", "needs Playwright, which is not installed", "", "pip install playwright"))
    if find_chromium() is None:
        fix = f"Install one as {CHROMIUM_NAMES[0]}, or name it in BEHOLDER_CHROMIUM."
        raise UserError(Problem("--browser", "needs a Chromium, and none was found", "", fix))


def _check_kinds(kinds: Sequence[str]) -> None:
    cheats = sorted(set(kinds) & CHEATS.keys())
    if cheats:
        what = f"has {', '.join(cheats)}, and a real page sends what it should"
        raise UserError(Problem("--raters", what, "kinds that only rate", "Leave out --browser, or these kinds."))


async def _take_pictures(
    server: RunningServer,
    kinds: Sequence[str],
    seed: int,
    source: PopulationSource,
    progress: Callable[[int, int], None] | None,
) -> Storyboard:
    from beholder.testing.browser import open_browser

    served = server.service.served
    truth = truth_of(served.study, served.catalogue, served.method, seed, source.people, source.means)
    oracle = Oracle(served, server.store.secret, truth, seed, source.people)
    folder = served.study.folder / "storyboard"
    shutil.rmtree(folder, ignore_errors=True)
    sessions = []
    async with open_browser() as browser:
        for number, kind in enumerate(kinds, 1):
            session = BrowserSession(robot_name(seed, number, served.study.run), folder / f"robot-{number}")
            session.folder.mkdir(parents=True)
            await _take_study(
                server, browser, session, oracle.responder(kind, session.name, abilities_of(kind)), oracle
            )
            sessions.append(session)
            if progress is not None:
                progress(number, len(kinds))
    page = folder / "index.html"
    page.write_text(_page(served.study.title, sessions), "utf-8")
    return Storyboard(truth, tuple(sessions), page)


async def _take_study(
    server: RunningServer, browser: Browser, session: BrowserSession, responder: OracleResponder, oracle: Oracle
) -> None:
    """Let one robot take the study in a browser."""
    from beholder.testing.browser import control_values, fitting_answers, oracle_for, walk

    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    page = await context.new_page()
    page.set_default_timeout(_PATIENCE_MS)
    signature = robot_signature(server.store.secret, session.name)
    await page.goto(f"{server.link}?{urlencode({'robot': session.name, 'signature': signature})}")

    async def rate(key: str) -> ControlValues:
        session_id = parse_qs(urlsplit(page.url).query)["resume"][0].split(".")[1]
        if session_id not in oracle.claims:
            facts = await server.store.session_facts(session_id)
            assert facts is not None, session_id
            oracle.claims[session_id] = facts.list or 1
        return control_values(oracle.trial(session_id, key), responder.answer(session_id, key))

    await walk(
        page,
        answers=fitting_answers(server.service.served.study),
        on_step=session.take_picture,
        oracle=oracle_for(server, page),
        rater=rate,
    )
    code = page.locator("#code")
    session.code = await code.inner_text() if await code.count() else ""
    await context.close()


def _page(title: str, sessions: Sequence[BrowserSession]) -> str:
    """Return an HTML page with all pictures."""
    intro = "Every screen of the study in order, as a simulated participant met it in a browser."
    body = [tag("h1", f"Storyboard: {title}"), tag("p", intro)]
    for number, session in enumerate(sessions, 1):
        body += [tag("h2", f"Participant {number}")] if len(sessions) > 1 else []
        for place, picture in enumerate(session.pictures, 1):
            state = " (answered)" if picture.moment == "answered" else ""
            caption = f"{place}. {picture.title or picture.key}{state}"
            shown = tag("img", src=f"{session.folder.name}/{picture.file}", alt=caption, loading="lazy")
            body.append(tag("figure", tag("figcaption", caption, tag("code", picture.key)), shown))
    head = tag("head", tag("meta", charset="utf-8"), policy(), tag("title", title), tag("style", Markup(_STYLE)))
    return f"<!doctype html>{tag('html', head, tag('body', body), lang='en')}\n"
