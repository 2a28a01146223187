"""Pages with many stimuli of one content, their references and anchors; and methods with one stimulus per trial."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from beholder.errors import did_you_mean
from beholder.methods.contract import (
    Catalogue,
    Generator,
    Medium,
    Problem,
    Role,
    Slot,
    Stimulus,
    Study,
    Task,
    Trial,
    Unit,
    Units,
    slot_ids,
    slots_from_columns,
)
from beholder.methods.presentation import (
    hidden_role,
    medium_problems,
    question_problems,
    reference_problems,
    single_problems,
)
from beholder.methods.scores import ScoreMethod
from beholder.study.recipes import example_recipes, read_recipe

HEMVIP = "Jonell et al. (2021), HEMVIP, International Conference on Multimodal Interaction"


def reference_conditions(catalogue: Catalogue) -> tuple[str, ...]:
    """Return the conditions that are the reference of a content, each once."""
    return tuple(dict.fromkeys(stimulus.condition for stimulus in catalogue.references.values()))


def anchors(study: Study, catalogue: Catalogue) -> tuple[str, ...]:
    """Return the conditions that are anchors, in the order of the catalogue: by their role, or named by the study."""
    named = set(study.options.get("anchors", ()))
    named |= {stimulus.condition for stimulus in catalogue.stimuli if stimulus.role == "anchor"}
    return tuple(condition for condition in catalogue.conditions if condition in named)


def anchor_problems(study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield anchors that are neither a condition nor a recipe."""
    for index, name in enumerate(study.options.get("anchors", ())):
        if name not in catalogue.conditions and read_recipe(name) is None:
            what = f"is {name}, which is neither a condition nor a recipe"
            media = {stimulus.medium for stimulus in catalogue.stimuli}
            made = [example_recipes(medium)[0] for medium in media if example_recipes(medium)]
            allowed = ", or ".join([", ".join(catalogue.conditions), *(f"{name} and the like" for name in made)])
            yield Problem(f"options.anchors.{index}", what, allowed, did_you_mean(name, catalogue.conditions))
        elif any(stimulus.condition == name for stimulus in catalogue.references.values()):
            yield Problem(f"options.anchors.{index}", f"is {name}, which is the reference", "another condition")


def board_units(
    study: Study,
    catalogue: Catalogue,
    always: tuple[str, ...],
    *without: str,
    usual: int | None = None,
    pairs_evenly: bool = False,
) -> Units:
    """Return contents as units, with `design.per_trial` of their conditions on a page, else up to `usual`, or all."""
    conditions = [condition for condition in catalogue.conditions if condition not in without]
    items = []
    for content in catalogue.contents:
        cells = [catalogue.by_cell.get((content, condition)) for condition in conditions]
        items.append(Unit(content, tuple(stimulus.id for stimulus in cells if stimulus)))
    per_trial = study.design.per_trial or min(len(conditions), usual or len(conditions))
    return Units(
        kind="content",
        items=tuple(items),
        per_trial=per_trial,
        shuffle="slots",
        always=always,
        pairs_evenly=pairs_evenly,
    )


def board_problems(name: str, study: Study, units: Units) -> Iterator[Problem]:
    """Yield pages with fewer than two stimuli, and scales that are no sliders. The planner checks the maximum."""
    count = units.per_trial
    if units.items and max(len(unit.stimuli) for unit in units.items) < 2:
        what = f"give every page 1 stimulus to rate, and {name} compares at least two"
        yield Problem("conditions", what, "two or more that are rated", "Add one, or use method: acr.")
    elif count < 2:
        yield Problem("design.per_trial", f"is {count}, and {name} compares at least two", "2 or more")
    for index, question in enumerate(study.questions):
        if question.scale.look != "slider" and not question.ticks:
            what = "has the look radio, and each stimulus gets a slider"
            yield Problem(f"questions.{index}.scale", what, "look: slider")


def shown_reference(unit: Unit, catalogue: Catalogue) -> Slot:
    """Return the slot in front that shows the reference under its name."""
    return Slot("s1", catalogue.references[unit.content].id, "reference", "reference", False, None)


def rated_slots(study: Study, unit: Unit, catalogue: Catalogue, first: int = 1) -> tuple[Slot, ...]:
    """Return a slot without a name for each stimulus of a unit; a reference among them is hidden."""
    named = study.options.get("anchors", ())
    stimuli = [catalogue.by_id[name] for name in unit.stimuli]
    roles: list[Role] = ["anchor" if one.condition in named else hidden_role(one) for one in stimuli]
    count = len(roles)
    ids = slot_ids(count + first - 1)[first - 1 :]
    return slots_from_columns(ids, unit.stimuli, roles, [None] * count, [True] * count, [None] * count)


def board_seconds(trial: Trial, catalogue: Catalogue) -> float:
    """Return the estimated duration of a page."""
    # HEMVIP: 8 clips of 10 s took 176 s a page, that is 22 s a clip with going back and forth.
    watching = sum(catalogue.by_id[slot.stimulus].probe.duration_ms for slot in trial.slots) / 1000
    return 1.4 * watching + 8 * sum(slot.rated for slot in trial.slots) * len(trial.asked)


class ReferenceBoard(ScoreMethod):
    """Base of methods whose page has all versions of a content beside their reference, which is hidden among them too.

    Anchors are on every page.
    """

    name: ClassVar[str]
    media: ClassVar[frozenset[Medium]]
    task: ClassVar[Task] = "board"
    scales: ClassVar[tuple[str, ...]] = ("cont100",)

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from question_problems(self.name, self.questions(study))
        yield from medium_problems(self.name, self.media, catalogue)
        yield from reference_problems(self.name, catalogue, "shows one beside the others")
        yield from anchor_problems(study, catalogue)
        yield from board_problems(self.name, study, self.units(study, catalogue))

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        always = (*reference_conditions(catalogue), *anchors(study, catalogue))
        return board_units(study, catalogue, always=always)

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        return Trial(
            id=unit.content,
            content=unit.content,
            purpose="rate",
            slots=(shown_reference(unit, catalogue), *rated_slots(study, unit, catalogue, first=2)),
            asked=self.asked(study),
        )

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        return board_seconds(trial, catalogue)


# One stimulus per trial


class SingleMethod(ScoreMethod):
    """Base of methods whose trial is one stimulus under test."""

    name: ClassVar[str]
    media: ClassVar[frozenset[Medium]]

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        yield from question_problems(self.name, self.questions(study))
        yield from medium_problems(self.name, self.media, catalogue)
        yield from single_problems(self.name, study)

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return single_units(catalogue.by_cell.values())

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        (stimulus,) = unit.stimuli
        return Trial(
            id=stimulus,
            content=unit.content,
            purpose="rate",
            slots=(Slot("s1", stimulus, hidden_role(catalogue.by_id[stimulus]), None, True, None),),
            asked=self.asked(study),
        )

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        return catalogue.by_id[trial.slots[0].stimulus].probe.duration_ms / 1000 + 3 + 4 * len(trial.asked)


def single_units(stimuli: Iterable[Stimulus]) -> Units:
    """Return each of these stimuli as a unit of its own."""
    items = tuple(Unit(stimulus.content, (stimulus.id,)) for stimulus in stimuli)
    return Units(kind="stimulus", items=items, per_trial=1, shuffle="none")
