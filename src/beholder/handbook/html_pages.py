"""The pages of the docs as files that a browser shows, without a network and without a server."""

from __future__ import annotations

import hashlib
import html
import os
import posixpath
import re
import shutil
import sys
from collections.abc import Collection
from importlib.metadata import version
from pathlib import Path

from beholder.handbook.passages import anchor_of, docs_files

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --link: light-dark(#1a56b0, #8ab4f8); }
body { margin: 0 auto; max-width: 58rem; padding: 1.5rem 1rem 6rem; font: 1rem/1.6 system-ui, sans-serif;
  background: light-dark(#fff, #14161a); color: light-dark(#1c1e21, #e4e6ea); }
a { color: var(--link); } nav { border-bottom: 1px solid var(--line); padding-bottom: .5rem; }
h1, h2, h3, h4 { line-height: 1.25; margin: 2em 0 .6em; } h1 { margin-top: 1em; }
:target { background: light-dark(#fff4c2, #4a4218); }
pre { overflow-x: auto; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: .4rem; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; } pre code { overflow-wrap: normal; }
img { max-width: 100%; height: auto; } table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .35rem .6rem; text-align: start; vertical-align: top; }
"""
_HEAD = re.compile(r"<h([1-4])>(.*?)</h\1>", re.DOTALL)
_README = re.compile(r"(?:^|/)(\w+)/README\.md$")
_TARGET = re.compile(r'(href|src)="([^":]+?)(#[^"]*)?"')


def write_html(folder: Path | None = None) -> Path:
    """Write all pages, unless they are there as they are now, and return the folder that holds them."""
    files = docs_files()
    texts = {page: path.read_text("utf-8") for page, path in files.items()}
    digest = hashlib.sha256("\0".join(texts.values()).encode()).hexdigest()[:12]
    into = (folder or cache_folder()) / f"docs-{version('beholder')}-{digest}"
    if (into / "complete").exists():
        return into
    shutil.rmtree(into, ignore_errors=True)
    for page, text in texts.items():
        written = into / html_name(page)
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(page_html(page, text, files), "utf-8")
    for kind in ("pictures", "scaling"):
        pictures = files["index.md"].parent / kind
        if pictures.is_dir():
            shutil.copytree(pictures, into / kind)
    (into / "complete").touch()
    return into


def html_name(page: str) -> str:
    """Return the name of a page's file; pictures keep theirs."""
    return f"{page.removesuffix('.md')}.html" if page.endswith(".md") else page


def page_html(page: str, text: str, pages: Collection[str]) -> str:
    """Return a whole page: headings have their anchors, and links lead to the other pages that are here."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table").enable("strikethrough")
    body = reader.render(re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL))
    body = _HEAD.sub(_with_anchor, body)
    body = _TARGET.sub(lambda link: _follow(link, page, pages), body)
    home = posixpath.relpath("index.html", posixpath.dirname(page) or ".")
    title = text.partition("\n")[0].lstrip("# ").replace("`", "")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)} · Beholder</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head><body>'
        f'<nav><a href="{home}">Beholder {version("beholder")}: the docs</a></nav><main>{body}</main></body></html>\n'
    )


def _with_anchor(head: re.Match[str]) -> str:
    level, words = head.groups()
    anchor = anchor_of(html.unescape(re.sub(r"<[^>]+>", "", words)))
    return f'<h{level} id="{anchor}">{words}</h{level}>'


def _follow(link: re.Match[str], page: str, pages: Collection[str]) -> str:
    """Return a link as it is here: wherever this copy of Beholder keeps its pages, they lie beside each other."""
    kind, address, anchor = link[1], link[2], link[3] or ""
    if method := _README.search(address):
        there = f"methods/{method[1].replace('_', '-')}.md"
    elif "docs/" in address:
        there = address.rpartition("docs/")[2]
    else:
        there = posixpath.normpath(posixpath.join(posixpath.dirname(page), address))
    if there not in pages and kind == "href":
        return ""  # only the repository has it: words without a link
    target = posixpath.relpath(html_name(there), posixpath.dirname(page) or ".")
    return f'{kind}="{target}{anchor}"'


def cache_folder() -> Path:
    """Return the folder in which this person's programs keep what can be made again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "beholder"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/beholder"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "beholder"
