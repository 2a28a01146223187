"""The questions between trials: a tally of each, by the condition that was just rated, and over the session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from beholder.formats import NONE, count, nonzero_percent
from beholder.reporting.html import Child, Markup, render, tag
from beholder.reporting.html import table as html_table
from beholder.reporting.material import Material
from beholder.reporting.participants import answer_counts, answer_labels, item_tally, mean_sd, numbers_in
from beholder.reporting.section import Section
from beholder.reporting.sheets import TextTable
from beholder.study.questionnaire import Ask

_MOST_TIMES = 6
"""Up to so many times an item has a row each; of more, thirds."""
_THIRDS = ("First third", "Second third", "Last third")


def recurring_section(material: Material) -> Markup | None:
    """Return what was answered between trials; None where nothing was."""
    table, sessions = material.clean("during"), material.clean("sessions")
    asks = [ask for ask in material.study.during if not ask.kind.is_free_text]
    if table.empty or sessions.empty:
        return None
    table = table[table["question"].isin([ask.id for ask in asks])]
    if table.empty:
        return None
    is_used = table["session"].isin(set(sessions.loc[sessions["use"] == "true", "session"]))
    used = table[is_used]
    people = used["participant"].nunique()
    parts: list[Child] = [
        tag("p", f"{count(len(used), 'answer')} of {count(people, 'participant')} are used, of {len(table):,} in all.")
    ]
    tallies = []
    for ask in asks:
        rows, mine = table[table["question"] == ask.id], used[used["question"] == ask.id]
        if len(rows):
            tallies.append(item_tally(ask, list(mine["answer"]), list(rows["answer"])))
    parts.append(tag("div", tallies, class_="tallies"))
    for ask in asks:
        mine = used[used["question"] == ask.id]
        parts += [
            html_table(f"{ask.title} {title}", sheet)
            for title, sheet in (
                ("By condition", _by_condition(ask, mine, material)),
                ("Over the session", _over(ask, mine)),
            )
            if sheet is not None
        ]
    return render(parts)


RECURRING = Section(
    "between",
    "Asked between trials",
    recurring_section,
    foot=(
        "Answers, of which a person gives several: means and shares are of answers, and have no intervals. By "
        "condition: of the stimulus that was rated just before; without trials that were checks."
    ),
)


def _by_condition(ask: Ask, rows: pd.DataFrame, material: Material) -> TextTable | None:
    """Return the answers to an item by the condition just rated; None where trials show several."""
    names = [name for name in material.labels if (rows["condition"] == name).any()]
    groups = {material.labels[name]: list(rows.loc[rows["condition"] == name, "answer"]) for name in names}
    return _sheet(ask, "Condition", groups) if len(groups) > 1 else None


def _over(ask: Ask, rows: pd.DataFrame) -> TextTable | None:
    """Return the answers to an item by when they were given; None where each person was asked once."""
    times = rows["time"].astype(int)
    last = int(times.max()) if len(times) else 0
    if last < 2:
        return None
    if last <= _MOST_TIMES:
        return _sheet(ask, "Time", {f"{n}": list(rows.loc[times == n, "answer"]) for n in range(1, last + 1)})
    thirds = (times - 1) * len(_THIRDS) // last
    return _sheet(ask, "Time", {name: list(rows.loc[thirds == n, "answer"]) for n, name in enumerate(_THIRDS)})


def _sheet(ask: Ask, head: str, groups: Mapping[str, Sequence[str]]) -> TextTable:
    """Return a row for each group: of a number or a scale its mean, of choices the share of each."""
    everything = [cell for cells in groups.values() for cell in cells]
    if ask.kind.is_number or ask.kind.is_scale:
        rows = [(name, f"{len(cells):,}", mean_sd(numbers_in(cells), 1)) for name, cells in groups.items()]
        return TextTable((head, "Answers", "Mean ± SD"), rows)
    labels = answer_labels(ask, answer_counts(ask, everything))
    counted = {name: answer_counts(ask, cells) for name, cells in groups.items()}
    return TextTable(
        (head, "Answers", *(label for _, label in labels)),
        [
            (name, f"{len(cells):,}",
             *(nonzero_percent(counted[name][value] / len(cells)) if cells else NONE for value, _ in labels))
            for name, cells in groups.items()
        ],
    )  # fmt: skip
