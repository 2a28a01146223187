"""Scales, with the named ones; and the texts and instruction pages that participants read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_serializer,
    model_serializer,
    model_validator,
)

from beholder.formats import listed, plural
from beholder.study.markdown import plain_text
from beholder.study.parts import Fault, FaultsError, ShownText, StudyPart, Text, raise_faults
from beholder.study.scale_labels import label_set, labels_in
from beholder.study.value_kinds import Allowed, AsText, Shown

_MOST_CATEGORIES = 21


class Scale(BaseModel):
    """The range of an answer and the words beside it. A label is a place on the scale and a text."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    min: float = Field(description="The lowest answer.")
    max: float = Field(description="The highest answer.")
    step: float = Field(default=1.0, gt=0, description="The distance between two neighbouring answers.")
    labels: Annotated[
        tuple[tuple[float, str], ...],
        AsText(),
        Shown(in_schema=False),
        Allowed("a list of words from low to high, or a map from value to word"),
    ] = Field(
        default=(),
        description="A list of words from low to high, or a map from value to word: **bold**, *italic*, `code`.",
    )
    look: Literal["slider", "radio"] = Field(
        default="slider", description="`slider` for continuous scales, `radio` for categories."
    )
    numbers: Literal["none", "handle", "ticks", "both"] | None = Field(
        default=None,
        description="Where its numbers are shown: nowhere, at the handle of the slider, along the scale (before each "
        "word of categories), or both. Left out: below each slider, and where categories have no words.",
    )
    name: Annotated[str, Allowed("a scale with a name")] | None = Field(
        default=None, exclude=True, description="A scale with a name: of it only what differs is written."
    )

    @model_validator(mode="before")
    @classmethod
    def _spread_labels(cls, data: Any) -> Any:
        """Place a plain list of words: one per value where the numbers match, else in the middle of equal bands."""
        if not isinstance(data, dict):
            return data
        labels = data.get("labels")
        if isinstance(labels, dict):
            return {**data, "labels": _placed(labels)}
        if isinstance(labels, list | tuple) and labels and all(isinstance(label, str) for label in labels):
            try:
                low, high, step = float(data["min"]), float(data["max"]), float(data.get("step", 1))
                values = round((high - low) / step) + 1
            except (KeyError, TypeError, ValueError, ArithmeticError):
                return {**data, "labels": ()}  # the numbers have a problem of their own
            if values == len(labels):
                places = [low + step * i for i in range(len(labels))]
            else:
                places = [low + (high - low) * (i + 0.5) / len(labels) for i in range(len(labels))]
            return {**data, "labels": tuple(zip(places, labels, strict=True))}
        return data

    @model_validator(mode="before")  # runs before the one above
    @classmethod
    def _filled_from_name(cls, data: Any) -> Any:
        """Fill in what is not written from the scale that is named."""
        if not isinstance(data, dict) or not isinstance(data.get("name"), str):
            return data
        if (named := SCALES.get(data["name"])) is None:
            raise FaultsError([Fault(f"is {data['name']}, which is not a scale", listed(list(SCALES)), "", ("name",))])
        return named.model_dump() | {key: value for key, value in data.items() if key != "name"}

    @model_serializer(mode="wrap")
    def _without_usual_numbers(self, made: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return it as from before numbers could be chosen, where they are not: plans keep their digests."""
        value: dict[str, Any] = made(self)
        if self.numbers is None:
            value.pop("numbers", None)
        return value

    @model_validator(mode="after")
    def _ordered(self) -> Scale:
        if self.min >= self.max:
            what = f"is {self.min:g}, {'above' if self.min > self.max else 'the same as'} max {self.max:g}"
            raise FaultsError([Fault(what, "min below max", "For the usual slider write scale: cont100.", ("min",))])
        faults = []
        steps = (self.max - self.min) / self.step
        if not math.isfinite(steps) or abs(steps - round(steps)) > 1e-9 * max(1, steps):
            what = f"is {self.step:g}, which does not divide {self.min:g} to {self.max:g} into equal parts"
            faults.append(Fault(what, "a step that leads from min to max", "", ("step",)))
        elif self.look == "radio" and steps > _MOST_CATEGORIES:
            what = f"is radio with {round(steps) + 1} categories"
            faults.append(Fault(what, f"up to {_MOST_CATEGORIES} categories", "Write look: slider.", ("look",)))
        values = set()
        for value, text in self.labels:
            if not self.min <= value <= self.max:
                what = f"has {text!r} at {value:g}, outside {self.min:g} to {self.max:g}"
                faults.append(Fault(what, f"{self.min:g} to {self.max:g}", "", ("labels",)))
            if value in values:
                faults.append(Fault(f"has two words at {value:g}", "one word for each value", "", ("labels",)))
            values.add(value)
        raise_faults([*faults, *self._number_faults(round(steps) + 1)])
        return self

    def _number_faults(self, answers: int) -> list[Fault]:
        """Return that categories are to show their numbers as a slider does, or that one of them would show nothing."""
        if self.look == "slider" or self.numbers in (None, "ticks"):
            return []
        if self.numbers == "none":
            bare = answers - sum(self.holds(value) for value, _ in self.labels)
            what = f"is none, and {bare} of {answers} answers {plural(bare, 'has', 'have')} no words"
            fix = "Write a word for each, or leave numbers out."
            return [Fault(what, "ticks, or words for every answer", fix, ("numbers",))] if bare else []
        return [Fault(f"is {self.numbers}, and categories have no handle", "none or ticks", "", ("numbers",))]

    @property
    def plain(self) -> Scale:
        """The same with labels without marks, for tables and figures."""
        labels = tuple((value, plain_text(text)) for value, text in self.labels)
        return self if labels == self.labels else self.model_copy(update={"labels": labels})

    def holds(self, value: float) -> bool:
        """Return whether `value` is an answer on this scale: in range and on a step."""
        if not self.min <= value <= self.max:
            return False
        steps = (value - self.min) / self.step
        return abs(steps - round(steps)) < 1e-6


def _placed(labels: dict[Any, Any]) -> tuple[tuple[float, Any], ...]:
    """Return labels from a map, from low to high."""
    placed, faults = [], []
    for value, text in labels.items():
        try:
            placed.append((float(value), text))
        except (TypeError, ValueError):
            faults.append(Fault(f"is at {value}", "numbers as keys of labels", "", ("labels", str(value))))
    raise_faults(faults)
    return tuple(sorted(placed, key=lambda label: label[0]))


def _categories(low: int, high: int, places: dict[int, str]) -> Scale:
    return Scale(min=low, max=high, labels=tuple((v, t) for v, t in places.items()), look="radio")


def _five(values: tuple[int, ...], words: tuple[str, ...]) -> dict[int, str]:
    return dict(zip(values, words, strict=True))


def _named_scales() -> dict[str, Scale]:
    quality, impairment, clearly = label_set("quality"), label_set("impairment"), label_set("clearly")
    first, neither, second = label_set("preference")
    return {
        "acr5": _categories(1, 5, _five((1, 2, 3, 4, 5), quality)),
        "acr9": _categories(1, 9, _five((1, 3, 5, 7, 9), quality)),
        "acr11": _categories(0, 10, _five((1, 3, 5, 7, 9), quality)),
        "dcr5": _categories(1, 5, _five((1, 2, 3, 4, 5), impairment)),
        "dcr9": _categories(1, 9, _five((1, 3, 5, 7, 9), impairment)),
        "sig5": _categories(1, 5, _five((1, 2, 3, 4, 5), label_set("distortion"))),
        "bak5": _categories(1, 5, _five((1, 2, 3, 4, 5), label_set("intrusion"))),
        "grade5": Scale(min=1, max=5, step=0.1, labels=tuple(enumerate(impairment, 1))),
        "ccr5": _categories(-2, 2, _five((-2, -1, 0, 1, 2), clearly)),
        "ccr7": _categories(-3, 3, _five((-3, -2, -1, 0, 1, 2, 3), label_set("better"))),
        "ccr9": _categories(-4, 4, _five((-4, -2, 0, 2, 4), clearly)),
        "pref2": Scale(min=-1, max=1, step=2, labels=((-1, first), (1, second)), look="radio"),
        "pref3": _categories(-1, 1, _five((-1, 0, 1), (first, neither, second))),
        "order": Scale(min=-1, max=1, labels=tuple(zip((-1, 1), label_set("order"), strict=True)), look="radio"),
        "agree5": _categories(1, 5, _five((1, 2, 3, 4, 5), label_set("agreement"))),
        "cont100": Scale(min=0, max=100, labels=tuple((10 + 20 * i, word) for i, word in enumerate(quality))),
    }


SCALES = _named_scales()
"""The scales with a name. On comparison scales (ccr, pref) above zero means the second, or right, one."""


def shown_labels(scale: Scale, language: str) -> tuple[tuple[float, str], ...]:
    """Return the labels of a scale as participants read them: ours in their language, others as they are."""
    said = labels_in(language)
    return tuple((value, said[text]) for value, text in scale.labels) if _has_ours(scale, said) else scale.labels


def _has_ours(scale: Scale, said: Mapping[str, str]) -> bool:
    return bool(scale.labels) and all(text in said for _, text in scale.labels)


# What participants read


class Example(StudyPart):
    """Something to see or hear before the first rating. It is never rated."""

    file: Text = Field(description="A file in the study folder.")
    caption: ShownText = Field(description="What participants read below it: **bold**, *italic*, `code`.")


class Page(StudyPart):
    """One page of the instructions."""

    text: ShownText = Field(description="Markdown, or the name of a file that ends in `.md`.")
    examples: tuple[Example, ...] = Field(default=(), description="What is shown below the text.")
    play: bool = Field(default=False, description="Each example has to be played to its end to go on.")


class Texts(StudyPart):
    """What participants read: inline Markdown, or the name of a file that ends in `.md`."""

    consent: ShownText | None = Field(
        default=None,
        description="Shown first; agreeing starts the session. Ours, when left out, says what is done, how long it "
        "takes and what it pays; an ethics board will want your own. `{time}` and `{pay}` in yours become these "
        "sentences, as the study has them.",
    )
    instructions: Annotated[
        tuple[Page, ...] | None,
        Shown(in_schema=False),
        Allowed("text, or a list of texts and {text, examples, play}"),
    ] = Field(
        default=None,
        description="Shown before the trials, one key away while rating: a text, or a list of pages, each a text "
        "or `{text, examples, play}`.",
    )
    reminder: ShownText | None = Field(
        default=None, description="Stands above every rating page: what to look for, in a sentence or two."
    )
    pause: ShownText | None = Field(default=None, description="Shown at breaks.")
    thanks: ShownText | None = Field(default=None, description="Shown at the end.")

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
        """The pages of the instructions; none where the default ones are used."""
        return self.instructions or ()
