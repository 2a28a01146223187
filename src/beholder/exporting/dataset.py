"""What catalogues, cards and citations say of an export: what is known of the study, and what its researcher adds.

Every text is a fact of the study, or stands under `publication` in study.yaml; what is neither is a named blank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from statistics import mean, median
from typing import Any, NamedTuple

from beholder.checks.registry import rule_sentence, study_rules
from beholder.exporting.source import ExportSource
from beholder.formats import count, join_names, number, plain_count
from beholder.store.tables import to_iso
from beholder.study.bibliography import Publication
from beholder.study.markdown import plain_text
from beholder.study.model import Study
from beholder.study.questionnaire import Ask

RAI = "rai-"
"""Before the name of a property of Croissant's vocabulary for responsible AI, in `publication.answers`."""


class Blank(NamedTuple):
    """Something that is asked for and that nobody has said yet."""

    what: str
    key: str
    """The key of study.yaml where it can be said."""


_ASKED = (
    ("who made the data", "authors"),
    ("the licence", "licence"),
    ("a description in your words", "description"),
    ("where the data are", "url"),
    ("the version", "version"),
    ("the day of publication", "published"),
    ("keywords", "keywords"),
)
_OWN_WORDS = (
    "dataUseCases", "dataBiases", "dataLimitations", "dataSocialImpact", "dataReleaseMaintenancePlan",
)  # fmt: skip
"""Properties for responsible AI that no fact answers."""
_MOST_QUESTIONS = 20


@dataclass(frozen=True)
class Dataset:
    """An export as a data set to publish."""

    study: Study
    source: ExportSource
    first: datetime
    last: datetime
    """The times of the first session and of the last fact."""
    software: str

    @property
    def publication(self) -> Publication:
        return self.study.publication

    @property
    def is_simulated(self) -> bool:
        return self.source.judging.facts.population == "robots"

    @cached_property
    def media(self) -> tuple[str, ...]:
        """The kinds of stimuli."""
        return tuple(sorted({shown.medium for shown in self.source.judging.facts.stimuli.values()}))

    @property
    def keywords(self) -> list[str]:
        """Keywords: those of the researcher, else method and media."""
        own = list(self.publication.keywords)
        return own or ["subjective evaluation", self.study.method, *self.media]

    @cached_property
    def description(self) -> str:
        """What the data are: in the words of the researcher, else by their numbers."""
        return self.publication.description or self.summary

    @cached_property
    def summary(self) -> str:
        """What the data are by their numbers."""
        facts = self.source.judging.facts
        ratings = [rating for some in self.source.ratings.values() for rating in some]
        used = sum(rating.use for rating in ratings)
        people = len({row["participant"] for row in self.source.sessions.values()})
        who = count(people, *(("robot", "robots") if self.is_simulated else ("person", "people")))
        stimuli = {stimulus: shown for (_, stimulus), shown in facts.stimuli.items()}
        what = count(len(stimuli), "stimulus", "stimuli")
        contents = len({shown.content for shown in stimuli.values()})
        conditions = len({shown.condition for shown in stimuli.values()})
        simulated = "Simulated, a rehearsal and not a result. " if self.is_simulated else ""
        return (
            f"{simulated}{count(len(ratings), 'rating')} ({used:,} used) of {what} "
            f"({count(contents, 'content')}, {count(conditions, 'condition')}) by {who}, with the method "
            f"{self.study.method}. Title of the study: {self.study.title}."
        )

    @property
    def citation(self) -> str:
        """How the data are cited, in one line; empty as long as nobody has said who made them."""
        publication = self.publication
        who = "; ".join(author.name for author in publication.authors)
        if not who:
            return ""
        year = f" ({publication.published[:4]})" if publication.published else ""
        version = f"Version {publication.version}" if publication.version else ""
        parts = (f"{who}{year}", self.study.title, version, publication.address or "")
        return ". ".join(part for part in parts if part)

    @property
    def blanks(self) -> tuple[Blank, ...]:
        """What is asked for and not said, with the key where it can be."""
        publication = self.publication
        said = {name: getattr(publication, name) for _, name in _ASKED} | {"url": publication.address}
        asked = [Blank(what, f"publication.{name}") for what, name in _ASKED if not said[name]]
        own = [
            Blank(f"rai:{name}", f"publication.answers.{RAI}{name}")
            for name in _OWN_WORDS
            if f"{RAI}{name}" not in publication.answers
        ]
        return (*asked, *own)

    @cached_property
    def responsible_ai(self) -> dict[str, str | list[str]]:
        """The properties of Croissant's vocabulary for responsible AI that are known, by name, in its order."""
        known: dict[str, str | list[str]] = {
            "dataCollection": self._collection(),
            "dataCollectionType": ["Experiments"],
            "dataCollectionMissingData": self._missing(),
            "dataCollectionRawData": "Answers and events as browsers sent them, in the tables answers and events.",
            "dataCollectionTimeframe": [to_iso(self.first), to_iso(self.last)],
            "dataImputationProtocol": "Nothing is imputed: what is missing is an empty cell.",
            "dataManipulationProtocol": (
                "Values are as they were given; a comparison is signed so that above zero favours the condition, and "
                "raw_value has what was on the screen."
            ),
            "dataPreprocessingProtocol": self._preprocessing(),
            "dataAnnotationProtocol": list(self._questions()),
            "dataAnnotationPlatform": [self.software],
            "dataAnnotationAnalysis": (
                "Every single rating is there and nothing is averaged. use says which ratings are analysed, exclusions "
                "why the others are not."
            ),
            "annotationsPerItem": self._per_item(),
            "personalSensitiveInformation": self._personal(),
        }
        if demographics := list(self._demographics()):
            known["annotatorDemographics"] = demographics
        if self.is_simulated:
            known["machineAnnotationTools"] = ["Simulated raters of Beholder; no person answered."]
        own = {name.removeprefix(RAI): text for name, text in self.publication.answers.items() if name.startswith(RAI)}
        return {**known, **own}

    def _collection(self) -> str:
        from beholder.methods import find

        paper = getattr(find(self.study.method), "paper", None)
        method = f"{paper.name}. {paper.task}." if paper is not None else f"{self.study.method}."
        if self.is_simulated:
            return f"Simulated: robots answered in place of people. Method: {method}"
        where = self.study.recruit.source.summary_words
        return f"People took part {where}, in a web browser. Method: {method}".replace("  ", " ")

    def _missing(self) -> str:
        ratings = [rating for some in self.source.ratings.values() for rating in some]
        reasons = Counter(rating.missing or "no value" for rating in ratings if rating.value is None)
        if not reasons:
            return "No rating is without a value."
        why = join_names([f"{name} {n:,}" for name, n in reasons.most_common()])
        return f"{sum(reasons.values()):,} of {count(len(ratings), 'rating')} have no value: {why}."

    def _preprocessing(self) -> list[str]:
        rules = [f"{rule.title}: {rule_sentence(rule)}" for rule in study_rules(self.study)]
        return [*rules, "What a rule leaves out stays in the tables, marked by use and exclusions."]

    def _questions(self) -> Iterator[str]:
        """Yield each question with its scale, in the words that people read."""
        seen = dict.fromkeys(
            f"“{question.text}”: {_scale_words(question)}"
            for text in self.source.judging.texts.values()
            for question in text.questions
        )
        shown = list(seen)
        yield from shown[:_MOST_QUESTIONS]
        if len(shown) > _MOST_QUESTIONS:
            yield f"{len(shown) - _MOST_QUESTIONS} more, in the table questions."

    def _per_item(self) -> str:
        used = Counter(
            (rating.question, rating.stimulus, rating.other_stimulus)
            for some in self.source.ratings.values()
            for rating in some
            if rating.use and rating.value is not None
        )
        if not used:
            return "No rating is used."
        sizes = sorted(used.values())
        span = (
            f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}, {median(sizes):g} (median)"
        )
        return f"Used ratings of each stimulus, or of each two that are compared, by each question: {span}."

    def _personal(self) -> str:
        asks = [f"“{ask.title}”" for ask in self._asks()]
        told = f"They were asked: {join_names(asks)}. " if asks else "They were asked nothing about themselves. "
        free = "is in it, with masks" if self.source.withheld.with_texts else "is left out"
        return (
            "Participants are pseudonyms; ids of platforms, language and time zone are left out. "
            f"{told}What they wrote in their own words {free}."
        )

    def _asks(self) -> list[Ask]:
        """Return the items of all questionnaires that people met, each once."""
        asks = (ask for text in self.source.judging.texts.values() for ask in (*text.before, *text.after))
        return list({ask.id: ask for ask in asks}.values())

    def _demographics(self) -> Iterator[str]:
        """Yield what the participants whose ratings are used answered about themselves, in numbers."""
        if self.is_simulated:
            return
        answers = self._answers_of_used()
        for ask in self._asks():
            given = [own[ask.id] for own in answers if own.get(ask.id) is not None]
            if ask.kind.is_free_text or not given:
                continue
            yield f"{plain_text(ask.title)}: {_tally(ask, given)} (n = {len(given):,})"

    def _answers_of_used(self) -> list[dict[str, Any]]:
        """Return the answers of each used participant to the questionnaires, the first answer to each item."""
        by_person: dict[str, dict[str, Any]] = {}
        for one in self.source.judging.judged:
            if not one.decision.use:
                continue
            own = by_person.setdefault(one.visit.participant, {})
            for place in ("before", "after"):
                record = one.visit.answers.get(f"questions:{place}")
                given = record.answer.get("answers") if record is not None and isinstance(record.answer, dict) else None
                for name, value in (given or {}).items():
                    own.setdefault(name, value)
        return list(by_person.values())


def _scale_words(question: Any) -> str:
    """Return how a question is answered, with the words on its scale."""
    if question.ticks:
        return f"tick any of {join_names(list(question.ticks))}"
    scale = question.scale
    labels = ", ".join(f"{place:g} {word}" for place, word in scale.labels)
    return f"{scale.min:g} to {scale.max:g} in steps of {scale.step:g}{f' ({labels})' if labels else ''}"


def _tally(ask: Ask, given: Sequence[Any]) -> str:
    """Return numbers as mean and range, choices as counts."""
    numbers = [float(value) for value in given if isinstance(value, int | float) and not isinstance(value, bool)]
    if ask.kind.is_number and numbers:
        return f"mean {number(mean(numbers), 1)}, {min(numbers):g} to {max(numbers):g}"
    chosen = Counter(str(one) for value in given for one in (value if isinstance(value, list) else [value]))
    return join_names([f"{name} {n:,}" for name, n in chosen.most_common()])


def blank_note(blanks: Sequence[Blank]) -> str:
    """Return what is not said yet in one sentence; empty if everything is."""
    if not blanks:
        return ""
    what = join_names([f"{blank.what} (`{blank.key}`)" for blank in blanks])
    asked = plain_count(len(blanks), "thing is", "things are")
    return f"{asked} not said yet, and can be in study.yaml: {what}."
