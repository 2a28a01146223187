"""Closing: recruiting stops, everything is looked at once more, and only when nothing is owed it is over."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from beholder.clean.facts import TABLES, Rows
from beholder.clean.flow import flow
from beholder.clean.judging import judge_tables
from beholder.clean.tables import write_whole
from beholder.errors import Problem, RecruitError
from beholder.recruit.closing.asked import asked_back, asked_words
from beholder.recruit.closing.bonuses import stale_bonuses
from beholder.recruit.closing.found import Closed
from beholder.recruit.closing.over import is_over
from beholder.recruit.closing.owed import at_work, holdups
from beholder.recruit.closing.summary import Told, summary
from beholder.recruit.closing.together import together
from beholder.recruit.contract import PlatformRefused, PlatformUnsure, Posting
from beholder.recruit.deciding.decide import decide_desk
from beholder.recruit.deciding.signing import signed_rows
from beholder.recruit.desk import Desk
from beholder.recruit.launching.opening import find, reopening, taken_back
from beholder.recruit.launching.recorded import OPENING, published_postings, recorded
from beholder.recruit.ledger.fold import fold
from beholder.recruit.monitoring.look import look
from beholder.recruit.paying.pay import pay_desk
from beholder.recruit.trouble import asking
from beholder.store.contract import Entry
from beholder.store.open import read_rows
from beholder.store.rules import NOT_PEOPLE
from beholder.study.recruiting import is_own_posting, own_posting

SUMMARY = "close/summary.md"
_OVER = ("completed", "draft")
"""States in which nobody can begin."""
STOPPED = "close"
"""Where the first of what holds it up is: that recruiting is stopped nevertheless."""
_DOORS = (*OPENING, "stop")


async def close_desk(desk: Desk, *, dry_run: bool = False) -> Closed:
    """Stop recruiting, look once more, and finish; raise RecruitError with whoever still waits for something.

    Done again it finds what is done, and finishes the rest. In a dry run nothing is stopped, raised or written.
    """
    posting = await stop_desk(desk, dry_run=dry_run)
    tables: dict[str, Rows] = {table: await read_rows(desk.store, table) for table in TABLES}
    came = any(row["run"] == desk.study.run and row["mode"] not in NOT_PEOPLE for row in tables["sessions"])
    open_: tuple[Problem, ...] = ()
    notes: list[str] = []
    if posting is not None or came:
        rows = (await decide_desk(desk, dry_run=True)).rows
        payment = await pay_desk(desk)
        signed = signed_rows(await desk.store.ledger.entries())
        bonus = desk.study.clean.bonus is not None
        ended = {str(row["session"]): row["at"] for row in tables["ends"]}
        held = holdups(rows, payment, signed, is_by_hand=desk.is_by_hand, has_bonus=bonus, ended=ended)
        open_ = (
            *together(held),
            *await _at_work(desk),
            *await asyncio.to_thread(stale_bonuses, desk.study, tables if came else {}),
        )
        notes = await asked_words(desk, posting, asked_back(rows, payment))
    if open_ and not dry_run:
        raise RecruitError([*_stopped(desk, posting), *open_])
    if dry_run:
        return Closed(not open_, open_, None, None, _dry(open_, _is_open(desk, posting)))
    await _keep_apart(desk)
    exported = await asyncio.to_thread(_export, desk) if came else None
    path = await _summarise(desk, posting, tables, came)
    if not is_over(desk.study.run, await desk.store.ledger.entries(), tables):
        await desk.store.ledger.append([Entry("close", "done", desk.now(), evidence={"run": desk.study.run})])
    words = [
        f"Closed. {path.relative_to(desk.study.folder).as_posix()} says how it was done, and what is kept until when."
    ]
    words += (
        [f"Every fact is in {exported.name}/."] if exported is not None else ["Nobody came, so nothing is exported."]
    )
    return Closed(True, (), path, exported, (*words, *notes))


def _stopped(desk: Desk, posting: Posting | None) -> list[Problem]:
    """Return that nobody can begin any more although it is not over, and what brings more people."""
    what = "has stopped recruiting, and is not over before what follows is"
    if "stop" not in desk.recruiter.can:
        return []
    if desk.is_by_hand:
        fix = "`beholder launch --resume` lets people begin again."
    elif posting is not None and posting.state == "completed":
        fix = reopening(desk)
    else:
        return []
    return [Problem(STOPPED, what, "", fix)]


async def _at_work(desk: Desk) -> list[Problem]:
    """Return that people are at work; where there is a platform, it tells who is under way."""
    if not desk.is_by_hand:
        return []
    live = (await desk.store.counts(desk.now(), desk.study.run))["live"]
    return list(at_work(live, desk.study.recruit.time_limit or "60 min"))


async def stop_desk(desk: Desk, *, dry_run: bool = False) -> Posting | None:
    """Let nobody begin any more, and return how the study stands on its platform."""
    entries = await desk.store.ledger.entries()
    posting = await find(desk, recorded(entries, desk.study.run))
    if others := await _left_open(desk, entries, posting):
        raise RecruitError(others)
    if dry_run or "stop" not in desk.recruiter.can:
        return posting
    if desk.is_by_hand and posting is None:
        await _shut(desk)
        return None
    if posting is None or (posting.state == "draft" and not desk.is_by_hand):
        return posting
    if posting.state == "completed" and _is_stopped(entries, posting.id):
        return posting
    # Also what is full: should somebody's place get free again, it would open by itself.
    entry = Entry("stop", "planned", desk.now(), provider_ref=posting.id)
    await desk.store.ledger.append([entry])
    with asking(desk.study):
        posting = await desk.recruiter.stop(posting.id)
    if posting.state not in _OVER:
        name = desk.recruiter.mode.capitalize()
        what, fix = f"has not stopped it yet: it is {posting.state}", "Run `beholder close` again in a minute."
        raise RecruitError(Problem(name, what, "", fix)) from PlatformUnsure(what)
    done = replace(entry, event="done", at=desk.now())
    await desk.store.ledger.append([done, *taken_back(posting, desk.now())])
    return posting


async def _shut(desk: Desk) -> None:
    """Shut the door of a study that was never launched: by hand people come as soon as it is served."""
    own = own_posting(desk.study.name, desk.study.run)
    await desk.store.ledger.append([Entry("stop", "done", desk.now(), provider_ref=own)])


async def _left_open(desk: Desk, entries: Sequence[Entry], found: Posting | None) -> list[Problem]:
    """Return what else was published in this run on a platform, and is not over: somebody may wait there for money."""
    what = "was published in this run too, and is not seen to be over"
    fix = "Stop it on its platform, and pay whoever has handed in there; its own token and recruit.mode show it."
    others = [one for one in published_postings(entries, desk.study.run) if found is None or one != found.id]
    return [
        Problem(one, what, "", fix)
        for one in others
        if not (is_own_posting(one) or _is_stopped(entries, one) or await _is_over(desk, one))
    ]


async def _is_over(desk: Desk, posting: str) -> bool:
    with asking(desk.study):
        try:
            return (await desk.recruiter.posting(posting)).state in _OVER
        except PlatformRefused:
            return False


def _is_stopped(entries: Sequence[Entry], posting: str) -> bool:
    """Return whether we have stopped it, and not opened it since."""
    done = [one.kind for one in entries if one.provider_ref == posting and one.event == "done" and one.kind in _DOORS]
    return bool(done) and done[-1] == "stop"


async def _keep_apart(desk: Desk) -> None:
    """Keep everybody who came out of other studies of the family, also whom no code has put there."""
    mode = desk.recruiter.mode
    people = list(dict.fromkeys(one.platform_id for one in await desk.store.links() if one.platform == mode))
    if desk.study.family is not None and people:
        with asking(desk.study):
            await desk.recruiter.exclude(people)


def _export(desk: Desk) -> Path:
    from beholder.export import export

    return export(desk.study, store=desk.url).folder


async def _summarise(desk: Desk, posting: Posting | None, tables: Mapping[str, Rows], came: bool) -> Path:
    """Write the summary, and return where it is."""
    steps: list[dict[str, Any]] = []
    first = last = None
    if came:
        judging = await asyncio.to_thread(judge_tables, desk.study, tables)
        steps = flow(judging.study, judging.judged)
        visits = judging.facts.visits
        first, last = min(visit.at for visit in visits), max(visit.ended_at or visit.at for visit in visits)
    books = fold(await desk.store.ledger.entries())
    told = Told(desk.study, await look(desk), books, posting, steps, first, last, desk.now())
    path = desk.study.folder / SUMMARY
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, summary(told).encode("utf-8"))
    return path


def _is_open(desk: Desk, posting: Posting | None) -> bool:
    """Return whether somebody can begin: by hand also before it was launched."""
    if desk.is_by_hand:
        return posting is None or posting.state != "completed"
    return posting is not None and posting.state not in _OVER


def _dry(open_: tuple[Problem, ...], is_open: bool) -> tuple[str, ...]:
    lines = ["Recruiting would be stopped."] * is_open
    if open_:
        lines.append("It could not be closed yet: what is named above holds it up.")
    else:
        lines.append("It could be closed: nobody waits for a decision or for money.")
    return (*lines, "Nothing was written.")
