"""dscqs: two versions in turn, twice, and a continuous scale for each; one is the reference (ITU-R BT.500)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, cast

from pydantic import Field

from beholder.methods.choices import ComparedSlots, judged_stimulus
from beholder.methods.contract import (
    BaseModel,
    Catalogue,
    Generator,
    Json,
    Judgement,
    Medium,
    Metric,
    MetricWords,
    Paper,
    Problem,
    Scoring,
    Slot,
    Study,
    StudyPart,
    Task,
    Trial,
    Unit,
    Units,
)
from beholder.methods.pairs import reference_units
from beholder.methods.presentation import (
    Gap,
    hidden_role,
    medium_problems,
    pair_problems,
    public_draws,
    question_problems,
    reference_problems,
    seconds_shown,
)
from beholder.methods.scores import ScoreMethod

_PASSES = 2


class DscqsOptions(StudyPart):
    """Options of `dscqs`."""

    gap: Gap = Field(default=1.0, description="Seconds of grey between two plays.")


class Dscqs(ScoreMethod):
    """The reference and a version of it in either order, shown twice, each with a slider of its own.

    The rating is the score of the stimulus under test minus that of the reference in the same trial: 0 is as good as
    the reference, below zero is worse.
    """

    name: ClassVar[str] = "dscqs"
    task: ClassVar[Task] = "compare"
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "image", "audio"})
    scales: ClassVar[tuple[str, ...]] = ("cont100",)
    Options: ClassVar[type[BaseModel]] = DscqsOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"playback": {"fullscreen": True}, "design": {"contents": "apart"}}
    paper: ClassVar[Paper] = Paper(
        "the double-stimulus continuous quality scale (DSCQS)",
        "The reference and a version of it were shown twice in either order, without being named, and each was scored "
        "on a continuous scale",
        ("itu-bt500",),
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "diff": Metric(
                "DSCQS difference",
                "Mean of each participant's score minus the same participant's score of the reference in the same "
                "trial: 0 is as good as the reference, below zero worse.",
                MetricWords(heading="Differences from the reference (DSCQS)"),
            )
        },
        short="DSCQS",
        citation="ITU-R BT.500-15 (05/2023), DSCQS, with the sign turned",
    )

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from question_problems(self.name, self.questions(study))
        yield from medium_problems(self.name, self.media, catalogue)
        yield from pair_problems(self.name, study)
        yield from reference_problems(self.name, catalogue, "hides one beside each of the others")
        for index, question in enumerate(study.questions):
            if question.scale.look != "slider" and not question.ticks:
                what = f"has the look radio, and {self.name} gives both a slider"
                yield Problem(f"questions.{index}.scale", what, "look: slider")
        most = study.playback.max_plays
        if most is not None and most < _PASSES:
            what = f"is {most}, and {self.name} shows everything twice"
            yield Problem("playback.max_plays", what, "2 or more", "Leave it out.")

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return Units(kind="pair", items=reference_units(catalogue), per_trial=2, shuffle="order")

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        one, two = (catalogue.by_id[stimulus] for stimulus in unit.stimuli)
        return Trial(
            id=" ".join(unit.stimuli),
            content=unit.content,
            purpose="rate",
            slots=tuple(Slot(f"s{n}", s.id, hidden_role(s), None, True, None) for n, s in enumerate((one, two), 1)),
            asked=self.asked(study),
            draws={
                "judged": judged_stimulus(one, two, catalogue),
                "presentation": "sequential",
                "gap": study.options.get("gap", 1.0),
            },
            passes=_PASSES,
        )

    def judgements(self, trial: Trial, answer: Json) -> tuple[Judgement, ...]:
        scores = cast("Mapping[str, Any]", answer)["scores"]
        slots = ComparedSlots.of(trial)
        judgements = []
        for asked in trial.asked:
            first, second = (scores[asked.id].get(slot.id) for slot in (slots.first, slots.second))
            # Scores are on steps of the scale; a difference in floating point would be a hair beside them.
            raw = None if first is None or second is None else round(second - first, 6)
            value = None if raw is None else slots.turned(raw)
            span = asked.scale.max - asked.scale.min
            judgements.append(slots.judgement(asked, "diff", value, raw, limits=(-span, span)))
        return tuple(judgements)

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        return public_draws(trial)

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        return trial.passes * seconds_shown(trial, catalogue) + 3 + 10 * len(trial.asked)


dscqs = Dscqs()
