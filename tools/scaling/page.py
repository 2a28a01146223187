"""The tables and the diagram of docs/scaling.md, written where the page has a place for them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from scaling.day import Assumptions, Layout, layouts, most_people_a_day, resources, simulate
from scaling.diagram import diagram
from scaling.measured import StoreCost

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "scaling.md"
_USED = 0.7
"""The share of a core that is planned with: above it, waits grow fast."""


def write_page(costs: Sequence[StoreCost], page: Path = PAGE) -> None:
    """Write the parts of the page that are made, and its diagram."""
    text = page.read_text("utf-8")
    for name, lines in (("sizes", size_table(costs)), ("day", day_tables(costs))):
        text = with_part(text, name, lines)
    page.write_text(text, "utf-8")
    (page.parent / "pictures" / "scaling.svg").write_text(diagram(), "utf-8")


def with_part(text: str, name: str, lines: Sequence[str]) -> str:
    """Return a page with new lines between the marks of a part."""
    first, last = f"<!-- {name}: made by make scaling -->", f"<!-- end of {name} -->"
    place = re.compile(f"{re.escape(first)}.*?{re.escape(last)}", re.DOTALL)
    if len(place.findall(text)) != 1:
        raise ValueError(f"{name} has no place in the page: {first} ... {last}")
    return place.sub(lambda _: "\n".join([first, *lines, last]), text)


def size_table(costs: Sequence[StoreCost]) -> list[str]:
    """Return what a participant costs on each store."""
    per_core = [_round(_USED * one.people_per_core) for one in costs]
    rows: list[tuple[str, list[str]]] = [
        ("people at once, sessions in all", [f"{one.people:,}, {one.sessions:,}" for one in costs]),
        ("requests of a session; of these, answers", [f"{one.requests}; {one.answers}" for one in costs]),
        ("errors", [str(one.errors) for one in costs]),
        ("p99 of answers", [f"{one.p99_ms:.0f} ms" for one in costs]),
        ("processor of the server for an answer, all else included", [f"{one.answer_ms:.2f} ms" for one in costs]),
        ("processor of PostgreSQL for an answer", [_or_none(one.database_ms / one.answers, "ms") for one in costs]),
        (f"**participants for each core**, {_USED:.0%} busy", [f"**{one:,}**" for one in per_core]),
        ("**memory for 1,000 people at once**", [f"**{one.open_kilobytes / 1.024:.0f} MB**" for one in costs]),
        ("memory that stays for 1,000 sessions, up to 20,000", [f"{one.kilobytes / 1.024:.0f} MB" for one in costs]),
        (f"memory for 1,000 lists of {costs[0].list_trials} trials", [f"{one.list_kilobytes:.0f} MB" for one in costs]),
        ("**size of the store for 1,000 answers**", [f"**{one.bytes_an_answer / 1000:.1f} MB**" for one in costs]),
        ("processor of the client that played them", [f"{one.client_cores:.2f} cores" for one in costs]),
    ]  # fmt: skip
    machine = costs[0].machine
    low, high = costs[0].pause_s
    kinds = " | ".join(one.kind for one in costs)
    head = f"| measured on {machine}; an answer every {low:.0f} to {high:.0f} s | {kinds} |"
    return [head, f"|---|{'---|' * len(costs)}", *(f"| {what} | {' | '.join(values)} |" for what, values in rows)]


def _or_none(value: float, unit: str) -> str:
    return f"{value:.2f} {unit}" if value else "in the server's"


def _round(value: float) -> int:
    """Return a number with two digits that count."""
    digits = 10 ** max(0, int(math.log10(max(value, 1))) - 1)
    return int(round(value / digits) * digits)


def day_tables(costs: Sequence[StoreCost], given: Assumptions | None = None) -> list[str]:
    """Return how the busiest hour goes in each layout, and what is full first."""
    given = given or Assumptions()
    shown = layouts(costs)
    lines = [
        f"| busiest hour of {given.people_a_day:,} people a day | p99 of answers | servers busy | database busy"
        " | full first, at so many a day | p99 under 250 ms, tried up to |",
        "|---|---|---|---|---|---|",
    ]
    for layout in shown:
        waits, first = simulate(layout, given), _first_full(layout, given)
        database = f"{waits.database_share:.0%}" if layout.has_database else "in the server"
        most = f"{most_people_a_day(layout, given):,} a day"
        lines.append(
            f"| {layout.name} | {_wait(waits.p99_ms())} | {waits.server_share:.0%} | {database} | {first} | {most} |"
        )
    last = shown[-1]
    lines += ["", f"| {last.name}: what is taken of | at {given.people_a_day:,} a day | full at |", "|---|---|---|"]
    for one in resources(last, given):
        full = one.people_a_day(given)
        told = "does not grow with people" if math.isinf(full) else f"{_round(full):,} a day"
        lines.append(f"| {one.name} | {_share(one.share)} | {told} |")
    return lines


def _first_full(layout: Layout, given: Assumptions) -> str:
    first = min(resources(layout, given), key=lambda one: one.people_a_day(given))
    return f"{first.name}: {_round(first.people_a_day(given)):,}"


def _wait(milliseconds: float) -> str:
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.0f} s"


def _share(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "under 1%"
