"""mushra: a named reference, and unnamed versions of it, one of which is the reference again (ITU-R BS.1534)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from pydantic import Field

from beholder.methods.boards import (
    anchor_problems,
    anchors,
    board_problems,
    board_seconds,
    board_units,
    rated_slots,
    shown_reference,
)
from beholder.methods.contract import (
    BaseModel,
    Catalogue,
    Generator,
    Json,
    Medium,
    Metric,
    MetricWords,
    Paper,
    Problem,
    Scoring,
    Study,
    StudyPart,
    Task,
    Trial,
    Unit,
    Units,
)
from beholder.methods.presentation import alike, medium_problems, question_problems, reference_problems
from beholder.methods.scores import ScoreMethod

_LONGEST_MS = 12_000
_SAME_LENGTH_MS = 50


class MushraOptions(StudyPart):
    """Options of `mushra`."""

    anchors: tuple[str, ...] = Field(
        default=(),
        description="Conditions that are bad on purpose and in every trial: names of conditions, or recipes that "
        "are made from the reference: lowpass-3500 (audio), bitrate-200k, resolution-180, fps-7.5, blur-4 (video).",
    )
    rate_only_playing: bool = Field(default=False, description="Only the slider of what is playing can be moved.")
    strict: bool = Field(
        default=True,
        description="Audio as BS.1534 has it: references up to 12 s; same length, rate and channels in a content.",
    )


class Mushra(ScoreMethod):
    """All versions of a content on one page beside their reference, one slider each."""

    name: ClassVar[str] = "mushra"
    task: ClassVar[Task] = "board"
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "audio", "image", "text"})
    scales: ClassVar[tuple[str, ...]] = ("cont100",)
    Options: ClassVar[type[BaseModel]] = MushraOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs", "medians")
    defaults: ClassVar[Mapping[str, Json]] = {
        "playback": {"switching": "keep", "loop": "region"},
        "design": {"contents": "once"},
        "checks": {"postscreen": True},
    }
    paper: ClassVar[Paper] = Paper(
        "multiple stimuli with hidden reference and anchors (MUSHRA)",
        "All versions of a content were on one page beside the reference, among them the reference once more "
        "and the anchors, unnamed, each with a slider of its own",
        ("itu-bs1534",),
        names_reference=True,
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "score": Metric(
                "MUSHRA mean",
                "Mean score, the hidden reference and the anchors among the conditions.",
                MetricWords(heading="MUSHRA means"),
            ),
            "medians": Metric(
                "MUSHRA median", "Median score, the hidden reference and the anchors among the conditions."
            ),
        },
        citation="ITU-R BS.1534 (MUSHRA)",
        controls_reference=True,
    )

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from question_problems(self.name, self.questions(study))
        yield from medium_problems(self.name, self.media, catalogue)
        yield from reference_problems(self.name, catalogue, "shows one beside the others")
        yield from anchor_problems(study, catalogue)
        yield from board_problems(self.name, study, self.units(study, catalogue))
        if study.options.get("strict", True):
            yield from _strict_problems(study, catalogue)

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return board_units(study, catalogue, always=(*_references(catalogue), *anchors(study, catalogue)))

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        return Trial(
            id=unit.content,
            content=unit.content,
            purpose="rate",
            slots=(shown_reference(unit, catalogue), *rated_slots(study, unit, catalogue, first=2)),
            asked=self.asked(study),
            draws={"rate_only_playing": bool(study.options.get("rate_only_playing"))},
        )

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        return {"rate_only_playing": trial.draws["rate_only_playing"]}

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        return board_seconds(trial, catalogue)


def _references(catalogue: Catalogue) -> tuple[str, ...]:
    return tuple(dict.fromkeys(stimulus.condition for stimulus in catalogue.references.values()))


def _strict_problems(study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield where sounds are longer than BS.1534 likes, or could be distinguished without listening."""
    fix = "Write options: {strict: false} to take them as they are."

    def remedied(option: str) -> str:
        return f"{alike(study.stimuli, option)} {fix}"

    for content in catalogue.contents:
        sounds = [s for s in catalogue.by_cell.values() if s.content == content and s.medium == "audio"]
        if not sounds:
            continue
        reference = catalogue.references.get(content)
        if reference and reference.probe.duration_ms > _LONGEST_MS:
            what = f"has a reference of {reference.probe.duration_ms / 1000:.1f} s"
            yield Problem(f"content {content}", what, f"up to {_LONGEST_MS // 1000} s", fix)
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


mushra = Mushra()
