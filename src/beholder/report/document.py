"""One HTML file that needs nothing else: style and scripts are in it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from beholder.report.markup import Child, Markup, tag


def document(title: str, body: Child, scripts: Sequence[str]) -> str:
    """Return a whole page around its body, with these of our scripts."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · Beholder"),
        tag("style", _text("style.css")),
    )
    alive = Markup("\n".join(_text(name) for name in scripts))
    return (
        "<!doctype html>\n"
        + tag("html", head, tag("body", body, tag("script", alive, type="module")), lang="en")
        + "\n"
    )


def _text(name: str) -> Markup:
    return Markup(resources.files("beholder.report").joinpath(name).read_text(encoding="utf-8"))
