"""Training as the researcher writes it: practice before the first rating."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from beholder.study.kind import Says
from beholder.study.part import Part, Slug, Span, Text

Tolerance = Annotated[float, Field(ge=0)]
Number = Annotated[float | dict[Slug, float] | None, Says("a number, or a map from question to number")]
Near = Annotated[
    Tolerance | dict[Slug, Tolerance] | None, Says("a number, 0 or more, or a map from question to number")
]
Words = Annotated[Text | dict[Slug, Text] | None, Says("a text, or a map from question to text")]


class TrainingItem(Part):
    """One training example, where there is no manifest with a line for it."""

    file: Text = Field(description="A file in the study folder, or an https address.")
    content: Text | None = Field(default=None, description="What it shows; the name of the file when left out.")
    condition: Text | None = Field(default=None, description="Its condition; `training` when left out.")
    expected: Number = Field(
        default=None, description="The answer that is expected, of every question or by question; any when left out."
    )
    tolerance: Near = Field(
        default=None, description="How far from it an answer may be; a quarter of the scale when left out."
    )
    message: Words = Field(default=None, description="Read after another answer; our own words when left out.")
    anchor: Text | None = Field(
        default=None,
        description="What it stands for on the scale, as in `Excellent: no flaw can be seen`; read beside it.",
    )
    trap: bool = Field(default=False, description="It asks for a certain answer, and only that one is right.")


class Training(Part):
    """Practice before the first rating: trials of the stimuli with role `training`, in the order of the manifest."""

    corrections: int = Field(
        default=3, ge=0, le=20, description="How often an answer outside its tolerance is asked for again."
    )
    feedback: bool = Field(
        default=True, description="Tell why an answer was not expected and ask again; `false`: only take note of it."
    )
    valid: Span = Field(default="60 min", description="How long the training counts, from its end.")
    items: tuple[TrainingItem, ...] = Field(
        default=(), description="The examples, where the stimuli are no manifest; after its own where they are."
    )
