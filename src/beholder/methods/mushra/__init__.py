"""mushra: a named reference, and unnamed versions of it, one of which is the reference again (ITU-R BS.1534)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from beholder.methods.boards import ReferenceBoard
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
    Trial,
    Unit,
)
from beholder.methods.presentation import NOT_STRICT, sound_problems

_LONGEST_MS = 12_000


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


class Mushra(ReferenceBoard):
    """All versions of a content on one page beside their reference, one slider each."""

    name: ClassVar[str] = "mushra"
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "audio", "image", "text"})
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
        yield from super().problems(study, catalogue)
        if study.options.get("strict", True):
            yield from _length_problems(study, catalogue)
            yield from sound_problems(study, catalogue)

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        draws: dict[str, Json] = {"rate_only_playing": bool(study.options.get("rate_only_playing"))}
        return replace(super().compose(study, unit, catalogue, rng), draws=draws)

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        return {"rate_only_playing": trial.draws["rate_only_playing"]}


def _length_problems(study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield references that are longer than BS.1534 likes."""
    for content, reference in catalogue.references.items():
        if reference.medium == "audio" and reference.probe.duration_ms > _LONGEST_MS:
            what = f"has a reference of {reference.probe.duration_ms / 1000:.1f} s"
            yield Problem(f"content {content}", what, f"up to {_LONGEST_MS // 1000} s", NOT_STRICT)


mushra = Mushra()
