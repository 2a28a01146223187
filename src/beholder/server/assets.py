"""The files of the front end, ready to serve: all under one hash, compressed once, those of a page together.

The modules and style sheets with which a page starts are one file each (`beholder.server.page_bundles`); so are those
that the study's method draws with, which come at the first trial, and those of the study's checks.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

from beholder.checks.page_contract import PageCheck
from beholder.checks.page_registry import page_checks
from beholder.methods import method_folder
from beholder.methods.contract import Medium, Method
from beholder.server.page_bundles import FOLDER, PageModules, bundle_modules, needed_modules, target_of
from beholder.server.script import ServedStudy
from beholder.study.model import Study
from beholder.words import direction_of, read_words, word_file

_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
_PAGE, _ASIDES = "run.js", {"forget": "forget.js", "operator": "kiosk/operator.js", "viewer": "separate/viewer.js"}
"""The module that runs the page of a study, and those of the pages beside it."""
_FIRST_PAGE, _FIRST_STYLES, _SHEETS = "index.html", f"{FOLDER}/first.css", "sheets.js"
_STYLE = re.compile(r'^ *<link rel="stylesheet" href="\{\{web\}\}/(.*)">\n', re.MULTILINE)
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)$", re.MULTILINE)


@dataclass(frozen=True)
class Asset:
    """One file as it is served."""

    body: bytes
    packed: bytes
    type: str


class Assets:
    """All modules, styles and words of the pages of one study, and the pages themselves.

    `media` are those of the stimuli: how they are shown comes with the first trial.
    """

    def __init__(
        self,
        method: Method,
        checks: Iterable[PageCheck] = (),
        languages: Sequence[str] = ("en",),
        media: Iterable[Medium] = (),
    ) -> None:
        self._root = root = Path(str(resources.files("beholder.web")))
        view = f"methods/{method.name}/view.js"
        paths = {path.relative_to(root).as_posix(): path for path in _files(root)}
        # Nobody needs the words of languages that the study does not have.
        paths = {name: path for name, path in paths.items() if not name.startswith("words/")}
        paths |= {f"words/{code}.json": word_file(root / "words" / f"{code}.json") for code in languages}
        self._languages = tuple(languages)
        paths[view] = method_folder(method.name) / "view.js"
        pages = {f"checks/{check.name}/page.js": check.home() / check.page for check in checks}
        self.files = {name: _asset(path) for name, path in sorted((paths | pages).items())}
        self.files |= {f"{name}.js": _as_module(self.files.pop(f"{name}.json")) for name in _named_words(self.files)}
        scripts = {name: asset.body.decode() for name, asset in self.files.items() if name.endswith(".js")}
        # What somebody else wrote may import in any way that the language has: it stays a file of its own.
        own = {name for name, path in (paths | pages).items() if path.is_relative_to(root.parent)}
        parts = {
            "rating": _rating_modules(scripts, view, tuple(media), own),
            "checks": ["steps/check.js", *(name for name in pages if name in own)] if pages else [],
        }
        self.files |= self._joined_styles(scripts, parts)
        words = tuple(f"words/{code}.js" for code in languages)
        self.files |= _bundled(tuple(scripts.items()), words, tuple(map(tuple, parts.values())))
        self.files = {name: asset for name, asset in self.files.items() if name not in (_PAGE, *_ASIDES.values())}
        whole = hashlib.sha256()
        for name, asset in self.files.items():
            whole.update(name.encode() + b"\0" + asset.body + b"\0")
        self.hash = whole.hexdigest()[:16]

    @classmethod
    def of(cls, served: ServedStudy) -> Assets:
        """Return what is needed for a study."""
        media = dict.fromkeys(stimulus.medium for stimulus in served.catalogue.stimuli)
        return cls(served.method, page_checks(served.study), served.study.all_languages, media)

    def is_entry(self, path: str) -> bool:
        """Return whether a page begins with this file, or it is a style sheet: each is whole in itself."""
        entries = ("page", *_ASIDES)
        return path in self.files and (path.endswith(".css") or path in {f"{FOLDER}/{name}.js" for name in entries})

    def _joined_styles(self, scripts: dict[str, str], parts: Mapping[str, Sequence[str]]) -> dict[str, Asset]:
        """Return the style sheets that come together, and write into the modules which ones those are."""
        self._first_page, first = _with_one_style((self._root / _FIRST_PAGE).read_text("utf-8"))
        joined = {_FIRST_STYLES: first}
        for part, modules in parts.items():
            text = "\n".join(scripts[path] for path in needed_modules(scripts, modules))
            before = {name for names in joined.values() for name in names}
            named = dict.fromkeys(f"style/{name}.css" for name in _SHEET_NAME.findall(text))
            joined[f"{FOLDER}/{part}.css"] = [name for name in named if name not in before]
        places = {Path(name).stem: f"./{place}" for place, names in joined.items() for name in names}
        scripts[_SHEETS] = f"export const sheets = {json.dumps(places)};\n"
        return {
            place: _packed(b"\n".join(self.files[name].body for name in names), ".css", FOLDER)
            for place, names in joined.items()
            if names
        }

    def page(self, study: Study, *, station: int | None = None) -> Asset:
        """Return the one HTML page of a study, at a station of a laboratory where there is one."""
        return self._page(
            self._first_page, study, script=f"{FOLDER}/page.js", station="" if station is None else str(station)
        )

    def standalone(self, study: Study, name: str, style: str) -> Asset:
        """Return another page of the study, by the name of its bundle and its style sheet."""
        script = f"{FOLDER}/{name}.js"
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
            "direction": direction_of(study.language),
            "loading": words["page_loading"], "noscript": words["page_script"], "address": study.contact or "",
        }  # fmt: skip
        # All at once, so that braces in what a study writes stay as they are.
        values = {name: html.escape(value) for name, value in (values | more).items()}
        values["contact"] = _contact(study, words)
        values["words"] = ""
        if len(self._languages) > 1:
            values["words"] = f'<link rel="modulepreload" href="/web/{self.hash}/words/{study.language}.js">'
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
def _bundled(
    scripts: tuple[tuple[str, str], ...], words: tuple[str, ...], parts: tuple[tuple[str, ...], ...]
) -> dict[str, Asset]:
    rating, checks = parts
    later = {"rating": rating, "checks": checks} if checks else {"rating": rating}
    asides = (PageModules(name, module, words) for name, module in _ASIDES.items())
    # Of several languages, a person gets the words of one beside the bundle.
    first = words if len(words) == 1 else ()
    made = bundle_modules(dict(scripts), PageModules("page", _PAGE, first, later), *asides)
    return {
        name: Asset(text.encode(), gzip.compress(text.encode(), mtime=0), _TYPES[".js"]) for name, text in made.items()
    }


# Words


def _named_words(files: Iterable[str]) -> list[str]:
    return [name.removesuffix(".json") for name in files if name.startswith("words/")]


def _as_module(words: Asset) -> Asset:
    return _packed(b"export const words = " + words.body + b";\n", ".js", FOLDER)


# What a method draws with

_PART = re.compile(r'^  (\w+): \(\) => import\("(.*)"\),$', re.MULTILINE)
"""A module by the name of the call, or the medium, that needs it: the tables in `_STAGE` and `_TRIAL`."""
_CALL = re.compile(r"\bstage\.(\w+)\(")
_SHEET_NAME = re.compile(r'\bstylesheet\("(\w+)"\)')
_STAGE, _TRIAL, _LAST_PAGE = "stage/stage.js", "steps/trial.js", "steps/end.js"


def _rating_modules(scripts: Mapping[str, str], view: str, media: Sequence[str], own: Iterable[str]) -> list[str]:
    """Return the modules of trials: a method's view, what it calls, how its media are shown; and the last page.

    What is not foreseen here comes when it is needed, a file each.
    """
    parts, tracks = _parts(_STAGE, scripts), _parts(_TRIAL, scripts)
    calls, found = set(_CALL.findall(scripts[view])), [_TRIAL, _LAST_PAGE, *(tracks[medium] for medium in media)]
    while new := [path for call, path in parts.items() if call in calls and path not in found]:
        found += dict.fromkeys(new)
        calls |= {call for path in needed_modules(scripts, new) for call in _CALL.findall(scripts[path])}
    return [*found, *([view] if view in own else [])]


def _parts(path: str, scripts: Mapping[str, str]) -> dict[str, str]:
    return {name: target_of(path, relative) for name, relative in _PART.findall(scripts[path])}
