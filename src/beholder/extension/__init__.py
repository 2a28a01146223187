"""Extend: more lists for a study in use, without changing the existing ones.

`folder` reads the store and writes the lists; `shortfall` makes lists for missing votes and new stimuli.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.result_view import ResultView, ShownResult

if TYPE_CHECKING:
    from beholder.planning.order_balance import Evenness
    from beholder.study.model import Study

__all__ = ["Extension", "extend"]


@dataclass(frozen=True, repr=False)
class Extension(ShownResult):
    """What `extend` has added to a plan, or would add."""

    before: int
    """How many lists the plan had."""
    again: int
    """Lists that are repeated, because no rating of their finished sessions is used."""
    dealt: int
    """Lists recombined from missing trials."""
    more: int
    """Lists that were added to the planned number."""
    missing: int
    """Missing votes that no open list will bring."""
    open: int
    """Lists of the plan that nobody has finished yet."""
    balance: tuple[Evenness, ...]
    """How even the extended plan is."""
    is_written: bool
    words: tuple[str, ...]
    """All of this in sentences."""

    @property
    def added(self) -> int:
        """How many lists were added."""
        return self.again + self.dealt + self.more

    def _view(self) -> ResultView:
        return ResultView(self.words)


def extend(
    study: str | Path | Study = "study.yaml",
    *,
    participants: int | None = None,
    store: str | None = None,
    robots: bool = False,
    dry_run: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Extension:
    """Add lists to the plan of a study that people have begun; return what was added.

        beholder.extend("study.yaml", participants=10)

    What most studies need:
        study           the study file, or the study
        participants    lists for so many more by the same design. When left out, exactly what cleaning left short of
                        its votes and, where design.votes says how many, what stimuli need that were added to the study
        dry_run         only says what would be added

    Rarely:
        robots          judges a rehearsal although people have answered; nothing is written then
        store           where answers are kept, if not in store/ beside the study
        progress        a function that gets the number of stimuli that are made, and of all
    """
    from beholder.extension.folder import extend_folder

    return extend_folder(
        study, participants=participants, store=store, robots=robots, dry_run=dry_run, progress=progress
    )
