"""The browser's half, ready to serve: every module under one hash, compressed once."""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePosixPath

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
    """One file as it goes out."""

    body: bytes
    packed: bytes
    type: str


class Assets:
    """All modules, styles and words of the participant's page, and the page itself."""

    def __init__(self, method: Method) -> None:
        root = Path(str(resources.files("beholder.web")))
        found = {path.relative_to(root).as_posix(): path for path in _files(root)}
        found[f"methods/{method.name}/view.js"] = method_folder(method.name) / "view.js"
        self.files = {name: _asset(path) for name, path in sorted(found.items())}
        whole = hashlib.sha256()
        for name, asset in self.files.items():
            whole.update(name.encode() + b"\0" + asset.body + b"\0")
        self.hash = whole.hexdigest()[:16]
        self._root = root

    def page(self, study: Study, *, station: int | None = None) -> Asset:
        """Return the one HTML page of a study, at a station of a laboratory where there is one."""
        return self._page("index.html", study, station="" if station is None else str(station))

    def aside(self, study: Study, script: str, style: str) -> Asset:
        """Return a page beside that of the study, by its module and its style sheet."""
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
    return _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)


def _files(root: Path) -> Iterator[Path]:
    found = (path for path in root.rglob("*") if path.suffix in _TYPES and path.is_file())
    # Words about a check come with its step: what a silent one would say is nobody's before.
    return (path for path in found if path.parent.parent.name != "words")


def _asset(path: Path) -> Asset:
    body = path.read_bytes()
    if path.suffix in (".js", ".css"):
        body = without_comments(body.decode()).encode()
    elif path.parent.name == "words":
        # What the server says itself never comes from here.
        body = json.dumps({k: v for k, v in json.loads(body).items() if k != "server"}, ensure_ascii=False).encode()
    return Asset(body, gzip.compress(body, mtime=0), _TYPES[PurePosixPath(path.name).suffix])
