"""How the stimuli of a trial are shown, and the problems that many methods share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from beholder.methods.contract import (
    Catalogue,
    Generator,
    Json,
    Medium,
    Problem,
    Question,
    Role,
    Stimulus,
    Study,
    StudyPart,
    Trial,
)
from beholder.methods.views import is_seen_in_turn, view_draws, view_problems, views_of
from beholder.stimuli.companions import companion_problems as companion_problems
from beholder.stimuli.warnings import alike
from beholder.study.questions import SCALES

P910_CITATION = "ITU-T P.910 (10/2023), mean opinion score; ITU-T P.1401 (01/2020), Student t"
Gap = Annotated[float, Field(ge=0, le=10)]


class TwoStimuliOptions(StudyPart):
    """Options of methods that show two stimuli, one after the other or at once."""

    presentation: Literal["sequential", "side-by-side"] = Field(
        default="sequential", description="One after the other, or both at once on one clock (not for audio)."
    )
    gap: Gap = Field(default=1.0, description="Seconds of grey between them, when they come one after the other.")


class PreferenceOptions(StudyPart):
    """Options of methods that ask which of two is preferred."""

    tie: bool = Field(default=False, description="Allow `no difference`; a question without a scale then has pref3.")
    reason: Literal["none", "optional", "required"] = Field(
        default="none", description="Whether participants may, or have to, write why."
    )
    gap: Gap = Field(default=1.0, description="Seconds of grey between them, when they come one after the other.")


def presentation_draws(study: Study, catalogue: Catalogue, rng: Generator | None = None) -> dict[str, Json]:
    """Return the options of the presentation that a trial keeps."""
    names = ("reason",) if views_of(study) else ("gap", "reason")
    kept: dict[str, Json] = {name: study.options[name] for name in names if name in study.options}
    kept |= view_draws(study, rng)
    shown = presentation(study, catalogue)
    return kept if shown is None else {"presentation": shown, **kept}


def presentation(study: Study, catalogue: Catalogue) -> str | None:
    """Return how the stimuli of a trial are shown; left open, texts side by side and everything else in turn.

    In a view people look at either of the two as they like, as they do behind buttons.
    """
    if "presentation" not in study.options:
        return None
    if views_of(study):
        return "free"
    given = study.options["presentation"]
    if given is not None:
        return str(given)
    return "side-by-side" if next(iter(catalogue.stimuli)).medium == "text" else "sequential"


def is_side_by_side(study: Study, catalogue: Catalogue) -> bool:
    """Return whether all stimuli of a trial play at once."""
    return bool(views_of(study)) or presentation(study, catalogue) == "side-by-side"


def public_draws(trial: Trial, *names: str) -> Mapping[str, Json]:
    """Return those draws of a trial that its page may know."""
    public = ("presentation", "gap", "views", "magnifier", *names)
    return {name: trial.draws[name] for name in public if name in trial.draws}


def presentation_problems(study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield that two sounds cannot be played at once, and stimuli that do not fit a view."""
    yield from view_problems(study, catalogue)
    if presentation(study, catalogue) != "side-by-side":
        return
    media = {stimulus.medium for stimulus in catalogue.stimuli}
    if "audio" in media:
        yield Problem(
            "options.presentation",
            "is side-by-side, and two sounds cannot be heard at once",
            "sequential",
        )


def seconds_shown(trial: Trial, catalogue: Catalogue) -> float:
    """Return how long it takes to see every stimulus of a trial once."""
    stimuli = [catalogue.by_id[slot.stimulus] for slot in trial.slots]
    times = [stimulus.probe.duration_ms / 1000 for stimulus in stimuli]
    if trial.together and not is_seen_in_turn(trial):
        # Texts in view at once are still read one after the other.
        return sum(times) if stimuli[0].medium == "text" else max(times)
    gap = trial.draws.get("gap", 0.0)
    assert isinstance(gap, int | float), "a gap is a number of seconds"
    return sum(times) + (len(times) - 1) * gap


# Problems that many methods share


def question_problems(name: str, questions: Iterable[Question]) -> Iterator[Problem]:
    """Yield that nothing is asked, or something that this method cannot ask."""
    questions = tuple(questions)
    if not questions:
        yield Problem("questions", f"are missing, and {name} asks at least one", "a list of {id, text, scale}")
    for index, question in enumerate(questions):
        if question.ticks:
            yield Problem(f"questions.{index}.ticks", f"do not fit {name}", "", "Leave them out, or use likert.")


def unscaled_problems(name: str, study: Study, why: str) -> Iterator[Problem]:
    """Yield scales that are written where a method has none; `why` says what is done instead."""
    for index, question in enumerate(study.questions):
        if question.scale != SCALES["cont100"]:
            yield Problem(f"questions.{index}.scale", f"does not fit {name}: {why}", "", "Leave it out.")


def medium_problems(name: str, media: frozenset[Medium], catalogue: Catalogue) -> Iterator[Problem]:
    """Yield that the stimuli are of a medium which this method cannot show."""
    for medium in sorted({stimulus.medium for stimulus in catalogue.stimuli} - media):
        yield Problem("stimuli", f"are {MEDIUM_NAMES[medium]}, which {name} does not show", ", ".join(sorted(media)))


def single_problems(name: str, study: Study) -> Iterator[Problem]:
    """Yield what does not fit a trial of one stimulus under test."""
    if study.design.per_trial not in (None, 1):
        yield Problem(
            "design.per_trial",
            f"is {study.design.per_trial}, and {name} asks about one stimulus at a time",
            "1",
            "Leave it out.",
        )
    yield from _always_problems(name, study, "one stimulus")


def pair_problems(name: str, study: Study) -> Iterator[Problem]:
    """Yield what does not fit a trial of two stimuli."""
    if study.design.per_trial not in (None, 2):
        yield Problem(
            "design.per_trial", f"is {study.design.per_trial}, and {name} compares two stimuli", "2", "Leave it out."
        )
    yield from _always_problems(name, study, "one pair")


def _always_problems(name: str, study: Study, trial: str) -> Iterator[Problem]:
    if study.design.always:
        yield Problem("design.always", f"does not fit {name}: a trial is {trial}", "", "Leave it out.")


def reference_problems(name: str, catalogue: Catalogue, why: str) -> Iterator[Problem]:
    """Yield contents with no reference, or with more than one."""
    if not catalogue.references:
        yield Problem(
            "conditions",
            f"have no reference, and {name} {why}",
            "one condition with role: reference",
            "Write it as {name: ..., role: reference}.",
        )
        return
    counts: dict[str, list[str]] = {}
    for stimulus in catalogue.stimuli:
        if stimulus.role == "reference":
            counts.setdefault(stimulus.content, []).append(stimulus.condition)
    for content in catalogue.contents:
        references = counts.get(content, [])
        if not references:
            yield Problem(
                "stimuli",
                f"of content {content} have no reference, and {name} {why}",
                "one reference for each content",
                "Add the file, or leave the content out.",
            )
        elif len(references) > 1:
            yield Problem(
                "stimuli",
                f"of content {content} have {len(references)} references: {', '.join(references)}",
                "one reference for each content",
            )


NOT_STRICT = "Write options: {strict: false} to take them as they are."
_SAME_LENGTH_MS = 50


def sound_problems(study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield contents whose sounds could be told apart without listening: by length, sample rate or channels."""

    def remedied(option: str) -> str:
        return f"{alike(study.stimuli, option)} {NOT_STRICT}"

    for content in catalogue.contents:
        sounds = [s for s in catalogue.by_cell.values() if s.content == content and s.medium == "audio"]
        if not sounds:
            continue
        lengths = [sound.probe.duration_ms for sound in sounds]
        if max(lengths) - min(lengths) > _SAME_LENGTH_MS:
            what = f"has sounds of {min(lengths) / 1000:.2f} to {max(lengths) / 1000:.2f} s"
            allowed = f"the same length within {_SAME_LENGTH_MS} ms"
            yield Problem(f"content {content}", what, allowed, remedied("--shortest"))
        for name, unit, option, values in (
            ("sample rates", " Hz", "--rate", {sound.probe.sample_rate for sound in sounds}),
            ("numbers of channels", "", "--channels", {sound.probe.channels for sound in sounds}),
        ):
            if len(values) > 1:
                listed = " and ".join(f"{value}{unit}" for value in sorted(values))
                what, most = f"has sounds of different {name}: {listed}", max(values)
                remedy = remedied(f"{option} {most if unit else min(2, most)}")
                yield Problem(f"content {content}", what, "one for all", remedy)


def stimuli_under_test(catalogue: Catalogue) -> tuple[Stimulus, ...]:
    """Return the stimuli that are judged against a reference: all rated ones except references."""
    return tuple(stimulus for stimulus in catalogue.by_cell.values() if stimulus.role != "reference")


def hidden_role(stimulus: Stimulus) -> Role:
    """Return the role of a stimulus that stands in a slot without a label."""
    return "hidden_reference" if stimulus.role == "reference" else stimulus.role


MEDIUM_NAMES: Mapping[Medium, str] = {"video": "videos", "audio": "sounds", "image": "images", "text": "texts"}
