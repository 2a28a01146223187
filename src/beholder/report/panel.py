"""A panel of the page: a title, what it tells, and how to read it."""

from __future__ import annotations

from beholder.report.markup import Child, Markup, tag


def panel(name: str, title: str, content: Markup, *, foot: Child = None, is_wide: bool = False) -> Markup:
    """Return a panel with an anchor of this name; a wide one has the whole width of the page."""
    return tag(
        "section",
        tag("h2", title, id=f"{name}-h"),
        content,
        tag("p", foot, class_="panel__foot") if foot else None,
        class_="panel paper__wide" if is_wide else "panel",
        id=name,
        aria_labelledby=f"{name}-h",
    )
