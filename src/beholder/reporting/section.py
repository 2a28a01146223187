"""A section of a page as one object: its anchor, its title, what it shows and how to read that.

A page lists its sections in order and calls each with its material.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Concatenate, Generic, ParamSpec, TypeVar

from beholder.reporting.html import Child, Markup, panel, tag
from beholder.reporting.material import Material
from beholder.reporting.question_results import QuestionResults

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Section(Generic[P]):
    """A panel of a page. What depends on the material of the page is a function of it."""

    id: str
    """Its anchor."""
    title: str | Callable[P, str]
    body: Callable[P, Markup | None]
    """Returns what it shows; None leaves the section out."""
    foot: Child | Callable[P, Child] = None
    """How to read it."""
    is_wide: bool | Callable[P, bool] = True

    def __call__(self, *material: P.args, **more: P.kwargs) -> Markup | None:
        """Return the panel; None if there is nothing to show."""
        content = self.body(*material, **more)
        if content is None:
            return None

        def value(one: T | Callable[P, T]) -> T:
            return one(*material, **more) if callable(one) else one

        title, foot, is_wide = value(self.title), value(self.foot), value(self.is_wide)
        return panel(self.anchor(*material, **more), title, content, foot=foot, is_wide=is_wide)

    def anchor(self, *_material: P.args, **_more: P.kwargs) -> str:
        """Return the anchor of the panel."""
        return self.id


class QuestionSection(Section[[Material, QuestionResults]]):
    """A section that every question has, with the question in its anchor."""

    def anchor(self, material: Material, part: QuestionResults) -> str:
        """Return the anchor of the panel."""
        return f"{self.id}-{part.slug}"


@dataclass(frozen=True)
class SectionGroup(Generic[P]):
    """Sections that stand together. A function arranges their panels, of which there is at least one."""

    sections: tuple[Section[P], ...]
    arrange: Callable[Concatenate[list[Markup], P], Child]

    def __call__(self, *material: P.args, **more: P.kwargs) -> Child:
        """Return the panels, arranged; None if no section has anything to show."""
        panels = [panel for one in self.sections if (panel := one(*material, **more)) is not None]
        return self.arrange(panels, *material, **more) if panels else None


def beside(*sections: Section[P]) -> SectionGroup[P]:
    """Return sections of half the width, side by side."""

    def arrange(panels: list[Markup], /, *_material: P.args, **_more: P.kwargs) -> Markup:
        return tag("div", panels, class_="beside")

    return SectionGroup(sections, arrange)
