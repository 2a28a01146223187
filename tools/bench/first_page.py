"""How long it takes to start (`--help`, a server of 400 stimuli), and how much a participant downloads first."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.testing.browser import find_chromium
from bench.servers import NAME, Server, serving_study
from bench.table import Row, below

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Request

_HELPS, _STARTS = 15, 3


def measure_help() -> Row:
    """Return `beholder --help` as a multiple of an interpreter that does nothing, each in turn."""
    bare, helping = [], []
    for _ in range(1 + _HELPS):
        bare.append(_seconds(["-c", "pass"]))
        helping.append(_seconds(["-m", "beholder", "--help"]))
    bare, helping = bare[1:], helping[1:]  # the first ones wrote the bytecode
    ratio, ms = statistics.median(helping) / statistics.median(bare), 1000 * statistics.median(helping)
    return below("`beholder --help` against a bare interpreter", ratio, 8, "times", f" ({ms:.0f} ms)")


def measure_start(study: Path, scratch: Path) -> Row:
    """Return the time from `beholder serve` to the first page, everything ingested and planned before."""
    times = []
    for _ in range(1 + _STARTS):
        with serving_study(study, str(scratch / "store-start")) as server:
            times.append(server.seconds_to_page)
    warm = statistics.median(times[1:])
    return below("warm start of `beholder serve`, 400 stimuli, to the first page", warm, 2, "s")


def _seconds(arguments: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


_MOST_KB, _MOST_REQUESTS = 70, 15
_PHONE = {"offline": False, "latency": 150, "downloadThroughput": 60_000, "uploadThroughput": 60_000}
"""A slow phone: bytes per second each way, and milliseconds that every request waits beside."""
_VISITS = 3
_NOTE_CONSENT = """
new MutationObserver((_, observer) => {
  if (!document.querySelector("#agree")) return;
  window.consentMs = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });
"""


def measure_page(study: Path, scratch: Path) -> list[Row]:
    """Return what is on the wire until the first trial, and how long a slow phone waits for its first pages."""
    what = "on the wire until the first trial, headers of requests and replies included, without media"
    chromium = find_chromium()
    if chromium is None:
        return [Row(what, "not measured: no Chromium here")]
    from playwright.sync_api import sync_playwright

    with serving_study(study, str(scratch / "store-page")) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        sizes = _sent(server, browser)
        reading, consent = zip(*(_waits(server, browser, number) for number in range(_VISITS)), strict=True)
        browser.close()
    kilobytes = sum(sizes) / 1000
    aim = f"at most {_MOST_KB} kB, {_MOST_REQUESTS} requests"
    is_met = kilobytes <= _MOST_KB and len(sizes) <= _MOST_REQUESTS
    return [
        Row(what, f"{kilobytes:.1f} kB in {len(sizes)} requests", aim, is_met),
        below("a phone at 60 kB/s and 150 ms: until there is something to read", statistics.median(reading), 1, "s"),
        below("the same: until the consent is there", statistics.median(consent), 3, "s"),
    ]


def _sent(server: Server, browser: Browser) -> list[int]:
    """Return the size of each request with its reply on the way to the first trial, as Chromium sees it."""
    finished: list[Request] = []
    page = browser.new_page()
    page.on("requestfinished", lambda request: finished.append(request))
    page.goto(f"http://127.0.0.1:{server.port}/s/{NAME}?participant=bench")
    page.click("#agree")
    page.click("#next")
    page.wait_for_selector("body[data-kind=trial][data-state=ready]")
    page.wait_for_load_state("networkidle")
    ours = [request.sizes() for request in finished if _is_ours(request.url)]
    page.close()
    return [
        one["requestHeadersSize"] + one["requestBodySize"] + one["responseHeadersSize"] + one["responseBodySize"]
        for one in ours
    ]


def _waits(server: Server, browser: Browser, number: int) -> tuple[float, float]:
    """Return the seconds until a slow phone shows its first words, and the consent; nothing is cached before."""
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.add_init_script(_NOTE_CONSENT)
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", _PHONE)
    page.goto(f"http://127.0.0.1:{server.port}/s/{NAME}?participant=phone{number}")
    page.wait_for_selector("#agree")
    painted, consent = page.evaluate(
        "[performance.getEntriesByName('first-contentful-paint')[0].startTime, window.consentMs]"
    )
    page.close()
    return painted / 1000, consent / 1000


def _is_ours(url: str) -> bool:
    return url.startswith("http") and "/media/" not in url
