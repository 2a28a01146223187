"""abx: two stimuli and X. Which one is X a copy of, or which one is closer to it? (ABX test; ReSEval)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import Field

from beholder.methods.choices import ChoiceMethod, ComparedSlots, compared_slots, read_identification, response_reasons
from beholder.methods.contract import (
    PERCENTAGE_POINTS,
    Asked,
    BaseModel,
    Catalogue,
    Generator,
    Json,
    Judgement,
    Medium,
    Metric,
    MetricWords,
    OptionWords,
    Paper,
    Percept,
    Problem,
    Role,
    Scoring,
    Slot,
    Study,
    StudyPart,
    Task,
    Trial,
    Unit,
    Units,
)
from beholder.methods.pairs import COMPARED_ROLES, pair_units
from beholder.methods.presentation import Gap, reference_problems
from beholder.methods.views import unfit_views

_NOISE = 0.1
"""Standard deviation of what a robot makes of X, which it perceives between 0 and 1."""


_TASKS = {
    "closest": OptionWords(
        "Task",
        "Which of two is closer to the reference.",
        "They said which of the two is closer to X, the reference",
    ),
    "identify": OptionWords(
        "Task", "Of which of two the third is a copy.", "They said of which of the two X is a copy"
    ),
}
"""By `options.mode`."""


class AbxOptions(StudyPart):
    """Options of `abx`."""

    unfit = unfit_views("abx", "X is compared with A and with B, and a view holds two")

    mode: Literal["closest", "identify"] | None = Field(
        default=None,
        description="Has to be written. `closest`: X is the reference, and which of A and B is nearer to it? "
        "`identify`: X is a copy of A or of B, and of which?",
    )
    unsure: bool = Field(default=False, description="Allow `not sure` (`identify`).")
    reason: Literal["none", "optional", "required"] = Field(
        default="none", description="Whether participants may, or have to, write why."
    )
    presentation: Literal["free", "sequential"] = Field(
        default="free", description="Behind buttons in any order, or A, B and X one after the other."
    )
    gap: Gap = Field(default=1.0, description="Seconds of grey between them, when they come one after the other.")


class Abx(ChoiceMethod):
    """Two stimuli of one content beside a third: its reference, or a copy of one of them."""

    name: ClassVar[str] = "abx"
    task: ClassVar[Task] = "identify"
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "audio", "image", "text"})
    scales: ClassVar[tuple[str, ...]] = ("pref2",)
    Options: ClassVar[type[BaseModel]] = AbxOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {"playback": {"switching": "keep"}, "design": {"contents": "apart"}}
    paper: ClassVar[Paper] = Paper(
        "an ABX test",
        "Participants compared two stimuli of the same content, A and B, with a third, X",
        ("morrison2022",),
        options=lambda options: [task] if (task := _TASKS.get(options.get("mode", ""))) else [],
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "choice": Metric(
                "Closeness (ABX)",
                "How often it was called closer to the reference, minus how often the other was, as a share of all its "
                "comparisons, from -1 (never closer) to 1 (always). Every comparison counts once for each of the two.",
                MetricWords(
                    unit=PERCENTAGE_POINTS,
                    heading="Closeness to the reference",
                    chosen="called closer",
                    chosen_over="called closer than",
                    chose="called it closer",
                    undecided="neither is closer",
                    choices="1 closer to the reference, −1 the other closer",
                ),
            )
        },
        short="ABX",
    )

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from super().problems(study, catalogue)
        mode, count = study.options.get("mode"), len(catalogue.conditions)
        if mode is None:
            yield Problem(
                "options.mode",
                "is missing, and the two kinds of abx are different experiments",
                "closest or identify",
                "closest: X is the reference, and people say which of A and B is nearer to it. "
                "identify: X is a copy of A or of B, and people say of which.",
            )
        elif mode == "closest":
            yield from reference_problems(self.name, catalogue, "closest compares with one")
            tests = {stimulus.condition for stimulus in catalogue.by_cell.values() if stimulus.role != "reference"}
            if len(tests) != 2:
                what = f"beside the reference are {len(tests)}, and {self.name} closest compares two"
                yield Problem("conditions", what, "two conditions and a reference")
            if study.options.get("unsure"):
                yield Problem("options.unsure", "does not fit mode closest", "mode identify", "Leave it out.")
        else:
            if count != 2:
                yield Problem("conditions", f"are {count}, and {self.name} identify compares two", "two conditions")
            if len(study.questions) > 1:
                what = f"are {len(study.questions)}, and {self.name} identify asks only which one X is"
                yield Problem("questions", what, "one question")

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        roles: tuple[Role, ...] = COMPARED_ROLES
        if study.options.get("mode") == "closest":
            roles = tuple(role for role in COMPARED_ROLES if role != "reference")
        return Units(kind="pair", items=pair_units(study, catalogue, roles), per_trial=2, shuffle="order")

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        trial = super().compose(study, unit, catalogue, rng)
        mode = study.options["mode"]
        draws: dict[str, Json] = {**trial.draws, "mode": mode, "unsure": bool(study.options.get("unsure"))}
        if mode == "closest":
            x = Slot("s3", catalogue.references[unit.content].id, "reference", "x", False, None)
        else:
            copied = trial.slots[int(rng.integers(2))]
            x = copied._replace(id="s3", label="x", rated=False)
            draws["same_as"] = copied.stimulus
        return replace(trial, slots=(*trial.slots, x), draws=draws)

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        return {**super().extra(trial), "mode": trial.draws["mode"], "unsure": trial.draws["unsure"]}

    def open_reference(self, trial: Trial) -> str | None:
        """Return the slot of X where it is the reference; a copy is nobody's to know."""
        return None if _asks_identity(trial) else "s3"

    def read(self, trial: Trial, answer: Json) -> Json:
        return read_identification(trial, answer) if _asks_identity(trial) else super().read(trial, answer)

    def judgement(self, trial: Trial, asked: Asked, choice: Mapping[str, Any] | None) -> Judgement:
        if not _asks_identity(trial):
            return super().judgement(trial, asked, choice)
        slots, slot_named = ComparedSlots.of(trial), None if choice is None else choice["same_as"]
        if slot_named in (None, "unsure"):
            why = "media_error" if slot_named is None else "skipped"
            return slots.judgement(asked, "correct", None, None, limits=(0, 1), missing=why)
        named = slots.second if slot_named == slots.second.id else slots.first
        right = int(named.stimulus == trial.draws["same_as"])
        # On the screen, as with every comparison: above zero when the second one was named.
        return slots.judgement(asked, "correct", right, 1 if named == slots.second else -1, limits=(0, 1))

    def respond(self, trial: Trial, percept: Percept, rng: Generator) -> Json:
        first, second = compared_slots(trial)
        x = next(slot for slot in trial.slots if not slot.rated)
        choices: dict[str, Json] = {}
        for asked in trial.asked:
            felt = percept[f"{asked.id}.{x.id}"] + rng.normal(0, _NOISE)
            far = [abs(felt - percept[f"{asked.id}.{slot.id}"]) for slot in (first, second)]
            nearer = first.id if far[0] < far[1] else second.id
            choices[asked.id] = {"same_as" if _asks_identity(trial) else "better": nearer}
        return {"choices": choices, **response_reasons(trial)}

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        return super().seconds(trial, catalogue) + 4


def _asks_identity(trial: Trial) -> bool:
    return trial.draws["mode"] == "identify"


abx = Abx()
