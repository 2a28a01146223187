"""Recruiting: launch a study, monitor it, decide, pay and close; erase participants on request.

The functions here are the verbs of the package. Their chapters:

- `contract`, `context`, `ledger`: what a recruiter is, what a verb works with, and the ledger as entries and debts.
- `manual`, `panel`, `invitations`: recruiting without a platform API, by link, panel or laboratory.
- `launches`, `launch_record`, `preflight`, `postings`: launching, and pausing and resuming what is launched.
- `monitoring`, `monitor_snapshot`, `progress`, `dashboard`: the state of a running study.
- `reconciliation`, `proposals`, `decisions`, `decisions_file`, `signatures`: whom to pay and whose answers to use.
- `payments`, `pay_facts`, `pay_ledger`, `debts`, `transfers`: what is due, and sending it exactly once.
- `closure`, `open_items`, `summary`, `erasure`: the end of a study, and erasing personal data.
- `participant_records`, `moderation`, `resume_links`: participants, and what a researcher does about one of them.
- `unattended_run`, `collection`, `abandoned_lists`: running a study without a researcher at the keyboard.
- `prolific/` and `fake/`: Prolific, and a platform with play money to rehearse on.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

if TYPE_CHECKING:
    from beholder.recruiting.closure import Closed
    from beholder.recruiting.debts import Payment
    from beholder.recruiting.decisions import Decisions
    from beholder.recruiting.erasure import Forgotten, Purged
    from beholder.recruiting.launch_record import Launch, PostingChange
    from beholder.recruiting.moderation import Act, ModerationResult
    from beholder.recruiting.monitor_snapshot import MonitorSnapshot
    from beholder.recruiting.participant_records import ParticipantRecords
    from beholder.recruiting.resume_links import ResumeLink
    from beholder.study.model import Study

__all__ = [
    "act", "close", "decide", "forget", "launch", "monitor", "participants", "pay", "purge", "resume_link", "turn",
]  # fmt: skip

P = ParamSpec("P")
T = TypeVar("T")


def _blocking(verb: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Return a verb that is called without `await`, in a notebook too."""

    @wraps(verb)
    def call(*args: P.args, **options: P.kwargs) -> T:
        from beholder.aio import block_on

        return block_on(verb(*args, **options))

    return call


@_blocking
async def launch(
    study: str | Path | Study = "study.yaml",
    *,
    publish: str | None = None,
    places: int | None = None,
    public_url: str | None = None,
    temporary: str | None = None,
    store: str | None = None,
    dry_run: bool = False,
) -> Launch:
    """Check everything, create a draft of the study, and return what it costs; `publish` publishes it.

        beholder.launch("study.yaml")                           # says what it would cost
        beholder.launch("study.yaml", publish="54.00 GBP")      # and opens it for that

    A second call continues the first.

    What most studies need:
        study           the study file, or the study
        publish         the amount of the quote, so that nobody spends money they have not seen
        public_url      the address that people reach the server by
        dry_run         creates nothing, and needs neither store nor server

    Rarely:
        temporary       why it may be published at an address that ends when your own machine does, in words
        places          how many places in all, which only grow once it is published; one for each list when left out
        store           where answers are kept, if not in store/ beside the study
    """
    from beholder.recruiting.context import open_context
    from beholder.recruiting.launches import launch_study

    async with open_context(study, store, may_be_new=True) as context:
        return await launch_study(
            context, publish=publish, places=places, public_url=public_url, temporary=temporary, dry_run=dry_run
        )


@_blocking
async def turn(
    study: str | Path | Study,
    which: Literal["pause", "resume"],
    *,
    publish: str | None = None,
    store: str | None = None,
    dry_run: bool = False,
) -> PostingChange:
    """Pause or resume recruiting, and return the state of the study on its platform.

    If resuming needs more money for screen-outs, `publish` names the amount, which a dry run returns.
    """
    from beholder.recruiting.context import open_context
    from beholder.recruiting.postings import change_posting

    async with open_context(study, store) as context:
        return await change_posting(context, which, publish=publish, dry_run=dry_run)


@_blocking
async def monitor(
    study: str | Path | Study = "study.yaml", *, store: str | None = None, robots: bool = False
) -> MonitorSnapshot:
    """Return the state of a study: arrivals, steps, drop-outs, balance, failures, pay, cost and expected end.

    `robots=True` shows a rehearsal.
    """
    from beholder.recruiting.context import open_context
    from beholder.recruiting.monitoring import take_snapshot

    async with open_context(study, store) as context:
        return await take_snapshot(context, robots=robots)


@_blocking
async def participants(study: str | Path | Study = "study.yaml", *, store: str | None = None) -> ParticipantRecords:
    """Return all participants: their sessions, steps, verdicts and the acts recorded about them."""
    from beholder.recruiting.context import open_context
    from beholder.recruiting.participant_records import participant_records

    async with open_context(study, store) as context:
        return await participant_records(context)


@_blocking
async def act(
    kind: Act,
    who: str,
    reason: str,
    study: str | Path | Study = "study.yaml",
    *,
    by: str = "",
    store: str | None = None,
    dry_run: bool = False,
) -> ModerationResult:
    """Record an act about a participant, by pseudonym or session, with its reason and who did it; return it in words.

    `release`: the list is open to others. `reset`: all attempts start over. `let_in`, `shut_out`: may begin again, or
    may not continue. `leave_out`, `take_in`: the answers are excluded or included, whatever the rules say.
    """
    from beholder.recruiting.context import open_context
    from beholder.recruiting.moderation import record_act

    async with open_context(study, store) as context:
        return await record_act(context, kind, who, reason, by=by, dry_run=dry_run)


@_blocking
async def resume_link(
    who: str,
    study: str | Path | Study = "study.yaml",
    *,
    public_url: str | None = None,
    store: str | None = None,
) -> ResumeLink:
    """Return the link with which a participant goes on with their session on another device.

    `who` is the id with which they came, a pseudonym or a session. Whoever has the link has the session.
    """
    from beholder.recruiting.context import open_context
    from beholder.recruiting.resume_links import resume_link as link_of

    async with open_context(study, store) as context:
        return await link_of(context, who, public_url=public_url)


@_blocking
async def decide(
    study: str | Path | Study = "study.yaml",
    *,
    submissions: str | Path | None = None,
    sign: str | None = None,
    store: str | None = None,
    dry_run: bool = False,
) -> Decisions:
    """Return whom to pay and whose answers to use, with reasons, and write decide/decisions.csv for editing.

        beholder.decide("study.yaml")                       # look at it, change it
        beholder.decide("study.yaml", sign="Ada Lovelace")  # only signed decisions are ever sent

    What most studies need:
        study           the study file, or the study
        sign            the name of the person who signs the file
        submissions     the platform's list of submissions as CSV (`panel`)

    Rarely:
        store           where answers are kept, if not in store/ beside the study
        dry_run         writes and signs nothing
    """
    from beholder.errors import Problem, RecruitError
    from beholder.recruiting.context import open_context
    from beholder.recruiting.decisions import decide_study
    from beholder.recruiting.signatures import RUN_SIGNATURE

    if sign is not None and sign.strip() == RUN_SIGNATURE:  # reserved for decisions that nobody has checked
        raise RecruitError(Problem("--sign", f"is {RUN_SIGNATURE}, as which only `beholder run` signs", "your name"))

    async with open_context(study, store) as context:
        return await decide_study(
            context, submissions=Path(submissions) if submissions else None, sign=sign, dry_run=dry_run
        )


@_blocking
async def pay(
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
    """Return what is due to whom; with `send` it is paid, exactly once.

        beholder.pay("study.yaml")              # says what is due
        beholder.pay("study.yaml", send=True)

    What most studies need:
        study           the study file, or the study
        send            pays what is due
        paid            confirms that the list in pay/payments.csv has been paid
        top_up          adds what is missing to the minimum pay per hour

    A payment of unknown outcome is looked up and never sent again by itself:
        resend          payments that nobody received, and that may be sent once more
        settle          payments that a person has completed by hand

    Rarely:
        store           where answers are kept, if not in store/ beside the study
        tell            a function that gets what the call waits for
    """
    from beholder.recruiting.context import open_context
    from beholder.recruiting.payments import pay_study

    async with open_context(study, store) as context:
        return await pay_study(context, send=send, resend=resend, settle=settle, paid=paid, top_up=top_up, notify=tell)


@_blocking
async def close(
    study: str | Path | Study = "study.yaml",
    *,
    store: str | None = None,
    dry_run: bool = False,
    remove_media: bool = False,
) -> Closed:
    """Stop recruiting, check that nothing is unpaid, export, and return the summary of the study.

    With `remove_media`, the copies of the stimuli are removed from where `media` says, once it is closed.
    """
    from beholder.recruiting.closure import close_study
    from beholder.recruiting.context import open_context

    async with open_context(study, store) as context:
        return await close_study(context, dry_run=dry_run, remove_media=remove_media)


def forget(
    receipt: str, study: str | Path | Study = "study.yaml", *, store: str | None = None, dry_run: bool = False
) -> Forgotten:
    """Erase everything about the participant with this receipt, and return what was erased; a tombstone remains."""
    from beholder.recruiting.erasure import erase_by_receipt

    return erase_by_receipt(receipt, study, store=store, dry_run=dry_run)


def purge(
    study: str | Path | Study = "study.yaml",
    *,
    store: str | None = None,
    dry_run: bool = False,
) -> Purged:
    """Erase what the study's `retention` no longer allows to be kept, and return what was erased."""
    from beholder.recruiting.erasure import purge_study

    return purge_study(study, store=store, dry_run=dry_run)
