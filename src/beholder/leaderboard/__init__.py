"""The board of an arena: strengths, sets of ranks and differences that hold however often one looks.

votes        the votes, from a study or a table
fit          strengths by Bradley and Terry's model, with ties, position effect, covariates and weights
ranks        errors over people and contents, confidence sequences, e-values and sets of ranks
robustness   few people who decide, people weighed by agreement, weights by draws, covariates
suspicion    votes that may not be somebody's own, and how all stand without them
coverage     what a rank rests on, and warnings
tables       the board as a whole, its history and slices, and every table
page         the page
folder       the folder board/, the result of `board`, and its update when votes have changed
board_cycle  a board that is kept fresh beside a server
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beholder.analysis.column_roles import Columns
    from beholder.leaderboard.folder import BoardResult
    from beholder.study.model import Study

__all__ = ["board"]


def board(
    source: str | Path | Study = "study.yaml",
    *,
    out: str | Path | None = None,
    question: str | None = None,
    retired: Sequence[str] = (),
    minimum: int = 20,
    store: str | None = None,
    columns: Columns = None,
    scale: str | Sequence[float] | None = None,
    reference: str | None = None,
    missing: str | Sequence[str | float] | None = None,
    sheet: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> BoardResult:
    """Rank conditions by the votes so far; write `board/` and return the board.

        print(beholder.board("study.yaml"))

    What most arenas need:
        source          the study (its file or folder), whose answers are cleaned first, or a table of votes
        out             another folder than board/ beside the study or the table
        retired         conditions that are not in the arena any more: they stay on the board, without a rank
        minimum         how many people must have compared a condition before it has a rank: 5 or more

    Of a table of votes:
        columns         what is not evident, as {"participant": "Voter"}
        scale           its scale, as `-3..3`
        reference       the condition that is the reference
        missing         cells that are no answers, as [-1, "skipped"]
        sheet           which sheet of a workbook

    Rarely:
        question        which question, where several compare two
        store           where answers are kept, if not in store/ beside the study
        progress        a function that gets the number of figures that are drawn, and of all
    """
    from beholder.analysis.ratings_table import TableOptions
    from beholder.leaderboard.folder import board_folder

    return board_folder(
        source, out=Path(out) if out is not None else None, question=question, retired=retired, minimum=minimum,
        store=store, options=TableOptions.of(columns, scale, reference, missing, sheet), progress=progress,
    )  # fmt: skip
