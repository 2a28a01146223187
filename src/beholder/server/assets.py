"""The files of the front end, ready to serve: all under one hash, compressed once, those of the first page together.

A browser asks for every module on its own, which takes seconds on a slow network and is most of the work of opening a
page anywhere. So what the page imports before it can start is sent in one bundle. Each module becomes a function that
returns its exports, in the order in which they need each other:

    export const modules = {};
    modules["element.js"] = (() => { ... return { element, fill }; })();

All other modules take these from the bundle, so that each runs once, and so does whoever imports them under their own
address, where a file hands on what is in the bundle. Only the lines change that import and export, and those in the
forms that our modules use: names from a relative path, and functions, constants and classes.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

from beholder.checks.page_contract import PageCheck
from beholder.methods import method_folder
from beholder.methods.contract import Method
from beholder.study.model import Study
from beholder.words import read_words

_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
_FIRST_MODULE, _FIRST_PAGE, _FIRST_STYLES = "run.js", "index.html", "style/first.css"
_STYLE = re.compile(r'^ *<link rel="stylesheet" href="\{\{web\}\}/(.*)">\n', re.MULTILINE)
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)$", re.MULTILINE)

BUNDLE = "bundle.js"
"""The bundle's path, from the folder of the front end."""
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*? |const |class )(\w+)", re.MULTILINE)
_LATER_IMPORT = re.compile(r'\bimport\(([`"])(\.{1,2}/[^`"]*)\1\)')
_LEFT = re.compile(r"^(?:import|export|await)\b(?!\().*", re.MULTILINE)


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
        scripts = {name: asset.body.decode() for name, asset in self.files.items() if name.endswith(".js")}
        self.files |= _bundled(tuple(scripts.items()))
        self._first_page, styles = _with_one_style((root / _FIRST_PAGE).read_text("utf-8"))
        self.files[_FIRST_STYLES] = _packed(b"\n".join(self.files[name].body for name in styles), ".css", "style")
        whole = hashlib.sha256()
        for name, asset in self.files.items():
            whole.update(name.encode() + b"\0" + asset.body + b"\0")
        self.hash = whole.hexdigest()[:16]
        self._root = root

    def page(self, study: Study, *, station: int | None = None) -> Asset:
        """Return the one HTML page of a study, at a station of a laboratory where there is one."""
        return self._page(self._first_page, study, bundle=BUNDLE, station="" if station is None else str(station))

    def standalone(self, study: Study, script: str, style: str) -> Asset:
        """Return another page of the study, by its module and its style sheet."""
        return self._page((self._root / "aside.html").read_text("utf-8"), study, script=script, style=style)

    def notice(self, study: Study, heading: str, text: str, *, leads_to_study: bool = False) -> Asset:
        """Return a page that tells something in the look of the study, without any script."""
        words = read_words(study.language)
        way = f'<a class="button" href="/s/{study.name}">{html.escape(words["page_begin"])}</a>'
        page = (self._root / "notice.html").read_text("utf-8").replace("{{way}}", way if leads_to_study else "")
        return self._page(page, study, heading=heading, message=text)

    def _page(self, template: str, study: Study, **more: str) -> Asset:
        words = read_words(study.language)
        values = {
            "web": f"/web/{self.hash}", "study": study.name, "title": study.title, "language": study.language,
            "loading": words["page_loading"], "noscript": words["page_script"], "address": study.contact or "",
        }  # fmt: skip
        # All at once, so that braces in what a study writes stay as they are.
        values = {name: html.escape(value) for name, value in (values | more).items()}
        values["contact"] = _contact(study, words)
        body = _PLACE.sub(lambda match: values.get(match[1], match[0]), template).encode()
        return Asset(body, gzip.compress(body, mtime=0), "text/html; charset=utf-8")


def _contact(study: Study, words: Mapping[str, str]) -> str:
    """Return whom to ask about a study, as HTML; empty where nobody is named."""
    if not study.contact:
        return ""
    contact = html.escape(study.contact)
    address = contact if study.contact.startswith(("http://", "https://")) else f"mailto:{contact}"
    return f'<p class="contact">{html.escape(words["page_contact"])} <a href="{address}">{contact}</a></p>'


def without_comments(text: str) -> str:
    """Return a module or style sheet with blank lines where whole lines were comments: line numbers stay."""
    return _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)


def _with_one_style(page: str) -> tuple[str, list[str]]:
    """Return a page that links one style sheet, and the names of those that it linked."""
    names = _STYLE.findall(page)
    one = f'  <link rel="stylesheet" href="{{{{web}}}}/{_FIRST_STYLES}">\n'
    return _STYLE.sub(lambda match: one if match[1] == names[0] else "", page), names


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


@lru_cache(maxsize=32)
def _bundled(scripts: tuple[tuple[str, str], ...]) -> dict[str, Asset]:
    made = bundle_modules(dict(scripts), _FIRST_MODULE)
    return {
        name: Asset(text.encode(), gzip.compress(text.encode(), mtime=0), _TYPES[".js"]) for name, text in made.items()
    }


# The bundle


def bundle_modules(sources: Mapping[str, str], first: str) -> dict[str, str]:
    """Return modules by their paths, and among them the bundle of all that the first one imports.

    Line numbers stay, but for those in the bundle.
    """
    inside = _needed_by(first, sources)
    parts = ["export const modules = {};", *(_as_function(path, sources[path]) for path in inside)]
    changed = {path: _rewired(path, text, inside) for path, text in sources.items() if path not in inside}
    handed_on = {path: _handed_on(path, sources[path]) for path in inside}
    return {**changed, **handed_on, BUNDLE: "\n".join(parts) + "\n"}


def _needed_by(first: str, sources: Mapping[str, str]) -> list[str]:
    """Return the modules that one imports, and those that they import, each after all that it needs."""
    needed: dict[str, None] = {}

    def visit(path: str, above: tuple[str, ...]) -> None:
        if path in above:
            raise ValueError(f"modules import each other: {' -> '.join((*above, path))}")
        if path not in needed:
            for match in _IMPORT.finditer(sources[path]):
                visit(_target(path, match[2]), (*above, path))
            needed[path] = None

    visit(first, ())
    return [path for path in needed if path != first]


def _as_function(path: str, text: str) -> str:
    """Return a module as a function that is called at once; the paths in it lead on from the bundle."""
    body = _IMPORT.sub(lambda match: _taken(match[1], _target(path, match[2])), text)
    body = _LATER_IMPORT.sub(lambda match: f"import({match[1]}./{_target(path, match[2])}{match[1]})", body)
    body = body.replace("import.meta.url", f'new URL("./{path}", import.meta.url)')
    body = _EXPORT.sub(r"\1\2", body)
    if left := _LEFT.search(body):
        raise ValueError(f"{path} cannot be in the bundle: {left[0]}")
    return f'modules["{path}"] = (() => {{\n{body.strip()}\nreturn {{ {", ".join(_exports(text))} }};\n}})();'


def _rewired(path: str, text: str, inside: Collection[str]) -> str:
    """Return a module that takes from the bundle what is in it."""

    def take(match: re.Match[str]) -> str:
        target = _target(path, match[2])
        return _taken(match[1], target) if target in inside else match[0]

    changed = _IMPORT.sub(take, text)
    return text if changed == text else f"{_import_of_bundle(path)} {changed}"


def _handed_on(path: str, text: str) -> str:
    """Return what stands at a module's own address: the exports of the one in the bundle."""
    return f'{_import_of_bundle(path)}\nexport const {{ {", ".join(_exports(text))} }} = modules["{path}"];\n'


def _exports(text: str) -> list[str]:
    return [match[2] for match in _EXPORT.finditer(text)]


def _taken(names: str, path: str) -> str:
    return f'const {{{names.replace(" as ", ": ")}}} = modules["{path}"];'


def _import_of_bundle(path: str) -> str:
    way = posixpath.relpath(BUNDLE, posixpath.dirname(path) or ".")
    return f'import {{ modules }} from "{way if way.startswith(".") else f"./{way}"}";'


def _target(path: str, relative: str) -> str:
    """Return the path to which a relative one leads from a module."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), relative))
