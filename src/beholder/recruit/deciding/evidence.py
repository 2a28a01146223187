"""What `decide` reads: the sessions judged, the platform's submissions, and which belongs to which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beholder.clean.facts import TABLES
from beholder.clean.judging import Judging, judge_tables
from beholder.clean.persons import Act, acts_of
from beholder.errors import Problem, RecruitError
from beholder.recruit.contract import Submission
from beholder.recruit.decisions import Found
from beholder.recruit.desk import Desk
from beholder.recruit.launching.recorded import recorded
from beholder.recruit.ledger.purged import last_purge
from beholder.recruit.reconcile.visits import Arrived, Paired, arrived_of, forgotten, found_codes, pair_up
from beholder.recruit.trouble import asking
from beholder.serve.returning import codes_of
from beholder.store.contract import Coming, Entry
from beholder.store.open import read_rows
from beholder.types import Outcome


@dataclass(frozen=True)
class Evidence:
    """Everything that decisions rest on."""

    pairs: Sequence[Paired]
    arrived: Mapping[str, Arrived]
    """Our sessions of this run, in the order of arrival."""
    erased: frozenset[str]
    judging: Judging | None
    """By the rules alone, without what people have decided; None where nobody has come."""
    acts: Mapping[str, Act]
    """What people have decided about the use of sessions."""
    codes: Mapping[str, Found]
    """What each submission's code is."""
    common: Mapping[Outcome, str]
    """The codes that are the same for everybody."""
    comings: Sequence[Coming]
    entries: Sequence[Entry]
    is_listed: bool
    """Whether a platform counts submissions, and has told them."""


async def read_evidence(desk: Desk, submissions: Path | None) -> Evidence:
    """Return what decisions rest on: the store as it is, and the submissions of the platform or of its list."""
    tables: dict[str, list[dict[str, Any]]] = {table: await read_rows(desk.store, table) for table in TABLES}
    entries = await desk.store.ledger.entries()
    listed = await _submissions(desk, submissions, entries)
    arrived = arrived_of([row for row in tables["sessions"] if row["run"] == desk.study.run], tables["ends"])
    comings = [
        *await desk.store.comings(),
        *forgotten(entries, listed or (), desk.store.secret, desk.study.recruit.mode),
    ]
    if listed is not None:
        _check_identity(desk, entries)
    pairs = pair_up(listed or (), arrived, await desk.store.links(), comings)
    common = codes_of(desk.study, desk.store.secret)
    return Evidence(
        pairs=pairs,
        arrived={one.session: one for one in arrived},
        erased=frozenset(str(row["session"]) for row in tables["erasures"]),
        # Without the ledger: what people decided stands beside what the rules say, and must not count twice.
        judging=judge_tables(desk.study, {**tables, "ledger": []}) if arrived else None,
        acts=acts_of(tables["ledger"]),
        codes=found_codes(pairs, arrived, common),
        common=common,
        comings=comings,
        entries=entries,
        is_listed=listed is not None,
    )


async def _submissions(
    desk: Desk, listed: Path | None, entries: Sequence[Entry]
) -> Sequence[Submission] | None:  # fmt: skip
    """Return the platform's submissions; None where no platform counts any."""
    mode = desk.study.recruit.mode
    if listed is not None:
        if mode != "panel":
            what = f"does not go with mode {mode}"
            raise RecruitError(Problem("--submissions", what, "mode panel, whose platform gives a list to download"))
        from beholder.recruit.panel.submissions import read_submissions

        return read_submissions(listed, desk.study)
    if desk.is_by_hand:
        return None
    launched = recorded(entries, desk.study.run)
    if launched is None:
        what = f"run {desk.study.run} is not on the platform yet, so there is nothing to decide"
        raise RecruitError(Problem(desk.study.name, what, fix="Run `beholder launch` first."))
    with asking(desk.study):
        return await desk.recruiter.submissions(launched.posting)


def _check_identity(desk: Desk, entries: Sequence[Entry]) -> None:
    """Raise RecruitError where nobody can be matched any more, so that nobody is taken for having done nothing."""
    purge = last_purge(entries)
    if purge is not None:
        raise RecruitError(
            Problem(
                desk.study.name,
                f"who is who was erased on {purge.at:%Y-%m-%d}, so submissions and sessions cannot be matched any more",
                fix="Decide and pay on the platform itself.",
            )
        )
