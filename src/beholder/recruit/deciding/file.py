"""decide/decisions.csv: written for a person to change, and read again with what was changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from beholder.clean.tables import table_bytes
from beholder.errors import Problem
from beholder.recruit.decisions import Decided
from beholder.recruit.private import write_private
from beholder.study.cells import Line, first_cells, read_lines

NAME = "decide/decisions.csv"
COLUMNS = (
    "submission", "participant", "sessions", "outcome", "status", "code", "proposed", "pay", "proposed_use", "use",
    "reasons", "words", "category", "message",
)  # fmt: skip
_TRUTHS: Mapping[str, bool] = {"true": True, "false": False}


class Edited(NamedTuple):
    """A line of the file as it was found."""

    where: str
    submission: str
    code: str
    pay: str
    is_pay_changed: bool
    use: bool | None
    """None where it is neither true nor false."""
    is_use_changed: bool
    category: str
    message: str


def file_bytes(rows: Iterable[Decided]) -> bytes:
    """Return decisions as the file."""
    return table_bytes(COLUMNS, (_cells(row) for row in rows))


def read_file(folder: Path, problems: list[Problem]) -> dict[str, Edited]:
    """Return the lines of the file by submission; none where there is no file yet."""
    if not (folder / NAME).is_file():
        return {}
    if not {*COLUMNS} & {*first_cells(folder, NAME)}:
        fix = "Bring the first line back, or delete the file and run `beholder decide` again."
        problems.append(Problem(f"{NAME}:1", "names no column", ", ".join(COLUMNS), fix))
        return {}
    found: dict[str, Edited] = {}
    for line in read_lines(folder, NAME, COLUMNS, problems):
        one = _edited(line)
        if one.submission in found:
            before = found[one.submission].where.rpartition(":")[2]
            what = f"submission is {one.submission}, as in line {before}"
            problems.append(Problem(one.where, what, "every submission once", "Keep the line that counts."))
            continue
        found[one.submission] = one
    return found


def person_of(folder: Path, submission: str) -> str:
    """Return the pseudonym that the file has beside a submission; empty where it has none."""
    lines = (line.cells for line in read_lines(folder, NAME, COLUMNS, []))
    return next((cells["participant"] for cells in lines if cells["submission"] == submission), "")


def strike_out(folder: Path, participant: str) -> int | None:
    """Return how many lines of somebody were in the file, which is written anew without; None where nobody can tell."""
    if not (folder / NAME).is_file():
        return 0
    problems: list[Problem] = []
    lines = read_lines(folder, NAME, COLUMNS, problems)
    if problems:
        return None
    kept = [line.cells for line in lines if line.cells["participant"] != participant]
    if len(kept) < len(lines):
        write_private(folder / NAME, table_bytes(COLUMNS, kept))
    return len(lines) - len(kept)


def _edited(line: Line) -> Edited:
    cells = line.cells
    use = _TRUTHS.get(cells["use"].lower())
    return Edited(
        where=line.where,
        submission=cells["submission"],
        code=cells["code"],
        pay=cells["pay"].lower(),
        is_pay_changed=cells["pay"].lower() != cells["proposed"].lower(),
        use=use,
        is_use_changed=use is not _TRUTHS.get(cells["proposed_use"].lower()),
        category=cells["category"].upper(),
        message=cells["message"],
    )


def _cells(row: Decided) -> dict[str, Any]:
    return {
        **{name: getattr(row, name) for name in COLUMNS if name != "proposed_use"},
        "sessions": "; ".join(row.sessions),
        "reasons": "; ".join(row.reasons),
        "proposed_use": row.use != row.is_use_changed,
    }
