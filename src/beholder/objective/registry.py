"""What is measured: which metrics, of which stimuli, beside which references."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from beholder.errors import Problem, UserError, did_you_mean
from beholder.metrics.kinds import METRICS, fits, is_here, usual
from beholder.stimuli.catalogue import Catalogue, Stimulus

_ELSEWHERE = "Set IMAGEIO_FFMPEG_EXE to an ffmpeg that has it, or bring the values with --values."
_PYSTOI = "Install it with `pip install 'beholder[audio]'`."


@dataclass(frozen=True)
class Chosen:
    """Stimuli beside their references, and the metrics that each pair is measured by."""

    pairs: tuple[tuple[Stimulus, Stimulus], ...]
    metrics: tuple[str, ...]

    def of(self, stimulus: Stimulus) -> tuple[str, ...]:
        """Return the metrics that say something of this stimulus."""
        has_sound = stimulus.probe.audio_codec != ""
        return tuple(name for name in self.metrics if fits(name, stimulus.medium, has_sound=has_sound))


def choose(catalogue: Catalogue, metrics: Sequence[str], reference: str | None) -> Chosen:
    """Return what is measured, or raise UserError with every reason why it cannot be.

    Without `metrics` all that fit; `reference` is a condition, where none has that role.
    """
    problems = [*_unknown(metrics), *_no_condition(catalogue, reference)]
    if problems:
        raise UserError(problems)
    references = {
        stimulus.content: stimulus
        for stimulus in catalogue.by_cell.values()
        if (stimulus.role == "reference" if reference is None else stimulus.condition == reference)
    }
    tested = [
        stimulus
        for stimulus in catalogue.by_cell.values()
        if stimulus.role != "reference" and stimulus is not references.get(stimulus.content)
    ]
    wanted = tuple(dict.fromkeys(metrics)) or usual(stimulus.medium for stimulus in tested)
    problems = [
        *_no_reference(tested, references, reference),
        *_unfit(tested, wanted),
        *_mute(tested, references, wanted),
    ]
    if not wanted:
        problems.append(Problem("--metric", "is left out, and none fits these stimuli", ", ".join(METRICS)))
    if problems:
        raise UserError(problems)
    return Chosen(tuple((stimulus, references[stimulus.content]) for stimulus in tested), wanted)


def _unknown(metrics: Sequence[str]) -> Iterator[Problem]:
    for name in metrics:
        if name not in METRICS:
            fix = did_you_mean(name, list(METRICS)) or "Bring values of any other metric with --values."
            yield Problem("--metric", f"is {name}, which is not measured here", ", ".join(METRICS), fix)
        elif not is_here(name) and METRICS[name].tool == "pystoi":
            yield Problem("--metric", f"is {name}, which needs pystoi", "", _PYSTOI)
        elif not is_here(name):
            what = f"is {name}, and this ffmpeg has no filter {METRICS[name].tool}"
            there = [other for other in METRICS if is_here(other)]
            yield Problem("--metric", what, ", ".join(there), _ELSEWHERE)


def _no_condition(catalogue: Catalogue, reference: str | None) -> Iterator[Problem]:
    if reference is not None and reference not in catalogue.conditions:
        fix = did_you_mean(reference, catalogue.conditions)
        yield Problem("--reference", f"is {reference}, which is no condition", ", ".join(catalogue.conditions), fix)


def _no_reference(
    tested: Sequence[Stimulus], references: dict[str, Stimulus], reference: str | None
) -> Iterator[Problem]:
    lost = [stimulus for stimulus in tested if stimulus.content not in references]
    if lost and not references:
        fix = "Write role: reference at a condition, or name one with --reference."
        yield Problem("conditions", "have no reference to compare with", "", fix)
        return
    for content in dict.fromkeys(stimulus.content for stimulus in lost):
        others = sum(stimulus.content == content for stimulus in lost)
        named = f" under {reference}" if reference is not None else ""
        its = "1 stimulus" if others == 1 else f"{others} stimuli"
        yield Problem(f"content {content}", f"has no reference{named}, so its {its} cannot be measured")


def _unfit(tested: Sequence[Stimulus], metrics: Sequence[str]) -> Iterator[Problem]:
    """Yield the metrics that say nothing of any stimulus."""
    for name in metrics:
        if not any(fits(name, one.medium, has_sound=one.probe.audio_codec != "") for one in tested):
            media = " and ".join(sorted({one.medium for one in tested}))
            need = "audio, or video with sound" if METRICS[name].is_of_sound else "video, image"
            yield Problem("--metric", f"is {name}, and the stimuli are {media}", need)


def _mute(tested: Sequence[Stimulus], references: dict[str, Stimulus], metrics: Sequence[str]) -> Iterator[Problem]:
    """Yield the references that have no sound where that of a stimulus is to be compared with it."""
    listens = [name for name in metrics if METRICS[name].is_of_sound]
    for content in dict.fromkeys(one.content for one in tested if one.probe.audio_codec) if listens else ():
        if content in references and not references[content].probe.audio_codec:
            what = f"is the reference and has no sound, which {' and '.join(listens)} would compare with"
            yield Problem(references[content].file, what, "audio, or video with sound")
