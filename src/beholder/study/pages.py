"""What participants read, as the researcher writes it: texts, and the pages of the instructions with their examples."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, field_serializer, model_validator

from beholder.study.kind import Says
from beholder.study.part import Part, Text


class Example(Part):
    """Something to see or hear before the first rating. It is never rated."""

    file: Text = Field(description="A file in the study folder.")
    caption: Text = Field(description="What participants read below it.")


class Page(Part):
    """One page of the instructions."""

    text: Text = Field(description="Markdown, or the name of a file that ends in `.md`.")
    examples: tuple[Example, ...] = Field(default=(), description="What is shown below the text.")
    play: bool = Field(default=False, description="Each example has to be played to its end to go on.")


class Texts(Part):
    """What participants read: inline Markdown, or the name of a file that ends in `.md`."""

    consent: Text | None = Field(default=None, description="Shown first; agreeing starts the session.")
    instructions: Annotated[tuple[Page, ...] | None, Says("text, or a list of texts and {text, examples, play}")] = (
        Field(
            default=None,
            description="Shown before the trials, one key away while rating: a text, or a list of pages, each a text "
            "or `{text, examples, play}`.",
        )
    )
    pause: Text | None = Field(default=None, description="Shown at breaks.")
    thanks: Text | None = Field(default=None, description="Shown at the end.")

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        pages = data.get("instructions")
        if isinstance(pages, str):
            pages = [pages]
        if isinstance(pages, list | tuple):
            pages = tuple({"text": page} if isinstance(page, str) else page for page in pages)
            return {**data, "instructions": pages}
        return data

    @field_serializer("instructions")
    def _as_written(self, pages: tuple[Page, ...] | None) -> Any:
        if pages is None:
            return None
        written = [page.model_dump(mode="json") if page.examples or page.play else page.text for page in pages]
        return written[0] if len(written) == 1 and isinstance(written[0], str) else written

    @property
    def pages(self) -> tuple[Page, ...]:
        """The pages of the instructions; none where the study leaves them to us."""
        return self.instructions or ()
