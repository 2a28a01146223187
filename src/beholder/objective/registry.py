"""Which metrics are installed, and the selection of what is measured by which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from beholder.errors import Problem, UserError, did_you_mean
from beholder.formats import plain_count
from beholder.objective.contract import ObjectiveMetric
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.study.entry_points import Group
from beholder.types import Medium

METRICS = Group("beholder.metrics", "metric", "beholder.objective.contract.ObjectiveMetric")
_REQUIRED = (
    "name", "title", "looks_at", "per", "smallest", "citation", "usual_for", "order", "need", "version", "measure",
)  # fmt: skip


def find(name: str, where: str = "--metric") -> ObjectiveMetric:
    """Return an installed metric; raise StudyError where there is none of the name, or its package is broken."""
    loaded: ObjectiveMetric = METRICS.load(METRICS.entry(name, where), where, _REQUIRED)
    return loaded


def installed() -> tuple[ObjectiveMetric, ...]:
    """Return all metrics that can be imported, in their order: one that is broken costs nobody else theirs."""
    found = []
    for name in METRICS.names():
        try:
            found.append(find(name))
        except UserError:
            continue
    return tuple(sorted(found, key=lambda one: (one.order, one.name)))


def names() -> tuple[str, ...]:
    """Return the names of all metrics, in their order."""
    return tuple(one.name for one in installed())


def title(metric: str) -> str:
    """Return a metric as papers write it; one of somebody else's as it was written."""
    return next((one.title for one in installed() if one.name == metric), metric)


def usual(media: Iterable[Medium]) -> tuple[ObjectiveMetric, ...]:
    """Return the metrics that are measured where nobody says which, as far as they can be measured here."""
    there = set(media)
    return tuple(one for one in installed() if one.usual_for & there and one.need() is None)


def fits(metric: ObjectiveMetric, medium: Medium, *, has_sound: bool) -> bool:
    """Return whether a metric says anything of such a stimulus."""
    if metric.looks_at == "sound":
        return medium == "audio" or has_sound
    return medium in ("video", "image")


# Selection: which metrics, of which stimuli, against which references


@dataclass(frozen=True)
class Chosen:
    """Stimuli beside their references, and the metrics that each pair is measured by."""

    pairs: tuple[tuple[Stimulus, Stimulus], ...]
    metrics: tuple[ObjectiveMetric, ...]

    def of(self, stimulus: Stimulus) -> tuple[ObjectiveMetric, ...]:
        """Return the metrics that say something of this stimulus."""
        has_sound = stimulus.probe.audio_codec != ""
        return tuple(one for one in self.metrics if fits(one, stimulus.medium, has_sound=has_sound))


def choose(catalogue: Catalogue, metrics: Sequence[str], reference: str | None) -> Chosen:
    """Return what is measured, or raise UserError with every reason why it cannot be.

    Without `metrics` all that fit; `reference` is a condition, where none has that role.
    """
    named, problems = _named(metrics)
    problems += _no_condition(catalogue, reference)
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
    wanted = named or usual(stimulus.medium for stimulus in tested)
    problems = [
        *_no_reference(tested, references, reference),
        *_unfit(tested, wanted),
        *_mute(tested, references, wanted),
    ]
    if not wanted:
        problems.append(Problem("--metric", "is left out, and none fits these stimuli", ", ".join(names())))
    if problems:
        raise UserError(problems)
    return Chosen(tuple((stimulus, references[stimulus.content]) for stimulus in tested), wanted)


def _named(metrics: Sequence[str]) -> tuple[tuple[ObjectiveMetric, ...], list[Problem]]:
    """Return the metrics of these names, and why some of them cannot be measured here."""
    found, problems = [], []
    known = METRICS.names()
    for name in dict.fromkeys(metrics):
        if name not in known:
            fix = did_you_mean(name, names()) or "Bring values of any other metric with --values."
            problems.append(Problem("--metric", f"is {name}, which is not measured here", ", ".join(names()), fix))
            continue
        try:
            metric = find(name)
        except UserError as error:
            problems += error.problems
            continue
        if (need := metric.need()) is not None:
            there = [one.name for one in installed() if one.need() is None]
            problems.append(Problem("--metric", f"is {name}, {need.what}", ", ".join(there), need.fix))
        found.append(metric)
    return tuple(found), problems


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
        its = plain_count(others, "stimulus", "stimuli")
        yield Problem(f"content {content}", f"has no reference{named}, so its {its} cannot be measured")


def _unfit(tested: Sequence[Stimulus], metrics: Sequence[ObjectiveMetric]) -> Iterator[Problem]:
    """Yield the metrics that say nothing of any stimulus."""
    for metric in metrics:
        if not any(fits(metric, one.medium, has_sound=one.probe.audio_codec != "") for one in tested):
            media = " and ".join(sorted({one.medium for one in tested}))
            need = "audio, or video with sound" if metric.looks_at == "sound" else "video, image"
            yield Problem("--metric", f"is {metric.name}, and the stimuli are {media}", need)


def _mute(
    tested: Sequence[Stimulus], references: dict[str, Stimulus], metrics: Sequence[ObjectiveMetric]
) -> Iterator[Problem]:
    """Yield the references that have no sound where that of a stimulus is to be compared with it."""
    listens = [one.name for one in metrics if one.looks_at == "sound"]
    for content in dict.fromkeys(one.content for one in tested if one.probe.audio_codec) if listens else ():
        if content in references and not references[content].probe.audio_codec:
            what = f"is the reference and has no sound, which {' and '.join(listens)} would compare with"
            yield Problem(references[content].file, what, "audio, or video with sound")
