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
from beholder.recruit.ledger.fold import MONEY, fold
from beholder.recruit.people.found import Done, Person, Ruled, Step, Visited
from beholder.serve.acts import Acts
from beholder.store.contract import Entry
from beholder.store.open import read_rows
from beholder.store.rules import NOT_PEOPLE
from beholder.study.money import Sum
from beholder.types import Outcome

_ACTS = ("release", "reset", "let_in", "shut_out", "leave_out", "take_in", "forget")
"""What is done about a person, as the ledger names it."""

Tables = Mapping[str, Sequence[Mapping[str, Any]]]


async def people(desk: Desk) -> tuple[Person, ...]:
    """Return everybody who came, in the order of arrival; robots and previews are nobody."""
    tables: dict[str, list[dict[str, Any]]] = {table: await read_rows(desk.store, table) for table in TABLES}
    door = Acts(desk.store.ledger)
    entries = await door.read()
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
    acts, paid = _acts(entries, owner), _paid(entries)
    return tuple(
        Person(name, modes[name], tuple(theirs), tuple(acts[name]), paid.get(name), door.is_shut(name))
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


def _acts(entries: Sequence[Entry], owner: Mapping[str, str]) -> defaultdict[str, list[Done]]:
    """Return what was done about everybody, or about a session of theirs."""
    found: defaultdict[str, list[Done]] = defaultdict(list)
    for one in entries:
        if one.kind in _ACTS and one.event == "done":
            for who in {one.participant, owner.get(one.session, "")}:
                found[who].append(Done(one.kind, one.at, one.session, one.reason_text))
    return found


def _paid(entries: Sequence[Entry]) -> dict[str, Sum]:
    """Return what has surely reached everybody."""
    found: dict[str, Sum] = {}
    for debt in fold(entries).settled():
        if debt.kind in MONEY and debt.amount.minor:
            before = found.get(debt.participant, Sum(0, debt.amount.currency))
            found[debt.participant] = Sum(before.minor + debt.amount.minor, debt.amount.currency)
    return found
