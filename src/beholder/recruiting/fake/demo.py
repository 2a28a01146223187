"""The demonstration of a whole study on the fake platform: launch, collection, extension, decisions, payment, close."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import chain, cycle, repeat
from pathlib import Path
from typing import Any, NamedTuple

from beholder.analysis import analyse
from beholder.analysis.result import Results, read_results
from beholder.cleaning import clean
from beholder.errors import Problem, RecruitError
from beholder.methods import load_study
from beholder.recruiting.closure import SUMMARY
from beholder.recruiting.collection import ReportProgress, RunProgress, TakeLook, no_report
from beholder.recruiting.contract import Recruiter
from beholder.recruiting.fake.http import serve_fake
from beholder.recruiting.fake.platform import FakeProlific
from beholder.recruiting.fake.rehearsal import USUAL_BEHAVIOURS, Behaviour, RehearsedVisit, draw_behaviours, rehearse
from beholder.recruiting.fake.state import FakeClock, PaymentKind
from beholder.recruiting.fake.submissions import NOBODY_FITS
from beholder.recruiting.ledger import MONEY, LedgerState, replay
from beholder.recruiting.prolific.client import ProlificClient
from beholder.recruiting.prolific.recruiter import ProlificRecruiter
from beholder.recruiting.unattended_run import run_on_platform
from beholder.reporting import report
from beholder.server import ServerStatus
from beholder.server.process import load_served, report_until_stopped, run_server
from beholder.simulation.truth import Truth, truth_of
from beholder.store.contract import LedgerEntry, Store
from beholder.store.open import open_store
from beholder.study.model import Study
from beholder.study.recruitment import Sum

_ON_PROLIFIC = """
# On Prolific; in the demonstration, on a Prolific of play money on this machine.
recruit: {mode: prolific, reward: 2.00 GBP, screen_out: 0.30 GBP, minutes: 10}
budget: 100 GBP                 # nothing is spent beyond it
checks: {agreement: {action: flag}}     # who agrees with nobody is paid, and not used
clean: {bonus: {quality: {best: 20, each: 0.50 GBP}}}
"""
_PRESCREENING = """
before:
  - id: field
    text: Do you work on such stimuli yourself?
    type: single
    options: ["yes", "no"]
    correct: ["no"]             # anybody else is told kindly that this study is not for them, and paid for coming
"""
_NO_WATCHING = "  watch: none                   # people of a demonstration do not take the time\n"
_FIRST_BEHAVIOURS: tuple[Behaviour, ...] = (
    "finish", "no_code", "finish", "return", "finish", "decline", "finish", "wrong_code", "finish", "unfit", "careless",
    "drop_out",
)  # fmt: skip
"""Behaviours of the first participants; everybody after them finishes."""
_BEHAVIOUR_TEXTS: dict[Behaviour, str] = {
    "no_code": "finished, and handed in without a code",
    "wrong_code": "finished, and handed in a wrong code",
    "return": "left half way, and returned the place",
    "drop_out": "left half way, without a word",
    "careless": "answered without looking",
    "decline": "did not agree, and returned the place",
    "unfit": "did not fit, and was paid for coming",
}
_LOOK_S, _ARRIVE_S = 0.5, 0.1
_DRAWN = 100


class PaymentTotal(NamedTuple):
    """The total of payments of one kind."""

    people: int
    amount: Sum


class MoneySummary(NamedTuple):
    """All money of a study, and the differences between ledger and wallet."""

    places: int
    came: int
    approved: PaymentTotal
    screened_out: PaymentTotal
    bonuses: PaymentTotal
    fees: Sum
    """With tax."""
    before: Sum
    after: Sum
    differences: tuple[str, ...]
    """Payments that occur in only one of the two, or more often in one of them."""


def put_on_prolific(study: Path) -> None:
    """Change the study.yaml of an example so that it recruits on Prolific, with a reward and a budget."""
    has_before = bool(load_study(study).before)
    text = re.sub(r"^  watch: .*\n", "", study.read_text("utf-8"), flags=re.MULTILINE)
    text = text.replace("\nplayback:\n", f"\nplayback:\n{_NO_WATCHING}", 1)
    study.write_text(text + ("" if has_before else _PRESCREENING) + _ON_PROLIFIC, "utf-8", newline="\n")


async def demonstrate(
    study: Path,
    *,
    stay: bool,
    port: int,
    on_link: Callable[[str], None] | None,
    on_result: Callable[[Truth, Results], None] | None,
    on_money: Callable[[MoneySummary], None] | None,
    news: ReportProgress | None,
    tell: Callable[[ServerStatus], None] | None,
) -> Results:
    """Return the results of a study that recruits on the fake platform; with `stay`, keep serving.

    A closed study is shown again. An interrupted one is refused, because the platform keeps no state.
    """
    report_progress, loaded = news or no_report, load_study(study)
    summary: MoneySummary | None = None
    if await _is_closed(loaded, report_progress):
        results = read_results(loaded.folder)
    else:
        people: Iterator[Behaviour] = chain(_FIRST_BEHAVIOURS, repeat("finish"))
        waiting, summary = await _run_study(loaded, people, report_progress, port=port)
        results = replace(await asyncio.to_thread(_results, study), waiting=waiting)
    if on_result:
        served, _ = load_served(loaded, "http://127.0.0.1")
        on_result(truth_of(served.study, served.catalogue, served.method), results)
    if on_money and summary is not None:
        on_money(summary)
    if stay:
        async with run_server(loaded, port=port) as server:
            if on_link:
                on_link(server.service.preview.link)
            await report_until_stopped(server, asyncio.Event(), tell)
    return results


async def run_on_play_money(
    study: Study,
    *,
    budget: float | str | None = None,
    news: ReportProgress | None = None,
    port: int = 0,
    take_look: TakeLook | None = None,
) -> tuple[str, ...]:
    """Take a study through the fake platform, with simulated people who come by themselves; return what waits.

    Most of them finish; some leave, return their place or lose their code. A closed study is left as it is.
    """
    report_progress = news or no_report
    if await _is_closed(study, report_progress):
        return ()
    people = cycle(draw_behaviours(_DRAWN, USUAL_BEHAVIOURS))
    waiting, _ = await _run_study(study, people, report_progress, port=port, budget=budget, take_look=take_look)
    return waiting


async def _is_closed(study: Study, news: ReportProgress) -> bool:
    """Return whether a study was run on play money before; raise RecruitError if that was interrupted."""
    kinds = {entry.kind for entry in await _entries(study)}
    if "close" in kinds:
        news(RunProgress("close", f"This study is closed already; {SUMMARY} says what was paid."))
        return True
    if kinds:
        what = "holds a run on play money that was interrupted, and its money is gone"
        raise RecruitError(Problem(str(study.folder), what, "", "Choose another folder with --folder, or delete it."))
    return False


async def _run_study(
    study: Study,
    people: Iterator[Behaviour],
    news: ReportProgress,
    *,
    port: int,
    budget: float | str | None = None,
    take_look: TakeLook | None = None,
) -> tuple[tuple[str, ...], MoneySummary]:
    """Run the study to its end; return what waits for a person, and the summary of all money."""
    fake = FakeProlific(
        clock=FakeClock(runs=True), approving_takes=timedelta(seconds=1), paying_takes=timedelta(seconds=1)
    )
    before = fake.balance
    async with serve_fake(fake) as url:

        async def recruiting(study: Study, store: Store) -> Recruiter:
            return ProlificRecruiter(study, store, ProlificClient(url, fake.token))

        told: list[str] = []

        def report_visit(visit: RehearsedVisit) -> None:
            if visit.ending == NOBODY_FITS and not told:
                told.append(visit.ending)
                news(
                    RunProgress("people", f"{visit.ending} The run waits for them: change the filters and begin anew.")
                )
            elif visit.ending != NOBODY_FITS and visit.behaviour in _BEHAVIOUR_TEXTS:
                news(RunProgress("people", f"Person {visit.number} {_BEHAVIOUR_TEXTS[visit.behaviour]}."))

        waiting = await _run_with_people(
            rehearse(fake, study.folder, None, people, report_visit, _ARRIVE_S, skips_time=True),
            run_on_platform(
                study, publish=True, every=_LOOK_S, budget=budget, news=news, port=port, take_look=take_look,
                open_recruiter=recruiting, is_play=True,
            ),
        )  # fmt: skip
    return waiting, _summarise_money(fake, before, replay(await _entries(study)))


async def _entries(study: Study) -> tuple[LedgerEntry, ...]:
    """Return the ledger of a study; empty if it was never served."""
    if not (study.folder / "store").is_dir():
        return ()
    async with open_store(study.folder / "store", write=False) as store:
        return await store.ledger.entries()


def _results(study: Path) -> Results:
    clean(study)
    analyse(study)
    report(study)
    return read_results(study.parent)


async def _run_with_people(
    people: Coroutine[Any, Any, None], run: Coroutine[Any, Any, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the result of a run while simulated participants keep arriving."""
    arrivals, study_run = asyncio.create_task(people), asyncio.create_task(run)
    try:
        await asyncio.wait([arrivals, study_run], return_when=asyncio.FIRST_COMPLETED)
        if arrivals.done():
            arrivals.result()  # they never stop by themselves
        return await study_run
    finally:
        arrivals.cancel()
        study_run.cancel()
        await asyncio.gather(arrivals, study_run, return_exceptions=True)


# Money: our ledger compared with the platform's wallet


def _summarise_money(fake: FakeProlific, before: int, ledger: LedgerState) -> MoneySummary:
    """Return the summary of payments since the wallet held `before`, in hundredths."""
    currency = fake.wallet.currency

    def paid(*kinds: PaymentKind) -> PaymentTotal:
        payments = [one for one in fake.payments if one.kind in kinds]
        return PaymentTotal(
            len({one.submission for one in payments}), Sum(sum(one.amount for one in payments), currency)
        )

    paid_out = sum(one.amount for one in fake.payments)
    return MoneySummary(
        places=sum(one.places for one in fake.studies.all.values()),
        came=len(fake.submissions.all),
        approved=paid("reward", "partial"),
        screened_out=paid("screen_out"),
        bonuses=paid("bonus"),
        fees=Sum(before - fake.balance - paid_out, currency),
        before=Sum(before, currency),
        after=Sum(fake.balance, currency),
        differences=tuple(_differences(fake, ledger)),
    )


def _differences(fake: FakeProlific, ledger: LedgerState) -> list[str]:
    """Return the payments that only the ledger or only the wallet contains."""
    in_ledger: Counter[tuple[PaymentKind, str, int]] = Counter()
    for debt in ledger.settled():
        if debt.kind in MONEY and not debt.batch and debt.amount.minor:  # by approval, or by the code of an end
            in_ledger["reward" if debt.kind == "approve" else "screen_out", debt.submission, debt.amount.minor] += 1
    for batch in ledger.batches.values():
        if batch.state == "settled":
            in_ledger.update(("bonus", one, amount.minor) for one, amount in ledger.rows(batch.id).items())
    in_wallet = Counter((one.kind, one.submission, one.amount) for one in fake.payments)
    return [
        f"{kind} of {Sum(amount, fake.wallet.currency)} for {submission}, only in the {where}"
        for where, some in (("ledger", in_ledger - in_wallet), ("wallet", in_wallet - in_ledger))
        for kind, submission, amount in some.elements()
    ]
