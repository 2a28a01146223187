"""close/summary.md: the methods paragraph, money and retention."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from beholder.cleaning.account import flow
from beholder.cleaning.screening import judge_tables
from beholder.recruiting.contract import Posting
from beholder.recruiting.ledger import replay
from beholder.recruiting.monitoring import MonitorFacts, make_snapshot
from beholder.recruiting.summary import SummaryFacts, retention, summary
from beholder.store.contract import LedgerEntry
from support.cleaning_store import START, add, make_study, store


def test_the_summary_is_a_paragraph_for_the_paper(tmp_path: Path) -> None:
    recruit = {"mode": "prolific", "reward": "2.00 GBP", "minutes": 15}
    study = make_study(tmp_path, recruit=recruit, retention={"answers": "2030-01-01"})
    tables = store(study)
    add(tables, "a", mode="prolific", minutes=12)
    add(tables, "b", mode="prolific", minutes=16, outcome=None)
    entries = [
        LedgerEntry("approve", "planned", START, submission="s", participant="p-a", amount_minor=200, currency="GBP"),
        LedgerEntry("approve", "settled", START, submission="s"),
        LedgerEntry("bonus", "planned", START, submission="s", participant="p-a", amount_minor=50, currency="GBP"),
        LedgerEntry("bonus", "settled", START, submission="s"),
    ]
    out = LedgerEntry(
        "bonus", "planned", START, "out", "p-b", reason_code="screen_out", amount_minor=30, currency="GBP"
    )
    entries += [out, replace(out, event="settled")]
    judging = judge_tables(study, tables)
    now = START + timedelta(days=3)
    view = make_snapshot(study, MonitorFacts({"told": [], **tables}, entries), now)
    posting = Posting("x", "completed", 2, 1, "")
    steps = flow(judging.study, judging.facts, judging.judged)
    text = summary(SummaryFacts(study, view, replay(entries), posting, steps, START, START + timedelta(days=1), now))
    assert text == (
        "# Cleaned\n\n"
        "Study `cleaned`, closed on 18 November 2026.\n\n"
        "## For the methods section\n\n"
        "Participants were recruited on Prolific between 15 November 2026 and 16 November 2026 (2 places). "
        "They were told that a session takes about 15 minutes. "
        "A session earned 2.00 GBP, which at the median duration is 10.00 GBP an hour. "
        "The session took 12.0 minutes from arrival to end. "
        "Of the people, 2 came, 2 agreed, 2 rated something, 1 finished; "
        "the work of 1 is accepted, and ratings of 1 are used.\n\n"
        "| went no further because | people |\n|---|---:|\n| Left before the end | 1 |\n\n"
        "## Money\n\n"
        "1 person got 2.00 GBP for their sessions. 1 person got 0.30 GBP for not fitting. 1 person got 0.50 GBP as "
        "bonuses. Nothing is owed to anybody.\n\n"
        "## What is kept, and until when\n\n"
        "From 2030-01-01 on `beholder purge` erases every answer in the store; tables and reports stay.\n"
    )


def test_a_study_without_a_day_says_so(tmp_path: Path) -> None:
    assert next(retention(make_study(tmp_path))).startswith("The study names no day from which anything is erased")
