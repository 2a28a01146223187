"""Stimuli that ask for an answer themselves: made of others when a study is checked or planned."""

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
    requests: Sequence[MessageRequest],
    progress: Callable[[int, int], None] | None = None,
) -> MessageCatalogue:
    """Return the catalogue with the requested stimuli, made where files are missing; raise all problems at once."""
    if not requests:
        return MessageCatalogue(catalogue, {})
    if problems_of_messages := list(_message_problems(study, requests)):
        raise StudyError(problems_of_messages)
    root = study.folder.absolute()
    sources = [_source(request, number, root / "media") for number, request in enumerate(requests, 1)]
    missing = {source.path: source.role for source in sources if source.path and not source.path.exists()}
    entries, problems = ingest_files(sources, root, root / "media", progress, None)
    if problems:
        raise StimuliError(_grouped(problems))
    stimuli = []
    for number, (request, source, entry) in enumerate(zip(requests, sources, entries, strict=True), 1):
        assert entry is not None
        assert source.path is not None
        expected = {EVERY_QUESTION: Expectation(request.value, request.tolerance, also=request.also)}
        stimuli.append(
            replace(
                request.source,
                id=f"{request.role}:{number}:{request.source.id}",
                condition=request.role,
                role=request.role,
                file=source.file,
                sha256=source.path.stem,
                probe=replace(entry.probe, duration_ms=_duration_ms(request.source, entry.probe.duration_ms)),
                served=root / "media" / entry.served,
                served_bytes=entry.served_bytes,
                encoders=entry.encoders,
                known_answer=KnownAnswer(source.where, expected=expected, is_trap=True),
                derived_from=request.source.id,
            )
        )
    new_files = Counter(role for role in missing.values() if role is not None)
    return MessageCatalogue(replace(catalogue, stimuli=(*catalogue.stimuli, *stimuli)), new_files)


def _message_problems(study: Study, requests: Sequence[MessageRequest]) -> Iterator[Problem]:
    """Yield, once for each rule, why nobody could read or hear what its stimuli say."""
    for role in dict.fromkeys(request.role for request in requests):
        of_role = [request for request in requests if request.role == role]
        say, source = of_role[0].message.say, of_role[0].source
        key, silent = (
            f"checks.{role}.say",
            sorted({request.source.file for request in of_role if _is_silent(request.source)}),
        )
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


def _source(request: MessageRequest, number: int, media: Path) -> StimulusSource:
    path, message = request.source.served, request.message
    words = "\n".join((RECIPE, request.source.sha256, message.words, message.say, message.language))
    name = hashlib.sha256(words.encode()).hexdigest()
    where = f"{request.role} {number} of {request.source.file}"
    return StimulusSource(
        where=where,
        file=where,
        # What participants get of a text is HTML, whatever its suffix.
        path=media / "made" / f"{name}{'.html' if request.source.medium == 'text' else message_suffix(path)}",
        content=request.source.content,
        condition=request.role,
        medium=request.source.medium,
        role=request.role,
        derived_from=path,
        message=message,
    )
