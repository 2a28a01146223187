"""clean/bonus.csv as paying reads it: problems are reported by line, and hold up nothing else."""

from __future__ import annotations

from pathlib import Path

from support.payable_study import BONUS, payment_setup

HEAD = "participant,rule,sessions,amount,currency,agreement,session,reason"
COLUMNS = HEAD.replace(",", ", ")
AGAIN = "Nothing of it was paid. Run `beholder clean` to have it written again."
ABOVE = f"Allowed: an amount above 0 in GBP, such as 0.50 GBP. {AGAIN}"


def listed(*amounts: str) -> str:
    """Return the file with one and the same person in each line."""
    return "\n".join([HEAD, *(f"p-0,quantity,1,{amount},,s-0-1,because" for amount in amounts)])


BAD = {
    "": [f"clean/bonus.csv:1  names no column. Allowed: {COLUMNS}. {AGAIN}"],
    HEAD.replace(",session,", ","): [f"clean/bonus.csv:1  column session is missing. Allowed: {COLUMNS}."],
    listed('"0,50",GBP', "-5.00,GBP", "0.50,USD", ","): [
        f"clean/bonus.csv:2  amount is 0,50 GBP. {ABOVE}",
        f"clean/bonus.csv:3  amount is -5.00 GBP. {ABOVE}",
        f"clean/bonus.csv:4  amount is 0.50 USD. {ABOVE}",
        f"clean/bonus.csv:5  amount is empty. {ABOVE}",
    ],
    listed("0.50,GBP", "0.70,GBP"): [
        f"clean/bonus.csv:3  is a second quantity bonus for p-0. Allowed: one for each person and rule. {AGAIN}"
    ],
}


async def test_bonuses_that_were_never_computed_are_asked_for(folder: Path) -> None:
    async with payment_setup(folder, 1, clean=BONUS) as s:
        await s.sign(s0="approve")
        assert [str(problem) for problem in (await s.pay()).problems] == [
            "clean/bonus.csv  is not there, and it says who gets a bonus. Run `beholder clean` first."
        ]


async def test_a_list_of_bonuses_that_cannot_be_read_is_told_line_by_line(folder: Path) -> None:
    async with payment_setup(folder, 1, clean=BONUS) as s:
        await s.sign(s0="approve")
        file = s.study.folder / "clean" / "bonus.csv"
        file.parent.mkdir()
        for text, problems in BAD.items():
            file.write_text(text, "utf-8")
            assert [str(problem) for problem in (await s.pay()).problems] == problems
        assert [line.status for line in (await s.pay(send=True)).lines] == ["paid"], "the reward is not held up"
        file.write_text(listed("0.50,GBP").replace(",", ";"), "utf-8")
        assert (await s.pay(send=True)).is_settled
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 50)]
