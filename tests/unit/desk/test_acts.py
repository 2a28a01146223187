"""Acts: by the functions of the commands, once, and with the name of who did them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from beholder.desk.acts import KINDS, Acts, Done
from beholder.desk.desk_study import DeskStudy, OpenStudies, study_places
from beholder.desk.viewer import viewer_of
from beholder.errors import RecruitError
from beholder.recruiting.decisions import decide_study, digest_of
from beholder.recruiting.participant_records import participant_records
from beholder.types import Json
from support.taken_study import TakenStudy

ADA, BOB = viewer_of("Ada", "owner"), viewer_of("Bob", "decider")


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[DeskStudy]:
    studies = OpenStudies(study_places([folder]))
    study = await studies.find(next(iter(studies.places)))
    assert study is not None
    try:
        yield study
    finally:
        await studies.close()


async def recorded(study: DeskStudy, *kinds: str) -> list[tuple[str, str, Json]]:
    entries = await study.context.store.ledger.entries()
    return [(one.reason_code or one.kind, one.reason_text, one.evidence) for one in entries if one.kind in kinds]


async def test_two_browsers_at_once_do_an_act_about_somebody_once(taken: TakenStudy) -> None:
    folder, people = taken
    async with opened(folder) as study:
        acts = Acts()
        body = {"kind": "shut_out", "who": people["open"], "reason": "sent three mails"}
        release = {"kind": "release", "who": people["open"], "reason": "has gone"}
        asked = [acts.perform(study, who, what) for what in (body, release) for who in (ADA, BOB)]
        told = [done.words[0] for done in await asyncio.gather(*asked)]
        assert [words.rpartition(". ")[2] == "Nothing is recorded." for words in told] == [False, True, False, True]
        assert await recorded(study, "shut_out", "release") == [
            ("shut_out", "sent three mails", {"by": "Ada"}), ("release", "has gone", {"by": "Ada"}),
        ]  # fmt: skip
        person = next(one for one in await participant_records(study.context) if one.participant == people["open"])
        assert [(act.kind, act.by) for act in person.acts] == [("shut_out", "Ada"), ("release", "Ada")]


async def test_an_act_that_is_sent_twice_has_one_answer(taken: TakenStudy) -> None:
    folder, people = taken
    async with opened(folder) as study:
        acts = Acts()
        body = {"kind": "leave_out", "who": people["done"], "reason": "a colleague", "id": "page-1"}
        first, second = [await acts.perform(study, ADA, body) for _ in range(2)]
        assert first == second
        assert len(await recorded(study, "leave_out")) == 1


async def test_decisions_are_changed_signed_as_seen_and_paid_for_the_amount_that_is_typed(taken: TakenStudy) -> None:
    folder, people = taken
    async with opened(folder) as study:
        acts = Acts()

        async def do(**body: Json) -> Done:
            return await acts.perform(study, ADA, {"reason": "looked at it", **body})

        rows = (await decide_study(study.context, dry_run=True)).rows
        row = next(one for one in rows if one.participant == people["done"])
        with pytest.raises(RecruitError) as error:
            await do(kind="decide", submission=row.submission, pay="reject", use=False)
        assert "there is no ground for it" in str(error.value)
        changed = await do(kind="decide", submission=row.submission, pay="nothing", use=False)
        assert changed.words[0].startswith(f"{row.submission}: nothing, and the answers are not used.")
        again = await do(kind="decide", submission=row.submission, pay="nothing", use=False)
        assert again.words == (f"{row.submission}: decided so already. Nothing is recorded.",)
        undone = await do(kind="decide", submission=row.submission, pay=row.proposed, use=True)
        assert undone.words[0].startswith(f"{row.submission}: {row.proposed}")
        with pytest.raises(RecruitError) as error:
            await do(kind="sign", seen="something else")
        assert str(error.value) == "decisions  have changed since you looked. Look at them once more, then sign."
        seen = digest_of((await decide_study(study.context, dry_run=True)).rows)
        assert (await do(kind="sign", seen=seen)).words[-1].startswith("Signed by Ada: 2 submissions")
        assert (await do(kind="sign", seen=seen)).words[-1].startswith("Signed by Ada already")
        with pytest.raises(RecruitError) as error:
            await do(kind="pay", amount="5.00 GBP")
        assert str(error.value) == ("amount  is 5.00 GBP, and 4.00 GBP is owed now. Allowed: 4.00 GBP. Look again.")
        paid = await asyncio.gather(do(kind="pay", amount="4.00 GBP"), do(kind="pay", amount="4.00 GBP"))
        assert (folder / "pay" / "payments.csv").is_file()
        assert paid[1].words == ("Nothing is owed: it was sent before, or nobody has signed. Nothing was sent.",)
        await do(kind="paid")
        acts_recorded = await recorded(study, "desk")
        assert [(kind, evidence["by"]) for kind, _, evidence in acts_recorded if isinstance(evidence, dict)] == [
            ("decide", "Ada"), ("decide", "Ada"), ("pay", "Ada"), ("paid", "Ada"),
        ]  # fmt: skip


async def test_what_is_wrong_with_an_act_is_told(taken: TakenStudy) -> None:
    folder, _ = taken
    async with opened(folder) as study:
        for body, told in (
            ([], 'act  is no JSON object. Allowed: {"kind": "release", "who": "…", "reason": "…"}.'),
            (
                {"kind": "relaese"},
                f"kind  is relaese. Allowed: {', '.join(KINDS)}. Did you mean release?\n"
                "reason  is empty. Allowed: a few words, which are kept.",
            ),
            ({"kind": "reset", "reason": "x"}, "who  is missing. Allowed: a pseudonym or a session."),
            (
                {"kind": "decide", "reason": "x", "submission": "s", "pay": "approve", "use": "yes"},
                "use  is neither true nor false. Allowed: true, false.",
            ),
            (
                {"kind": "sign", "reason": "x"},
                "seen  is missing. Allowed: the digest of the decisions that were seen.",
            ),
        ):
            with pytest.raises(RecruitError) as error:
                await Acts().perform(study, ADA, body)
            assert str(error.value) == told
