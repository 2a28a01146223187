"""Whether bonuses that were paid are those that the rules give now: people may have finished since."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.clean.bonus import bonus_rows
from beholder.clean.facts import Rows
from beholder.clean.judging import judge_tables
from beholder.errors import Problem
from beholder.recruit.paying.bonuses import FILE, read_bonuses
from beholder.study.model import Study
from beholder.study.money import Sum, money


def stale_bonuses(study: Study, tables: Mapping[str, Rows]) -> list[Problem]:
    """Return that clean/bonus.csv knows less than the store, where the study gives bonuses and the file is there."""
    bonuses = read_bonuses(study)
    if study.clean.bonus is None or not tables or bonuses.problems:  # what is wrong with the file, paying tells
        return []
    written = {(one.participant, one.rule): one.amount for rows in bonuses.by_rule.values() for one in rows}
    judging = judge_tables(study, tables)
    rows = bonus_rows(judging.judged, judging.study.clean.bonus)
    due = {(row["participant"], row["rule"]): money(f"{row['amount']} {row['currency']}") for row in rows}
    more = [amount.minor - (written[key].minor if key in written else 0) for key, amount in due.items()]
    missing = sum(one for one in more if one > 0)
    if not missing:
        return []
    currency = next(iter(due.values())).currency
    what = f"does not know what came since: {Sum(missing, currency)} of bonuses are missing in it"
    return [Problem(FILE, what, "", "Run `beholder clean`, then `beholder pay --send`.")]
