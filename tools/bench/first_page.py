"""How long it takes to start (`--help`, a server of 400 stimuli), and how much a participant downloads first."""

from __future__ import annotations

import gzip
import http.client
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from posixpath import normpath

from beholder.testing.browser import find_chromium
from bench.servers import NAME, Server, serving_study
from bench.table import Row, below

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


_LIMIT_KB = 60


_LOADED = re.compile(
    r"""(?:^import\s[^"'`]*?|\bfrom\s*|\bimport\(|\bsrc=|\bhref=|new URL\()["`']([^"'`]+)["'`]""", re.MULTILINE
)


_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def measure_page(study: Path, scratch: Path) -> Row:
    """Return the compressed size of page, modules, styles and words until the first trial is there."""
    with serving_study(study, str(scratch / "store-page")) as server:
        chromium = find_chromium()
        sizes = _in_browser(server, chromium) if chromium else dict(_by_imports(server))
    kilobytes = sum(sizes.values()) / 1000
    how = "as Chromium loads it" if chromium else "everything it might import"
    what = f"page, modules, styles and words until the first trial, compressed, {how}"
    return Row(what, f"{kilobytes:.1f} kB in {len(sizes)} files", f"at most {_LIMIT_KB} kB", kilobytes <= _LIMIT_KB)


def _in_browser(server: Server, chromium: str) -> dict[str, int]:
    """Return the size of each file that Chromium got on the way to the first trial, as it was sent."""
    from playwright.sync_api import Request, sync_playwright

    finished: list[Request] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("requestfinished", lambda request: finished.append(request))
        page.goto(f"http://127.0.0.1:{server.port}/s/{NAME}?participant=bench")
        page.click("#agree")
        page.click("#next")
        page.wait_for_selector("body[data-kind=trial]")
        page.wait_for_load_state("networkidle")
        sizes = {request.url: request.sizes()["responseBodySize"] for request in finished if _is_ours(request.url)}
        browser.close()
    return sizes


def _is_ours(url: str) -> bool:
    return "/s/" in url or "/web/" in url


def _by_imports(server: Server) -> Iterator[tuple[str, int]]:
    """Yield the size of the page and of everything that it names, directly or through others."""
    waiting, seen = [f"/s/{NAME}"], set[str]()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        size, text = _get(server.port, path)
        yield path, size
        for named in _LOADED.findall(_COMMENT.sub("", text)):
            # What a template leaves open is the method and the language of this study.
            known = named.replace("${step.method}", "parallel").replace("${name}", "en")
            target = known if known.startswith("/") else normpath(str(PurePosixPath(path).parent / known))
            if PurePosixPath(target).suffix in (".js", ".css", ".json", ".svg"):
                waiting.append(target)


def _get(port: int, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={"accept-encoding": "gzip"})
    reply = connection.getresponse()
    body = reply.read()
    connection.close()
    if reply.status != 200:
        raise RuntimeError(f"{path} answered {reply.status}")
    packed = reply.headers.get("content-encoding") == "gzip"
    return len(body), (gzip.decompress(body) if packed else body).decode()
