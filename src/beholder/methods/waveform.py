"""Which sounds the line of time of a page shows as a waveform, so that it tells nothing about a condition.

A waveform of the open reference is the same whoever stands where. Of the others it would tell conditions apart by eye,
and in ABX which one X is. So without a reference a page draws all of them laid over each other: at each moment the
lowest and the highest value of any. That is the same in every order, and whichever of the two an X is a copy of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from beholder.methods.contract import Catalogue, Method, Problem, Study, Trial, task_of
from beholder.study.model import Playback
from beholder.types import Json, Medium

_ON_PAGE = ("order", "extremes")
"""Tasks, beside the boards, whose sounds always stand behind buttons."""


def has_board(method: Method) -> bool:
    """Return whether a page of this method has a line of time for every sound."""
    return task_of(method) == "board"


def has_timeline(method: Method, presentation: Json) -> bool:
    """Return whether sounds of a page stand behind buttons, so that it can have a line of time."""
    return has_board(method) or task_of(method) in _ON_PAGE or presentation == "free"


def open_reference(method: Method, trial: Trial) -> str | None:
    """Return the slot that every page shows as the reference; None where there is none, or nobody may know.

    A method says it itself by a function of this name; otherwise it is the place that is called `reference`. What is
    rated is never it.
    """
    own = getattr(method, "open_reference", None)
    named = next((slot.id for slot in trial.slots if slot.label == "reference"), None) if own is None else own(trial)
    return named if named is not None and not trial.slot_by_id[named].rated else None


def drawn_slots(method: Method, trial: Trial, playback: Playback) -> tuple[str, ...]:
    """Return the slots of a trial on sounds whose waveform is drawn: the open reference, all together, or none."""
    if playback.waveform is False or not has_timeline(method, trial.draws.get("presentation")):
        return ()
    if playback.waveform is None and playback.loop != "region" and not has_board(method):
        return ()  # then it has no line of time
    reference = open_reference(method, trial)
    if reference is not None:
        return (reference,)
    return tuple(slot.id for slot in trial.slots) if playback.waveform else ()


def waveform_problems(study: Study, catalogue: Catalogue, method: Method) -> Iterator[Problem]:
    """Yield that a waveform is wanted where pages have nothing to draw, or no line of time."""
    if not study.playback.waveform:
        return
    media = sorted({stimulus.medium for stimulus in catalogue.stimuli} - {"audio"})
    if media:
        what = f"is true, and the stimuli are {_PLURALS[media[0]]}"
        yield Problem("playback.waveform", what, "true with sounds alone", "Take it out.")
    elif not has_timeline(method, study.options.get("presentation")):
        is_choice = "presentation" in study.options
        fix = "Write options: {presentation: free}, or take it out." if is_choice else "Take it out."
        what = f"is true, and pages of {method.name} play sounds one after the other, without a line of time"
        yield Problem("playback.waveform", what, "methods with play buttons, such as mushra", fix)


def waveform_warnings(study: Study, method: Method, trials: Iterator[Trial]) -> Iterator[Problem]:
    """Yield what a waveform gives away that is not of a reference; `trials` are some of the plan."""
    first = next(trials, None)
    if first is None or not study.playback.waveform or open_reference(method, first) is not None:
        return
    what = (
        "is true, and pages show no reference: they draw the loudest of all versions at each moment. It is the same in "
        "every order, and cannot tell which is which; it can tell at which moments one of them stands out"
    )
    yield study.problem("playback.waveform", what, "", "Take it out where that would guide the ear.")


_PLURALS: Mapping[Medium, str] = {"video": "videos", "image": "images", "text": "texts"}
