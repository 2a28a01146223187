"""Stimuli that ask for an answer themselves: made of others, by a recipe, when a study is checked or planned."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from beholder.errors import Problem, StimuliError, StudyError
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.stimuli.ingestion import ingest_files
from beholder.stimuli.known_answers import EVERY_QUESTION, Expectation, KnownAnswer
from beholder.stimuli.messages.message import RECIPE, Message, message_problem, message_suffix
from beholder.stimuli.sources import StimulusSource
from beholder.study.model import Study
from beholder.types import Role


@dataclass(frozen=True)
class MessageRequest:
    """A stimulus that is to ask for an answer: made of which one, what it says, and which answer is right."""

    role: Role
    source: Stimulus
    message: Message
    value: float
    tolerance: float
    also: tuple[float, ...] = ()


class MessageCatalogue(NamedTuple):
    """A catalogue with stimuli that ask for an answer, and how many of each role were not there before."""

    catalogue: Catalogue
    made: Mapping[Role, int]


def add_message_stimuli(
    study: Study,
    catalogue: Catalogue,
    wanted: Sequence[MessageRequest],
    progress: Callable[[int, int], None] | None = None,
) -> MessageCatalogue:
    """Return the catalogue with what is wanted, made where it is not there; raise all problems at once."""
    if not wanted:
        return MessageCatalogue(catalogue, {})
    if unsaid := list(_message_problems(study, wanted)):
        raise StudyError(unsaid)
    root = study.folder.absolute()
    sources = [_source(one, number, root / "media") for number, one in enumerate(wanted, 1)]
    missing = {source.path: source.role for source in sources if source.path and not source.path.exists()}
    entries, problems = ingest_files(sources, root, root / "media", progress, None)
    if problems:
        raise StimuliError(_grouped(problems))
    made = []
    for number, (one, source, entry) in enumerate(zip(wanted, sources, entries, strict=True), 1):
        assert entry is not None
        assert source.path is not None
        expected = {EVERY_QUESTION: Expectation(one.value, one.tolerance, also=one.also)}
        made.append(
            replace(
                one.source,
                id=f"{one.role}:{number}:{one.source.id}",
                condition=one.role,
                role=one.role,
                file=source.file,
                sha256=source.path.stem,
                probe=replace(entry.probe, duration_ms=_duration_ms(one.source, entry.probe.duration_ms)),
                served=root / "media" / entry.served,
                served_bytes=entry.served_bytes,
                encoders=entry.encoders,
                known_answer=KnownAnswer(source.where, expected=expected, is_trap=True),
                derived_from=one.source.id,
            )
        )
    fresh = Counter(role for role in missing.values() if role is not None)
    return MessageCatalogue(replace(catalogue, stimuli=(*catalogue.stimuli, *made)), fresh)


def _message_problems(study: Study, wanted: Sequence[MessageRequest]) -> Iterator[Problem]:
    """Yield, once for each rule, why nobody could read or hear what its stimuli say."""
    for role in dict.fromkeys(one.role for one in wanted):
        of_role = [one for one in wanted if one.role == role]
        say, source = of_role[0].message.say, of_role[0].source
        key, silent = f"checks.{role}.say", sorted({one.source.file for one in of_role if _is_silent(one.source)})
        if (problem := message_problem(source.medium, say, source.file)) is not None:
            yield study.problem(key, f"is {say}, and {source.file} {problem.what}", problem.allowed)
        elif say == "voice" and study.playback.sound == "off":
            yield study.problem(key, "is voice, and playback.sound is off: nobody would hear it", "text")
        elif say == "voice" and silent:
            others = f" (nor have {len(silent) - 1} more)" if len(silent) > 1 else ""
            what = f"is voice, and {silent[0]} has no sound to speak over{others}"
            yield study.problem(key, what, "text", "Or add a sound track.")


def _is_silent(source: Stimulus) -> bool:
    return source.medium == "video" and not source.probe.audio_codec


def _grouped(problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield each problem with the first clip that has it, and how many others have it too."""
    alike: dict[tuple[str, str, str], list[Problem]] = {}
    for problem in problems:
        alike.setdefault((problem.what, problem.allowed, problem.fix), []).append(problem)
    for first, *others in alike.values():
        too = f"The same goes for {len(others)} more." if others else ""
        yield replace(first, fix=f"{first.fix} {too}".strip())


def _duration_ms(source: Stimulus, own: int) -> int:
    """Return how long it lasts; what stands still has to be in view as long as what it is made of."""
    return own if source.medium in ("video", "audio") else source.probe.duration_ms


def _source(wanted: MessageRequest, number: int, media: Path) -> StimulusSource:
    path, message = wanted.source.served, wanted.message
    words = "\n".join((RECIPE, wanted.source.sha256, message.words, message.say, message.language))
    name = hashlib.sha256(words.encode()).hexdigest()
    where = f"{wanted.role} {number} of {wanted.source.file}"
    return StimulusSource(
        where=where,
        file=where,
        # What participants get of a text is HTML, whatever its suffix.
        path=media / "made" / f"{name}{'.html' if wanted.source.medium == 'text' else message_suffix(path)}",
        content=wanted.source.content,
        condition=wanted.role,
        medium=wanted.source.medium,
        role=wanted.role,
        derived_from=path,
        message=message,
    )
