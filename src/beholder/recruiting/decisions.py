"""`decide`: whom to pay and whom to use, in a file that a person may change; signed, it may be sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from beholder.errors import Problem, RecruitError
from beholder.recruit.deciding.by_hand import write_by_hand
from beholder.recruit.deciding.edits import changed_messages, nothing_to_sign, unseen, with_edits, without_list
from beholder.recruit.deciding.evidence import Evidence, read_evidence
from beholder.recruit.deciding.file import NAME, file_bytes, read_file
from beholder.recruit.deciding.found import Decisions
from beholder.recruit.deciding.rows import Row, Rows
from beholder.recruit.deciding.signing import RUN, signature, use_acts
from beholder.recruit.deciding.standing import standing
from beholder.recruit.desk import Desk
from beholder.recruit.private import write_private
from beholder.store.contract import Entry


async def decide_desk(
    desk: Desk,
    *,
    submissions: Path | None = None,
    sign: str | None = None,
    only: Collection[str] | None = None,
    dry_run: bool = False,
) -> Decisions:
    """Return what is decided about every submission, as proposed and as the file has it; write and sign it.

    Signed are all that whoever signs has seen; or, of these, `only` some submissions.
    """
    if sign is not None and not sign.strip():
        raise RecruitError(Problem("--sign", "is empty", "the name of whoever signs"))
    by = (sign or "").strip()
    evidence = await read_evidence(desk, submissions)
    made = Rows(desk.study, desk.store.secret, evidence, desk.now())
    proposed = made.all()
    folder = desk.study.folder
    problems: list[Problem] = []
    edits = read_file(folder, problems)
    rows = with_edits(proposed, edits, made.promised, is_signed=bool(by), problems=problems) if not problems else []
    if by and by != RUN and not edits and not problems:
        problems.append(nothing_to_sign())
    if not dry_run and by != RUN and not evidence.is_listed and (missing := without_list(edits)) is not None:
        problems.append(missing)
    if problems:
        raise RecruitError(problems)
    words = [*_counted(rows), *_stale(changed_messages(rows, proposed))]
    fresh = set(unseen(rows, edits)) if by != RUN else set()
    kept = [
        row for row in rows if row.decided.submission not in fresh and (only is None or row.decided.submission in only)
    ]
    # What is signed about use stands from then on, so that it is no change any more.
    settled = {row.decided.submission for row in kept} if by else set()
    content = file_bytes(
        replace(row.decided, is_use_changed=False) if row.decided.submission in settled else row.decided for row in rows
    )
    if not dry_run:
        write_private(folder / NAME, content)
        words += write_by_hand(desk, rows)
        if due := _released(rows, evidence, desk):
            await desk.store.ledger.append(due)
    if by:
        words += await _sign(desk, kept, by, content, evidence, dry_run=dry_run)
        words += _unsigned(len(fresh))
    else:
        stands = standing(rows, evidence.entries)
        words += stands.words
        if stands.is_all_signed:
            words.append("`beholder pay` shows what would be sent.")
        elif rows and not dry_run:
            words.append(f"Look at {NAME}, change pay and use where you see it otherwise, then sign: --sign NAME.")
    rows_decided = tuple(row.decided for row in rows)
    return Decisions(rows_decided, folder / NAME, "" if dry_run else by, tuple(words))


async def _sign(
    desk: Desk, rows: Sequence[Row], by: str, content: bytes, evidence: Evidence, *, dry_run: bool
) -> list[str]:
    """Record who signed what, once; return it in words."""
    judging = evidence.judging
    used = {one.visit.session: one.decision.use for one in judging.judged} if judging is not None else {}
    entry = signature(rows, by, content, desk.now())
    due = [*_new(entry, evidence.entries), *use_acts(rows, evidence.acts, used, by, desk.now())]
    number = sum(row.decided.pay not in ("wait", "look", "nothing") for row in rows)
    what = f"{number} {'submission' if number == 1 else 'submissions'} to pay, reject or ask back"
    if dry_run:
        return [f"{by} would sign {what}. Nothing is written."]
    if due:
        await desk.store.ledger.append(due)
    already = "" if due else " already"
    return [f"Signed by {by}{already}: {what}. `beholder pay` shows what would be sent."]


def _new(entry: Entry, entries: Sequence[Entry]) -> list[Entry]:
    """Return the signature, unless the last one says the same."""
    last = next((one for one in reversed(entries) if one.kind == "decisions"), None)
    return [] if last is not None and last.evidence == entry.evidence else [entry]


def _released(rows: Sequence[Row], evidence: Evidence, desk: Desk) -> list[Entry]:
    """Return that the lists of whoever has left on the platform are open again, once each."""
    done = {one.session for one in evidence.entries if one.kind == "release"}
    return [
        Entry(
            "release", "done", desk.now(), submission=row.decided.submission, participant=row.decided.participant,
            session=session, reason_code=row.decided.status, reason_text=row.decided.words,
        )
        for row in rows
        if row.proposal.is_over
        for session in row.decided.sessions
        if session not in done and evidence.arrived[session].outcome is None
    ]  # fmt: skip


def _counted(rows: Sequence[Row]) -> list[str]:
    counts = Counter(row.decided.pay for row in rows)
    changed = sum(row.decided.pay != row.decided.proposed or row.decided.is_use_changed for row in rows)
    used = sum(row.decided.use for row in rows)
    if not rows:
        return ["Nobody has come yet, so there is nothing to decide."]
    said = [f"{_many(len(rows), 'row')}: {', '.join(f'{n} {pay}' for pay, n in counts.most_common())}; {used} used."]
    if changed:
        said.append(f"{_many(changed, 'row')} as a person has changed {'it' if changed == 1 else 'them'}.")
    return said


def _stale(submissions: Sequence[str]) -> list[str]:
    if not submissions:
        return []
    return [f"The message is another one than would be proposed now: {', '.join(submissions)}."]


def _unsigned(number: int) -> list[str]:
    if not number:
        return []
    verb, changed = ("is", "has changed") if number == 1 else ("are", "have changed")
    return [f"{_many(number, 'row')} {verb} new or {changed} since you looked, and {verb} not signed: look, and sign."]


def _many(n: int, one: str) -> str:
    return f"{n} {one}{'s' * (n != 1)}"
