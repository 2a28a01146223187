"""What people read whose visit came to nothing: nobody is blamed, and whoever gets something reads how much."""

from __future__ import annotations

from pathlib import Path

from beholder.server.endings import shared_codes
from beholder.store.contract import LedgerEntry
from beholder.types import Json
from support.decision_store import POSTING, Office, decide, edit, handed_in, run


def test_whoever_is_paid_without_having_taken_part_reads_why_and_how_much(tmp_path: Path) -> None:
    async def work(made: Office) -> dict[str, tuple[str, str]]:
        await made.come("s1", None, submission="full", trials=0)
        await made.come("s2", "screened_out", submission="unfit")
        await made.come("s3", None, submission="left", trials=2)
        codes = shared_codes(made.context.study, made.store.secret)
        launched: Json = {"key": "k", "places": 4, "screen_out": "0.20 GBP"}
        now = made.context.now()
        await made.store.ledger.append([LedgerEntry("draft", "done", now, provider_ref=POSTING, evidence=launched)])
        made.platform.listed = [
            handed_in("full", codes["technical"], person="pid-s1"),
            handed_in("unfit", codes["screened_out"], person="pid-s2"),
            handed_in("left", person="pid-s3"),
        ]
        found = await decide(made)
        edit(tmp_path, "left", pay="screen_out")
        assert (await decide(made))["left"].pay == "screen_out"
        return {key: (row.pay, row.message) for key, row in found.items()}

    # The study does not name it any more: what was launched is what people were promised.
    assert run(tmp_path, work, recruit={"mode": "prolific", "reward": "2.00 GBP"}) == {
        "full": (
            "screen_out",
            "When you came, every place of this study was taken, or it had just closed. We are sorry: you did nothing "
            "wrong. You get 0.20 GBP as a bonus for your time; please return the study.",
        ),
        "unfit": (
            "screen_out",
            "You did not fit what this study needs. You did nothing wrong. You get 0.20 GBP as a bonus for your time; "
            "please return the study.",
        ),
        "left": (
            "return",
            "We do not have all of your answers: the study was handed in before its last page. Please return it. If "
            "you think that this is a mistake, write to us, and we look at it.",
        ),
    }
