"""The diagram of docs/scaling.md, drawn as SVG."""

from __future__ import annotations

from html import escape

_WIDTH, _HEIGHT = 880, 420
_INK, _LINE, _PAPER = "#1b2733", "#5b6b7a", "#ffffff"
_FILL = {"people": "#eef2f6", "ours": "#dcebfb", "data": "#e3f1e4", "balancer": "#f6eeda"}


def diagram() -> str:
    """Return several servers behind a balancer, with what they share."""
    parts = [
        _box(20, 170, 150, 80, "people", "Participants", "browsers"),
        _box(240, 170, 150, 80, "balancer", "Balancer", "HTTPS, asks /healthz"),
    ]
    for number, top in enumerate((30, 170, 310), 1):
        notes = ("leads: removes,", "counts, backs up") if number == 1 else ("serves",)
        parts.append(_box(470, top, 160, 80, "ours", f"Server {number}", *notes))
        parts.append(_arrow(390, 210, 470, top + 40))
        parts.append(_arrow(630, top + 40, 710, 150))
    parts += [
        _box(710, 90, 150, 120, "data", "PostgreSQL", "answers, lists,", "secret, lock of", "the leader"),
        _box(710, 300, 150, 80, "data", "Object store", "media, backups"),
        _arrow(170, 210, 240, 210),
        # Media come straight from the bucket, below everything else.
        f'<path d="M95 250 V400 H785 V386" fill="none" stroke="{_LINE}" stroke-width="1.6" stroke-dasharray="6 4"'
        ' marker-end="url(#end)"/>',
        _text(330, 394, "media, by signed addresses", 13, _LINE),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        'font-family="system-ui, sans-serif" aria-label="Participants reach one of three servers through a balancer; '
        'the servers share PostgreSQL, and media come from an object store">'
    )
    marker = (
        '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0 L8 4 L0 8 z" fill="{_LINE}"/></marker></defs>'
    )
    paper = f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="{_PAPER}"/>'
    return "\n".join([head, marker, paper, *parts, "</svg>", ""])


def _box(left: int, top: int, width: int, height: int, kind: str, title: str, *notes: str) -> str:
    first = top + height / 2 - 9 * len(notes) + 4
    lines = [_text(left + width / 2, first, title, 16, _INK, weight="600")]
    lines += [_text(left + width / 2, first + 18 * number + 1, note, 13, _LINE) for number, note in enumerate(notes, 1)]
    box = f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="8" fill="{_FILL[kind]}" stroke="{_LINE}"/>'
    return "\n".join([box, *lines])


def _text(x: float, y: float, text: str, size: int, colour: str, weight: str = "400") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" fill="{colour}" text-anchor="middle">'
        f"{escape(text)}</text>"
    )


def _arrow(x1: int, y1: int, x2: int, y2: int) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{_LINE}" stroke-width="1.6" marker-end="url(#end)"/>'
