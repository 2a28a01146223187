"""The participants: tallies of their answers to the questionnaires, by group too, and the texts that they wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import mean, median, stdev
from typing import NamedTuple

import pandas as pd

from beholder.cleaning.texts import Masks
from beholder.formats import NONE, count, join_names, nonzero_percent, number, plural
from beholder.reporting.html import Child, Markup, render, tag
from beholder.reporting.html import table as html_table
from beholder.reporting.material import Material
from beholder.reporting.questionnaire import people_words
from beholder.reporting.section import Section
from beholder.reporting.sheets import TextTable
from beholder.study.groups import groups_in
from beholder.study.questionnaire import Ask

_NO_ANSWER = "no answer"


def participants_section(material: Material) -> Markup | None:
    """Return a tally for each question of the questionnaires; None if there are none to count."""
    table = material.clean("participants")
    asks = [ask for ask in (*material.study.before, *material.study.after) if f"answer_{ask.id}" in table.columns]
    counted = [ask for ask in asks if not ask.kind.is_free_text]
    if not counted or table.empty:
        return None
    answered = [ask for ask in counted if (table[f"answer_{ask.id}"] != "").any()]
    silent = [ask.title for ask in counted if ask not in answered]
    sentences = [_sentence(material, table), *([f"Nobody answered: {join_names(silent)}"] if silent else [])]
    is_used = table["use"] == "true"
    cells = {ask.id: table[f"answer_{ask.id}"] for ask in answered}
    tallies = [item_tally(ask, list(cells[ask.id][is_used]), list(cells[ask.id])) for ask in answered]
    return render([tag("p", " ".join(sentences)), tag("div", tallies, class_="tallies") if tallies else None])


PARTICIPANTS = Section(
    "people",
    "Who they were",
    participants_section,
    foot=("Used: people of whom a session is analysed; shares are of those who answered. All: everybody who came."),
)


def _sentence(material: Material, table: pd.DataFrame) -> str:
    used = int((table["use"] == "true").sum())
    one, many = people_words(material)
    if not used:
        return f"Nobody is used. {count(len(table), one, many)} came."
    return f"{count(used, one, many)} of {len(table):,} who came {plural(used, 'is', 'are')} used."


def item_tally(ask: Ask, used: Sequence[str], everyone: Sequence[str]) -> Markup:
    """Return a tally of the answers to an item, as cells of a table; empty ones are answers that were left out."""
    title = f"{ask.title} (several answers)" if ask.kind.is_several else ask.title
    if ask.kind.is_number:
        one, other = numbers_in(used), numbers_in(everyone)
        missing = len(used) - len(one), len(everyone) - len(other)
        return spread_tally(title, one, other, missing, known=("answered", _NO_ANSWER))
    mine, all_of_them = answer_counts(ask, used), answer_counts(ask, everyone)
    shares = [AnswerShare(label, mine[value], all_of_them[value]) for value, label in answer_labels(ask, all_of_them)]
    silent = AnswerShare(_NO_ANSWER, used.count(""), everyone.count(""), is_counted=False)
    answered = len(used) - silent.used
    note = None
    if ask.kind.is_scale and answered:
        note = f"Mean ± SD of those used: {mean_sd(numbers_in(used), 1)}, from 1 to {len(ask.kind.labels(ask))}."
    return share_tally(title, [*shares, silent] if silent.everyone else shares, answered, note)


def answer_labels(ask: Ask, answers: Counter[str]) -> list[tuple[str, str]]:
    """Return each answer with its label: the present options, then those of earlier study texts."""
    offered = ask.kind.labels(ask)
    return list((offered | {value: value for value in sorted(answers) if value not in offered}).items())


def answer_counts(ask: Ask, cells: Sequence[str]) -> Counter[str]:
    """Return how often each answer was given; each of several choices counts."""
    return Counter(answer for cell in cells if cell for answer in ask.kind.answers_in(cell))


def numbers_in(cells: Sequence[str]) -> list[float]:
    """Return the numbers among the cells; anything else, from an earlier study text, counts as missing."""
    numbers = pd.to_numeric(pd.Series(cells, dtype=str), errors="coerce").dropna()
    return [float(value) for value in numbers if abs(value) != float("inf")]


# Demographics by group of participants: a row for each answer, a column for each group


_EVERYBODY = "All"


def demographics_sheet(material: Material) -> TextTable | None:
    """Return who they were: a column for each group, and for all; None where no question has an answer to count.

    Only people who are used. Numbers and places on a scale have mean and standard deviation; a choice has how often
    it was made, and its share of those who answered.
    """
    table = material.clean("participants")
    if table.empty or not (table["use"] == "true").any():
        return None
    used = table[table["use"] == "true"]
    columns = {**_by_group(material, used), _EVERYBODY: used}
    rows = [("Participants", "", *(f"{len(people):,}" for people in columns.values()))]
    for ask in (*material.study.before, *material.study.after):
        name = f"answer_{ask.id}"
        if name in used and not ask.kind.is_free_text and (used[name] != "").any():
            rows += _demographic_rows(ask, [list(people[name]) for people in columns.values()])
    return TextTable(("Question", "Answer", *columns), rows, names=2) if len(rows) > 1 else None


def _by_group(material: Material, people: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the people of each group, by the names of its levels; none where there are no groups."""
    between = material.study.design.between
    if not between or not people.columns.isin([f"factor_{name}" for name in between]).any():
        return {}
    groups = {}
    for levels in groups_in(between):
        is_theirs = pd.Series(True, index=people.index)
        for name, level in levels.items():
            is_theirs &= people[f"factor_{name}"] == level
        groups[", ".join(levels.values())] = people[is_theirs]
    return groups


def _demographic_rows(ask: Ask, columns: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the rows of one question; its words stand in the first of them."""
    counts = [answer_counts(ask, cells) for cells in columns]
    answered = [len(cells) - cells.count("") for cells in columns]
    missing = ("no answer", *(f"{cells.count(''):,}" for cells in columns))
    if ask.kind.is_number or ask.kind.is_scale:
        scale = f", from 1 to {len(ask.kind.labels(ask))}" if ask.kind.is_scale else ""
        rows = [(f"mean ± SD{scale}", *(mean_sd(numbers_in(cells), 1) for cells in columns))]
    else:
        rows = [
            (label, *(f"{own[value]:,} ({nonzero_percent(own[value] / whole)})" if whole else NONE
                      for own, whole in zip(counts, answered, strict=True)))
            for value, label in answer_labels(ask, counts[-1])
        ]  # fmt: skip
    rows += [missing] if answered[-1] < len(columns[-1]) else []
    return [(ask.title if place == 0 else "", *row) for place, row in enumerate(rows)]


def demographics_section(material: Material) -> Markup | None:
    """Return the demographics by group; None where there are no groups, as the tallies have all then."""
    sheet = demographics_sheet(material)
    if sheet is None or len(sheet.heads) <= 3:
        return None
    return html_table("Demographics by group of participants", sheet)


DEMOGRAPHICS = Section(
    "demographics",
    "Who they were, by group",
    demographics_section,
    foot="People of whom a session is analysed. Shares are of those who answered; of several answers each counts.",
)


# Tallies


_WIDTH, _HEIGHT = 96, 14
_BINS, _HIGH = 16, 40


class AnswerShare(NamedTuple):
    """One answer with how many gave it; `is_counted` if shares are of a total that includes it."""

    label: str
    used: int
    everyone: int
    is_counted: bool = True


def share_tally(title: str, shares: Sequence[AnswerShare], whole: int | None = None, note: Child = None) -> Markup:
    """Return a block with a bar for each answer; `whole` is the total of the used ones, by default the sum."""
    of = sum(share.used for share in shares if share.is_counted) if whole is None else whole
    rows = []
    for share in shares:
        part = share.used / of if of and share.is_counted else None
        cells: list[Child] = [
            tag("td", _bar(part or 0)),
            tag("td", tag("b", f"{share.used:,}")),
            tag("td", NONE if part is None else nonzero_percent(part)),
            tag("td", f"{share.everyone:,}"),
        ]
        rows.append(tag("tr", tag("th", share.label, scope="row", dir="auto"), cells))
    return _block(title, ("", "", "Used", "%", "All"), rows, note=note)


def spread_tally(
    title: str,
    used: Sequence[float],
    everyone: Sequence[float],
    missing: tuple[int, int],
    decimals: int = 1,
    known: tuple[str, str] = ("known", "not known"),
) -> Markup:
    """Return a block with the spread of a number; `missing` counts the used and all without one."""
    rows = [
        tag("tr", tag("th", name, scope="row"), [tag("td", tag("b", one)), tag("td", other)])
        for name, one, other in zip(
            (known[0], "mean ± SD", "median", "range", known[1]),
            _summary_cells(used, missing[0], decimals),
            _summary_cells(everyone, missing[1], decimals),
            strict=True,
        )
    ]
    return _block(title, ("", "Used", "All"), rows, picture=_histogram(used or everyone, decimals))


def mean_sd(values: Sequence[float], decimals: int) -> str:
    """Return `34.0 ± 12.1`, without the deviation of a single value."""
    if not values:
        return NONE
    spread = f" ± {number(stdev(values), decimals)}" if len(values) > 1 else ""
    return f"{number(mean(values), decimals)}{spread}"


def _summary_cells(values: Sequence[float], missing: int, decimals: int) -> tuple[str, ...]:
    if not values:
        return f"{0}", NONE, NONE, NONE, f"{missing:,}"
    low, high = (_short(end, decimals) for end in (min(values), max(values)))
    ends = low if low == high else f"{low} to {high}"
    return f"{len(values):,}", mean_sd(values, decimals), _short(median(values), decimals), ends, f"{missing:,}"


def _short(value: float, decimals: int) -> str:
    """Return a number without decimals that say nothing."""
    return number(value, 0 if value == round(value) else decimals)


def _block(
    title: str, heads: Sequence[str], rows: Sequence[Markup], *, picture: Markup | None = None, note: Child = None
) -> Markup:
    head = tag("tr", [tag("th", word, scope="col") if word else tag("td") for word in heads])
    grid = tag(
        "table", tag("caption", title, dir="auto"), tag("thead", head), tag("tbody", rows), class_="table tally__table"
    )
    return tag("div", grid, picture, tag("p", note, class_="tally__note") if note else None, class_="tally")


def _bar(share: float) -> Markup:
    rect = tag("rect", x="0", y="2", width=f"{_WIDTH * share:.1f}", height=_HEIGHT - 4, rx="2")
    return tag("svg", rect, class_="strip", viewBox=f"0 0 {_WIDTH} {_HEIGHT}", aria_hidden="true")


def _histogram(values: Sequence[float], decimals: int) -> Markup | None:
    """Return how often each part of the range occurs; the table has the same numbers."""
    if len(values) < 2 or min(values) == max(values):
        return None
    low, step = min(values), (max(values) - min(values)) / _BINS
    counts = [0] * _BINS
    for value in values:
        counts[min(_BINS - 1, int((value - low) / step))] += 1
    each = 2 * _WIDTH / _BINS
    bars = [
        tag("rect", x=f"{place * each:.1f}", y=f"{_HIGH * (1 - n / max(counts)):.1f}", width=f"{each - 1:.1f}",
            height=f"{_HIGH * n / max(counts):.1f}")
        for place, n in enumerate(counts)
        if n
    ]  # fmt: skip
    line = tag("path", d=f"M0 {_HIGH}H{2 * _WIDTH}")
    box = f"0 0 {2 * _WIDTH} {_HIGH + 1}"
    ends = [tag("span", _short(end, decimals)) for end in (min(values), max(values))]
    plot = tag("svg", bars, line, class_="tally__bars", viewBox=box, preserveAspectRatio="none")
    return tag("div", plot, tag("p", ends, class_="tally__ends"), aria_hidden="true")


# Texts


class _FreeText(NamedTuple):
    words: str
    about: str
    is_used: bool


def texts_section(material: Material) -> Markup | None:
    """Return the texts under their questions, collapsed; None if there are none."""
    lists = [
        _list(title, texts, people_words(material)) for title, texts in _texts_by_question(material).items() if texts
    ]
    return render(lists) if lists else None


TEXTS = Section(
    "written",
    "What people wrote",
    texts_section,
    foot=(
        "As written, in the order in which people came, without whose they are; [e-mail] and [id] stand for addresses "
        "and ids. People can name themselves or others in what they write: look through these texts before you hand "
        "this page on. No file beside it holds them."
    ),
)


def _texts_by_question(material: Material) -> dict[str, list[_FreeText]]:
    """Return the texts by question."""
    texts: dict[str, list[_FreeText]] = {}
    people = material.clean("participants")
    for ask in (*material.study.before, *material.study.after):
        if ask.kind.is_free_text and f"answer_{ask.id}" in people.columns:
            cells = zip(people[f"answer_{ask.id}"], people["use"] == "true", strict=True)
            texts[ask.title] = [_FreeText(_printable(cell), "", bool(used)) for cell, used in cells if cell.strip()]
    comments, sessions, between = (material.clean(name) for name in ("comments", "sessions", "during"))
    if sessions.empty:
        return texts
    used = set(sessions.loc[sessions["use"] == "true", "session"])
    for ask in material.study.during if len(between) else ():
        if ask.kind.is_free_text:
            rows = between[between["question"] == ask.id]
            texts[ask.title] = [
                _FreeText(_printable(text), content, session in used)
                for text, content, session in zip(rows["answer"], rows["content"], rows["session"], strict=True)
            ]
    if comments.empty:
        return texts
    names = {part.id: part.name for part in material.parts}
    columns = (comments[name] for name in ("kind", "question", "content", "text", "session"))
    for kind, question, content, text, session in zip(*columns, strict=True):
        title = f"Reasons: {names.get(question, question)}" if kind == "reason" else "Comments on the stimuli"
        if text.strip():
            texts.setdefault(title, []).append(_FreeText(_printable(text), content, session in used))
    return texts


def _list(title: str, texts: Sequence[_FreeText], people: tuple[str, str]) -> Markup:
    others = [text for text in texts if not text.is_used]
    mine = [text for text in texts if text.is_used]
    not_used = f", {len(others):,} of them of {people[1]} who are not used" if others else ""
    head = tag("summary", tag("span", title, dir="auto"), " ", tag("b", f"{count(len(texts), 'text')}{not_used}"))
    below = [tag("p", "Not used", class_="written__head"), _items(others)] if others else None
    return tag("details", head, _items(mine) if mine else None, below, class_="written")


def _items(texts: Sequence[_FreeText]) -> Markup:
    items = [
        tag("li", tag("span", text.words, dir="auto"), tag("small", text.about, dir="auto") if text.about else None)
        for text in texts
    ]
    return tag("ul", items)


def _printable(cell: str) -> str:
    """Return a text without unprintable characters.

    Addresses and ids are masked, because the page may be passed on.
    """
    text = Masks().text(cell)
    return "".join(sign if sign.isprintable() or sign in "\n\t" or not sign.isascii() else "\ufffd" for sign in text)
