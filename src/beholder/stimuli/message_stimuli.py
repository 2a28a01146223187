"""Stimuli that ask for an answer themselves: made of others when a study is checked or planned."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from beholder.errors import Problem, StimuliError, StudyError
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.stimuli.ingestion import CachedFile, ingest_files
from beholder.stimuli.known_answers import EVERY_QUESTION, Expectation, KnownAnswer
from beholder.stimuli.messages.message import RECIPE, Message, message_problem, message_suffix
from beholder.stimuli.sources import StimulusSource
from beholder.stimuli.video import video_format
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
    """A catalogue with stimuli that ask for an answer, and how many files of each role were made for it."""

    catalogue: Catalogue
    made: Mapping[Role, int]
    unmade: Mapping[Role, int] = {}
    """How many files are not there yet: those of samples are."""


def add_message_stimuli(
    study: Study,
    catalogue: Catalogue,
    requests: Sequence[MessageRequest],
    progress: Callable[[int, int], None] | None = None,
    *,
    samples_only: bool = False,
) -> MessageCatalogue:
    """Return the catalogue with the requested stimuli, made where files are missing; raise all problems at once.

    With `samples_only` one is made of each kind of file, to see that it can be. The others are as their sources are.
    """
    if not requests:
        return MessageCatalogue(catalogue, {})
    if problems_of_messages := list(_message_problems(study, requests)):
        raise StudyError(problems_of_messages)
    root = study.folder.absolute()
    sources = [_source(request, number, root / "media") for number, request in enumerate(requests, 1)]
    missing = {source.path: source.role for source in sources if source.path and not source.path.exists()}
    unmade = missing.keys() - _sample_paths(requests, sources, missing) if samples_only else frozenset[Path]()
    wanted = [place for place, source in enumerate(sources) if source.path not in unmade]
    ingested, problems = ingest_files([sources[place] for place in wanted], root, root / "media", progress)
    if problems:
        raise StimuliError(_grouped(problems))
    entries = dict(zip(wanted, ingested, strict=True))
    stimuli = []
    for number, (request, source) in enumerate(zip(requests, sources, strict=True), 1):
        assert source.path is not None
        entry = entries.get(number - 1)
        expected = {EVERY_QUESTION: Expectation(request.value, request.tolerance, also=request.also)}
        stimuli.append(
            replace(
                request.source,
                id=f"{request.role}:{number}:{request.source.id}",
                condition=request.role,
                role=request.role,
                file=source.file,
                sha256=source.path.stem,
                **({} if entry is None else _served(request.source, entry, root / "media")),
                known_answer=KnownAnswer(source.where, expected=expected, is_trap=True),
                derived_from=request.source.id,
            )
        )
    made = Counter(role for path, role in missing.items() if role is not None and path not in unmade)
    later = Counter(role for path, role in missing.items() if role is not None and path in unmade)
    return MessageCatalogue(replace(catalogue, stimuli=(*catalogue.stimuli, *stimuli)), made, later)


def _sample_paths(
    requests: Sequence[MessageRequest], sources: Sequence[StimulusSource], missing: Mapping[Path, Role | None]
) -> set[Path]:
    """Return one missing file for each kind of stimulus of which none is there.

    A message is put into all stimuli of a kind in the same way.
    """
    samples: dict[object, Path] = {}
    there: set[object] = set()
    for request, source in zip(requests, sources, strict=True):
        probe = request.source.probe
        kind = (request.role, source.medium, probe.container, probe.codec, probe.audio_codec, probe.width, probe.height)
        assert source.path is not None
        if source.path in missing:
            samples.setdefault(kind, source.path)
        else:
            there.add(kind)
    return {path for kind, path in samples.items() if kind not in there}


def _served(source: Stimulus, entry: CachedFile, media: Path) -> dict[str, Any]:
    """Return the fields of a stimulus that its own file tells."""
    return {
        "probe": replace(entry.probe, duration_ms=_duration_ms(source, entry.probe.duration_ms)),
        "served": media / entry.served,
        "served_bytes": entry.served_bytes,
        "encoders": entry.encoders,
    }


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


def _suffix(source: Stimulus) -> str:
    """Return the suffix of the copy with a message, from what is known of the stimulus: ffmpeg need not look again."""
    if source.medium == "text":
        return ".html"  # what participants get of a text, whatever its suffix
    return video_format(source.probe).suffix if source.medium == "video" else message_suffix(source.served)


def _source(request: MessageRequest, number: int, media: Path) -> StimulusSource:
    path, message = request.source.served, request.message
    words = "\n".join((RECIPE, request.source.sha256, message.words, message.say, message.language))
    name = hashlib.sha256(words.encode()).hexdigest()
    where = f"{request.role} {number} of {request.source.file}"
    return StimulusSource(
        where=where,
        file=where,
        path=media / "made" / f"{name}{_suffix(request.source)}",
        content=request.source.content,
        condition=request.role,
        medium=request.source.medium,
        role=request.role,
        derived_from=path,
        message=message,
    )
