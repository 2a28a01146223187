"""Which answers a stimulus can ask for, and which stimuli are made to ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from beholder.methods.ballots import grades_of
from beholder.methods.contract import Asked, Method, Scale, Trial
from beholder.plan.teaching.answering import judged_kinds
from beholder.plan.teaching.lessons import asking_tolerance
from beholder.stimuli.asking import Wanted
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.stimuli.messages.message import Message
from beholder.study.checks import Asking, Attention, Say
from beholder.study.model import Study
from beholder.study.words import check_words
from beholder.types import Role

Way = Literal["slider", "label", "value", "every", "this"]
"""Which of our words say it."""


@dataclass(frozen=True)
class Choice:
    """One answer that can be asked for: its value, and the word beside it on the scale."""

    value: float
    label: str = ""
    also: tuple[float, ...] = ()


@dataclass(frozen=True)
class Form:
    """How pages can be asked for an answer: in which words, for which answers, and how near they have to be."""

    way: Way
    choices: tuple[Choice, ...]
    tolerance: float
    span: float = 2.0
    """From the lowest answer to the highest."""


def form_of(study: Study, method: Method, trial: Trial, rule: Asking, say: Say) -> Form | None:
    """Return how the page of a trial can be asked for an answer; None where no answer would do."""
    kinds = judged_kinds(method, trial)
    asked = [one for one in trial.asked if not one.ticks]
    if not asked or not kinds or len(kinds) > 1:
        return None
    (kind,) = kinds
    if kind == "choice":
        return _chosen(trial, asked[0].scale)
    if kind not in ("score", "diff"):
        return None
    scale = asked[0].scale
    if scale.look == "slider":
        return _slider(asked, rule, say, study)
    return _categories(asked, rule)


def _chosen(trial: Trial, scale: Scale) -> Form | None:
    """Return that it can ask to be chosen, by whatever grade; not where the choice is about a third one."""
    if any(not slot.rated for slot in trial.slots):
        return None
    grades = grades_of(scale)
    return Form("this", (Choice(grades[-1]),), grades[-1] - grades[0])


def _slider(asked: Sequence[Asked], rule: Asking, say: Say, study: Study) -> Form | None:
    from beholder.stimuli.messages.numbers import clear_values, sounds_like

    scale, language = asked[0].scale, study.language
    low, high = rule.targets if isinstance(rule, Attention) else (5, 95)
    span = scale.max - scale.min
    if not study.is_written("checks.attention.targets"):  # meant for 0 to 100
        low, high = scale.min + span * low / 100, scale.min + span * high / 100
    values = [value for value in _values(scale) if low <= value <= high]
    values = [value for value in values if all(one.scale.holds(value) for one in asked)]
    if say == "voice":
        whole = [value for value in values if float(value).is_integer()]
        clear = set(clear_values(min(whole), max(whole), 1, language)) if whole else set()
        values = [value for value in whole if value in clear]
    near = rule.tolerance if rule.tolerance is not None else asking_tolerance(scale)
    heard = say == "voice"
    choices = tuple(Choice(value, also=sounds_like(int(value), language) if heard else ()) for value in values)
    return Form("slider", choices, near, span) if choices else None


def _categories(asked: Sequence[Asked], rule: Asking) -> Form | None:
    scales = [one.scale for one in asked]
    words = [dict(scale.labels) for scale in scales]
    named = [value for value in _values(scales[0]) if all(value in own for own in words)]
    near, span = rule.tolerance or 0.0, scales[0].max - scales[0].min
    same = [value for value in named if len({own[value] for own in words}) == 1]
    if same:
        way: Way = "every" if len(asked) > 1 else "label"
        return Form(way, tuple(Choice(value, words[0][value]) for value in same), near, span)
    values = [value for value in _values(scales[0]) if all(scale.holds(value) for scale in scales)]
    return Form("value", tuple(Choice(value) for value in values), near, span) if values else None


def _values(scale: Scale) -> list[float]:
    count = round((scale.max - scale.min) / scale.step)
    return [scale.min + scale.step * place for place in range(count + 1)]


def wanted(
    role: Role,
    sources: Sequence[Stimulus],
    count: int,
    form: Form,
    rule: Asking,
    say: Say,
    study: Study,
    rng: Generator,
) -> list[Wanted]:
    """Return what is made: so many, of all sources equally often, each answer equally often."""
    order = [sources[place] for place in rng.permutation(len(sources))]
    # Every content once before any comes again.
    rank: dict[str, int] = {}
    ranked: list[tuple[int, int, Stimulus]] = []
    for stimulus in order:
        rank[stimulus.content] = rank.get(stimulus.content, 0) + 1
        ranked.append((rank[stimulus.content], len(ranked), stimulus))
    ranked.sort(key=lambda one: one[:2])
    rounds = -(-count // len(form.choices))
    drawn = np.concatenate([rng.permutation(len(form.choices)) for _ in range(rounds)])
    return [
        Wanted(
            role,
            ranked[place % len(ranked)][2],
            Message(_words(form.way, form.choices[drawn[place]], rule, say, study.language), say, study.language),
            form.choices[drawn[place]].value,
            form.tolerance,
            form.choices[drawn[place]].also,
        )
        for place in range(count)
    ]


def _words(way: Way, choice: Choice, rule: Asking, say: Say, language: str) -> str:
    ours = check_words(language)["attention"]
    words = rule.words or ours[f"spoken.{way}" if say == "voice" else way]
    return words.replace("{value}", f"{choice.value:g}").replace("{label}", choice.label or f"{choice.value:g}")


def say_of(rule: Asking, catalogue: Catalogue) -> Say:
    """Return how the message is given: as written, else by what the stimuli are."""
    is_heard = any(stimulus.medium == "audio" for stimulus in catalogue.stimuli)
    return rule.say or ("voice" if is_heard else "text")
