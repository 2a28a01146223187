"""Any plan as a table of list, position, slot and stimulus, which can be edited and given back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from functools import lru_cache

from beholder.methods.contract import Trial
from beholder.plan.counting.shown import compared_slots, free_slots
from beholder.plan.given.pages import COLUMNS, asked_together
from beholder.plan.model import Plan


def plan_sheet(plan: Plan) -> Iterator[str]:
    """Yield a plan as CSV, the heading first, then list by list.

    What checks put in is left out, and what gave way to it is there: the rules place checks in a given plan as well.
    """
    all_units = [part.units for part in plan.groups or (plan,) if part.units]
    asks = {frozenset(one): f",{_cell(asked_together(one))}" for units in all_units for one in units.asks}
    yield ",".join((*COLUMNS, *(("question",) if asks else ()))) + "\n"
    of_pairs = plan.units is not None and plan.units.kind == "pair"
    cell = lru_cache(maxsize=None)(_cell)
    for planned in plan.lists:
        lines: list[str] = []
        gave_way = plan.gave_way.get(planned.number, {})
        for position, trial in enumerate(planned.rated, 1):
            asked = asks.get(trial.rated_questions, ",") if asks else ""
            gone = gave_way.get(position - 1)
            head, stimuli = f"{planned.number},{position}", _stimuli(trial, of_pairs, gone)
            lines += [f"{head},{slot},{cell(stimulus)}{asked}\n" for slot, stimulus in enumerate(stimuli, 1)]
        yield "".join(lines)


def _stimuli(trial: Trial, of_pairs: bool, gone: str | None) -> list[str]:
    """Return what was dealt to a trial, in shown order."""
    if of_pairs:
        return list(dict.fromkeys(slot.stimulus for slot in compared_slots(trial)))
    slots = free_slots(trial)
    return [gone if gone is not None and slot.role == "attention" else slot.stimulus for slot in slots]


def _cell(text: str) -> str:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="").writerow([text])
    return written.getvalue()
