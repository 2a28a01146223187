"""Everybody who came: read from the store, judged by the rules, with what the ledger knows of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from beholder.clean.decide import in_words
from beholder.clean.facts import TABLES, position_of
from beholder.clean.judging import judge_tables
from beholder.clean.sessions import Judged
from beholder.recruit.desk import Desk
from beholder.recruit.people.found import Done, Person, Ruled, Step, Visited
from beholder.store.contract import Entry
from beholder.store.open import read_rows
from beholder.store.rules import NOT_PEOPLE
from beholder.study.money import Sum
from beholder.types import Outcome

ACTS = ("release", "reset", "let_in", "shut_out", "leave_out", "take_in", "forget")
"""What is done about a person, as the ledger names it."""
_PAID = ("approve", "bonus")

Tables = Mapping[str, Sequence[Mapping[str, Any]]]


async def people(desk: Desk) -> tuple[Person, ...]:
    """Return everybody who came, in the order of arrival; robots and previews are nobody."""
    tables: dict[str, list[dict[str, Any]]] = {table: await read_rows(desk.store, table) for table in TABLES}
    entries = await desk.store.ledger.entries()
    sessions = sorted(
        (row for row in tables["sessions"] if row["mode"] not in NOT_PEOPLE),
        key=lambda row: (row["at"], str(row["session"])),
    )
    judged: dict[str, Judged] = {}
    if any(row["run"] == desk.study.run for row in sessions):
        judged = {one.visit.session: one for one in judge_tables(desk.study, tables).judged}
    known = _Known(tables)
    visited: dict[str, list[Visited]] = defaultdict(list)
    for row in sessions:
        visited[str(row["participant"])].append(_visited(row, known, judged.get(str(row["session"]))))
    modes = {str(row["participant"]): row["mode"] for row in reversed(sessions)}
    owner = {one.session: name for name, theirs in visited.items() for one in theirs}
    return tuple(
        Person(
            name, modes[name], tuple(theirs), _acts(name, entries, owner), _paid(name, entries), _is_shut(name, entries)
        )
        for name, theirs in visited.items()
    )


class _Known:
    """What the tables hold, by session."""

    def __init__(self, tables: Tables) -> None:
        self.ends = {str(row["session"]): row for row in tables["ends"]}
        self.lists = {str(row["session"]): row["list"] for row in tables["claims"]}
        self.erased = {str(row["session"]) for row in tables["erasures"]}
        self.steps = _steps(tables)


def _visited(row: Mapping[str, Any], known: _Known, judged: Judged | None) -> Visited:
    session = str(row["session"])
    end = known.ends.get(session, {})
    steps = tuple(known.steps.get(session, ()))
    return Visited(
        session=session,
        run=row["run"],
        began=row["at"],
        ended=end.get("at"),
        outcome=end.get("outcome"),
        at=_place(end.get("outcome"), steps, judged),
        list=known.lists.get(session),
        accept=_accept(judged, end.get("outcome"), is_erased=session in known.erased),
        use=judged is not None and judged.decision.use,
        reasons=judged.decision.reasons if judged is not None else (),
        is_erased=session in known.erased,
        steps=steps,
        rules=tuple(_ruled(judged)) if judged is not None else (),
    )


def _accept(judged: Judged | None, outcome: Outcome | None, *, is_erased: bool) -> bool | None:
    """Return whether a session is paid, as `decide` sees it; None where a person has to look."""
    if outcome in ("no_consent", "withdrawn"):
        return False
    if is_erased and outcome is not None:  # who is forgotten is still paid
        return True
    return judged.decision.accept if judged is not None else None


def _steps(tables: Tables) -> dict[str, list[Step]]:
    found: dict[str, list[Step]] = defaultdict(list)
    for row in tables["answers"]:
        seconds = round((row["sent_ms"] - row["shown_ms"]) / 1000, 1)
        found[str(row["session"])].append(Step(str(row["key"]), row["at"], seconds))
    for theirs in found.values():
        theirs.sort(key=lambda step: step.at)
    return found


def _place(outcome: str | None, steps: Sequence[Step], judged: Judged | None) -> str:
    """Return where somebody is: how it ended, else what was answered last."""
    if outcome is not None:
        return outcome.replace("_", " ")
    if not steps:
        return "at the first page"
    key = steps[-1].key
    if position := position_of(key):
        return f"after trial {position} of {len(judged.visit.trials)}" if judged is not None else f"after {key}"
    return f"after {key.replace(':', ' ')}"


def _ruled(judged: Judged) -> list[Ruled]:
    return [
        Ruled(
            one.check,
            one.verdict,
            one.reason,
            in_words(f"{one.check}:{one.reason}") if one.verdict == "fail" else "",
        )
        for one in judged.verdicts
    ]


def _acts(participant: str, entries: Sequence[Entry], owner: Mapping[str, str]) -> tuple[Done, ...]:
    return tuple(
        Done(one.kind, one.at, one.session, one.reason_text)
        for one in entries
        if one.kind in ACTS
        and one.event == "done"
        and participant in (one.participant, owner.get(one.session))
    )  # fmt: skip


def _is_shut(participant: str, entries: Sequence[Entry]) -> bool:
    kinds = [one.kind for one in entries if one.participant == participant and one.kind in ("shut_out", "let_in")]
    return bool(kinds) and kinds[-1] == "shut_out"


def _paid(participant: str, entries: Sequence[Entry]) -> Sum | None:
    """Return what has surely reached somebody."""
    settled = [
        one
        for one in entries
        if one.participant == participant and one.kind in _PAID and one.event == "settled" and one.amount_minor
    ]
    return Sum(sum(one.amount_minor for one in settled), settled[0].currency) if settled else None
