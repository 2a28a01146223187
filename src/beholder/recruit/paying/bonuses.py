"""clean/bonus.csv read: who gets a bonus by the rules of the study, and what keeps us from knowing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from beholder.clean.bonus import COLUMNS
from beholder.errors import Problem
from beholder.study.cells import Line, first_cells, read_lines
from beholder.study.model import Study
from beholder.study.money import Sum, is_money, money

FILE = "clean/bonus.csv"
_FIX = "Nothing of it was paid. Run `beholder clean` to have it written again."


class Due(NamedTuple):
    """A bonus that somebody gets."""

    participant: str
    """The pseudonym."""
    rule: str
    amount: Sum
    session: str
    """Their last one."""
    reason: str


@dataclass(frozen=True)
class Bonuses:
    """Everybody's bonuses by rule; none where the study gives any and nobody can tell whose."""

    by_rule: dict[str, list[Due]]
    problems: tuple[Problem, ...] = ()


def read_bonuses(study: Study) -> Bonuses:
    """Return what clean/bonus.csv says, by the rules that the study has; where anything is wrong with it, nothing."""
    bonus = study.clean.bonus
    rules = {name: rule for name in ("quantity", "quality") if bonus and (rule := getattr(bonus, name)) is not None}
    if not rules:
        return Bonuses({})
    if not (study.folder / FILE).is_file():
        missing = Problem(FILE, "is not there, and it says who gets a bonus", "", "Run `beholder clean` first.")
        return Bonuses({}, (missing,))
    problems: list[Problem] = []
    currency = money(next(iter(rules.values())).each).currency
    found = _read(study, currency, problems)
    if problems:
        return Bonuses({}, tuple(problems))
    return Bonuses({rule: [one for one in found if one.rule == rule] for rule in rules})


def _read(study: Study, currency: str, problems: list[Problem]) -> list[Due]:
    if not {*COLUMNS} & {*first_cells(study.folder, FILE)}:
        problems.append(Problem(f"{FILE}:1", "names no column", ", ".join(COLUMNS), _FIX))
        return []
    found: dict[tuple[str, str], Due] = {}
    for line in read_lines(study.folder, FILE, COLUMNS, problems):
        one = _due(line, currency, problems)
        if one is None:
            continue
        if (one.participant, one.rule) in found:
            what = f"is a second {one.rule} bonus for {one.participant}"
            problems.append(Problem(line.where, what, "one for each person and rule", _FIX))
        found[one.participant, one.rule] = one
    return list(found.values())


def _due(line: Line, currency: str, problems: list[Problem]) -> Due | None:
    cells = line.cells
    amount = f"{cells['amount']} {cells['currency']}"
    if not is_money(amount) or cells["currency"] != currency:
        allowed = f"an amount above 0 in {currency}, such as 0.50 {currency}"
        problems.append(Problem(line.where, f"amount is {amount.strip() or 'empty'}", allowed, _FIX))
        return None
    return Due(cells["participant"], cells["rule"], money(amount), cells["session"], cells["reason"])
