"""Paying: everybody gets what was signed once, on a platform or by a list that a person pays."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from beholder.cli.study import cli
from beholder.errors import LedgerError, RecruitError, UserError
from beholder.recruiting.preflight import cost_of_runs
from beholder.store.contract import PlatformIdentity
from support.payable_study import BONUS, MESSAGE, PaymentSetup, come, manual_payment_setup, payment_setup, write_bonuses


async def test_a_dry_run_names_every_effect_and_does_nothing(folder: Path) -> None:
    async with payment_setup(folder, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve", s1={"pay": "reject", "category": "LOW_EFFORT", "message": MESSAGE}, s2="return")
        before = await s.context.store.ledger.entries()
        requests = len(s.fake.requests)
        payment = await s.pay()
        assert [(line.kind, line.submission, line.reason, str(line.amount), line.status) for line in payment.lines] == [
            ("approve", s.ids[0], "reward", "2.00 GBP", "owed"),
            ("bonus", s.ids[0], "quantity", "0.50 GBP", "owed"),
            ("reject", s.ids[1], "LOW_EFFORT", "0.00 ", "owed"),
            ("return", s.ids[2], "return", "0.00 ", "owed"),
        ]
        assert str(payment.total("owed")) == "2.50 GBP"
        assert (payment.is_sent, payment.problems, payment.is_settled) == (False, (), False)
        assert await s.context.store.ledger.entries() == before
        assert {one.split()[0] for one in s.fake.requests[requests:]} == {"GET"}


async def test_everybody_gets_what_was_signed_once(folder: Path) -> None:
    async with payment_setup(folder, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve", s1={"pay": "reject", "category": "LOW_EFFORT", "message": MESSAGE}, s2="approve")
        messages: list[str] = []
        payment = await s.pay(send=True, notify=messages.append)
        assert (payment.problems, payment.notes, payment.is_settled) == ((), (), True)
        assert messages == [
            "Waiting for Prolific to show 2 approvals, for 35 seconds at most.",
            "Waiting for Prolific to show payment B1, for 125 seconds at most.",
        ]
        assert [(line.kind, line.reason, line.status) for line in payment.lines] == [
            ("approve", "reward", "paid"),
            ("bonus", "quantity", "paid"),
            ("reject", "LOW_EFFORT", "done"),
            ("approve", "reward", "paid"),
            ("bonus", "quantity", "nothing"),
        ]
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 50)]
        assert s.got(s.ids[1]) == []
        assert s.fake.submissions.find(s.ids[1]).rejection == MESSAGE
        assert s.got(s.ids[2]) == [("reward", 200)]
        moved, requests = list(s.fake.payments), list(s.fake.requests)
        again = await s.pay(send=True, notify=messages.append)
        assert (again.lines, len(messages)) == (payment.lines, 2)
        assert s.fake.payments == moved
        assert not [one for one in s.fake.requests[len(requests) :] if not one.startswith("GET")]


async def test_nothing_is_owed_that_nobody_has_signed(folder: Path) -> None:
    async with payment_setup(folder, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        assert (await s.pay(send=True)).lines == ()
        await s.sign("run", s0={"pay": "reject", "category": "LOW_EFFORT", "message": MESSAGE}, s1="return", s2="look")
        sent = [(line.kind, line.submission) for line in (await s.pay(send=True)).lines]
        assert sent == [("return", s.ids[1])], "what is against anybody needs a person"
        assert s.fake.payments == []


async def test_who_was_forgotten_after_signing_still_gets_the_bonus(folder: Path) -> None:
    async with payment_setup(folder, 1, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve")
        await s.context.store.purge_identity()
        assert (await s.pay(send=True)).is_settled
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 50)]


async def test_the_second_of_two_who_pay_at_once_is_told(folder: Path) -> None:
    async with payment_setup(folder, 1) as s:
        await s.sign(s0="approve")
        async with s.context.store.ledger.hold():
            with pytest.raises(LedgerError, match="somebody is sending money or messages already"):
                await s.pay(send=True)
            assert len((await s.pay()).lines) == 1, "looking is free"
        assert s.fake.payments == []


async def test_what_was_paid_by_hand_is_not_said_of_a_platform(folder: Path) -> None:
    async with payment_setup(folder, 1) as s:
        await s.sign(s0="approve")
        with pytest.raises(RecruitError) as messages:
            await s.pay(send=True, paid=True)
        assert str(messages.value) == (
            "--paid  does not go with recruit.mode prolific. Nobody is paid by hand here. Nothing was sent."
        )
        assert s.fake.payments == []


async def people(s: PaymentSetup, *names: str) -> None:
    for name in names:
        await come(s.context.store, name, None, mode=s.study.recruit.mode)
        await s.context.store.identify(PlatformIdentity(f"p-{name}", "panel", f"id of {name}"))


def listed(s: PaymentSetup) -> list[list[str]]:
    with (s.study.folder / "pay" / "payments.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


async def test_a_list_is_written_paid_and_never_written_again(folder: Path) -> None:
    async with manual_payment_setup(folder, clean=BONUS) as s:
        await people(s, "ann", "bob", "cem")
        write_bonuses(s.study, ("p-ann", "quantity", "0.50"))
        await s.sign(**{"s-ann-1": "approve", "s-bob-1": "screen_out", "s-cem-1": "nothing"})
        assert str((await s.pay()).total("owed")) == "2.80 GBP"
        assert not (folder / "pay").exists(), "a dry run writes nothing"
        payment = await s.pay(send=True)
        assert payment.file == folder / "pay" / "payments.csv"
        rows = [
            ["id", "visit", "outcome", "amount", "currency", "code", "reason"],
            ["id of ann", "", "completed", "2.00", "GBP", "C0DE", "reward"],
            ["id of ann", "", "completed", "0.50", "GBP", "C0DE", "quantity"],
            ["id of bob", "", "completed", "0.30", "GBP", "C0DE", "screen_out"],
        ]
        assert sorted(listed(s)) == sorted(rows)
        if os.name != "nt":
            assert payment.file.stat().st_mode & 0o777 == 0o600
        assert (folder / "pay" / ".gitignore").read_text() == "*\n"
        await s.sign(**{"s-cem-1": "approve"})
        again = await s.pay(send=True)
        assert sorted(listed(s)) == sorted(rows), "the same list, and nothing more in it"
        assert again.notes == ("1 more is owed, and comes into the next list, once this one is paid.",)
        assert str(again.total("sent")) == "2.80 GBP"
        paid = await s.pay(paid=True)
        assert (str(paid.total("paid")), str(paid.total("owed"))) == ("2.80 GBP", "2.00 GBP")
        await s.pay(send=True)
        assert [row[0] for row in listed(s)] == ["id", "id of cem"]
        await s.pay(paid=True)
        done = await s.pay(send=True)
        assert (done.is_settled, done.file) == (True, None)
        twice = await s.pay(paid=True)
        assert [str(problem) for problem in twice.problems] == [
            "--paid  there is no list that waits to be paid. `beholder pay --send` writes pay/payments.csv."
        ]


async def test_a_list_that_was_cut_off_is_written_to_its_end(folder: Path) -> None:
    async with manual_payment_setup(folder) as s:
        await people(s, "ann")
        await s.sign(**{"s-ann-1": "approve"})
        (folder / "pay").write_text("in the way")
        with pytest.raises(RecruitError) as refused:
            await s.pay(send=True)
        assert str(refused.value) == (
            f"{folder / 'pay' / 'payments.csv'}  cannot be written (File exists). Nothing was paid. Make it writable, "
            "then run `beholder pay --send` again."
        )
        assert [str(problem) for problem in (await s.pay(paid=True)).problems] == [
            "--paid  the list was not written to its end. `beholder pay --send` writes pay/payments.csv."
        ]
        (folder / "pay").unlink()
        await s.pay(send=True)
        assert [row[0] for row in listed(s)] == ["id", "id of ann"]
        assert (await s.pay(paid=True)).is_settled


async def test_what_a_person_does_on_the_platform_is_told(folder: Path) -> None:
    async with manual_payment_setup(folder) as s:
        await people(s, "ann")
        await s.sign(**{"s-ann-1": {"pay": "reject", "category": "LOW_EFFORT", "message": MESSAGE}})
        payment = await s.pay(send=True)
        assert payment.notes == (
            "Reject it on the platform, by the id and with the message in pay/by_hand.csv. (s-ann-1)",
        )
        assert listed(s)[1:] == []


async def test_a_budget_holds_for_lists_too(folder: Path) -> None:
    async with manual_payment_setup(folder, budget="3.00 GBP") as s:
        await people(s, "ann", "bob")
        await s.sign(**{"s-ann-1": "approve", "s-bob-1": "approve"})
        payment = await s.pay(send=True)
        assert str(payment.problems[0]).endswith(
            "budget is 3.00 GBP, and with the 4.00 GBP that are due now the study comes to 4.00 GBP: 1.00 GBP more. "
            "Nothing of it was sent. Raise the budget to 4.00 GBP, or sign fewer payments."
        )
        assert not (folder / "pay").exists()
    refused = CliRunner().invoke(cli, ["pay", str(folder / "study.yaml"), "--send"])
    assert isinstance(refused.exception, UserError)
    assert "budget is 3.00 GBP, and with the 4.00 GBP" in str(refused.exception)
    async with manual_payment_setup(folder, budget="3.00 GBP") as s:
        await s.sign(**{"s-ann-1": "approve", "s-bob-1": "nothing"})
        await s.pay(send=True)
        entries = await s.context.store.ledger.entries()
        messages = [str(cost_of_runs(s.study, entries, "GBP", besides=run)) for run in (1, 2)]
        assert messages == ["0.00 GBP", "2.00 GBP"], "also of a run that was never launched"


async def test_somebody_without_an_id_stands_under_the_pseudonym(folder: Path) -> None:
    async with manual_payment_setup(folder, "link") as s:
        await come(s.context.store, "ann", None, mode="link")
        await s.sign(**{"s-ann-1": "approve"})
        await s.pay(send=True)
        assert listed(s)[1][:2] == ["p-ann", ""]


async def test_the_command_line_shows_what_is_owed_and_then_pays(folder: Path) -> None:
    study = str(folder / "study.yaml")
    async with manual_payment_setup(folder) as s:
        nobody = CliRunner().invoke(cli, ["pay", study])
        assert nobody.output == "Nothing is owed to anybody.\n"
        await people(s, "ann")
    nothing = CliRunner().invoke(cli, ["pay", study])
    assert nothing.output == (
        "Nothing is owed: nobody has signed a decision yet. `beholder decide --sign NAME` does.\n"
    )
    async with manual_payment_setup(folder) as s:
        await s.sign(**{"s-ann-1": "approve"})
    shown = CliRunner().invoke(cli, ["pay", study])
    assert shown.output.splitlines() == [
        "person  submission  what        amount    state",
        "------  ----------  ----------  --------  -----",
        "p-ann   s-ann-1     the reward  2.00 GBP  owed",
        "",
        "Owed: 1 payment of 2.00 GBP in all",
        "Nothing was sent. `beholder pay --send` does it.",
    ]
    sent = CliRunner().invoke(cli, ["pay", study, "--send"])
    assert sent.output.splitlines()[-2:] == [
        "On its way: 1 payment of 2.00 GBP in all",
        f"Pay what is in {folder / 'pay' / 'payments.csv'}, then run `beholder pay --paid`.",
    ]
    paid = CliRunner().invoke(cli, ["pay", study, "--paid"])
    assert (paid.exit_code, paid.output) == (0, "Paid or done: 1 payment of 2.00 GBP in all\n")
    wrong = CliRunner().invoke(cli, ["pay", study, "--paid"])
    assert wrong.exit_code != 0
    unfit = CliRunner().invoke(cli, ["pay", study, "--resend", "B1", "--settle", "B1"])
    fix = "Pay what is in pay/payments.csv, then say so with --paid. Nothing was sent."
    assert isinstance(unfit.exception, RecruitError)
    assert str(unfit.exception).splitlines() == [
        f"--resend  does not go with recruit.mode panel. {fix}",
        f"--settle  does not go with recruit.mode panel. {fix}",
    ]


async def test_no_id_of_a_person_is_in_the_ledger(folder: Path) -> None:
    async with payment_setup(folder, 2, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve", s1={"pay": "reject", "category": "LOW_EFFORT", "message": MESSAGE})
        await s.pay(send=True)
        entries = repr(await s.context.store.ledger.entries())
        assert not [visit for visit in s.visits if visit.submission.person.id in entries]
        assert s.fake.token not in entries
