"""Texts for participants: the Markdown of the researcher, from the study or its files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, get_args

from beholder.errors import StudyError, did_you_mean
from beholder.study.model import Study
from beholder.study.parts import Fault, path_fault, size_fault
from beholder.study.questions import Page

_MOST_BYTES = 1_000_000
"""Of a text that participants read: a novel, and more than anybody would."""

Which = Literal["consent", "instructions", "reminder", "pause", "thanks"]


def study_text(study: Study, which: Which | str) -> str | None:
    """Return a text of the study as Markdown, from its file where it names one; None without a text."""
    if which not in get_args(Which):
        raise KeyError(which)
    if which == "instructions":
        return "\n\n".join(page.text for page in instruction_pages(study)) or None
    text: str | None = getattr(study.texts, which)
    return None if text is None else _read(study, f"texts.{which}", text)


def default_texts(study: Study, shipped: Path) -> tuple[Which, ...]:
    """Return which of consent and instructions are still ours: not written, or as `shipped`, our folder of texts."""

    def is_ours(which: Which) -> bool:
        folder = shipped if study.language == "en" else shipped / study.language
        text, file = study_text(study, which), folder / f"{which}.md"
        return text is None or (file.is_file() and text.strip() == file.read_text("utf-8").strip())

    names: tuple[Which, ...] = ("consent", "instructions")
    return tuple(which for which in names if is_ours(which))


def instruction_pages(study: Study) -> tuple[Page, ...]:
    """Return the pages of the instructions as Markdown; none where the study has no instructions."""
    pages = study.texts.pages
    keys = [f"texts.instructions.{place}.text" for place in range(len(pages))]
    if len(pages) == 1:
        keys = ["texts.instructions"]
    return tuple(
        page.model_copy(update={"text": _read(study, key, page.text)}) for key, page in zip(keys, pages, strict=True)
    )


def _read(study: Study, key: str, text: str) -> str:
    """Return a text as Markdown, from its file where it names one."""
    if not is_file_name(text):
        return text
    fault = text_fault(study.folder, text)
    if fault is not None:
        raise StudyError(study.problem(key, fault.what, fault.allowed, fault.fix))
    return (study.folder / text).read_text("utf-8-sig")


_ALLOWED = "Markdown, or the name of a file that ends in .md"
_OTHER_FILES = re.compile(r"([\w./\\-]+)\.(?:txt|markdown|MD|Md|html?|docx?|odt|rtf|pdf|tex)")
"""Names of files that hold a text and are not read."""


def is_file_name(text: str) -> bool:
    """Return whether a text of the study is the name of a file."""
    return text.endswith(".md") and "\n" not in text


def text_fault(folder: Path, text: str) -> Fault | None:
    """Return the fault of a text that names a file, if any."""
    if found := _OTHER_FILES.fullmatch(text):
        fix = f"Save it as {found[1]}.md, and write that name."
        return Fault(f"is {text}, which participants would read as it stands", _ALLOWED, fix)
    if not is_file_name(text):
        return None
    file = folder / text
    fault = path_fault(text, folder) or size_fault(file, _MOST_BYTES)
    if fault is not None:
        return fault
    try:
        content = file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        return Fault(f"is {text}, which is not UTF-8", "UTF-8", "Save the file as UTF-8.")
    except (OSError, ValueError):
        others = [one.name for one in file.parent.iterdir()] if file.parent.is_dir() else []
        near = did_you_mean(file.name, others)
        fix = near or f"Write it to {text} in the study folder."
        return Fault(f"is {text}, and there is no such file", _ALLOWED, fix)
    if not content.strip():
        return Fault(f"is {text}, which is empty", "a file that says something")
    return None
