"""The file of a chain: studies that follow from one another, under one budget."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from beholder.errors import Problem, StudyError
from beholder.study.loading import build_part
from beholder.study.parts import Slug, StudyPart, Text, path_fault
from beholder.study.recruitment import Money
from beholder.study.yaml import read_document


class Follow(StudyPart):
    """One study of a chain."""

    study: Text = Field(description="Its study.yaml, or its folder, beside the chain's file.")
    asks: Literal["everything", "inconclusive"] = Field(
        default="everything",
        description="`inconclusive`: only the pairs of conditions that the last study that was run left open; they are "
        "written to the file that its `design.pairs` names.",
    )
    question: Slug | None = Field(
        default=None, description="Of that study, whose pairs are meant; its only one when left out."
    )


class Chain(StudyPart):
    """Studies in the order in which they run, each with people who took part in none before it."""

    beholder: Literal[1] = Field(description="Version of this format.")
    chain: Slug = Field(description="What the chain is called.")
    budget: Money | None = Field(default=None, description="The most that all studies together may cost. A hard cap.")
    studies: tuple[Follow, ...] = Field(min_length=1, description="The studies, first to last.")


def load_chain(path: str | Path) -> Chain:
    """Return the chain in a file; raises `StudyError` with every problem at once."""
    document = read_document(path)
    chain = build_part(document, Chain)
    problems = []
    for place, follow in enumerate(chain.studies):
        where, fault = document.where(("studies", place, "study")), path_fault(follow.study)
        if fault is not None:
            problems.append(Problem(where, f"studies.{place}.study {fault.what}", fault.allowed, fault.fix))
        elif not (document.folder / follow.study).exists():
            what = f"studies.{place}.study is {follow.study}, which is not there"
            problems.append(Problem(where, what, "a study.yaml or its folder, beside this file"))
        if follow.asks == "inconclusive" and place == 0:
            here = document.where(("studies", place, "asks"))
            what = "studies.0.asks is inconclusive, and no study comes before it"
            problems.append(Problem(here, what, "everything"))
    if problems:
        raise StudyError(problems)
    return chain
