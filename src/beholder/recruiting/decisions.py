"""Deciding: whom to pay and whose answers to use, proposed in a file that a person may edit and signs."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from beholder.errors import Problem, RecruitError
from beholder.files import write_private
from beholder.formats import plain_count, plural
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.contract import DecisionRow, Pay
from beholder.recruiting.decisions_file import (
    DECISIONS_FILE,
    apply_edits,
    changed_messages,
    edit_row,
    file_bytes,
    missing_list,
    nothing_to_sign,
    read_file,
    remember_list,
    remembered_list,
    unseen_submissions,
    write_by_hand,
)
from beholder.recruiting.proposals import DecisionEvidence, ProposalRow, ProposalTable, read_evidence
from beholder.recruiting.signatures import RUN_SIGNATURE, SignedRow, signature, signed_rows, use_acts
from beholder.result_view import ResultView, ShownResult
from beholder.store.contract import LedgerEntry


@dataclass(frozen=True, repr=False)
class Decisions(ShownResult):
    """Every submission with its decision, and the file it is written to."""

    rows: tuple[DecisionRow, ...]
    file: Path
    """decide/decisions.csv, which a person may edit."""
    signed_by: str
    """Who signed this time; empty where nobody did."""
    words: tuple[str, ...]
    """All of this in sentences."""

    @property
    def counts(self) -> Mapping[Pay, int]:
        """The number of rows for each decision about pay."""
        return Counter(row.pay for row in self.rows)

    @property
    def for_a_person(self) -> tuple[DecisionRow, ...]:
        """The rows that need a person: those to look at, and rejections."""
        return tuple(row for row in self.rows if row.pay in ("look", "reject"))

    def _view(self) -> ResultView:
        import pandas as pd

        counts = {"pay": list(self.counts), "submissions": list(self.counts.values())}
        rows = [
            {"submission": row.submission, "participant": row.participant, "pay": row.pay, "use": row.use,
             "outcome": row.outcome or "", "words": row.words, "message": row.message}
            for row in self.rows
        ]  # fmt: skip
        return ResultView(self.words, pd.DataFrame(counts), {"rows": pd.DataFrame(rows)})


async def decide_study(
    context: RecruitContext,
    *,
    submissions: Path | None = None,
    sign: str | None = None,
    only: Collection[str] | None = None,
    dry_run: bool = False,
) -> Decisions:
    """Return the decision about every submission, as proposed and as edited in the file; write and sign it.

    A signature covers the rows that the file had when the person saw it; of these, `only` some submissions.
    """
    if sign is not None and not sign.strip():
        raise RecruitError(Problem("--sign", "is empty", "the name of whoever signs"))
    by = (sign or "").strip()
    folder, known = context.study.folder, None
    if submissions is None and context.study.recruit.source.has_submission_list:
        known = remembered_list(folder, context.study.run)
    evidence = await read_evidence(context, submissions or known)
    table = ProposalTable(context.study, context.store.secret, evidence, context.now())
    proposed = table.all()
    problems: list[Problem] = []
    edits = read_file(folder, problems)
    rows = apply_edits(proposed, edits, table.promised, is_signed=bool(by), problems=problems) if not problems else []
    if by and by != RUN_SIGNATURE and not edits and not problems:
        problems.append(nothing_to_sign())
    if not dry_run and by != RUN_SIGNATURE and not evidence.is_listed and (missing := missing_list(edits)) is not None:
        problems.append(missing)
    if problems:
        raise RecruitError(problems)
    words = [*_count_lines(rows), *_stale_lines(changed_messages(rows, proposed))]
    if known is not None:
        words.append(f"By the list {known.name} as before; --submissions names another one.")
    unseen = set(unseen_submissions(rows, edits)) if by != RUN_SIGNATURE else set()
    signed = [
        row for row in rows if row.decided.submission not in unseen and (only is None or row.decided.submission in only)
    ]
    # Once signed, a change of use is the new state and no change any more.
    signed_ids = {row.decided.submission for row in signed} if by else set()
    content = file_bytes(
        replace(row.decided, is_use_changed=False) if row.decided.submission in signed_ids else row.decided
        for row in rows
    )
    if not dry_run:
        if submissions is not None:
            remember_list(folder, context.study.run, submissions)
        write_private(folder / DECISIONS_FILE, content)
        words += write_by_hand(context, rows)
        if due := _released(rows, evidence, context):
            await context.store.ledger.append(due)
    if by:
        words += await _sign(context, signed, by, content, evidence, dry_run=dry_run)
        words += _unsigned_lines(len(unseen))
    else:
        signed_before = _signed_state(rows, evidence.entries)
        words += signed_before.words
        if signed_before.is_all_signed:
            words.append("`beholder pay` shows what would be sent.")
        elif rows and not dry_run:
            words.append(
                f"Look at {DECISIONS_FILE}, change pay and use where you see it otherwise, then sign: --sign NAME."
            )
    rows_decided = tuple(row.decided for row in rows)
    return Decisions(rows_decided, folder / DECISIONS_FILE, "" if dry_run else by, tuple(words))


async def edit_decision(
    context: RecruitContext, submission: str, *, pay: str, use: bool, category: str = "", message: str | None = None
) -> Decisions:
    """Decide about one submission in the file, as a person does in a spreadsheet; where it is wrong, change nothing.

    Without a message it stays as it is, or is the usual one where the pay is another one now.
    """
    rows = (await decide_study(context)).rows
    file = context.study.folder / DECISIONS_FILE
    before = file.read_bytes()
    cells = {"pay": pay, "use": "true" if use else "false"}
    if category:
        cells["category"] = category
    if message is not None or any(row.submission == submission and row.pay != pay for row in rows):
        cells["message"] = message or ""  # what was written for another decision is not sent with this one
    edit_row(context.study.folder, submission, cells)
    try:
        return await decide_study(context)
    except RecruitError:
        write_private(file, before)
        raise


def digest_of(rows: Sequence[DecisionRow]) -> str:
    """Return a digest of what is decided, by which somebody says that it is this that they have seen."""
    seen = [[row.submission, row.pay, row.use, row.category or "", row.message] for row in rows]
    return hashlib.sha256(json.dumps(sorted(seen)).encode()).hexdigest()[:32]


async def _sign(
    context: RecruitContext,
    rows: Sequence[ProposalRow],
    by: str,
    content: bytes,
    evidence: DecisionEvidence,
    *,
    dry_run: bool,
) -> list[str]:
    """Record who signed what, once; return it in words."""
    judging = evidence.judging
    used = {one.visit.session: one.decision.use for one in judging.judged} if judging is not None else {}
    entry = signature(rows, by, content, context.now())
    due = [*_new_signature(entry, evidence.entries), *use_acts(rows, evidence.acts, used, by, context.now())]
    number = sum(row.decided.pay not in ("wait", "look", "nothing") for row in rows)
    what = f"{plain_count(number, 'submission')} to pay, reject or ask back"
    if dry_run:
        return [f"{by} would sign {what}. Nothing is written."]
    if due:
        await context.store.ledger.append(due)
    already = "" if due else " already"
    return [f"Signed by {by}{already}: {what}. `beholder pay` shows what would be sent."]


def _new_signature(entry: LedgerEntry, entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
    """Return the signature, unless the last one is the same."""
    last = next((one for one in reversed(entries) if one.kind == "decisions"), None)
    return [] if last is not None and last.evidence == entry.evidence else [entry]


def _released(rows: Sequence[ProposalRow], evidence: DecisionEvidence, context: RecruitContext) -> list[LedgerEntry]:
    """Return the entries that release the lists of participants who left on the platform, once each."""
    done = {one.session for one in evidence.entries if one.kind == "release"}
    return [
        LedgerEntry(
            "release", "done", context.now(), submission=row.decided.submission, participant=row.decided.participant,
            session=session, reason_code=row.decided.status, reason_text=row.decided.words,
        )
        for row in rows
        if row.proposal.is_over
        for session in row.decided.sessions
        if session not in done and evidence.arrived[session].outcome is None
    ]  # fmt: skip


def _count_lines(rows: Sequence[ProposalRow]) -> list[str]:
    counts = Counter(row.decided.pay for row in rows)
    changed = sum(row.decided.pay != row.decided.proposed or row.decided.is_use_changed for row in rows)
    used = sum(row.decided.use for row in rows)
    if not rows:
        return ["Nobody has come yet, so there is nothing to decide."]
    lines = [
        f"{plain_count(len(rows), 'row')}: {', '.join(f'{n} {pay}' for pay, n in counts.most_common())}; {used} used."
    ]
    if changed:
        lines.append(f"{plain_count(changed, 'row')} as a person has changed {plural(changed, 'it', 'them')}.")
    return lines


def _stale_lines(submissions: Sequence[str]) -> list[str]:
    if not submissions:
        return []
    return [f"The message is another one than would be proposed now: {', '.join(submissions)}."]


def _unsigned_lines(number: int) -> list[str]:
    if not number:
        return []
    verb, changed = plural(number, "is", "are"), plural(number, "has changed", "have changed")
    return [
        f"{plain_count(number, 'row')} {verb} new or {changed} since you looked, and {verb} not signed: look, and sign."
    ]


class _SignedState(NamedTuple):
    """What was signed before, in words; nothing where nothing was signed."""

    words: tuple[str, ...]
    is_all_signed: bool


# What is already signed, and what is new since


_NAMED = 5

_QUIET = ("nothing", "wait")
"""Decisions that need no signature: what is done, and what is not over yet."""


def _signed_state(rows: Sequence[ProposalRow], entries: Iterable[LedgerEntry]) -> _SignedState:
    """Return who signed these rows last and when, and which of them are not signed as they are now."""
    signed = signed_rows(entries)
    own = [signed[row.decided.submission] for row in rows if row.decided.submission in signed]
    if not own:
        return _SignedState((), False)
    last = max(own, key=lambda one: one.at)
    new = [row for row in rows if row.decided.submission not in signed and row.decided.pay not in _QUIET]
    changed = [row for row in rows if _has_changed(row, signed.get(row.decided.submission))]
    count = f"{plain_count(len(own), 'row is', 'rows are')} signed"
    head = f"{count}, last by {last.by} on {last.at:%Y-%m-%d at %H:%M} UTC."
    since = [f"{len(some)} {word} ({_names(some)})" for some, word in ((new, "new"), (changed, "changed")) if some]
    return _SignedState((f"{head} Since then: {', '.join(since) or 'nothing new'}.",), not since)


def _has_changed(row: ProposalRow, before: SignedRow | None) -> bool:
    now = row.decided
    if before is None:
        return False
    if now.pay in _QUIET:
        return now.is_use_changed
    signed = (before.pay, before.use, before.category, before.message)
    return (now.pay, now.use, now.category or "", now.message) != signed


def _names(rows: Sequence[ProposalRow]) -> str:
    names = [row.decided.submission for row in rows[:_NAMED]]
    return ", ".join([*names, "…"] if len(rows) > _NAMED else names)
