"""The plan in its folder: plan.json, lists.jsonl, balance.csv."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path

from beholder.plan.balance import balance, balance_table
from beholder.plan.bulk import no_collection
from beholder.plan.model import Plan, lists_from_json, lists_to_json
from beholder.stimuli.catalogue import Catalogue


def write_plan(plan: Plan, catalogue: Catalogue, digest: str, folder: Path) -> None:
    """Write the plan below a study's folder. plan.json comes last and vouches for the lists."""
    below = folder / "plan"
    below.mkdir(parents=True, exist_ok=True)
    lists = "".join(
        json.dumps(one, separators=(",", ":"), ensure_ascii=False) + "\n" for one in lists_to_json(plan)
    ).encode()
    table = io.StringIO(newline="")
    csv.writer(table, lineterminator="\n").writerows(balance_table(balance(plan, catalogue)))
    counts = {
        "plan_digest": plan.plan_digest,
        "digest": digest,
        "seed": plan.seed,
        "lists": len(plan.lists),
        "trials": sum(len(planned.trials) for planned in plan.lists),
        "stimuli": len(catalogue.by_cell),
        "lists_sha256": hashlib.sha256(lists).hexdigest(),
    }
    _replace(below / "lists.jsonl", lists)
    _replace(below / "balance.csv", table.getvalue().encode())
    _replace(below / "plan.json", (json.dumps(counts, indent=2) + "\n").encode())


def read_plan(folder: Path, plan_digest: str | None = None) -> Plan | None:
    """Return the plan below a study's folder; None if there is none, it is torn, or it is of another digest."""
    try:
        counts = json.loads((folder / "plan" / "plan.json").read_bytes())
        if plan_digest is not None and counts["plan_digest"] != plan_digest:
            return None
        lists = (folder / "plan" / "lists.jsonl").read_bytes()
        if hashlib.sha256(lists).hexdigest() != counts["lists_sha256"]:
            return None
        with no_collection():
            planned = tuple(lists_from_json(json.loads(line) for line in lists.splitlines()))
        return Plan(counts["plan_digest"], counts["seed"], planned)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def is_of(folder: Path, digest: str) -> bool:
    """Return whether the plan below a study's folder was written for this very study, its texts included."""
    try:
        return bool(json.loads((folder / "plan" / "plan.json").read_bytes())["digest"] == digest)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _replace(path: Path, data: bytes) -> None:
    """Write a file at once: readers see the old one or the new one."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_bytes(data)
    fresh.replace(path)
