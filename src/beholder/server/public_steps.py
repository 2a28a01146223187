"""What a browser may know of a step, built from an allow-list of fields; and the texts of steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

from beholder.methods.contract import Asked, Method, Slot, Trial, scoring_of, task_of
from beholder.methods.waveform import drawn_slots
from beholder.server.playback import COUNTING
from beholder.server.script import PlannedStep, Script
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.study.earlier_answers import as_public
from beholder.study.markdown import markdown, marked
from beholder.study.model import Playback, Study
from beholder.study.questionnaire import Ask
from beholder.study.questions import Example, Page, shown_labels
from beholder.study.recruitment import money
from beholder.study.texts import instruction_pages, study_text
from beholder.types import Json, Medium
from beholder.words import LanguageWords

_T = TypeVar("_T")
DescribeMedia = Callable[[str, Slot], Mapping[str, Json]]
"""From (step key, slot) to the media of that slot."""


def public_media(stimulus: Stimulus, url: str, size: int, *, is_heard: bool) -> dict[str, Json]:
    """Return what a browser may know of a stimulus: address, duration, size, and whether it has sound."""
    probe = stimulus.probe
    return {
        "url": url, "medium": stimulus.medium, "bytes": size,
        "sound": is_heard and (stimulus.medium == "audio" or probe.audio_codec != ""),
        "ms": probe.duration_ms, "width": probe.width, "height": probe.height,
    }  # fmt: skip


def public_step(
    step: PlannedStep,
    script: Script,
    texts: Mapping[str, str],
    method: Method,
    playback: Playback,
    media: DescribeMedia,
    *,
    language: str,
    is_separate: bool = False,
) -> dict[str, Json]:
    """Return a step as the browser gets it; `is_separate`: trials are shown on another device, which gets the media."""
    place = max(0, script.place(step.key))
    shown: dict[str, Json] = {
        "key": step.key,
        "kind": step.kind,
        "progress": list(script.page(place)),
        "prefetch": _prefetch(script, place, media, is_separate=is_separate),
    }
    if step.kind == "trial" and step.trial is not None:
        media = _unseen(media) if is_separate else media
        trial = _public_trial(step, step.trial, method, playback, media, language)
        shown |= {"method": method.name, "trial": trial | ({"stage": "separate"} if is_separate else {})}
        if "reminder" in texts:
            shown["reminder"] = texts["reminder"]
    elif step.items:
        shown["items"] = [_public_item(item, step) for item in step.items]
        if step.trial is not None:
            shown["trial"] = _shown_only(step, step.trial, _file_playback(step, playback), media)
    elif step.text:
        shown["text"] = texts[step.text]
        if step.trial is not None and step.page is not None:
            shown |= _public_examples(step, step.trial, step.page, playback, media)
    if step.kind == "consent":
        shown["checks"] = _public_checks(script)
    return shown


def stage_needs(study: Study, words: LanguageWords) -> list[str]:
    """Return the line by which people know before they agree that it takes a second device; none where it does not."""
    return [words["needs_stage"]] if study.stage == "separate" else []


def page_playback(playback: Playback, page: Page) -> Playback:
    """Return how the examples of a page play: to their end where the page requires it."""
    return Playback(watch="whole" if page.play else "none", sound=playback.sound)


def public_end(
    script: Script,
    outcome: str,
    text: str,
    *,
    code: str | None,
    receipt: str | None,
    return_url: str | None = None,
    answers: int = 0,
    seconds: float | None = None,
    ended_at: datetime | None = None,
    again: Json = None,
    return_after: Json = None,
    result: Json = None,
) -> dict[str, Json]:
    """Return the last step, with its completion code, and the offer of another session if there is one."""
    _, total = script.page(0)
    more = {"return_after": return_after if return_url and code else None, "result": result}
    return {
        "key": "end", "kind": "end", "progress": [total, total], "prefetch": [], "outcome": outcome, "text": text,
        "code": code, "return_url": return_url, "receipt": receipt, "answers": answers, "seconds": seconds,
        "ended_at": ended_at.isoformat() if ended_at else None, "again": again,
        **{name: value for name, value in more.items() if value is not None},
    }  # fmt: skip


def staged_trial(step: PlannedStep, playback: Playback, media: DescribeMedia) -> dict[str, Json]:
    """Return what a separate stage may know of a trial: clips without names, and how they play."""
    assert step.trial is not None
    slots: list[Json] = [
        {"id": slot.id, "label": None, "colour": None, "rated": False, "media": dict(media(step.base_key, slot))}
        for slot in step.trial.slots
    ]
    return _shown_only(step, step.trial, playback, media) | {"slots": slots}


def _unseen(media: DescribeMedia) -> DescribeMedia:
    """Return how media are described to a page that asks about them and does not show them: without an address."""

    def describe(key: str, slot: Slot) -> Mapping[str, Json]:
        described = {name: value for name, value in media(key, slot).items() if name != "signed"}
        return {**described, "url": "", "bytes": 0}

    return describe


def _prefetch(script: Script, place: int, media: DescribeMedia, *, is_separate: bool) -> list[Json]:
    """Return the media of the next trial, so that they load while this step is read."""
    for step in script.steps[place + 1 :]:
        if step.trial is not None:
            if is_separate and step.kind == "trial":
                return []
            return [media(step.key, slot) for slot in step.trial.slots]
    return []


def _public_checks(script: Script) -> Json:
    """Return about how long the checks take, and whether vision or hearing is tested by a gate."""
    checks = [step.check for step in script.steps if step.check is not None]
    if not checks:
        return None
    senses = sorted({check.sense for check in checks if check.sense is not None and check.action == "gate"})
    return {
        "minutes": max(1, round(sum(check.seconds for check in checks) / 60)),
        "senses": "both" if len(senses) > 1 else senses[0] if senses else None,
    }


def _public_examples(
    step: PlannedStep, trial: Trial, page: Page, playback: Playback, media: DescribeMedia
) -> dict[str, Json]:
    """Return the examples of an instructions page: a trial without questions, and a caption for each."""
    return {
        "trial": _shown_only(step, trial, page_playback(playback, page), media),
        "captions": [marked(example.caption) for example in page.examples],
    }


def _shown_only(step: PlannedStep, trial: Trial, playback: Playback, media: DescribeMedia) -> dict[str, Json]:
    """Return a trial without questions, for what is shown beside the stimuli."""
    return {
        "asked": [],
        "slots": _public_slots(step, trial, media),
        "playback": _public_playback(playback, ""),
        "together": False,
        "passes": 1,
        "extra": {},
    }


def _public_slots(step: PlannedStep, trial: Trial, media: DescribeMedia) -> list[Json]:
    return [
        {
            "id": slot.id, "label": slot.label, "colour": slot.colour, "rated": slot.rated,
            "media": media(step.base_key, slot),
        }
        for slot in trial.slots
    ]  # fmt: skip


def _public_playback(playback: Playback, _: str) -> dict[str, Json]:
    """Return how stimuli play, with what counts as watched."""
    return {**playback.model_dump(exclude={"waveform"}), "whole": dict(COUNTING)}


def _public_asked(questions: Sequence[Asked], language: str) -> list[Json]:
    return [
        {
            "id": asked.id,
            "text": marked(asked.text),
            "scale": {
                "min": asked.scale.min, "max": asked.scale.max, "step": asked.scale.step,
                "labels": [[value, marked(text)] for value, text in shown_labels(asked.scale, language)],
                "look": asked.scale.look,
                **({"numbers": asked.scale.numbers} if asked.scale.numbers else {}),
            },
            "ticks": [marked(tick) for tick in asked.ticks],
        }
        for asked in questions
    ]  # fmt: skip


_MOST_MADE = 1024
_made: dict[tuple[int, str], tuple[object, Any]] = {}


def _made_once(of: _T, make: Callable[[_T, str], Json], language: str) -> Json:
    """Return what is the same in every trial of a list in a language, made once. Nobody changes it."""
    # By identity: to compare questions or playback takes longer than to make it anew.
    known = _made.get((id(of), language))
    if known is None or known[0] is not of:
        if len(_made) >= _MOST_MADE:
            _made.clear()
        known = _made[id(of), language] = (of, make(of, language))
    return cast("Json", known[1])


def _public_trial(
    step: PlannedStep, trial: Trial, method: Method, playback: Playback, media: DescribeMedia, language: str
) -> dict[str, Json]:
    slots = _public_slots(step, trial, media)
    is_heard = all(cast("Any", slot)["media"].get("medium") == "audio" for slot in slots)
    drawn = drawn_slots(method, trial, playback) if is_heard else ()
    return {
        **({"waveform": list(drawn)} if drawn else {}),
        "asked": _made_once(trial.asked, _public_asked, language),
        "slots": slots,
        "playback": _made_once(playback, _public_playback, language),
        "together": trial.together,
        "passes": trial.passes,
        "extra": dict(method.extra(trial)),
    }


def _file_playback(step: PlannedStep, playback: Playback) -> Playback:
    """Return how the files of a questionnaire play; `play` of an item tells which of them have to be."""
    return Playback(watch="whole" if any(item.play for item in step.items) else "none", sound=playback.sound)


def _public_item(item: Ask, step: PlannedStep) -> dict[str, Json]:
    """Return an item as the browser gets it; of its comparisons only those with answers on the same page."""
    shown: dict[str, Json] = {
        "id": item.id, "text": markdown(item.text), "type": item.type,
        "options": [marked(option) for option in item.options],
        "required": item.required, "placeholder": item.placeholder, "min": item.min, "max": item.max,
    }  # fmt: skip
    if comparisons := item.comparisons({other.id: other for other in step.items}):
        shown["when"] = [as_public(comparison) for comparison in comparisons]
    if item.id in step.files:
        shown |= {"slot": step.files[item.id], "play": item.play}
    return shown


# Texts of steps


def step_texts(
    study: Study,
    words: LanguageWords,
    catalogue: Catalogue | None = None,
    method: Method | None = None,
    minutes: int | None = None,
) -> dict[str, str]:
    """Return the texts of the steps as safe HTML: the study's where it has one, else ours.

    The instructions are `instructions`, `instructions:2` and so on, a page each; `help` is all of them. Our own fit
    the method and the medium, and tell how many `minutes` it takes and what it pays.
    """
    task = _task(words, catalogue, method)
    ours = ("pause", "thanks", "screened_out", "wrong_device", "no_consent", "failed_checks", "withdrawn", "technical")
    texts = {"consent": words["text_consent"]} | {name: words[f"text_{name}"] for name in ours}
    texts |= {name: text for name in ("consent", "pause", "thanks") if (text := study_text(study, name))}
    texts["consent"] = _filled(texts["consent"], {"task": task, **_facts(study, words, minutes)})
    pages = list(instruction_pages(study)) or [Page(text=_our_instructions(study, words, task, catalogue, method))]
    shown = catalogue.examples if catalogue is not None else ()
    if captions := [Example(file=one.file, caption=one.caption) for one in shown if one.caption]:
        pages.append(Page(text=words["text_examples"], examples=tuple(captions)))
    for number, page in enumerate(pages, 1):
        texts["instructions" if number == 1 else f"instructions:{number}"] = page.text
    # The help page plays no examples, so it lists their captions.
    texts["help"] = "\n\n".join(
        part for page in pages for part in (page.text, "\n".join(f"- {one.caption}" for one in page.examples)) if part
    )
    if reminder := study_text(study, "reminder"):
        texts["reminder"] = reminder
    return {name: markdown(text) for name, text in texts.items()}


def _medium(catalogue: Catalogue | None) -> Medium | None:
    """Return the medium of the stimuli, which is one for all."""
    return catalogue.stimuli[0].medium if catalogue is not None and catalogue.stimuli else None


def _task(words: LanguageWords, catalogue: Catalogue | None, method: Method | None) -> str:
    """Return what participants do, in a sentence that fits the method and the medium."""
    medium = _medium(catalogue)
    return words["task"] if medium is None or method is None else words[f"task.{task_of(method)}.{medium}"]


def _facts(study: Study, words: LanguageWords, minutes: int | None) -> dict[str, str]:
    """Return the sentences of the time that the study takes and of what it pays; empty where they are not known."""
    several = "_a_session" if study.design.sessions_per_participant > 1 else ""
    reward = study.recruit.reward
    return {
        "time": "" if minutes is None else minutes_line(words, minutes, is_of_several=several != ""),
        "pay": "" if reward is None else words.say(f"consent.earn{several}", reward=money(reward)),
    }


def _filled(text: str, facts: Mapping[str, str]) -> str:
    """Return a text with `{time}` and the like filled in; a point of a list that has nothing left is taken out."""
    names = re.compile(r"( ?)\{(" + "|".join(facts) + r")\}")
    lines = []
    for line in text.splitlines():
        filled = names.sub(lambda found: f"{found[1]}{facts[found[2]]}" if facts[found[2]] else "", line)
        if filled == line or filled.strip(" -*"):
            lines.append(filled)
    return "\n".join(lines)


def minutes_line(words: LanguageWords, minutes: int, *, is_of_several: bool) -> str:
    """Return the sentence about how long the study, or one of several sessions, takes."""
    return words.say(f"job.minutes{'_a_session' if is_of_several else ''}", n=minutes)


def _our_instructions(
    study: Study, words: LanguageWords, task: str, catalogue: Catalogue | None, method: Method | None
) -> str:
    """Return our instructions, which announce attention checks and traps where the study has them."""
    medium, playback = _medium(catalogue), study.playback
    parts = [words["text_instructions_p910"]]
    if study.preset != "p910" or medium not in (None, "video"):
        whole = words[f"whole.{medium}"] if medium is not None and playback.watch == "whole" else ""
        again = words["again_once"] if playback.max_plays == 1 else words["again"]
        parts = [task, " ".join(part for part in (whole, again if playback.max_plays in (None, 1) else "") if part)]
        kind = "" if method is None else f"_{task_of(method)}"
        if method is not None and scoring_of(method).controls_reference:
            kind = "_reference"
        parts.append(words.get(f"text_instructions{kind}", words["text_instructions"]))
    if any(rule.asks_itself for rule, _ in study.checks.rules()):
        parts.append(words["text_asking"])
    return "\n\n".join(part for part in parts if part)
