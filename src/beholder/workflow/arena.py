"""`arena`: the conditions of a study that does not end, and those that retire or come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.result_view import ResultView, ShownResult

if TYPE_CHECKING:
    from beholder.study.model import Study


@dataclass(frozen=True)
class ArenaCondition:
    """A condition of an arena: since when it is dealt, and since when it is not."""

    condition: str
    joined_at: datetime | None
    """None for one that was there from the beginning."""
    retired_at: datetime | None
    """None for one that is dealt."""


@dataclass(frozen=True, repr=False)
class ArenaState(ShownResult):
    """The conditions of an arena, in the order of the study, and what was changed."""

    conditions: tuple[ArenaCondition, ...]
    words: tuple[str, ...]

    def _view(self) -> ResultView:
        return ResultView(self.words)


def arena(
    study: str | Path | Study = "study.yaml",
    *,
    retire: Sequence[str] = (),
    bring_back: Sequence[str] = (),
    store: str | None = None,
) -> ArenaState:
    """Return the conditions of a study that does not end, after some retired or came back.

        beholder.arena("study.yaml", retire=["old"])

    What joins needs no call: put its files with the others and start the server again. A server that runs deals
    a condition no more from the next person on who begins.

    What most studies need:
        study           the study file, or the study; its design has `arena`
        retire          conditions that are dealt no more; their votes stay
        bring_back      retired conditions that are dealt again

    Rarely:
        store           where answers are kept, if not in store/ beside the study
    """
    from beholder.aio import block_on
    from beholder.clock import utc_now
    from beholder.errors import UserError
    from beholder.methods import find, load_study
    from beholder.planning.message_trials import load_stimuli
    from beholder.server.arena_conditions import check_change
    from beholder.store.condition_changes import (
        JOIN,
        RETIRE,
        RETURN,
        change_entries,
        condition_changes,
        retired_conditions,
    )
    from beholder.store.contract import LedgerEntry
    from beholder.store.open import open_store

    loaded = load_study(study) if isinstance(study, str | Path) else study
    if loaded.design.arena is None:
        what, fix = "is not written, and this is a command for a study that does not end", "Write arena: {} there."
        raise UserError(loaded.problem("design.arena", what, "", fix))
    conditions = load_stimuli(loaded, find(loaded.method)).conditions
    url = store or str(loaded.folder / "store")
    asked = {RETIRE: tuple(retire), RETURN: tuple(bring_back)}

    async def change() -> tuple[LedgerEntry, ...]:
        async with open_store(url, write=False) as opened:
            entries = await opened.ledger.entries()
            for what, names in asked.items():
                check_change(what, names, conditions, retired_conditions(entries))
            for what, names in asked.items():
                if names:
                    entries += await opened.ledger.append(change_entries(what, names, utc_now()))
        return entries

    entries = block_on(change()) if any(asked.values()) or _is_begun(url) else ()
    changes, retired = condition_changes(entries), retired_conditions(entries)
    joined = {one.condition: one.at for one in changes if one.what == JOIN}
    gone = {one.condition: one.at for one in changes if one.what == RETIRE}
    rows = tuple(
        ArenaCondition(name, joined.get(name), gone.get(name) if name in retired else None) for name in conditions
    )
    return ArenaState(rows, tuple(_words(rows, asked[RETIRE], asked[RETURN])))


def _is_begun(url: str) -> bool:
    """Return whether there is a store: before the first server there is none."""
    from beholder.store.open import is_postgresql

    return is_postgresql(url) or Path(url).is_dir()


def _words(rows: Sequence[ArenaCondition], retired: Sequence[str], returned: Sequence[str]) -> list[str]:
    from beholder.formats import join_names, plain_count, plural

    lines = []
    if retired:
        verb = plural(len(retired), "has", "have")
        lines.append(f"{join_names(retired)} {verb} retired: dealt no more from the next person on; votes stay.")
    if returned:
        lines.append(f"{join_names(returned)} {plural(len(returned), 'is', 'are')} dealt again.")
    active = [row for row in rows if row.retired_at is None]
    lines.append(f"{plain_count(len(active), 'condition is', 'conditions are')} dealt.")
    for row in rows:
        joined = f"joined {row.joined_at:%Y-%m-%d %H:%M}" if row.joined_at else "from the beginning"
        gone = f", retired {row.retired_at:%Y-%m-%d %H:%M}" if row.retired_at else ""
        lines.append(f"  {row.condition}: {joined}{gone}")
    return lines
