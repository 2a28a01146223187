"""What every part of a study is made of: the base model, common types of values, and faults that validators report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, StringConstraints

from beholder.study.value_kinds import Allowed, Shown

SLUG = r"^[a-z0-9][a-z0-9_-]{0,63}$"
SLUG_WORDS = "up to 64 small letters, digits, - and _, beginning with a letter or digit"
Slug = Annotated[str, StringConstraints(pattern=SLUG), Allowed(SLUG_WORDS)]
GROUP_NAME = r"^[^\W_]([^,:;\"\r\n\t]{0,62}[^\s,:;\"])?$"
GROUP_NAME_WORDS = 'up to 64 characters, beginning with a letter or digit, without , : ; and "'
GroupName = Annotated[str, StringConstraints(pattern=GROUP_NAME), Allowed(GROUP_NAME_WORDS)]
"""What a factor or a level is called, such as Q1: a value of a table, and in sentences a part of a list."""
Text = Annotated[str, StringConstraints(min_length=1, pattern=r"\S"), Allowed("text that is not empty")]
ShownText = Annotated[Text, Shown()]
"""What participants read, in each language of the study."""
SPAN = r"^[1-9][0-9]{0,5} ?(s|min|h|d)$"
Span = Annotated[
    str,
    StringConstraints(pattern=SPAN),
    Allowed("a time such as 30 min, 12 h or 30 d"),
]
EACH_TIME = "0"
Validity = Annotated[
    str,
    StringConstraints(pattern=rf"^{EACH_TIME}$|{SPAN}"),
    Allowed("a time such as 30 min, 12 h or 30 d, or 0 to show it each time"),
]
"""How long something counts that was passed; 0: in its session only, so that it is shown in every one."""
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400}


class StudyPart(BaseModel):
    """Base of every part of a study: frozen, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False)
    unfit: ClassVar[Mapping[str, Fault]] = {}
    """Keys that one may look for here, because parts like this one have them, and why this one does not."""


def duration(text: str) -> timedelta:
    """Return the duration of a span such as `30 min`."""
    match = re.fullmatch(r"([0-9]+) ?([a-z]+)", text)
    assert match is not None, text
    return timedelta(seconds=int(match[1]) * _SECONDS[match[2]])


@dataclass(frozen=True)
class Fault:
    """One fault within a part of the study; `place` is relative to that part."""

    what: str
    allowed: str = ""
    fix: str = ""
    place: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        subject = ".".join(str(step) for step in self.place)
        parts = [
            f"{subject} {self.what}".strip(),
            f"Allowed: {self.allowed}" if self.allowed else "",
            self.fix.rstrip("."),
        ]
        return ". ".join(part for part in parts if part)


class FaultsError(ValueError):
    """All faults of one part at once. pydantic keeps it, because it is a ValueError."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(str(fault) for fault in faults))


def raise_faults(faults: Sequence[Fault]) -> None:
    """Raise all faults together, if there are any."""
    if faults:
        raise FaultsError(faults)


def path_fault(path: str, folder: Path | None = None) -> Fault | None:
    """Return the fault of a path that leaves the study folder, if it does: by its words, or in `folder` by a link."""
    allowed = "a path inside the study folder, with / between folders"
    if "\0" in path or "\\" in path:
        return Fault(f"is {path!r}", allowed)
    if PurePosixPath(path).is_absolute() or PureWindowsPath(path).drive:
        return Fault(f"is {path}, an absolute path", allowed, "Move it into the study folder.")
    depth = 0
    for step in PurePosixPath(path).parts:
        depth += -1 if step == ".." else 1
        if depth < 0:
            return Fault(f"is {path}, outside the study folder", allowed, "Move it into the study folder.")
    return None if folder is None else link_fault(folder, path)


def link_fault(folder: Path, path: str) -> Fault | None:
    """Return the fault of a path in the study folder that is, or lies behind, a link out of it, if it is."""
    if leads_inside(folder / path, folder):
        return None
    fix = "Copy it into the study folder; for stimuli elsewhere, `beholder run --stimuli FOLDER` copies them."
    return Fault(f"is {path}, a link out of the study folder", "files inside the study folder", fix)


def leads_inside(path: Path, folder: Path) -> bool:
    """Return whether a path lies in a folder when all links are followed: a study of a stranger takes nothing else."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # links in a circle
        return False


def size_fault(file: Path, most: int) -> Fault | None:
    """Return the fault of a file that is larger than what people write, if it is."""
    try:
        size = file.stat().st_size
    except OSError:
        return None
    return Fault(f"is {file.name}, which has {size} bytes", f"at most {most} bytes") if size > most else None
