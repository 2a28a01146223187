"""The page of a board: who may be first, every condition with its ranks, history, pairs, slices and methods."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from beholder.analysis.figures.theme import (
    ACCENT,
    BAR,
    DOUBLE,
    INK,
    LINE,
    Layout,
    apply_theme,
    chart_of,
    layer_chart,
    tooltip,
    value_axis,
)
from beholder.formats import (
    NONE,
    count,
    first_names,
    interval,
    join_names,
    number,
    percent,
    plural,
    signed,
)
from beholder.leaderboard.ranks import Standings
from beholder.leaderboard.tables import Board, Slice, citations, tables
from beholder.reporting.figures import Figure
from beholder.reporting.html import Child, Markup, folded, panel, render, scrolling, table, tag
from beholder.reporting.result_page import Outcome, headline
from beholder.reporting.sheets import TextTable

KIND = "Board of an arena"
_MOST_OPEN = 30
"""Rows of the board that stand open; the others are folded below them."""
_MOST_IN_MATRIX = 20
_MOST_PANES = 8
"""Conditions whose history is drawn, the best ones."""
_MOST_IN_SLICES = 20
_MOST_FIRST = 6


def outcome(board: Board, title: str, simulated: str = "", left_out: str = "", read: str = "") -> Outcome:
    """Return what the page tells, with its tables; `left_out` says which votes do not count, `read` how a table was."""
    words = finding(board)
    figures = [_history_figure(board)] if len(board.looks) > 1 else []

    def sections(drawn: Mapping[str, Markup]) -> Sequence[Child]:
        parts: list[Markup | None] = [_warnings(board), _ranking(board)]
        if "history" in drawn:
            parts.append(panel("history", "History", drawn["history"], foot=_HISTORY_FOOT, is_wide=True))
        parts += [_matrix(board), *_slices(board), _suspicion(board, left_out), _support(board, read), _methods(board)]
        return [part for part in parts if part is not None]

    lead = render([_facts(board), headline(words)])
    notes = {
        "words": list(words), "updated_at": board.updated_at, "minimum_people": board.minimum, "claim": board.claim,
        "people": len(board.votes.people), "votes": board.votes.size, "founders": board.founders,
        "warnings": list(board.coverage.warnings) if board.coverage is not None else [],
        "suspicious": list(board.suspicion.sentences) if board.suspicion is not None else [], "left_out": left_out,
    }  # fmt: skip
    return Outcome(KIND, title, lead, tables(board), figures, sections, notes, simulated)


# The finding


def finding(board: Board) -> tuple[str, ...]:
    """Return who may be first, and how much is told apart, in sentences."""
    votes, now = board.votes, board.now
    if now is None:
        return ("No votes yet.",)
    if len(votes.conditions) - len(votes.retired) < 2:
        return ("No ranks: fewer than two conditions are in the arena.",)
    if not board.has_ranks:
        people = count(len(votes.people), "person has", "people have")
        return (
            f"Too few people for ranks: {people} voted so far, and a condition has a rank once {board.minimum} people "
            "have compared it.",
        )
    said: tuple[str, ...] = (_lead_words(board, now), _found_words(now))
    if _differs_here(board):
        assert board.here is not None
        here = (_lead_words(board, board.here), _found_words(board.here))
        # What differs may be a rank further down, which the table has.
        if here != said:
            said += (f"On these {count(len(board.votes.contents), 'content')} alone: {' '.join(here)}",)
    return said


def _lead_words(board: Board, now: Standings) -> str:
    """Return who may be first."""
    ranked = [at for at in now.order if now.is_ranked[at]]
    first = [board.votes.name[at] for at in ranked if now.ranks.best[at] == 1]
    if len(first) == 1:
        return f"{first[0]} is first among {count(len(ranked), 'condition')}: it is preferred to every other."
    if len(first) <= _MOST_FIRST:
        one_of = f"one of {join_names(first)}" if len(first) > 2 else f"{first[0]} or {first[1]}"
        return f"First is {one_of}: which of these {len(first)} leads is not known."
    return f"{len(first)} of {len(ranked)} conditions may be first, among them {first_names(first, 3)}."


def _found_words(now: Standings) -> str:
    """Return how many pairs are told apart."""
    ranked = np.flatnonzero(now.is_ranked)
    pairs = len(ranked) * (len(ranked) - 1) // 2
    clear = int(now.differences.is_found[np.ix_(ranked, ranked)].sum())
    return f"{clear:,} of {count(pairs, 'pair')} {plural(pairs, 'is', 'are')} told apart."


def _differs_here(board: Board) -> bool:
    """Return whether ranks on these contents alone say more than those for other contents too."""
    here, now = board.here, board.now
    return here is not None and now is not None and any(rank_words(here, at) != rank_words(now, at) for at in now.order)


def _facts(board: Board) -> Markup:
    """Return how many people voted how often on what, and until when."""
    votes = board.votes
    retired = len(votes.retired)
    there = len(votes.conditions) - retired
    facts: list[Child] = [
        [tag("b", f"{len(votes.people):,}"), f" {plural(len(votes.people), 'person', 'people')}"],
        [tag("b", f"{votes.size:,}"), f" {plural(votes.size, 'vote')}"],
        [tag("b", f"{there:,}"), f" {plural(there, 'condition')}", f", {retired} retired" if retired else ""],
    ]
    if board.updated_at:
        moment = tag("time", board.updated_at, datetime=board.updated_at.replace(" UTC", "Z").replace(" ", "T"))
        facts.append(["Updated at ", tag("b", moment)])
    return tag("p", [tag("span", fact) for fact in facts], class_="facts")


def _warnings(board: Board) -> Markup | None:
    warnings = board.coverage.warnings if board.coverage is not None else ()
    if not warnings:
        return None
    listed = tag("ul", [tag("li", one) for one in warnings], class_="board__warnings")
    return panel("coverage", "What rests on little", tag("div", listed, class_="notice"), is_wide=True)


# The ranking


class _Span(NamedTuple):
    """The ends of the axis of strengths."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Return where a value is on it, from 0 to 1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def _ranking(board: Board) -> Markup:
    votes, now = board.votes, board.now
    if now is None:
        rows = [(name, NONE) for name in votes.name]
        shown = table("Conditions", TextTable(("Condition", "Rank"), rows)) if rows else tag("p", "No conditions yet.")
        return panel("ranks", "Ranks", shown, foot="Ranks come with the votes.", is_wide=True)
    known = ~np.isnan(now.low)
    ends = [*now.low[known], *now.high[known], *now.fit.strength[~np.isnan(now.fit.strength)]]
    span = _Span(min(ends) - 0.05, max(ends) + 0.05) if ends else _Span(-1.0, 1.0)
    order = now.order
    open_rows, more = order[:_MOST_OPEN], order[_MOST_OPEN:]
    content = _rank_table(board, now, open_rows, span, "Conditions, best first")
    if more:
        rest = _rank_table(board, now, more, span, "Further conditions")
        content = render([content, folded(f"{count(len(more), 'further condition')}", rest)])
    if _differs_here(board):
        here = (
            f" Here: the same on these {count(len(votes.contents), 'content')} alone; the other ranks hold for other "
            "contents too, of which few contents tell little."
        )
    else:
        here = ""
    foot = (
        "Ranks: all that are left to a condition with 95 % certainty, for all conditions at once and however often "
        "one looks. Strength in logits: one unit apart, the better one is preferred 73 times in a hundred. Zero is the "
        f"mean of the {count(min(board.founders, len(votes.conditions)), 'condition')} of the start. No rank: fewer "
        f"than {board.minimum} people compared it, it is retired, or nothing joins it with the others.{here}"
    )
    return panel("ranks", "Ranks", content, foot=foot, is_wide=True)


def _rank_table(board: Board, now: Standings, rows: Sequence[int], span: _Span, caption: str) -> Markup:
    votes, own = board.votes, board.votes.votes_of()
    here = board.here if _differs_here(board) else None
    columns: list[tuple[str, str | None]] = [
        ("Condition", None), ("Rank", None), *([("Here", None)] if here is not None else []),
        ("Strength and interval", "board__bar"), ("Strength", None), ("95 % interval", "board__more"),
        ("People", "board__more"), ("Votes", "board__more"),
    ]  # fmt: skip
    head = tag("tr", [tag("th", word, scope="col", class_=kind) for word, kind in columns])
    body = []
    for at in rows:
        is_retired = votes.conditions[at] in votes.retired
        name: list[Child] = [votes.name[at], tag("span", " retired", class_="board__retired") if is_retired else None]
        low, high, strength = float(now.low[at]), float(now.high[at]), float(now.fit.strength[at])
        cells = (
            tag("b", rank_words(now, at)), *([rank_words(here, at)] if here is not None else []),
            _strip(span, strength, low, high), number(strength, 2), _interval_words(board, now, at),
            f"{now.people[at]:,}", f"{own[at]:,}",
        )  # fmt: skip
        body.append(
            tag(
                "tr", tag("th", name, scope="row"),
                [tag("td", cell, class_=kind) for cell, (_, kind) in zip(cells, columns[1:], strict=True)],
                class_="is-retired" if is_retired else None,
            )
        )  # fmt: skip
    inner = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", body), class_="table board")
    return scrolling(caption, inner)


def _interval_words(board: Board, now: Standings, at: int) -> str:
    """Return the interval of a strength, or from how many people on there will be one."""
    if now.people[at] < board.minimum:
        return f"from {board.minimum} people on"
    return interval(float(now.low[at]), float(now.high[at]), 2)


def rank_words(now: Standings, at: int) -> str:
    """Return the ranks that are left to a condition, as `1` or `2–5`; a dash without any."""
    if not now.is_ranked[at] or int(now.is_ranked.sum()) < 2:
        return NONE
    best, worst = int(now.ranks.best[at]), int(now.ranks.worst[at])
    return f"{best}" if best == worst else f"{best}–{worst}"


def _strip(span: _Span, strength: float, low: float, high: float) -> Markup:
    """Return the interval of a strength as a drawing; the numbers beside it say the same."""
    if math.isnan(strength):
        return Markup()

    def at(value: float) -> str:
        return f"inset-inline-start: {100 * span.place(value):.1f}%"

    parts: list[Child] = [tag("s", style=at(0.0))] if span.low < 0 < span.high else []
    if not math.isnan(low):
        parts.append(tag("i", style=f"{at(low)}; inline-size: {100 * (span.place(high) - span.place(low)):.1f}%"))
    parts.append(tag("b", style=at(strength)))
    return tag("span", parts, class_="board__strip", aria_hidden="true")


# History


_HISTORY_FOOT = (
    "The strength of the best conditions and its interval as more people voted. The intervals hold at every look: what "
    "was read from an earlier board was no less certain."
)


_GAP, _MARGIN = 26, 60
"""Pixels between two charts of the history, and for the axis at their left."""


def _history_figure(board: Board) -> Figure:
    now = board.now
    assert now is not None
    best = [at for at in now.order if now.is_ranked[at]] or now.order
    shown = best[:_MOST_PANES]
    names = [board.votes.name[at] for at in shown]
    words = f"Strength of {join_names(names)} by the number of people who had voted. The numbers are in history.csv."
    return Figure(
        "history", "History", words, lambda layout: history_chart(board, shown, layout), is_wide=True, paper=DOUBLE
    )


def history_chart(board: Board, shown: Sequence[int], layout: Layout) -> Any:
    """Return a small chart for each condition: its strength and interval by the number of people."""
    import altair as alt

    columns = 4 if layout.is_wide else 2
    columns = min(columns, len(shown))
    width = (layout.whole - _MARGIN - _GAP * (columns - 1)) / columns
    height = width * (0.62 if layout.is_wide else 0.8)
    rows = [_past(board, at) for at in shown]
    ends = [value for past in rows for row in past for value in (row["low"], row["high"])]
    low, high = (min(ends), max(ends)) if ends else (-1.0, 1.0)
    air = 0.05 * (high - low)
    people = [look.people for look in board.looks]
    scales = (
        alt.Scale(domain=[low - air, high + air], nice=False),
        alt.Scale(domain=[people[0], people[-1]], nice=False),
    )
    charts = [
        _pane(board.votes.name[at], past, scales, width, height, layout, has_axis=place % columns == 0)
        for place, (at, past) in enumerate(zip(shown, rows, strict=True))
    ]
    lines = [
        alt.HConcatChart(hconcat=charts[at : at + columns], spacing=_GAP, bounds="flush")
        for at in range(0, len(charts), columns)
    ]
    return apply_theme(alt.VConcatChart(vconcat=lines, spacing=16), layout)


def _past(board: Board, at: int) -> list[dict[str, Any]]:
    """Return the strengths of one condition, as far back as enough people had compared it."""
    name, rows = board.votes.name[at], []
    for look in board.looks:
        there = look.standing
        low, high, strength = (float(each[at]) for each in (there.low, there.high, there.fit.strength))
        if math.isnan(low):
            continue
        ranks = rank_words(there, at)
        tip = f"{name}\n{count(look.people, 'person', 'people')}: {signed(strength, 2)}\n{interval(low, high, 2)}"
        tip += f"\nrank {ranks}" if ranks != NONE else ""
        rows.append({"people": look.people, "strength": strength, "low": low, "high": high, "tip": tip})
    return rows


def _pane(
    name: str, past: list[dict[str, Any]], scales: tuple[Any, Any], width: float, height: float, layout: Layout,
    *, has_axis: bool,
) -> Any:  # fmt: skip
    import altair as alt

    vertical, across = scales
    y = alt.Y(
        "strength:Q", scale=vertical, axis=value_axis("strength" if has_axis else "", labels=has_axis, tickCount=5)
    )
    x = alt.X("people:Q", scale=across, axis=value_axis("people", tickCount=3, format=",d", labelOverlap=True))
    zero = chart_of([{"strength": 0}]).mark_rule(color=LINE, aria=False).encode(y=y)
    band = (
        chart_of(past)
        .mark_area(color=BAR, opacity=0.45, aria=False)
        .encode(x=x, y=alt.Y("low:Q", scale=vertical), y2="high:Q")
    )
    line = chart_of(past).mark_line(color=ACCENT, strokeWidth=1.8, aria=False).encode(x=x, y=y)
    dots = chart_of(past).mark_circle(color=ACCENT, size=layout.dot / 4, opacity=1).encode(x=x, y=y, **tooltip())
    chart = layer_chart([zero, band, line, dots], width, height)
    most = max(8, int(width / (layout.size * 0.6)))
    chart.title = alt.Title(
        name if len(name) <= most else f"{name[: most - 1]}…", anchor="start", fontSize=layout.size, color=INK,
        fontWeight="normal", offset=6, frame="group",
    )  # fmt: skip
    return chart


# Pairs


def _matrix(board: Board) -> Markup | None:
    now = board.now
    if now is None or not board.has_ranks:
        return None
    votes = board.votes
    shown = [at for at in now.order if now.is_ranked[at]][:_MOST_IN_MATRIX]
    heads = [tag("th", tag("span", votes.name[at], title=votes.name[at]), scope="col") for at in shown]
    body = [
        tag("tr", tag("th", votes.name[one], scope="row"), [_cell(now, one, other) for other in shown]) for one in shown
    ]
    caption = "How often the row is preferred to the column, in percent"
    kind = "matrix matrix--many" if len(shown) > 12 else "matrix"
    grid = tag(
        "table", tag("caption", caption, class_="unseen"), tag("thead", tag("tr", tag("td"), heads)),
        tag("tbody", body),
        class_=kind,
    )  # fmt: skip
    key = tag(
        "p",
        tag("span", tag("i", class_="matrix__above"), "bold: row is better"),
        tag("span", tag("i", class_="matrix__below"), "bold: row is worse"),
        tag("span", tag("i", class_="matrix__same"), "not told apart"),
        class_="key",
    )
    ranked = int(now.is_ranked.sum())
    foot = (
        f"{caption}, ties and position aside. Of the pairs that are told apart 5 % at most are wrong on average (e-BH)."
    )
    if ranked > len(shown):
        foot += f" The {len(shown)} best of {ranked}; all pairs are in pairs.csv."
    return panel("pairs", "Every pair", render([key, scrolling(caption, grid)]), foot=foot, is_wide=True)


def _cell(now: Standings, one: int, other: int) -> Markup:
    if one == other:
        return tag("td", class_="matrix__self")
    mine = now.differences
    if math.isnan(mine.difference[one, other]) or now.fit.graph.component[one] != now.fit.graph.component[other]:
        return tag("td", NONE, class_="matrix__same", aria_label="never compared")
    shown = f"{100 * float(expit(mine.difference[one, other])):.0f}"
    if mine.is_found[one, other]:
        return tag("td", tag("b", shown), class_="matrix__above", aria_label=f"{shown} percent, row is better")
    if mine.is_found[other, one]:
        return tag("td", tag("b", shown), class_="matrix__below", aria_label=f"{shown} percent, row is worse")
    return tag("td", shown, class_="matrix__same", aria_label=f"{shown} percent, not told apart")


# Slices


def _slices(board: Board) -> list[Markup]:
    """Return a panel for each factor: rank and strength of every condition by its levels."""
    now = board.now
    if now is None:
        return []
    by_factor: dict[str, list[Slice]] = {}
    for one in board.slices:
        by_factor.setdefault(one.factor, []).append(one)
    order = [at for at in now.order if now.people[at]][:_MOST_IN_SLICES]
    panels = []
    for place, (factor, levels) in enumerate(by_factor.items(), 1):
        heads = ("Condition", "All", *(f"{one.level} ({one.people:,})" for one in levels))
        rows = [(board.votes.name[at], _place(now, at), *(_place(one.standing, at) for one in levels)) for at in order]
        caption = f"Rank and strength by {factor}"
        foot = (
            "Ranks that are left, then strength, on stimuli of this level alone; in brackets how many people voted on "
            "them. Each slice is held for itself."
        )
        shown = table(caption, TextTable(heads, rows))
        panels.append(panel(f"slice-{place}", f"By {factor}", shown, foot=foot, is_wide=True))
    return panels


def _place(there: Standings | None, at: int) -> str:
    if there is None or math.isnan(there.low[at]):
        return NONE
    ranks = rank_words(there, at)
    return (
        f"{ranks} · {number(float(there.fit.strength[at]), 2)}"
        if ranks != NONE
        else number(float(there.fit.strength[at]), 2)
    )


# Votes that may not be somebody's own


def _suspicion(board: Board, left_out: str) -> Markup | None:
    """Return whose votes are suspicious, how all would stand without them, and which votes do not count."""
    found = board.suspicion
    if found is None:
        return None
    sentences = [*found.sentences]
    if found.without is not None and board.has_ranks:
        who = count(len(found.everybody), "person", "people")
        sentences.append(f"Without these {who}: {_weighted_words(board, found.without)}. Here their votes count.")
    if not sentences:
        people = count(found.looked_at, "person", "people")
        sentences.append(f"Nothing found. {people} gave enough votes to be judged.")
    sentences += [left_out] if left_out else []
    listed = tag("ul", [tag("li", one) for one in sentences], class_="board__warnings")
    foot = "Of those who are found, 5 % may be honest people. votes.csv says whose votes were found, and by which rule."
    kind = "notice" if found.sentences else None
    return panel("suspicion", "Suspicious votes", tag("div", listed, class_=kind), foot=foot, is_wide=True)


# What it rests on

_MEASURED = {"words_100": "100 words more", "loudness_lu": "1 LU louder", "duration_s": "1 second longer"}
"""What was measured of files, in words."""


def _support(board: Board, read: str) -> Markup | None:
    """Return how far the board rests on few people, on weights, and on what stimuli differ in."""
    now, cover = board.now, board.coverage
    if now is None or cover is None:
        return None
    rows: list[tuple[str, str]] = [
        ("Pairs compared", f"{cover.pairs:,} of {cover.of:,}"),
        ("Votes across the weakest cut", f"{cover.across:,}"),
    ]
    if "position" in now.fit.effects:
        effect = now.fit.effect["position"]
        rows.append(("Shown first, or left", f"preferred {percent(float(expit(effect)))} of the time among equals"))
    if now.fit.has_ties:
        rows.append(("Ties among equals", percent(now.fit.tie_share)))
    if board.removal is not None:
        rows.append(("People who decide the first place", _removal_words(board)))
    if board.has_ranks:
        rows.append(("People weighed by agreement", _weighted_words(board, board.rater_weighted)))
        if board.draw_weighted is not None:
            rows.append(("As if all pairs had been drawn equally often", _weighted_words(board, board.draw_weighted)))
    rows += [
        (
            _MEASURED.get(one.name, f"One unit more of {one.name}"),
            f"{signed(one.effect, 3)} logits ({interval(one.low, one.high, 3)}); alike in it, "
            f"{one.leader or 'nobody'} leads"
            if one.is_known
            else "too little is known of what it adds",
        )
        for one in board.covariates
    ]
    rows += [("Where the votes are from", read)] if read else []
    listed = tag("dl", [tag("div", tag("dt", name), tag("dd", words)) for name, words in rows], class_="method")
    return panel("support", "What it rests on", listed, is_wide=True)


def _removal_words(board: Board) -> str:
    removal = board.removal
    assert removal is not None
    leader, rival = board.votes.name[removal.leader], board.votes.name[removal.rival]
    if not removal.people:
        return f"no group of people was found without whom another would lead than {leader}"
    who = count(removal.people, "person", "people")
    return f"without {who} of the {removal.of:,} who compared {leader}, {rival} would lead"


def _weighted_words(board: Board, other: Any) -> str:
    """Return whether the same one leads, and how far strengths move."""
    now = board.now
    assert now is not None
    ranked = [at for at in now.order if now.is_ranked[at]]
    leader = max(ranked, key=lambda at: float(other[at]))
    most = float(np.nanmax(np.abs(other - now.fit.strength)[ranked]))
    same = "the same one leads" if leader == ranked[0] else f"{board.votes.name[leader]} leads"
    return f"{same}; strengths move by {number(most, 2)} at most"


# Methods


def _methods(board: Board) -> Markup:
    return panel("methods", "Methods", render(tag("div", tag("p", methods_text(board)), class_="paste")), is_wide=True)


def methods_text(board: Board) -> str:
    """Return the methods of the board as a paragraph for a paper."""
    votes, now = board.votes, board.now
    until = f" up to {board.updated_at}" if board.updated_at else ""
    text = f"{count(len(votes.people), 'person', 'people')} gave {count(votes.size, 'vote')}{until}"
    if now is None:
        return f"{text}."
    text += f" on {count(len(votes.conditions), 'condition')} and {count(len(votes.contents), 'content')}."
    if votes.together > 2:
        text += " Of a page with several, every two that were put in order are a vote."
    parts = ["ties" if now.fit.has_ties else "", "an effect of position" if "position" in now.fit.effects else ""]
    with_parts = join_names([part for part in parts if part])
    text += f" Strengths are those of Bradley and Terry's model{f' with {with_parts}' if with_parts else ''}."
    over = "people and contents" if board.claim == "beyond" and len(votes.contents) > 1 else "people"
    text += (
        f" Errors are clustered by {over}; intervals are those of an asymptotic confidence sequence over people, which "
        f"holds at every look at 95 %, and begin once {board.minimum} people compared a condition. Sets of ranks come "
        "from simultaneous sequences of all differences, with shares of the error rate set aside for conditions that "
        "join. Pairs are told apart by e-BH at a false discovery rate of 5 %."
    )
    return f"{text} Sources: {'; '.join(citations(board))}."
