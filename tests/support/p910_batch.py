"""A batch of the P.910 crowdsourcing toolkit, as recorded by its page and the platform.

The page has one row for each submission; the results of the platform say who handed in which code.
"""

from __future__ import annotations

import base64
import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from beholder.types import Role

Row = Mapping[str, str]
_CLIP = re.compile(r"(?P<content>src\d+)_(?P<condition>c\d+)_v\d+")
_HIDDEN = (2, 3)
"""The offsets by which the page hides the right counts of the first matrix, circles and triangles."""


class Clip(NamedTuple):
    """One clip as one submission showed it."""

    url: str
    role: Role
    key: float | None
    """The right answer of a trapping or gold clip."""
    vote: str
    plays: int
    ends: int
    """How often it was played to its end."""
    played_ms: float
    """How long the last playback took."""
    length_ms: float

    @property
    def name(self) -> str:
        return PurePosixPath(self.url).stem

    @property
    def content(self) -> str:
        match = _CLIP.fullmatch(self.name)
        return match["content"] if match else self.name

    @property
    def condition(self) -> str:
        match = _CLIP.fullmatch(self.name)
        return match["condition"] if match else self.role

    @property
    def stimulus(self) -> str:
        return f"{self.condition}/{self.content}"


@dataclass(frozen=True)
class Submission:
    """One row of the page's answers, and who handed in its code."""

    row: Row
    worker: str
    """The person on the platform; the browser of somebody who handed in no code."""
    assignment: str
    """The platform's name for it; empty where nobody handed in the code."""

    @property
    def id(self) -> str:
        return self.row["id"]

    @property
    def session(self) -> str:
        return self.row["AssignmentId"]

    @property
    def is_whole(self) -> bool:
        """Whether the page was submitted; else only the arrival is known."""
        return bool(self.row["Answer.device_type"])

    @property
    def ended_at(self) -> datetime:
        return datetime.fromisoformat(self.row["SubmitTime"])

    @property
    def began_at(self) -> datetime:
        return self.ended_at - timedelta(seconds=float(self.row["work_duration_sec"] or 0))

    @cached_property
    def clips(self) -> tuple[Clip, ...]:
        """The clips in the order in which they were shown."""
        return tuple(self._clips()) if self.is_whole else ()

    def _clips(self) -> Iterator[Clip]:
        checks: dict[str, tuple[Role, float | None]] = {
            self.row["Input.TP_CLIP"]: ("trap", float(self.row["Input.TP_ANS"])),
            self.row["Input.GOLD_CLIP"]: ("gold", float(self.row["Input.GOLD_ANS"])),
        }
        number = 1
        while url := self.row.get(f"Answer.Q{number}_URL"):
            role, key = checks.get(url, ("test", None))
            yield Clip(
                url,
                role,
                key,
                self.row[f"Answer.q{number}"],
                int(self.row[f"Answer.video_n_play_Q{number}"]),
                int(self.row[f"Answer.video_n_finish_Q{number}"]),
                1000 * float(self.row[f"Answer.video_play_duration_Q{number}"]),
                1000 * float(self.row[f"Answer.video_duration_Q{number}"]),
            )
            number += 1

    def attempts(self) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
        """Yield each attempt at a check: key, right answer, given answer. Hidden sections have none."""
        row = self.row
        if row["Answer.7_plate3"] or row["Answer.7_plate4"]:
            right = [plate_number(row[f"Input.cv_plate_{place}_url"]) for place in (3, 4)]
            plates = [{"kind": "own", "number": number} for number in right if number is not None]
            read = {f"p{place}": row[f"Answer.7_plate{place + 2}"] or "none" for place in (1, 2)}
            # Without both keys the task is unknown, and the attempt is not judged.
            yield "check:colour:1", {"plates": plates} if len(plates) == len(right) else {}, {"numbers": read}
        if row["Answer.t1_circles"]:
            counts = [int(row[f"Input.t1_matrix_{shape}"]) for shape in "ct"]
            first = {"circles": counts[0] - _HIDDEN[0], "triangles": counts[1] - _HIDDEN[1]}
            *before, _ = self._counted()
            for number, given in enumerate([*before, _shapes(row, "Answer.t1_{}")], 1):
                yield f"check:brightness:{number}", {"counts": first}, given
        if row["Answer.t2_circles"]:
            second = {"circles": int(row["Input.t2_matrix_c"]), "triangles": int(row["Input.t2_matrix_t"])}
            yield "check:brightness_second:1", {"counts": second}, _shapes(row, "Answer.t2_{}")

    def _counted(self) -> list[dict[str, int]]:
        """Return the counts of the first matrix in the order of the attempts; the last one was submitted."""
        histories = (self.row[f"Answer.matrix_t1_{shape}_history"].split(",")[1:] for shape in ("circle", "triangle"))
        tried = zip(*histories, strict=True)
        return [{"circles": int(circles), "triangles": int(triangles)} for circles, triangles in tried] or [{}]


def _shapes(row: Row, column: str) -> dict[str, int]:
    return {shape: int(row[column.format(shape)]) for shape in ("circles", "triangles")}


def plate_number(url: str) -> str | None:
    """Return the number on a plate from its file name, or None."""
    hidden = PurePosixPath(url).name[4:8]
    numbers = (text for number in range(100) for text in (str(number), f"{number:02d}"))
    return next((text for text in numbers if base64.b64encode(text.encode()).decode().upper() == hidden), None)


class Batch(NamedTuple):
    """All submissions, and the rows of the platform without one."""

    submissions: tuple[Submission, ...]
    unknown: tuple[Row, ...]
    """Rows with a code that the page did not issue."""
    copied: tuple[Row, ...]
    """Rows with a code that was issued to another participant."""


def read_batch(folder: Path) -> Batch:
    """Return the batch in a folder."""
    answers, handed_in = _read(folder / "hitapp_answers.csv"), _read(folder / "amt_answers.csv")
    by_code: dict[str, list[Row]] = defaultdict(list)
    for row in handed_in:
        by_code[row["Answer.v_code"].strip()].append(row)
    given = {row["v_code"] for row in answers}
    owners = _owners(answers, by_code)
    submissions, copied = [], []
    for row in answers:
        claims = sorted(by_code[row["v_code"]], key=lambda claim: claim["WorkerId"] != owners.get(row["WorkerId"]))
        worker, assignment = (claims[0]["WorkerId"], claims[0]["AssignmentId"]) if claims else (row["WorkerId"], "")
        submissions.append(Submission(row, worker, assignment))
        copied.extend(claims[1:])
    unknown = (row for code, rows in by_code.items() if code not in given for row in rows)
    return Batch(tuple(submissions), tuple(unknown), tuple(copied))


def _owners(answers: Sequence[Row], by_code: Mapping[str, Sequence[Row]]) -> dict[str, str]:
    """Return the owner of each browser: the person with most of the codes that only one person submitted."""
    claimants: dict[str, Counter[str]] = defaultdict(Counter)
    for row in answers:
        if len(claims := by_code[row["v_code"]]) == 1:
            claimants[row["WorkerId"]][claims[0]["WorkerId"]] += 1
    return {browser: workers.most_common(1)[0][0] for browser, workers in claimants.items()}


def _read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))
