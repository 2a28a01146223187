"""The file of a chain: studies that follow from one another, under one budget."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from beholder.errors import Problem, StudyError
from beholder.study.loading import build_part
from beholder.study.parts import Slug, StudyPart, Text, path_fault
from beholder.study.recruitment import Money
from beholder.study.yaml import StudyDocument, read_document


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
    share: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Its share of the error rate of 5 % that all studies have together; what others leave, in equal "
        "parts, when left out.",
    )


class Chain(StudyPart):
    """Studies in the order in which they run, each with people who took part in none before it."""

    beholder: Literal[1] = Field(description="Version of this format.")
    chain: Slug = Field(description="What the chain is called.")
    budget: Money | None = Field(default=None, description="The most that all studies together may cost. A hard cap.")
    studies: tuple[Follow, ...] = Field(min_length=1, description="The studies, first to last.")

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of each study in the error rate of the chain; none is left where they are 0."""
        given = [follow.share for follow in self.studies if follow.share is not None]
        left = max(0.0, 1 - sum(given)) / max(1, len(self.studies) - len(given))
        return tuple(left if follow.share is None else follow.share for follow in self.studies)


def load_chain(path: str | Path) -> Chain:
    """Return the chain in a file; raises `StudyError` with every problem at once."""
    document = read_document(path)
    chain = build_part(document, Chain)
    problems = []
    for place, follow in enumerate(chain.studies):
        where, fault = document.where(("studies", place, "study")), path_fault(follow.study, document.folder)
        if fault is not None:
            problems.append(Problem(where, f"studies.{place}.study {fault.what}", fault.allowed, fault.fix))
        elif not (document.folder / follow.study).exists():
            what = f"studies.{place}.study is {follow.study}, which is not there"
            problems.append(Problem(where, what, "a study.yaml or its folder, beside this file"))
        if follow.asks == "inconclusive" and place == 0:
            here = document.where(("studies", place, "asks"))
            what = "studies.0.asks is inconclusive, and no study comes before it"
            problems.append(Problem(here, what, "everything"))
    problems += _share_problems(chain, document)
    if problems:
        raise StudyError(problems)
    return chain


_ROUNDING = 1e-9


def _share_problems(chain: Chain, document: StudyDocument) -> list[Problem]:
    """Return that the studies would spend more than one error rate together, or that nothing is left for one."""
    total = sum(chain.shares)
    if total > 1 + _ROUNDING:
        what = f"studies have shares of {total:g} together"
        return [Problem(document.where(("studies",)), what, "at most 1", "They share one error rate: lower some.")]
    place = next((place for place, share in enumerate(chain.shares) if share < _ROUNDING), None)
    if place is None:
        return []
    what = f"studies.{place} has no share: the others take the whole error rate"
    fix = "Lower theirs, or give it one."
    return [Problem(document.where(("studies", place)), what, "shares of at most 1 together", fix)]
