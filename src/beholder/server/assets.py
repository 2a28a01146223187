"""The files of the front end, ready to serve: all under one hash, compressed once."""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

from beholder.checks.page_contract import PageCheck
from beholder.methods import method_folder
from beholder.methods.contract import Method
from beholder.study.model import Study

_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)$", re.MULTILINE)


@dataclass(frozen=True)
class Asset:
    """One file as it is served."""

    body: bytes
    packed: bytes
    type: str


class Assets:
    """All modules, styles and words of the participant's page, and the page itself."""

    def __init__(self, method: Method, checks: Iterable[PageCheck] = ()) -> None:
        root = Path(str(resources.files("beholder.web")))
        paths = {path.relative_to(root).as_posix(): path for path in _files(root)}
        paths[f"methods/{method.name}/view.js"] = method_folder(method.name) / "view.js"
        paths |= {f"checks/{check.name}/page.js": check.home() / check.page for check in checks}
        self.files = {name: _asset(path) for name, path in sorted(paths.items())}
        whole = hashlib.sha256()
        for name, asset in self.files.items():
            whole.update(name.encode() + b"\0" + asset.body + b"\0")
        self.hash = whole.hexdigest()[:16]
        self._root = root

    def page(self, study: Study, *, station: int | None = None) -> Asset:
        """Return the one HTML page of a study, at a station of a laboratory where there is one."""
        return self._page("index.html", study, station="" if station is None else str(station))

    def standalone(self, study: Study, script: str, style: str) -> Asset:
        """Return another page of the study, by its module and its style sheet."""
        return self._page("aside.html", study, script=script, style=style)

    def _page(self, name: str, study: Study, **more: str) -> Asset:
        text = (self._root / name).read_text("utf-8")
        values = {"web": f"/web/{self.hash}", "study": study.name, "title": study.title, "language": study.language}
        for name, value in (values | more).items():
            text = text.replace("{{" + name + "}}", html.escape(value))
        body = text.encode()
        return Asset(body, gzip.compress(body, mtime=0), "text/html; charset=utf-8")


def without_comments(text: str) -> str:
    """Return a module or style sheet with blank lines where whole lines were comments: line numbers stay."""
    return _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)


def _files(root: Path) -> Iterator[Path]:
    paths = (path for path in root.rglob("*") if path.suffix in _TYPES and path.is_file())
    # Texts on a check are sent with its step, so that nobody reads those of a silent check in advance.
    return (path for path in paths if path.parent.parent.name != "words")


def _asset(path: Path) -> Asset:
    return _packed(path.read_bytes(), path.suffix, path.parent.name)


# The second study that a process serves has the same files, but for its method's.
@lru_cache(maxsize=256)
def _packed(body: bytes, suffix: str, folder: str) -> Asset:
    if suffix in (".js", ".css"):
        body = without_comments(body.decode()).encode()
    elif folder == "words":
        # The texts of the server stay on the server.
        body = json.dumps({k: v for k, v in json.loads(body).items() if k != "server"}, ensure_ascii=False).encode()
    return Asset(body, gzip.compress(body, mtime=0), _TYPES[suffix])
