"""The figure of variances: of all that ratings differ by, how much each source adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from beholder.analyse.plots.numbers import percent
from beholder.analyse.plots.palette import PAPER, ramp
from beholder.analyse.plots.theme import COLUMN, Layout, drawn, finished, layered, name_axis, told, value_axis
from beholder.analyse.result import records

WORDS = {"condition": "conditions", "participant": "participants", "content": "contents", "residual": "the rest"}
"""Sources as one reads them."""


def variances_chart(table: pd.DataFrame, *, labels: Mapping[str, str] | None = None, layout: Layout = COLUMN) -> Any:
    """Return one bar for each question, shared out among conditions, participants, contents and the rest."""
    import altair as alt

    called = {name: (labels or {}).get(name, name) for name in dict.fromkeys(table["question"])}
    has_names = len(called) > 1
    names = list(called.values())
    bars = _bars(table, called)
    side = layout.names_width(names) if has_names else 4
    width = layout.whole - side - 30
    low, pale, grey, _, high = ramp(5)
    colours = dict(zip(WORDS.values(), (high, low, pale, grey), strict=True))
    seen = [word for word in WORDS.values() if any(bar["part"] == word for bar in bars)]
    colour = alt.Color(
        "part:N", scale=alt.Scale(domain=seen, range=[colours[word] for word in seen]),
        legend=alt.Legend(title=None, columns=len(seen)),
    )  # fmt: skip
    x = alt.X(
        "start:Q", scale=alt.Scale(domain=[0, 1], nice=False),
        axis=value_axis("Share of what ratings differ by", format="%", values=[0, 0.25, 0.5, 0.75, 1]),
    )  # fmt: skip
    y = name_axis(names, layout, side, has_names=has_names)
    wide = [bar for bar in bars if (bar["stop"] - bar["start"]) * width > layout.letters(bar["share"]) + 6]
    inside: dict[str, Any] = {"fontSize": layout.small, "baseline": "middle", "aria": False}
    dark = {colours["conditions"], colours["participants"]}
    layers = [
        drawn(bars).mark_bar(stroke=PAPER, strokeWidth=0.7, opacity=1)
        .encode(x=x, x2=alt.X2("stop:Q"), y=y, color=colour, **told()),
    ]  # fmt: skip
    # These colours stay as they are in every theme, as those of the bars do.
    for is_dark, ink in ((True, "#fefefe"), (False, "#1b1b1b")):
        own = [bar for bar in wide if (colours[bar["part"]] in dark) is is_dark]
        if own:
            text = drawn(own).mark_text(color=ink, **inside)
            layers.append(text.encode(x=alt.X("middle:Q"), y=y, text=alt.Text("share:N")))
    return finished(layered(layers, width, layout.height(names) * (1 if has_names else 1.4)), layout)


def _bars(table: pd.DataFrame, called: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the pieces of every bar, from the left to the right."""
    ends = dict.fromkeys(called, 0.0)
    bars = []
    for row in records(table):
        share = row["share"]
        if share != share or share <= 0:
            continue
        start = ends[row["question"]]
        ends[row["question"]] = start + share
        name, part = called[row["question"]], WORDS[row["source"]]
        tip = f"{name}\n{part}: {percent(share)}\nSD {row['sd']:.3g}"
        bars.append(
            {
                "name": name, "part": part, "start": start, "stop": start + share, "middle": start + share / 2,
                "share": percent(share), "tip": tip,
            }
        )  # fmt: skip
    return bars
