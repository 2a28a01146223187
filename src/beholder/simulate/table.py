"""Answers in memory as a table of ratings, with the columns of ratings.csv."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from beholder.clean.ratings import COLUMNS
from beholder.plan.model import PlannedList
from beholder.simulate.answers import Answers
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study

if TYPE_CHECKING:
    from pandas import DataFrame

LEFT = "complete:not_finished"
"""Why ratings of somebody who left are not used, as cleaning says it."""
EMPTY = ("colour", "plays", "watched_ms", "coverage", "response_ms", "answered_at")
"""Columns without a value: nothing was played, and nobody took any time."""


def answers_table(answers: Answers, catalogue: Catalogue, questions: Sequence[str], names: Sequence[str]) -> DataFrame:
    """Return answers as rows, without what is the same in all of them; `list` is the number of each person, from 0.

    Names are categories, so that a million rows take little room.
    """
    import pandas as pd

    sheet, entry, value = answers.sheet, answers.entry, answers.value
    stimuli = [one.id for one in catalogue.stimuli]
    scale = sheet.scale[entry]
    low, high = (np.array([getattr(one, end) for one in sheet.scales])[scale] for end in ("min", "max"))
    raw = np.where(sheet.slot[entry] > sheet.other_slot[entry], value, -value) + 0.0
    keyed = np.where(sheet.is_reversed[entry], low + high - value, value)
    participant = _named(answers.participant, names)
    return pd.DataFrame(
        {
            "list": answers.participant,
            "participant": participant,
            "session": participant,
            "trial": _numbered(sheet.position[entry], "trial:"),
            "position": sheet.position[entry],
            "question": _named(sheet.question[entry], questions),
            "kind": sheet.kind,
            "content": _named(sheet.content[entry], sheet.contents),
            "condition": _named(sheet.condition[entry], sheet.conditions),
            "stimulus": _named(sheet.stimulus[entry], stimuli),
            "role": _named(sheet.role[entry], sheet.roles),
            "other_condition": _named(sheet.other_condition[entry], sheet.conditions),
            "other_stimulus": _named(sheet.other[entry], stimuli),
            "unit": None,
            "value": value,
            "raw_value": raw if sheet.is_compared else value,
            "keyed": None if sheet.is_compared else keyed,
            "scale_min": low,
            "scale_max": high,
            "missing": None,
            "slot": _numbered(sheet.slot[entry], "s"),
            "use": answers.stayed[answers.participant],
        }
    )


def whole_table(
    table: DataFrame, study: Study, catalogue: Catalogue, lists: Sequence[PlannedList], digest: str
) -> DataFrame:
    """Return rows with all columns of ratings.csv, the factors of stimuli and those between participants among them."""
    import pandas as pd

    same: dict[str, Any] = {
        "study": study.name, "digest": digest, "run": study.run, "mode": "robot", "repetition": 1,
        "method": study.method, "input": "robot",
    }  # fmt: skip
    table = table.assign(**same, **dict.fromkeys(EMPTY), reasons=np.where(table["use"], "", LEFT))
    known = {one.id: one.factors for one in catalogue.stimuli}
    names = sorted({name for factors in known.values() for name in factors})
    factors: dict[str, Any] = {name: _factor(table["stimulus"], known, name) for name in names}
    for name in dict.fromkeys(name for planned in lists for name in planned.group):
        levels = np.array([planned.group.get(name) for planned in lists], dtype=object)
        factors[name] = levels[table["list"].to_numpy(dtype=np.int64) % len(lists)]
    more = {f"factor_{name}": factors[name] for name in sorted(factors)}
    if bool(table["other_stimulus"].notna().any()):
        more |= {f"other_factor_{name}": _factor(table["other_stimulus"], known, name) for name in names}
    return pd.concat([table[list(COLUMNS)], pd.DataFrame(more, index=table.index)], axis=1)


def _factor(stimuli: Any, known: Mapping[str, Mapping[str, str]], name: str) -> Any:
    return stimuli.map({stimulus: factors.get(name) for stimulus, factors in known.items()})


def _named(codes: Any, names: Sequence[str]) -> Any:
    """Return names by their places, -1 being none; there are few of them, and very many rows."""
    import pandas as pd

    return pd.Categorical.from_codes(codes, categories=pd.Index(list(names)))


def _numbered(numbers: Any, word: str) -> Any:
    return _named(numbers, [f"{word}{number}" for number in range(int(numbers.max(initial=0)) + 1)])
