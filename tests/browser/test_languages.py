"""Pages in languages that need more room or run from right to left, and the choice among several."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from beholder.testing.browser import oracle_for
from support.browser import MARKS, StudyServers, barriers, overhang
from support.pseudo_language import LONG, TURNED, longer, pseudo_languages, turned
from support.variants import variant

pytestmark = MARKS

SIZES = [(360, 740), (1280, 800)]
ACR: dict[str, Any] = {
    "method": "acr",
    "questions": [{"id": "quality", "text": "How good is it?", "scale": "acr5"}],
    "design": {"participants": 6, "trials": 1, "seed": 3},
}
CHECKED = {**ACR, "qualification": {"language": True}}
PARALLEL: dict[str, Any] = {"design": {"participants": 6, "trials": 1, "seed": 3}}
SHORT = {"participants": 6, "trials": 1, "seed": 3}
MORE: dict[str, dict[str, Any]] = {
    "likert": {"method": "likert", "options": {"items": "avatar-a"}, "design": SHORT, "questions": []},
    "rank": {"method": "rank", "questions": [{"id": "q", "text": "Order?", "scale": "order"}], "design": SHORT},
    "pair": {"method": "pair", "options": {"tie": True, "reason": "optional"}, "design": SHORT,
             "questions": [{"id": "q", "text": "Which?"}]},
}  # fmt: skip
"""More methods, which `make prove` walks through in both languages."""


@pytest.fixture
def more_languages(pseudo_words: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with pseudo_languages(pseudo_words, monkeypatch):
        yield


@pytest.mark.usefixtures("more_languages")
@pytest.mark.parametrize(
    ("code", "keys"),
    [(TURNED, PARALLEL), (LONG, CHECKED), variant(LONG, PARALLEL), variant(TURNED, CHECKED)]
    + [variant(code, keys) for keys in MORE.values() for code in (LONG, TURNED)],
)
async def test_nothing_is_cut_off_or_a_barrier_in_a_longer_or_a_turned_language(
    servers: StudyServers, code: str, keys: dict[str, Any]
) -> None:
    site = await servers.serve(**keys, language=code)
    visit = await site.visit(reduced_motion="reduce")
    problems: list[str] = []

    async def scan(page: Page, key: str, moment: str) -> None:
        problems.extend(await barriers(page, f"{key} {moment}", themes=["light"]))
        problems.extend(await overhang(page, f"{key} {moment}", SIZES))
        direction = await page.evaluate("getComputedStyle(document.body).direction")
        assert (await page.get_attribute("html", "lang"), direction) == (code, "rtl" if code == TURNED else "ltr")

    await visit.go("end", on_step=scan, oracle=oracle_for(site.server, visit.page))
    assert problems == []


@pytest.mark.usefixtures("more_languages")
async def test_somebody_chooses_another_language_on_the_first_page_and_keeps_it(servers: StudyServers) -> None:
    def by_language(text: str) -> dict[str, str]:
        return {"en": text, LONG: longer(text), TURNED: turned(text)}

    questions = [{"id": "quality", "text": by_language("How good is it?"), "scale": "acr5"}]
    site = await servers.serve(
        **{**ACR, "questions": questions}, languages=["en", LONG, TURNED], title=by_language("Which is best?")
    )
    visit = await site.visit(locale="eo")
    page = visit.page
    await page.wait_for_selector("#agree")
    assert await page.input_value("#language") == LONG, "the browser asks for it"
    async with page.expect_navigation():
        await page.select_option("#language", TURNED)
    await page.wait_for_selector("#agree")
    assert await page.title() == turned("Which is best?")
    await visit.go("trial:1")
    assert await page.get_attribute("html", "dir") == "rtl"
    consent = (await site.answers())["consent"]["answer"]
    assert consent == {"agree": True, "language": TURNED, "language_from": "choice"}
    # Whoever comes back by a bare link reads the language in which they agreed.
    await page.goto(page.url.partition("&")[0])
    await page.wait_for_selector("[data-kind=trial]")
    assert await page.get_attribute("html", "lang") == TURNED
