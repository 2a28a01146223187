"""Recruit: bring people, watch, decide, pay, close; and forget them when they ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from beholder.recruiting.closure import Closed
    from beholder.recruiting.debts import Payment
    from beholder.recruiting.decisions import Decisions
    from beholder.recruiting.erasure import Forgotten, Purged
    from beholder.recruiting.launch_record import Launch, PostingChange
    from beholder.recruiting.moderation import Act, ModerationResult
    from beholder.recruiting.monitor_snapshot import MonitorSnapshot
    from beholder.recruiting.participant_records import ParticipantRecord
    from beholder.study.model import Study

__all__ = ["act", "close", "decide", "forget", "launch", "monitor", "participants", "pay", "purge", "turn"]


def launch(
    study: str | Path | Study = "study.yaml",
    *,
    publish: str | None = None,
    places: int | None = None,
    public_url: str | None = None,
    store: str | None = None,
    dry_run: bool = False,
) -> Launch:
    """Check everything, put the study up as a draft, and return what it costs; `publish="54.00 GBP"` opens it.

    The amount is that of the quote, so that nobody spends what they have not seen. Called again it finds what it did.
    """
    from beholder.aio import block_on
    from beholder.recruiting.context import open_context
    from beholder.recruiting.launches import launch_study

    async def work() -> Launch:
        async with open_context(study, store) as context:
            return await launch_study(context, publish=publish, places=places, public_url=public_url, dry_run=dry_run)

    return block_on(work())


def turn(
    study: str | Path | Study,
    which: Literal["pause", "resume"],
    *,
    publish: str | None = None,
    store: str | None = None,
    dry_run: bool = False,
) -> PostingChange:
    """Let nobody begin for now, or let people begin again; return how the study stands on its platform.

    Where more has to be set aside for those who do not fit, `publish` names the amount, which a dry run returns.
    """
    from beholder.aio import block_on
    from beholder.recruiting.context import open_context
    from beholder.recruiting.postings import change_posting

    async def work() -> PostingChange:
        async with open_context(study, store) as context:
            return await change_posting(context, which, publish=publish, dry_run=dry_run)

    return block_on(work())


def monitor(
    study: str | Path | Study = "study.yaml", *, store: str | None = None, robots: bool = False
) -> MonitorSnapshot:
    """Return how a study stands: arrivals, steps, drop-outs, balance, failures, pay, cost, and when it will be done.

    `robots=True` looks at a rehearsal.
    """
    from beholder.aio import block_on
    from beholder.recruiting.context import open_context
    from beholder.recruiting.monitoring import take_snapshot

    async def work() -> MonitorSnapshot:
        async with open_context(study, store) as context:
            return await take_snapshot(context, robots=robots)

    return block_on(work())


def participants(study: str | Path | Study = "study.yaml", *, store: str | None = None) -> Sequence[ParticipantRecord]:
    """Return everybody who came: their sessions, steps, verdicts and what was done about them."""
    from beholder.aio import block_on
    from beholder.recruiting.context import open_context
    from beholder.recruiting.participant_records import participant_records

    async def work() -> Sequence[ParticipantRecord]:
        async with open_context(study, store) as context:
            return await participant_records(context)

    return block_on(work())


def act(
    kind: Act,
    who: str,
    reason: str,
    study: str | Path | Study = "study.yaml",
    *,
    store: str | None = None,
    dry_run: bool = False,
) -> ModerationResult:
    """Do something about a person, by pseudonym or session: a recorded fact with its reason; return it in words.

    `release`: the list is open to others. `reset`: all attempts anew. `let_in`, `shut_out`: may begin again, or may
    not go on. `leave_out`, `take_in`: the answers are not used, or are, whatever the rules say.
    """
    from beholder.aio import block_on
    from beholder.recruiting.context import open_context
    from beholder.recruiting.moderation import record_act

    async def work() -> ModerationResult:
        async with open_context(study, store) as context:
            return await record_act(context, kind, who, reason, dry_run=dry_run)

    return block_on(work())


def decide(
    study: str | Path | Study = "study.yaml",
    *,
    submissions: str | Path | None = None,
    sign: str | None = None,
    store: str | None = None,
    dry_run: bool = False,
) -> Decisions:
    """Return whom to pay and whom to use, with reasons, and write decide/decisions.csv, which may be changed.

    `submissions` is the list of a platform as CSV (`panel`). `sign` is who signs what the file says: only then
    anything of it is sent.
    """
    from beholder.aio import block_on
    from beholder.errors import Problem, RecruitError
    from beholder.recruiting.context import open_context
    from beholder.recruiting.decisions import decide_study
    from beholder.recruiting.signatures import RUN_SIGNATURE

    if sign is not None and sign.strip() == RUN_SIGNATURE:  # it signs what nobody has looked at
        raise RecruitError(Problem("--sign", f"is {RUN_SIGNATURE}, as which only `beholder run` signs", "your name"))

    async def work() -> Decisions:
        async with open_context(study, store) as context:
            return await decide_study(
                context, submissions=Path(submissions) if submissions else None, sign=sign, dry_run=dry_run
            )

    return block_on(work())


def pay(
    study: str | Path | Study = "study.yaml",
    *,
    send: bool = False,
    resend: Sequence[str] = (),
    settle: Sequence[str] = (),
    paid: bool = False,
    top_up: bool = False,
    store: str | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Payment:
    """Return what is owed to whom; with `send` it is paid, once: what is unsure is read, and never sent again.

    `resend` names payments that nobody has got and a person lets be sent once more, `settle` those that a person has
    made up by hand. `paid` says that the list in pay/payments.csv has been paid. `top_up` adds what is missing to the
    least pay for an hour. `tell` hears what is waited for.
    """
    from beholder.aio import block_on
    from beholder.recruiting.context import open_context
    from beholder.recruiting.payments import pay_study

    async def work() -> Payment:
        async with open_context(study, store) as context:
            return await pay_study(
                context, send=send, resend=resend, settle=settle, paid=paid, top_up=top_up, tell=tell
            )

    return block_on(work())


def close(study: str | Path | Study = "study.yaml", *, store: str | None = None, dry_run: bool = False) -> Closed:
    """Stop recruiting, look once more, verify that nothing is unpaid, export, and return what the study came to."""
    from beholder.aio import block_on
    from beholder.recruiting.closure import close_study
    from beholder.recruiting.context import open_context

    async def work() -> Closed:
        async with open_context(study, store) as context:
            return await close_study(context, dry_run=dry_run)

    return block_on(work())


def forget(
    receipt: str, study: str | Path | Study = "study.yaml", *, store: str | None = None, dry_run: bool = False
) -> Forgotten:
    """Erase everything of the person who has this receipt, and return what was erased; a tombstone says that it was."""
    from beholder.recruiting.erasure import erase_by_receipt

    return erase_by_receipt(receipt, study, store=store, dry_run=dry_run)


def purge(
    study: str | Path | Study = "study.yaml",
    *,
    store: str | None = None,
    dry_run: bool = False,
) -> Purged:
    """Erase what the study's `retention` no longer lets be kept, and return what was erased."""
    from beholder.recruiting.erasure import purge_study

    return purge_study(study, store=store, dry_run=dry_run)
