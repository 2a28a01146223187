"""The account: counts, flow, rules."""

from __future__ import annotations

from beholder.cleaning.tables import clean_tables
from beholder.study.model import Study
from support.store_tables import START, account, add, empty


def test_the_account_counts_who_finished_in_both_populations(study: Study) -> None:
    tables = empty(study)
    for name in ("r1", "r2"):
        add(tables, name, mode="robot")
    add(tables, "preview", mode="preview")
    for name in ("a", "b", "gone"):
        add(tables, name)
    add(tables, "left", outcome=None)
    tables["erasures"].append({"session": "gone", "at": START, "rows": 3})
    for robots in (False, True):
        assert account(clean_tables(study, tables, robots=robots))["finished"] == {"people": 2, "robots": 2}
