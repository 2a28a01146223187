"""How much a participant downloads before the first trial, without the stimuli."""

from __future__ import annotations

import gzip
import http.client
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from posixpath import normpath

from beholder.testing.browser import find_chromium
from bench_process import Server, serving_study
from bench_study import NAME
from bench_table import Row

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
