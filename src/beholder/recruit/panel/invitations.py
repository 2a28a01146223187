"""Personal links: a list of people in, the same list with a link for each of them out."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from beholder.errors import Problem, StudyError
from beholder.recruit.private import write_private
from beholder.serve import tokens
from beholder.study.cells import Sheet, read_sheet
from beholder.study.model import Study

LINKS = "launch/links.csv"
_ID, _LINK = "id", "link"
_LONGEST = 200
"""Characters of an id: a longer one does not fit into every mail program's links."""


class Invited(NamedTuple):
    """The people of a list: its columns without links of an earlier time, and each line with the id in it."""

    heads: tuple[str, ...]
    people: tuple[tuple[str, tuple[str, ...]], ...]
    """Id, and all cells of the line."""
    delimiter: str


def write_invitations(study: Study, secret: bytes, public_url: str, places: int = 0) -> Path | None:
    """Return launch/links.csv, written with a link for everybody in `recruit.people`; None where nobody needs one.

    Without a list, links that each work for one person are numbered, as many as there are places, and others in each
    run. Written again it has the same links, for they follow from the id and the store. Only its owner can read it.
    """
    if not is_personal(study):
        return None
    invited = read_invited(study) if study.recruit.people is not None else _numbered(places, study.run)
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=invited.delimiter, lineterminator="\n")
    writer.writerow((*invited.heads, _LINK))
    writer.writerows((*cells, personal_link(study, secret, public_url, id_)) for id_, cells in invited.people)
    path = study.folder / LINKS
    # With a mark, without which spreadsheets take UTF-8 for something else.
    write_private(path, text.getvalue().encode("utf-8-sig"), "# Who was invited: not for a repository.\nlinks.csv\n")
    return path


def is_personal(study: Study) -> bool:
    """Return whether there are links of which each is for one person."""
    return study.recruit.people is not None or study.recruit.single_use


def _numbered(places: int, run: int) -> Invited:
    """Return numbers; those of a later run as 1-2, for nobody who had a link in one run begins in another."""
    names = [str(one) if run == 1 else f"{one}-{run}" for one in range(1, places + 1)]
    return Invited((_ID,), tuple((name, (name,)) for name in names), ",")


def personal_link(study: Study, secret: bytes, public_url: str, invited: str) -> str:
    """Return the link that lets one invited person in, and nobody without the store can write."""
    query = urlencode({"invited": tokens.invitation(secret, invited)})
    return f"{public_url.rstrip('/')}/s/{study.name}?{query}"


def read_invited(study: Study) -> Invited:
    """Return the people in `recruit.people`, in its order, or raise StudyError with everything that is wrong."""
    name = study.recruit.people
    assert name is not None
    problems: list[Problem] = []
    sheet = read_sheet(study.folder, name, [_ID], problems)
    if sheet is None:
        raise StudyError(problems)
    heads = [head.lower() for head in sheet.heads]
    if heads.count(_ID) != 1:
        what = "column id is there twice" if _ID in heads else "has no column id"
        fix = "" if _ID in heads else "Write id above the column by which you know people."
        raise StudyError(Problem(f"{name}:1", what, "one column id, and any others", fix))
    rows = _people(name, sheet, heads.index(_ID), problems)
    if not rows and not problems:
        problems.append(Problem(name, "invites nobody", "a line for each person", "Write somebody's id below id."))
    if problems:
        raise StudyError(problems)
    kept = [place for place, head in enumerate(heads) if head != _LINK]
    return Invited(
        tuple(sheet.heads[place] for place in kept),
        tuple((id_, tuple(cells[place] for place in kept)) for id_, cells in rows),
        sheet.delimiter,
    )


def _people(name: str, sheet: Sheet, place: int, problems: list[Problem]) -> list[tuple[str, list[str]]]:
    """Return each line by its id, all of one length."""
    width, seen, rows = len(sheet.heads), dict[str, int](), []
    for number, cells in sheet.rows:
        if not any(cells):
            continue
        where, cells = f"{name}:{number}", cells + [""] * (width - len(cells))
        id_ = cells[place]
        if any(cells[width:]):
            problems.append(Problem(where, f"has {len(cells)} cells, the first line has {width}"))
        elif not id_:
            problems.append(Problem(where, "id is empty", "an id in every line"))
        elif len(id_) > _LONGEST:
            problems.append(Problem(where, f"id has {len(id_)} characters", f"up to {_LONGEST}"))
        elif id_ in seen:
            problems.append(Problem(where, f"id is {id_}, as in line {seen[id_]}", "every id once"))
        else:
            seen[id_] = number
            rows.append((id_, cells[:width]))
    return rows
