"""Closing: nobody is left waiting, recruiting has stopped, and what was done is written down."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.cleaning.account import flow
from beholder.cleaning.screening import judge_tables
from beholder.errors import Problem, RecruitError
from beholder.recruiting.closure import close_study
from beholder.recruiting.contract import DecisionRow, Pay, Posting, Status
from beholder.recruiting.debts import Payment, PaymentLine, PaymentStatus
from beholder.recruiting.decisions import decide_study
from beholder.recruiting.fake.submissions import NO_CODE
from beholder.recruiting.ledger import replay
from beholder.recruiting.monitoring import MonitorFacts, make_snapshot
from beholder.recruiting.open_items import merge_problems, open_problems
from beholder.recruiting.payments import pay_study
from beholder.recruiting.postings import change_posting
from beholder.recruiting.signatures import RUN_SIGNATURE, SignedRow
from beholder.recruiting.summary import SummaryFacts, retention, summary
from beholder.store.contract import Answer, End, LedgerEntry, Session
from beholder.study.recruitment import Sum
from support.cleaning_store import START, add, make_study, store
from support.recruit_context import ON_PROLIFIC, office

DECIDE = "Run `beholder decide`, sign it with `--sign NAME`, then `beholder pay --send`."


def row(pay: Pay, status: Status = "awaiting_review", words: str = "") -> DecisionRow:
    return DecisionRow("s1", "p", ("a",), "completed", status, "right", pay, pay, True, False, (), words)


def line(
    standing: PaymentStatus, kind: str = "bonus", minor: int = 200, reason: str = "quality", words: str = ""
) -> PaymentLine:
    return PaymentLine(kind, "s1", "p", reason, Sum(minor, "GBP"), standing, words)


def held(rows: list[DecisionRow], *lines: PaymentLine, by_hand: bool = False) -> list[str]:
    payment = Payment(tuple(lines), False, (), (), None)
    return [str(one) for one in open_problems(rows, payment, {}, is_by_hand=by_hand)]


def test_what_was_decided_with_a_list_of_the_platform_needs_no_list_to_be_closed() -> None:
    nobody = Payment((), False, (), (), None)
    cases: tuple[tuple[Pay, bool], ...] = (("nothing", True), ("approve", True), ("look", False), ("wait", False))
    for pay, is_over in cases:
        signed = {"visit-7": SignedRow("Ada", START, pay, True, "", "", "p", ("a",), ())}
        found = list(open_problems([row("approve")], nobody, signed, is_by_hand=True))
        assert not found if is_over else [one.what for one in found] == ["is to be paid, and nobody has signed it"]
    other = {"visit-7": SignedRow("Ada", START, "nothing", True, "", "", "p", ("b",), ())}
    assert list(open_problems([row("approve")], nobody, other, is_by_hand=True))


def test_what_was_signed_to_be_looked_at_or_returned_holds_it_up_until_it_is_decided() -> None:
    nobody = Payment((), False, (), (), None)

    def told(pay: Pay, now: Pay | None, minutes: float | None = None) -> list[str]:
        signed = {"visit-7": SignedRow("Ada", START, pay, True, "", "", "p", ("a",), ())}
        ended = {"a": START + timedelta(minutes=minutes)} if minutes is not None else {}
        rows = [row(now, "active" if now == "wait" else "awaiting_review")] if now else []
        return [str(one) for one in open_problems(rows, nobody, signed, is_by_hand=True, ended=ended)]

    listed = "Run `beholder decide --submissions FILE`, decide it and sign it, then `beholder pay --send`."
    waits = [f"visit-7  waits for your decision, with the list of the platform. {listed}"]
    assert told("look", "wait") == waits
    assert told("look", None) == waits, "nothing of theirs is here"
    assert told("look", "approve") == [f"s1  is to be paid, and nobody has signed it. {DECIDE}"], "once"
    assert told("return", "wait") == []
    assert told("return", "approve", minutes=5) == [f"s1  is to be paid, and nobody has signed it. {DECIDE}"]
    assert told("return", "approve", minutes=-5) == [], "it was whole when it was asked back"


@pytest.mark.parametrize(
    ("rows", "lines", "words"),
    [
        ([row("look", words="Nothing is here")], [], f"waits for your decision: Nothing is here. {DECIDE}"),
        ([row("approve")], [], f"is to be paid, and nobody has signed it. {DECIDE}"),
        ([row("reject")], [], f"is to be rejected, and nobody has signed it. {DECIDE}"),
        ([row("wait", "active")], [], "is still under way. Wait until it is over, then close again."),
        ([row("wait", "unknown")], [], "has a status that nobody knows. Wait until it is over, then close again."),
        ([row("nothing")], [], f"awaits review on the platform. {DECIDE}"),
        ([], [line("owed")], "is owed 2.00 GBP (quality). Run `beholder pay --send`."),
        ([row("approve")], [line("owed", "approve", 0)], "waits for its approval. Run `beholder pay --send`."),
        ([], [line("owed", "reject", 0)], "waits for its rejection. Run `beholder pay --send`."),
        (
            [],
            [line("sent")],
            "was sent 2.00 GBP, which has not been seen to arrive. Run `beholder pay --send` in some minutes.",
        ),
        (
            [row("bonus")],
            [line("unknown")],
            "was sent 2.00 GBP, and nobody knows whether it arrived. Run `beholder pay`: it says what to do.",
        ),
        (
            [row("approve")],
            [line("refused", "approve", reason="reward", words="on hold")],
            "waits for its approval, which was refused: on hold. Do it on the platform by hand, or sign another "
            "decision.",
        ),
    ],
)
def test_whoever_waits_holds_it_up(rows: list[DecisionRow], lines: list[PaymentLine], words: str) -> None:
    assert held(rows, *lines) == [f"s1  {words}"]


def test_those_who_wait_for_the_same_are_told_together() -> None:
    rows = [replace(row("approve"), submission=f"s{n}") for n in range(18)]
    alike = merge_problems(open_problems(rows, Payment((), False, (), (), None), {}, is_by_hand=False))
    assert [str(one) for one in alike] == [
        f"s0, s1, s2 and 15 more  each is to be paid, and nobody has signed it. {DECIDE}"
    ]
    owed = [replace(line("owed", reason="reward"), submission=f"s{n}") for n in (1, 2)]
    assert held([], *owed, line("owed")) == [
        "s1 and s2  are owed 6.00 GBP in all (reward, quality). Run `beholder pay --send`."
    ]
    unsure = "was sent 2.00 GBP, and nobody knows whether it arrived. Run `beholder pay`: it says what to do."
    assert held([], line("owed"), line("unknown", reason="reward")) == [f"s1  {unsure}"], "once"


def test_what_keeps_a_payment_from_being_sent_is_told_once() -> None:
    problem = Problem("decide", "s1 is to be paid for a session that s0 was paid for already")
    payment = Payment((), False, (problem,), (), None)
    assert list(open_problems([row("approve")], payment, {}, is_by_hand=False)) == [problem]


def test_what_is_over_holds_up_nothing() -> None:
    assert held([row("approve")], line("paid", "approve")) == []
    assert held([row("approve", "timed_out")], line("paid", reason="reward")) == [], "by a bonus"
    assert held([row("nothing", "approved")], line("nothing", minor=0)) == []
    assert held([row("wait", "timed_out")]) == []
    assert held([row("return", "active")], line("sent", "return", 0)) == []
    assert held([row("return")], line("done", "return", 0)) == [], "who does not answer holds up nobody"
    assert held([row("return")], line("owed", "return", 0)) == [f"s1  awaits review on the platform. {DECIDE}"]
    assert held([row("wait", "active"), row("nothing")], line("owed", "reject", 0), by_hand=True) == []
    assert held([row("reject")], line("owed", "reject", 0), by_hand=True) == []
    once = "Once it is paid: `beholder pay --paid`."
    assert held([], line("sent"), by_hand=True) == [f"s1  was sent 2.00 GBP, which has not been seen to arrive. {once}"]


async def test_a_study_on_prolific_is_stopped_at_once_and_closed_when_nobody_waits(tmp_path: Path, tiny: Path) -> None:
    async with office(tmp_path, tiny, recruit=ON_PROLIFIC, retention="2028-01-31") as room:
        posting = await room.open()
        (visit,) = room.fake.people.finish(posting)
        asked = room.fake.people.take(posting).start().finish(NO_CODE).submission
        await decide_study(room.context, sign=RUN_SIGNATURE)
        await pay_study(room.context, send=True, sleep=room.fake.sleep)
        dry = await close_study(room.context, dry_run=True)
        assert (dry.is_closed, len(dry.open), room.fake.studies.find(posting).status) == (False, 1, "ACTIVE")
        assert dry.words == (
            "Recruiting would be stopped.",
            "It could not be closed yet: what is named above holds it up.",
            "Nothing was written.",
        )
        with pytest.raises(RecruitError) as error:
            await close_study(room.context)
        assert str(error.value) == (
            "close  has stopped recruiting, and is not over before what follows is. Prolific opens it again for more "
            "places only: `beholder launch --places N`. Or write run: 2.\n"
            f"{visit.submission.id}  waits for your decision: Handed in with a code that this person was not shown; "
            f"Handed in, and nothing whole is here. {DECIDE}"
        )
        assert (await room.context.recruiter.posting(posting)).state == "completed"
        with pytest.raises(RecruitError) as error:
            await change_posting(room.context, "resume")
        assert str(error.value) == (
            "--resume  finds the study full or stopped. Allowed: a study that is paused. Prolific opens it again for "
            "more places only: `beholder launch --places N`. Or write run: 2."
        )
        assert not (tmp_path / "close").exists()
        await room.context.recruiter.approve([visit.submission.id])  # on its page, by a person
        room.fake.advance(minutes=5)
        found = await close_study(room.context)
        assert found.is_closed
        assert found.words == (
            "Closed. close/summary.md says how it was done, and what is kept until when.",
            "Nobody came, so nothing is exported.",
            f"{asked.id} was asked to return it, and has not yet: Prolific approves and pays it by itself on "
            f"{room.fake.now + timedelta(days=21):%Y-%m-%d}, unless it is returned or rejected before.",
        )
        again = await close_study(room.context)
        assert again == found
        kinds = await room.kinds()
        assert kinds[6:] == ["stop planned", "stop done", "close done"]
        assert "From 2028-01-31 on `beholder purge` erases" in (tmp_path / "close" / "summary.md").read_text("utf-8")


async def test_it_is_not_over_while_the_platform_has_not_stopped_it_or_shows_another_one_open(
    tmp_path: Path, tiny: Path
) -> None:
    async with office(tmp_path, tiny, recruit=ON_PROLIFIC) as room:
        evidence: Any = {"run": 1, "key": "k", "places": 4}
        other = LedgerEntry("draft", "done", room.fake.now, provider_ref="5" * 24, evidence=evidence)
        posting = await room.open()

        async def close() -> str:
            with pytest.raises(RecruitError) as error:
                await close_study(room.context)
            return str(error.value)

        room.fake.studies.find(posting).status = "PUBLISHING"  # type: ignore[assignment]
        assert await close() == (
            "Prolific  has not stopped it yet: it is publishing. Run `beholder close` again in a minute."
        )
        assert "close done" not in await room.kinds()
        room.fake.studies.find(posting).status = "ACTIVE"
        again = replace(other, provider_ref=posting)
        await room.context.store.ledger.append([other, replace(other, kind="publish"), again])
        assert await close() == (
            f"{other.provider_ref}  was published in this run too, and is not seen to be over. Stop it on its "
            "platform, and pay whoever has handed in there; its own token and recruit.mode show it."
        )
        stopped = replace(other, kind="stop")
        await room.context.store.ledger.append([stopped])
        assert (await close_study(room.context)).is_closed
        assert room.fake.studies.find(posting).status == "COMPLETED"


async def test_a_study_by_link_is_exported_and_told(tmp_path: Path, tiny: Path) -> None:
    async with office(tmp_path, tiny, recruit={"mode": "link"}) as room:
        await room.open()
        facts, now = room.context.store, room.fake.now
        record = await facts.current()
        assert record is not None
        for name, outcome in (("aa", "no_consent"), ("bb", None)):
            await facts.arrive(Session(name, f"p-{name}", record.digest, 1, "link", 1, {}, now))
            if outcome:
                await facts.append([End(name, "no_consent", "", "", f"BH-{name}", now)])
            else:
                await facts.append([Answer(name, "consent", {"agree": True}, {}, 0, 900, "mouse", "t", now)])
        await facts.claim("bb", now=now, until=now + timedelta(hours=1), per_list=1)
        with pytest.raises(RecruitError) as error:
            await close_study(room.context)
        assert str(error.value) == (
            "close  has stopped recruiting, and is not over before what follows is. `beholder launch --resume` lets "
            "people begin again.\n"
            "participants  1 person is at work. Close again when they are done; who rests for 60 min is not waited for."
        )
        room.fake.advance(days=1)
        found = await close_study(room.context)
        assert found.exported == tmp_path / "export"
        assert (tmp_path / "export" / "sessions.csv").is_file()
        assert found.words[1] == "Every fact is in export/."
        text = (tmp_path / "close" / "summary.md").read_text("utf-8")
        assert "Of the people, 2 came, 1 agreed, 0 rated something, 0 finished" in text
        assert "| Did not agree to take part | 1 |" in text
        assert "Nobody was paid through Beholder." in text


async def test_what_was_only_served_is_closed_too_and_opens_when_somebody_says_so(tmp_path: Path, tiny: Path) -> None:
    async with office(tmp_path, tiny, recruit={"mode": "link"}) as room:

        async def come(name: str) -> int:
            body = {"study": room.study.name, "params": {"participant": name}, "device": {}}
            async with httpx.AsyncClient(transport=room.server, base_url="http://here") as client:
                return (await client.post("/api/arrive", json=body)).status_code

        assert await come("ann") == 201
        assert (await close_study(room.context, dry_run=True)).words[0] == "Recruiting would be stopped."
        assert (await close_study(room.context)).is_closed
        summary_ = (tmp_path / "close" / "summary.md").read_bytes()
        assert (await close_study(room.context)).is_closed
        assert (tmp_path / "close" / "summary.md").read_bytes() == summary_
        assert await come("bea") == 403
        for dry_run in (True, False):
            found = await room.launch(dry_run=dry_run)
            assert found.words[-2:] == (
                "It is closed: nobody can begin, and whoever has begun goes on.",
                "To let people begin again: beholder launch --resume",
            )
        assert await come("bea") == 403
        assert (await change_posting(room.context, "resume")).posting.state == "active"
        assert await come("bea") == 201
        found = await room.launch()
        assert found.words[-1] == "People begin here: https://lab.example.org/s/tiny"


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
    steps = flow(judging.study, judging.judged)
    text = summary(SummaryFacts(study, view, replay(entries), posting, steps, START, START + timedelta(days=1), now))
    assert text == (
        "# Cleaned\n\n"
        "Study `cleaned`, closed on 18 November 2026.\n\n"
        "## For the methods section\n\n"
        "Participants were recruited on Prolific between 15 November 2026 and 16 November 2026 (2 places). "
        "They were told that a session takes about 15 minutes. "
        "A session earned 2.00 GBP, which at the median duration is 10.00 GBP an hour. "
        "The median session took 12.0 minutes from arrival to end. "
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
