"""How a person looks at the two stimuli of a pair: side by side, one in place of the other, or with a line between.

A trial keeps the views that it offers; the first is the one it begins with. In every view both play at once, on one
clock. What can be seen of each is in the log, so that only what was seen counts as watched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from beholder.formats import first_names, join_names, plural
from beholder.methods.contract import Catalogue, Generator, Json, Medium, Problem, Study, StudyPart, Trial
from beholder.stimuli.warnings import alike
from beholder.study.parts import Fault, raise_faults
from beholder.study.value_kinds import Allowed

View = Literal["side-by-side", "flip", "wipe"]
VIEWS: tuple[View, ...] = ("side-by-side", "flip", "wipe")
FACTOR = "view"
"""What the factor is called, in trials and in the columns of ratings."""
_MOST_NAMED = 5
_IN_PLACE = ("flip", "wipe")
"""Views that show both at the same pixels."""
_REPLACED = ("presentation", "gap")
"""Options that say how a pair is shown where there is no view."""
_UNSEEN: Mapping[Medium, str] = {
    "audio": "sounds are heard and not looked at",
    "text": "texts are read and not laid over each other",
}


_ALLOWED = "side-by-side, flip or wipe, a list of them to choose from, or {within: [...]}"


class ViewsWithin(StudyPart):
    """Views as a factor within persons."""

    within: Annotated[tuple[View, ...], Allowed("two or more of side-by-side, flip and wipe")] = Field(
        min_length=2, description="Each trial has one of these views, and each person all of them, equally often."
    )


class ViewOptions(StudyPart):
    """Options of methods whose pairs of images or videos can be looked at in several views."""

    view: Annotated[View | tuple[View, ...] | ViewsWithin, Allowed(_ALLOWED)] | None = Field(
        default=None,
        description="How pairs of images or videos are looked at, beside the answers: `side-by-side`; `flip`, one in "
        "place of the other; `wipe`, with a line between them that is moved. Of a list the first is the start, and "
        "people choose; `{within: [flip, wipe]}` gives each trial one of them. In place of `presentation`.",
    )
    magnifier: bool = Field(
        default=False, description="In a view, a lens that shows the pixels of the files as they are."
    )

    @model_validator(mode="after")
    def _check_views(self) -> Self:
        raise_faults(list(self._view_faults()))
        return self

    def _view_faults(self) -> Iterator[Fault]:
        place: tuple[str, ...] = ("view", "within") if isinstance(self.view, ViewsWithin) else ("view",)
        views = self.view.within if isinstance(self.view, ViewsWithin) else self.view
        if views == ():
            yield Fault("is empty", "one or more of side-by-side, flip and wipe", "Leave it out.", place)
        if isinstance(views, tuple) and (twice := next((one for n, one in enumerate(views) if one in views[:n]), None)):
            yield Fault(f"has {twice} twice", "each view once", "Take one out.", place)
        if self.magnifier and self.view is None:
            what = "is true, and there is no view to hold it over"
            yield Fault(what, "", "Write view: side-by-side, flip or wipe, or leave it out.", ("magnifier",))
        for name in _REPLACED if self.view is not None else ():
            # In a group defaults are written out, too.
            if getattr(self, name) != type(self).model_fields[name].default:
                what = "is written beside options.view, which says how the two are shown"
                yield Fault(what, "one of the two", f"Take {name} out.", (name,))


def unfit_views(method: str, why: str) -> Mapping[str, Fault]:
    """Return why a method of pairs has no views, for its options: its standard says how the two are shown."""
    fix = "Leave it out, or use method: pair, ab or ccr."
    return {name: Fault(f"does not fit {method}: {why}", "", fix) for name in ViewOptions.model_fields}


def views_of(study: Study) -> tuple[str, ...]:
    """Return the views of a study, the one to begin with first; none where it has no view."""
    given = study.options.get("view")
    if given is None:
        return ()
    if isinstance(given, Mapping):
        return tuple(given["within"])
    return (given,) if isinstance(given, str) else tuple(given)


def is_factor(study: Study) -> bool:
    """Return whether each trial has one of several views, so that the view is a factor within persons."""
    return isinstance(study.options.get("view"), Mapping)


def view_draws(study: Study, rng: Generator | None = None) -> dict[str, Json]:
    """Return what a trial keeps of its views; nothing where the study has none.

    Where the view is a factor it is drawn, and the planner evens it out over lists (`with_views`).
    """
    views = views_of(study)
    if not views:
        return {}
    kept: dict[str, Json] = {"views": list(views), "magnifier": bool(study.options.get("magnifier"))}
    if not is_factor(study):
        return kept
    drawn = views[int(rng.integers(len(views)))] if rng is not None else views[0]
    return {**kept, "views": [drawn], FACTOR: drawn}


def offered_views(trial: Trial) -> tuple[str, ...]:
    """Return the views of a trial, the one it begins with first; none where it has no view."""
    views = trial.draws.get("views", ())
    return tuple(str(view) for view in views) if isinstance(views, list | tuple) else ()


def view_level(trial: Trial) -> str | None:
    """Return the view of a trial where it is a factor within persons."""
    level = trial.draws.get(FACTOR)
    return None if level is None else str(level)


def with_view(trial: Trial, view: str) -> Trial:
    """Return a trial with another view."""
    return replace(trial, draws={**trial.draws, "views": [view], FACTOR: view})


def is_seen_in_turn(trial: Trial) -> bool:
    """Return whether only one of the two can be seen at a time, in the view with which a trial begins."""
    return offered_views(trial)[:1] == ("flip",)


def view_problems(study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield that stimuli cannot be looked at in a view, and pairs that do not fit over each other."""
    views = views_of(study)
    if not views:
        return
    written = ", ".join(views)
    columns = {name for stimulus in catalogue.stimuli for name in stimulus.factors}
    if is_factor(study) and FACTOR in (columns | study.design.between.keys()):
        what = f"makes the view a factor, and {FACTOR} is the name of another one: both would be factor_{FACTOR}"
        yield Problem("options.view", what, "a name of its own for the other", "Rename the other.")
    media = sorted({stimulus.medium for stimulus in catalogue.stimuli})
    for medium in media:
        if medium in _UNSEEN:
            fix = "Leave it out. `presentation` says how they are shown."
            yield Problem("options.view", f"is {written}, and {_UNSEEN[medium]}", "images or videos", fix)
    in_place = [view for view in views if view in _IN_PLACE]
    if not in_place or any(medium in _UNSEEN for medium in media):
        return
    yield from _size_problems(study, catalogue, in_place)


def _size_problems(study: Study, catalogue: Catalogue, in_place: Sequence[str]) -> Iterator[Problem]:
    """Yield that what is shown at the same pixels has different sizes; contents with the same sizes come together."""
    sizes: dict[str, set[tuple[int, int]]] = {}
    for stimulus in catalogue.by_cell.values():
        sizes.setdefault(stimulus.content, set()).add((stimulus.probe.width, stimulus.probe.height))
    alike_contents: dict[tuple[tuple[int, int], ...], list[str]] = {}
    for content in catalogue.contents:
        if len(found := sizes.get(content, set())) > 1:
            alike_contents.setdefault(tuple(sorted(found)), []).append(content)
    shows = plural(len(in_place), "shows", "show")
    for different, contents in alike_contents.items():
        many = f"{len(contents)} contents: {first_names(contents, _MOST_NAMED)}"
        where, has = (f"content {contents[0]}", "has") if len(contents) == 1 else (many, "have")
        named = join_names([f"{width}x{height}" for width, height in different])
        what = f"{has} sizes of {named} pixels, and {join_names(in_place)} {shows} both at the same pixels"
        fix = alike(study.stimuli, f"--height {max(height for _, height in different) // 2 * 2}")
        yield Problem(where, what, "one size, or view: side-by-side", fix)
