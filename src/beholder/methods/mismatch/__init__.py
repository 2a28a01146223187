"""mismatch: a stimulus with its own and with a foreign companion; in which do the two fit better? (GENEA)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field

from beholder.methods.choices import ChoiceMethod
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
    Text,
    Trial,
    Unit,
    Units,
)
from beholder.methods.presentation import Gap, companion_problems
from beholder.methods.views import unfit_views


class MismatchOptions(StudyPart):
    """Options of `mismatch`."""

    unfit = unfit_views("mismatch", "what belongs to the two is heard or read, and nowhere in the picture")

    swap: Literal["companion", "stimulus"] = Field(
        default="companion",
        description="What is foreign in one of the two. `companion`: the same stimulus is shown twice, once with the "
        "speech or text of another content. `stimulus`: the same speech or text twice, once with another stimulus.",
    )
    texts: Text | None = Field(
        default=None,
        description="The folder of the texts that belong to the contents, `<content>.txt`. Left out, what belongs to a "
        "video is its sound.",
    )
    tolerance: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="By which share of the longer one the lengths of a content and of the one that lends to it may "
        "differ. Videos are cut to a little less than the shorter.",
    )
    within: tuple[Text, ...] = Field(
        default=(),
        description="Factors in which both contents are the same, such as `[speaker]`: columns of the manifest.",
    )
    reason: Literal["none", "optional", "required"] = Field(
        default="none", description="Whether participants may, or have to, write why."
    )
    presentation: Literal["free", "sequential"] = Field(
        default="free", description="Behind buttons in any order, or one after the other."
    )
    gap: Gap = Field(default=1.0, description="Seconds of grey between them, when they come one after the other.")


class Mismatch(ChoiceMethod):
    """A stimulus of one condition with what belongs to it, beside one with what belongs to another content."""

    name: ClassVar[str] = "mismatch"
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "audio", "text"})
    scales: ClassVar[tuple[str, ...]] = ("ccr5", "pref3", "pref2")
    kind: ClassVar[Literal["diff", "choice"]] = "diff"
    Options: ClassVar[type[BaseModel]] = MismatchOptions
    analyses: ClassVar[tuple[str, ...]] = ("appropriateness", "scores", "pairs")
    # Who met a content once knows what belongs to it.
    defaults: ClassVar[Mapping[str, Json]] = {"design": {"contents": "once"}}
    paper: ClassVar[Paper] = Paper(
        "a mismatching test of appropriateness",
        "Of two stimuli of one condition, one with its own and one with a foreign companion, participants said in "
        "which the two fit better",
        ("kucherenko2023", "kucherenko2024"),
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "diff": Metric(
                "Appropriateness",
                "By how much it was called more fitting with its own companion than with a foreign one. 0 is chance: "
                "people cannot tell which companion belongs to it.",
                MetricWords(
                    heading="Appropriateness",
                    chosen="called fitting",
                    undecided="both fit equally",
                    sides=("Foreign", "Own"),
                ),
            )
        },
        short="mismatch",
        citation="Kucherenko et al. (2023), GENEA Challenge 2023; Kucherenko et al. (2024), GENEA Challenge 2022",
    )

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from super().problems(study, catalogue)
        if study.options.get("texts") is not None and study.options["presentation"] == "sequential":
            what = "is sequential, and texts are read while either of the two is open"
            yield Problem("options.presentation", what, "free", "Leave it out.")
        if catalogue.stimuli and {stimulus.medium for stimulus in catalogue.stimuli} <= self.media:
            yield from companion_problems(study, catalogue)

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        foreign = {(one.content, one.condition): one.id for one in catalogue.of_role("mismatched")}
        items = tuple(
            Unit(stimulus.content, (stimulus.id, foreign[cell]))
            for cell, stimulus in sorted(
                catalogue.by_cell.items(), key=lambda item: (item[0][0], catalogue.conditions.index(item[0][1]))
            )
            if cell in foreign
        )
        return Units(kind="pair", items=items, per_trial=2, shuffle="order")

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        trial = super().compose(study, unit, catalogue, rng)
        own, foreign = (catalogue.by_id[stimulus] for stimulus in unit.stimuli)
        first, second = trial.slots
        slots = (first._replace(role="matched"), second._replace(role="mismatched"))
        draws: dict[str, Json] = {**trial.draws, "judged": own.id, "donor": foreign.donor}
        if own.companion:
            draws["texts"] = {own.id: own.companion, foreign.id: foreign.companion}
        return replace(trial, slots=slots, draws=draws)

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        texts = trial.draws.get("texts")
        if not isinstance(texts, Mapping):
            return super().extra(trial)
        return {**super().extra(trial), "texts": {slot.id: texts[slot.stimulus] for slot in trial.slots}}


mismatch = Mismatch()
