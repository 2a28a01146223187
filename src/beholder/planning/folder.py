"""The folder plan/: plan.json, lists.jsonl, lists.csv and balance.csv."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from beholder.checks.known_answers import Attention
from beholder.files import csv_lines, csv_text, write_atomically
from beholder.methods.contract import Trial
from beholder.planning.balance import balance, balance_table
from beholder.planning.counts import compared_slots, free_slots
from beholder.planning.given_plan import COLUMNS, join_questions
from beholder.planning.model import Addition, Plan, PlannedList, no_collection
from beholder.planning.serialization import lists_from_json, lists_to_json
from beholder.stimuli.catalogue import Catalogue
from beholder.types import Json


def write_plan(plan: Plan, catalogue: Catalogue, digest: str, folder: Path) -> None:
    """Write the plan below a study's folder. plan.json is written last and holds the hash of the lists."""
    target = folder / "plan"
    target.mkdir(parents=True, exist_ok=True)
    table = csv_lines(balance_table(balance(plan, catalogue)))
    with no_collection():
        sha256 = _replace(target / "lists.jsonl", map(_line, lists_to_json(plan)))
    counts: dict[str, Any] = {
        "plan_digest": plan.plan_digest,
        "digest": digest,
        "seed": plan.seed,
        "lists": len(plan.lists),
        "trials": sum(len(planned.trials) for planned in plan.lists),
        "stimuli": len(catalogue.by_cell),
        "lists_sha256": sha256,
    }
    if plan.is_extended:
        counts["extensions"] = [
            {"first": lists[0].number, "last": lists[-1].number, **added._asdict()} for added, lists in extensions(plan)
        ]
        counts["covers"] = sorted(plan.covers)
        counts["before"] = [sorted(stimuli) for stimuli in plan.earlier_stimuli]
    if plan.units is not None and not plan.is_extended and not plan.groups and not plan.is_bound:
        _replace(target / "lists.csv", plan_csv(plan))
    _replace(target / "balance.csv", [table])
    _replace(target / "plan.json", [json.dumps(counts, indent=2), "\n"])


def extensions(plan: Plan) -> Iterator[tuple[Addition, list[PlannedList]]]:
    """Yield each addition of lists to a plan, with its lists."""
    for added, some in groupby(plan.lists, key=lambda planned: planned.added):
        if added is not None:
            yield added, list(some)


def read_plan(folder: Path, plan_digest: str | None = None) -> Plan | None:
    """Return the plan below a study's folder; None if it is missing, incomplete, or does not serve this digest."""
    try:
        counts = json.loads((folder / "plan" / "plan.json").read_bytes())
        if plan_digest is not None and plan_digest not in counts.get("covers", [counts["plan_digest"]]):
            return None
        lists = (folder / "plan" / "lists.jsonl").read_bytes()
        if hashlib.sha256(lists).hexdigest() != counts["lists_sha256"]:
            return None
        with no_collection():
            lists_read = tuple(lists_from_json(json.loads(line) for line in lists.splitlines()))
        earlier = tuple(frozenset(stimuli) for stimuli in counts.get("before", ()))
        return Plan(counts["plan_digest"], counts["seed"], lists_read, earlier_stimuli=earlier)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def was_extended(folder: Path) -> bool:
    """Return whether lists were added to the plan below a study's folder."""
    return bool(_read_counts(folder).get("extensions"))


def read_earlier_stimuli(folder: Path) -> tuple[frozenset[str], ...]:
    """Return the rated stimuli before each addition of stimuli to the plan of a folder."""
    return tuple(frozenset(stimuli) for stimuli in _read_counts(folder).get("before", ()))


def _read_counts(folder: Path) -> dict[str, Any]:
    """Return the content of plan.json; nothing if it is missing or incomplete."""
    try:
        counts = json.loads((folder / "plan" / "plan.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return counts if isinstance(counts, dict) else {}


def is_plan_of(folder: Path, digest: str) -> bool:
    """Return whether the plan below a study's folder was written for exactly this study, texts included."""
    try:
        return bool(json.loads((folder / "plan" / "plan.json").read_bytes())["digest"] == digest)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _line(planned: Json) -> str:
    return json.dumps(planned, separators=(",", ":"), ensure_ascii=False) + "\n"


def _replace(path: Path, text: Iterable[str]) -> str:
    """Write a file atomically and return the SHA-256 of its content."""
    digest = hashlib.sha256()

    def parts() -> Iterator[bytes]:
        for part in text:
            data = part.encode()
            digest.update(data)
            yield data

    write_atomically(path, parts())
    return digest.hexdigest()


def plan_csv(plan: Plan) -> Iterator[str]:
    """Yield a plan as CSV that can be edited and used as a given plan: the header, then list by list.

    Check trials are left out, and attention stimuli are shown as the stimuli that they replace: the rules place checks
    in a given plan as well.
    """
    all_units = [part.units for part in plan.groups or (plan,) if part.units]
    asks = {frozenset(one): f",{_cell(join_questions(one))}" for units in all_units for one in units.asks}
    yield ",".join((*COLUMNS, *(("question",) if asks else ()))) + "\n"
    of_pairs = plan.units is not None and plan.units.kind == "pair"
    cell = lru_cache(maxsize=None)(_cell)
    for planned in plan.lists:
        lines: list[str] = []
        replaced = plan.replaced_stimuli.get(planned.number, {})
        for position, trial in enumerate(planned.rated, 1):
            asked = asks.get(trial.rated_questions, ",") if asks else ""
            replaced_here = replaced.get(position - 1)
            head, stimuli = f"{planned.number},{position}", _stimuli(trial, of_pairs, replaced_here)
            lines += [f"{head},{slot},{cell(stimulus)}{asked}\n" for slot, stimulus in enumerate(stimuli, 1)]
        yield "".join(lines)


def _stimuli(trial: Trial, of_pairs: bool, replaced: str | None) -> list[str]:
    """Return the allocated stimuli of a trial, in shown order."""
    if of_pairs:
        return list(dict.fromkeys(slot.stimulus for slot in compared_slots(trial)))
    slots = free_slots(trial)
    return [replaced if replaced is not None and slot.role == Attention.role else slot.stimulus for slot in slots]


def _cell(text: str) -> str:
    return csv_text([text])
