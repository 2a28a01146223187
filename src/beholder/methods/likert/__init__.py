"""likert: many statements about one stimulus (Likert scales; the avatar paper's surveys as item sets)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from beholder.methods.boards import single_units
from beholder.methods.contract import (
    Allowed,
    BaseModel,
    Catalogue,
    Generator,
    InFile,
    Json,
    Medium,
    Metric,
    MetricWords,
    OptionWords,
    Paper,
    Problem,
    Question,
    Scoring,
    Shown,
    Slot,
    Stimulus,
    Study,
    Task,
    Trial,
    Unit,
    Units,
    marked,
    plain_text,
)
from beholder.methods.likert.items import (
    ITEM_SETS,
    Item,
    ItemWording,
    applies_to,
    item_sets,
    origin_of,
    worded_items,
    wording_of,
    wording_problems,
)
from beholder.methods.presentation import (
    hidden_role,
    medium_problems,
    reference_problems,
    single_problems,
    stimuli_under_test,
)
from beholder.methods.scores import ScoreMethod, ask
from beholder.methods.time_marks import (
    MarkableOptions,
    Marks,
    mark_problems,
    marks_in_language,
    marks_option,
    with_marks,
)


class LikertOptions(MarkableOptions):
    """Options of `likert`."""

    items: Literal["avatar-a", "avatar-b", "avatar-short", "sync", "problem-token"] | None = Field(
        default=None, description="A ready-made set of statements; `questions` alone when left out."
    )
    wording: Annotated[
        ItemWording | str | None,
        InFile(ItemWording),
        Shown(in_schema=False),
        Allowed("a YAML file in the study folder, or {source, scenario, statements}"),
    ] = Field(
        default=None,
        description="Other words for the statements of the set, such as the published ones, by their ids; ours when "
        "left out.",
    )
    extra: tuple[str, ...] = Field(
        default=(), description="Statements of the set that are asked only if named: gesture_acc of avatar-b."
    )
    layout: Literal["grid", "tabs", "random"] = Field(
        default="grid",
        description="All statements on one page (`grid`), one at a time (`tabs`), or each with its clip, in an order "
        "drawn over the whole session (`random`).",
    )
    shuffle: bool = Field(default=True, description="The order of the statements is drawn for each trial.")
    scenario: str | None = Field(
        default=None,
        description="A line above the statements: **bold**, *italic*, `code`; the item set's own when left out.",
    )
    columns: Literal["high-first", "low-first"] = Field(
        default="high-first", description="Which end of the scale stands first."
    )
    marks: Marks = marks_option()


def _option_words(options: Mapping[str, Any]) -> Iterator[OptionWords]:
    """Yield what a report tells of the set of statements and of the line above them."""
    if items := options.get("items"):
        cites = ("cutler2024",) if items.startswith("avatar") else ()
        yield OptionWords("Item set", items, f"The statements were the set {items}", cites)
    if scenario := options.get("scenario"):
        yield OptionWords("Scenario", f"“{plain_text(scenario)}”")


class Likert(ScoreMethod):
    """One stimulus, then an answer to each of many statements about it."""

    name: ClassVar[str] = "likert"
    shows_first: ClassVar[bool] = True
    task: ClassVar[Task] = "agree"
    media: ClassVar[frozenset[Medium]] = frozenset({"video", "audio", "image", "text"})
    scales: ClassVar[tuple[str, ...]] = ("agree5", "acr5", "acr9", "acr11")
    Options: ClassVar[type[BaseModel]] = LikertOptions
    analyses: ClassVar[tuple[str, ...]] = ("scores", "pairs")
    defaults: ClassVar[Mapping[str, Json]] = {
        "playback": {"fullscreen": True, "loop": "after-first"},
        "design": {"contents": "apart"},
    }
    paper: ClassVar[Paper] = Paper(
        "a questionnaire", "Each stimulus was followed by statements or questions about it", options=_option_words
    )
    scoring: ClassVar[Scoring] = Scoring(
        {
            "score": Metric(
                "Agreement (Likert)",
                "Mean agreement with the statement; of a reversed one, keyed `-`, turned round within its scale.",
                MetricWords(is_quality=False),
            )
        },
        short="Likert",
    )

    def questions(self, study: Study) -> tuple[Question, ...]:
        return _join_questions(_items(study), study.questions)

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        if not self.questions(study):
            allowed = "options.items, or a list of {id, text, scale}"
            yield Problem("questions", f"are missing, and {self.name} asks at least one", allowed)
        for index, question in enumerate(study.questions):
            if question.scale.look != "radio" and not question.ticks:
                what = f"has the look slider, and {self.name} has one column for each answer"
                yield Problem(f"questions.{index}.scale", what, "look: radio")
        yield from medium_problems(self.name, self.media, catalogue)
        yield from single_problems(self.name, study)
        yield from _set_problems(study)
        yield from wording_problems(study)
        yield from mark_problems(self.name, study, catalogue)
        if _shows_driving_video(study):
            why = f"with items: {study.options['items']} shows the avatar beside it"
            yield from reference_problems(self.name, catalogue, why)
            if study.stage == "separate":
                what = f"is {study.options['items']}, which shows two videos at once, and stage: separate shows one"
                yield Problem("options.items", what, "a set that is about one video, or statements of your own")
            if media := {stimulus.medium for stimulus in catalogue.stimuli} - {"video"}:
                what = f"is {study.options['items']}, which is about videos, and the stimuli are {media.pop()}"
                yield Problem("options.items", what, "stimuli that are videos")
        elif self.questions(study) and not self._question_sets(study, catalogue):
            what = f"is {study.options['items']}, and the stimuli have neither picture nor sound"
            yield Problem("options.items", what, "videos, sounds or images")
        elif study.options.get("layout") == "random":
            yield from self._layout_problems(study, catalogue)

    def wording_origin(self, study: Study, question: Question, text: str) -> str:
        """Return whose words a statement has, in a sentence."""
        return origin_of(study, question, text)

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        rated = stimuli_under_test(catalogue) if _shows_driving_video(study) else tuple(catalogue.by_cell.values())
        asks = self._question_sets(study, catalogue) if study.options.get("layout") == "random" else ()
        return replace(single_units(rated), asks=asks)

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        options = study.options
        stimulus = catalogue.by_id[unit.stimuli[0]]
        questions = self._questions_for(study, stimulus, unit.asks)
        if options.get("shuffle", True):
            questions = tuple(questions[place] for place in rng.permutation(len(questions)))
        slots = [Slot("s1", stimulus.id, hidden_role(stimulus), None, True, None)]
        if _shows_driving_video(study):
            slots.append(Slot("s2", catalogue.references[unit.content].id, "reference", "driving", False, None))
        draws: dict[str, Json] = {
            "layout": options.get("layout", "grid"),
            "columns": options.get("columns", "high-first"),
        }
        if scenario := _scenario(study):
            draws["scenario"] = scenario
        trial = Trial(
            id=stimulus.id,
            content=unit.content,
            purpose="rate",
            slots=tuple(slots),
            asked=ask(questions),
            draws=draws,
            together=len(slots) > 1,
        )
        return with_marks(trial, study)

    def in_language(self, trial: Trial, study: Study) -> Trial:
        """Return a trial with the line above the statements, and the names of marks, in the language of a study."""
        scenario = {"scenario": text} if (text := _scenario(study)) else {}
        return marks_in_language(replace(trial, draws={**trial.draws, **scenario}), study)

    def other_slot(self, trial: Trial, slot: Slot) -> str | None:
        return next((other.id for other in trial.slots if not other.rated), None)

    def extra(self, trial: Trial) -> Mapping[str, Json]:
        sound = next((slot.id for slot in trial.slots if slot.label == "driving"), None)
        shown = {"scenario": marked(str(trial.draws["scenario"]))} if "scenario" in trial.draws else {}
        return {**trial.draws, **shown, **({"sound": sound} if sound else {})}

    def seconds(self, trial: Trial, catalogue: Catalogue) -> float:
        watching = max(catalogue.by_id[slot.stimulus].probe.duration_ms for slot in trial.slots) / 1000
        return watching + 3 + sum(8 if asked.ticks else 4 for asked in trial.asked)

    def _questions_for(self, study: Study, stimulus: Stimulus, only: tuple[str, ...]) -> tuple[Question, ...]:
        """Return the questions that fit a stimulus, or those of them that are named."""
        unfit = {item.id for item in _items(study) if not applies_to(item, stimulus)}
        asked = [question for question in self.questions(study) if question.id not in unfit]
        return tuple(question for question in asked if not only or question.id in only)

    def _layout_problems(self, study: Study, catalogue: Catalogue) -> Iterator[Problem]:
        """Yield items that fit only some stimuli: with layout random they would never be asked."""
        everywhere = {name for (name,) in self._question_sets(study, catalogue)}
        for item in _items(study):
            fitting = sum(applies_to(item, stimulus) for stimulus in catalogue.by_cell.values())
            if fitting and item.id not in everywhere:
                what = f"is random, and {item.id} can be asked about {fitting} of {len(catalogue.by_cell)} stimuli"
                fix = f"Write layout: grid, which asks {item.id} where it fits, or make the stimuli alike."
                yield Problem("options.layout", what, "grid or tabs", fix)

    def _question_sets(self, study: Study, catalogue: Catalogue) -> tuple[tuple[str, ...], ...]:
        """Return a set of one question for each question that fits all stimuli."""
        asked = [
            {question.id for question in self._questions_for(study, stimulus, ())}
            for stimulus in catalogue.by_cell.values()
        ]
        everywhere = set.intersection(*asked) if asked else set()
        return tuple((question.id,) for question in self.questions(study) if question.id in everywhere)


def _items(study: Study) -> tuple[Item, ...]:
    return worded_items(study)


# A plan composes every trial from the same few questions.
@lru_cache(maxsize=32)
def _join_questions(items: tuple[Item, ...], questions: tuple[Question, ...]) -> tuple[Question, ...]:
    """Return the items of a set, then the study's own questions."""
    written = {question.id: question for question in questions}
    joined = [_merge_question(item, written.pop(item.id, None)) for item in items]
    return (*joined, *written.values())


def _merge_question(item: Item, written: Question | None) -> Question:
    """Return an item of a set, as far as the study does not have it otherwise."""
    if written is None:
        return item.question()
    keyed = written.keyed or item.keyed
    names = {"label": written.label or item.label, "turned": written.turned or item.turned if keyed == "-" else None}
    return written.model_copy(update={"keyed": keyed, "ticks": written.ticks or item.ticks, **names})


def _shows_driving_video(study: Study) -> bool:
    name = study.options.get("items")
    return name is not None and ITEM_SETS[name].shows_driving_video


def _scenario(study: Study) -> str:
    written, name = study.options.get("scenario"), study.options.get("items")
    if written is not None:
        return str(written)
    wording = wording_of(study)
    if wording is not None and wording.scenario is not None and name is not None:
        return wording.scenario
    return item_sets(study.language)[name].scenario if name is not None else ""


def _set_problems(study: Study) -> Iterator[Problem]:
    name = study.options.get("items")
    extras = [item.id for item in ITEM_SETS[name].extras] if name is not None else []
    for index, name_of_item in enumerate(study.options.get("extra", ())):
        if name_of_item in extras:
            continue
        reason = f"items: {name} has no such statement" if name is not None else "options.items is left out"
        fix = "Write it under questions, with its text."
        yield Problem(f"options.extra.{index}", f"is {name_of_item}, and {reason}", ", ".join(extras), fix)


likert = Likert()
