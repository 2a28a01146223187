"""Stimuli that ask for an answer (attention, trap): which answers a trial allows, and which stimuli are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.random import Generator

from beholder.checks.known_answers import Attention, MessageRule, Say, Trap
from beholder.errors import Problem, StudyError
from beholder.methods.choices import grades_of
from beholder.methods.contract import Asked, Method, Scale, Trial, Unit, Units
from beholder.planning.groups import for_each_group, groups_of, restrict
from beholder.planning.known_answers import answered_kinds, message_tolerance
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.stimuli.message_stimuli import MessageCatalogue, MessageRequest, add_message_stimuli
from beholder.stimuli.messages.message import Message
from beholder.study.markdown import plain_text
from beholder.study.model import Study
from beholder.study.questions import shown_labels
from beholder.types import MESSAGE_ROLES, Role
from beholder.words import check_words

MessageWording = Literal["slider", "label", "value", "every", "this"]
"""The key of the text in our words."""


@dataclass(frozen=True)
class MessageAnswer:
    """One answer that can be asked for: its value, and its label on the scale."""

    value: float
    label: str = ""
    also: tuple[float, ...] = ()


@dataclass(frozen=True)
class MessageForm:
    """How trials can ask for an answer: with which text, for which answers, and with which tolerance."""

    wording: MessageWording
    choices: tuple[MessageAnswer, ...]
    tolerance: float
    span: float = 2.0
    """The distance between the lowest and the highest answer."""


# Stimuli that a study needs


def load_stimuli(
    study: Study,
    method: Method,
    progress: Callable[[int, int], None] | None = None,
    before: Sequence[frozenset[str]] | None = None,
) -> Catalogue:
    """Return every stimulus of a study, message stimuli included, which are made if they are missing.

    `before`: the rated stimuli before each addition of stimuli; read from plan/ if left out.
    """
    return load_with_messages(study, method, progress, before).catalogue


def load_with_messages(
    study: Study,
    method: Method,
    progress: Callable[[int, int], None] | None = None,
    before: Sequence[frozenset[str]] | None = None,
    *,
    samples_only: bool = False,
) -> MessageCatalogue:
    """Return every stimulus of a study, and how many message stimuli were made; with `samples_only`, some of them."""
    from beholder.planning.feasibility import build_frame
    from beholder.planning.folder import read_earlier_stimuli
    from beholder.planning.given_plan import read_given
    from beholder.stimuli.ingestion import load_catalogue

    catalogue = load_catalogue(study, progress)
    requests = all_requests(study, catalogue, method, read_earlier_stimuli(study.folder) if before is None else before)
    if requests and len(study.all_languages) > 1:
        raise StudyError(_of_one_language(study, requests[0].role))
    if requests:
        # Making them takes minutes: first whether there can be a plan at all.
        check = build_frame if study.design.plan is None else read_given
        for_each_group(groups_of(study, catalogue, method), lambda group: check(group.study, group.catalogue, method))
    return add_message_stimuli(study, catalogue, requests, progress, samples_only=samples_only)


def _of_one_language(study: Study, role: Role) -> Problem:
    """Return that a stimulus which asks for an answer would do so in one of the languages of a study only."""
    what = f"asks by {role} stimuli that are made in one language, and the study has {len(study.all_languages)}"
    fix = (
        "Use gold stimuli or trap_item, bring stimuli of your own with this role that ask without words, or run a "
        "study for each language."
    )
    return study.problem(f"checks.{role}", what, "one language", fix)


def all_requests(
    study: Study, catalogue: Catalogue, method: Method, before: Sequence[frozenset[str]]
) -> list[MessageRequest]:
    """Return the message stimuli of a study, first those from before stimuli were added.

    Lists that were made then hold them under their earlier names.
    """
    requests: list[MessageRequest] = []
    catalogue = catalogue.common
    catalogues = (*(_earlier_catalogue(catalogue, names) for names in before), catalogue)
    # A group with fewer conditions meets none of the others, not even in message stimuli.
    restricted = [
        tuple(level.conditions)
        for levels in study.design.between.values()
        for level in levels.values()
        if level.conditions
    ]
    for stimuli in (*catalogues, *(restrict(catalogue, conditions) for conditions in dict.fromkeys(restricted))):
        known = {(one.role, one.source.id, one.message.words) for one in requests}
        new = study_requests(study, stimuli, method)
        requests += [one for one in new if (one.role, one.source.id, one.message.words) not in known]
    return requests


def _earlier_catalogue(catalogue: Catalogue, names: frozenset[str]) -> Catalogue:
    """Return the catalogue as it was when only these stimuli were rated."""
    rated = [one for one in catalogue.by_cell.values() if one.id in names]
    conditions, contents = {one.condition for one in rated}, {one.content for one in rated}
    later = {one.id for one in catalogue.by_cell.values()} - names
    return replace(
        catalogue,
        stimuli=tuple(one for one in catalogue.stimuli if one.id not in later),
        conditions=tuple(condition for condition in catalogue.conditions if condition in conditions),
        contents=tuple(content for content in catalogue.contents if content in contents),
    )


def study_requests(study: Study, catalogue: Catalogue, method: Method) -> list[MessageRequest]:
    """Return the message stimuli that a study needs; none if the trials of the method cannot ask for an answer."""
    requests: list[MessageRequest] = []
    for stream, role in enumerate(MESSAGE_ROLES):
        rule = study.checks.of_role(role)
        if not isinstance(rule, MessageRule.Options) or catalogue.of_role(role):
            continue  # the researcher's own stimuli are used
        units = method.units(study, catalogue)
        sources = [] if role == Trap.role and is_board(units) else list(message_sources(study, catalogue, units, rule))
        form = page_form(study, catalogue, method, rule) if sources else None
        if form is None:
            continue
        rng = np.random.default_rng([study.design.seed, 20 + stream])
        sessions = study.design.participants * study.design.sessions_per_participant
        needed = rule.clips if study.design.votes else min(rule.clips, sessions * rule.per_session)
        if is_board(units):
            needed = max(needed, len({stimulus.content for stimulus in sources}))
        requests += message_requests(role, sources, needed, form, rule, message_medium(rule, catalogue), study, rng)
    return requests


def message_sources(study: Study, catalogue: Catalogue, units: Units, rule: MessageRule.Options) -> Iterator[Stimulus]:
    """Yield the stimuli of which message stimuli can be made: those that are allocated, of no protected condition."""
    protected = protected_conditions(study, catalogue, units, rule)
    seen: set[str] = set()
    for unit in units.items:
        for name in unit.stimuli:
            if name not in seen and catalogue.by_id[name].condition not in protected:
                seen.add(name)
                yield catalogue.by_id[name]


def protected_conditions(study: Study, catalogue: Catalogue, units: Units, rule: MessageRule.Options) -> frozenset[str]:
    """Return the conditions that no attention stimulus replaces."""
    own = rule.protect if isinstance(rule, Attention.Options) else ()
    special = {s.condition for s in catalogue.by_cell.values() if s.role in ("reference", "anchor")}
    return frozenset((*own, *study.design.always, *units.always, *special))


def is_board(units: Units) -> bool:
    """Return whether a trial holds several stimuli of a content, each rated on its own."""
    return units.kind == "content"


def message_requests(
    role: Role,
    sources: Sequence[Stimulus],
    count: int,
    form: MessageForm,
    rule: MessageRule.Options,
    say: Say,
    study: Study,
    rng: Generator,
) -> list[MessageRequest]:
    """Return the stimuli to make: `count` of them, all sources and all answers equally often."""
    order = [sources[place] for place in rng.permutation(len(sources))]
    # Every content once before any is repeated.
    rank: dict[str, int] = {}
    by_rank: list[tuple[int, int, Stimulus]] = []
    for stimulus in order:
        rank[stimulus.content] = rank.get(stimulus.content, 0) + 1
        by_rank.append((rank[stimulus.content], len(by_rank), stimulus))
    by_rank.sort(key=lambda one: one[:2])
    rounds = -(-count // len(form.choices))
    drawn = np.concatenate([rng.permutation(len(form.choices)) for _ in range(rounds)])
    return [
        MessageRequest(
            role,
            by_rank[place % len(by_rank)][2],
            Message(_words(form.wording, form.choices[drawn[place]], rule, say, study.language), say, study.language),
            form.choices[drawn[place]].value,
            form.tolerance,
            form.choices[drawn[place]].also,
        )
        for place in range(count)
    ]


def _words(wording: MessageWording, choice: MessageAnswer, rule: MessageRule.Options, say: Say, language: str) -> str:
    texts = check_words(language)[Attention.name]
    words = rule.words or texts[f"spoken.{wording}" if say == "voice" else wording]
    return words.replace("{value}", f"{choice.value:g}").replace("{label}", choice.label or f"{choice.value:g}")


def message_medium(rule: MessageRule.Options, catalogue: Catalogue) -> Say:
    """Return how the message is given: as the study says, else by the medium of the stimuli."""
    has_audio = any(stimulus.medium == "audio" for stimulus in catalogue.stimuli)
    return rule.say or ("voice" if has_audio else "text")


# Answers that a trial can ask for


def page_form(study: Study, catalogue: Catalogue, method: Method, rule: MessageRule.Options) -> MessageForm | None:
    """Return how the trials of a study can ask for an answer; None if they cannot."""
    trial = sample_trial(study, catalogue, method)
    return None if trial is None else form_of(study, method, trial, rule, message_medium(rule, catalogue))


def sample_trial(study: Study, catalogue: Catalogue, method: Method) -> Trial | None:
    """Return a trial as the method composes it; None if the stimuli do not suffice for one."""
    units = method.units(study, catalogue)
    unit = next(iter(units.items), None)
    if unit is None:
        return None
    scaled = {question.id for question in method.questions(study) if not question.ticks}
    asks = next((asks for asks in units.asks if scaled.issuperset(asks)), units.asks[0] if units.asks else ())
    try:
        return method.compose(study, Unit(unit.content, unit.stimuli, asks), catalogue, np.random.default_rng(0))
    except LookupError:
        return None  # the method reports what is missing


def form_of(study: Study, method: Method, trial: Trial, rule: MessageRule.Options, say: Say) -> MessageForm | None:
    """Return how a trial can ask for an answer; None if it cannot."""
    kinds = answered_kinds(method, trial)
    asked = [one for one in trial.asked if not one.ticks]
    if not asked or not kinds or len(kinds) > 1:
        return None
    (kind,) = kinds
    if kind == "choice":
        return _choice_form(trial, asked[0].scale)
    if kind not in ("score", "diff"):
        return None
    scale = asked[0].scale
    if scale.look == "slider":
        return _slider_form(asked, rule, say, study)
    return _category_form(asked, rule, study.language)


def _choice_form(trial: Trial, scale: Scale) -> MessageForm | None:
    """Return that a stimulus can ask to be chosen, by any grade; None if the choice is about a third stimulus."""
    if any(not slot.rated for slot in trial.slots):
        return None
    grades = grades_of(scale)
    return MessageForm("this", (MessageAnswer(grades[-1]),), grades[-1] - grades[0])


def _slider_form(asked: Sequence[Asked], rule: MessageRule.Options, say: Say, study: Study) -> MessageForm | None:
    from beholder.stimuli.messages.message import confusable_numbers, unambiguous_values

    scale, language = asked[0].scale, study.language
    low, high = rule.targets if isinstance(rule, Attention.Options) else (5, 95)
    span = scale.max - scale.min
    if not study.is_written("checks.attention.targets"):  # meant for 0 to 100
        low, high = scale.min + span * low / 100, scale.min + span * high / 100
    values = [value for value in _values(scale) if low <= value <= high]
    values = [value for value in values if all(one.scale.holds(value) for one in asked)]
    if say == "voice":
        integers = [value for value in values if float(value).is_integer()]
        clear = set(unambiguous_values(min(integers), max(integers), 1, language)) if integers else set()
        values = [value for value in integers if value in clear]
    near = rule.tolerance if rule.tolerance is not None else message_tolerance(scale)
    is_spoken = say == "voice"
    choices = tuple(
        MessageAnswer(value, also=confusable_numbers(int(value), language) if is_spoken else ()) for value in values
    )
    return MessageForm("slider", choices, near, span) if choices else None


def _category_form(asked: Sequence[Asked], rule: MessageRule.Options, language: str) -> MessageForm | None:
    scales = [one.scale for one in asked]
    words = [{value: plain_text(text) for value, text in shown_labels(scale, language)} for scale in scales]
    named = [value for value in _values(scales[0]) if all(value in own for own in words)]
    near, span = rule.tolerance or 0.0, scales[0].max - scales[0].min
    same = [value for value in named if len({own[value] for own in words}) == 1]
    if same:
        wording: MessageWording = "every" if len(asked) > 1 else "label"
        return MessageForm(wording, tuple(MessageAnswer(value, words[0][value]) for value in same), near, span)
    values = [value for value in _values(scales[0]) if all(scale.holds(value) for scale in scales)]
    return MessageForm("value", tuple(MessageAnswer(value) for value in values), near, span) if values else None


def _values(scale: Scale) -> list[float]:
    count = round((scale.max - scale.min) / scale.step)
    return [scale.min + scale.step * place for place in range(count + 1)]
