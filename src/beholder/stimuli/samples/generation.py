"""Sample conditions with their planted quality, and the files of sample stimuli, written in parallel."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple, get_args

from beholder.errors import Problem, StimuliError, did_you_mean
from beholder.types import Medium

QUALITIES: Mapping[Medium, Mapping[str, float]] = {
    "video": {
        "natural": 0.90,
        "smooth": 0.74,
        "jerky": 0.56,
        "blurred": 0.44,
        "noisy": 0.32,
        "blocky": 0.22,
        "frozen": 0.12,
    },
    "audio": {"original": 0.95, "light": 0.75, "medium": 0.50, "strong": 0.25},
    "image": {"pristine": 0.92, "soft": 0.68, "grainy": 0.48, "blocked": 0.24},
    "text": {"edited": 0.90, "plain": 0.70, "clumsy": 0.42, "garbled": 0.15},
}
"""Quality from 0 to 1 of every sample condition by medium, best first. No name is used twice."""

SPEECH_QUALITIES: Mapping[str, float] = {"clean": 0.92, "noise-12db": 0.70, "noise-3db": 0.45, "noise-minus-3db": 0.18}
"""The same of spoken sentences: audio as well, for methods that ask about words."""

WITH_SOUND: Mapping[str, float] = {"lifelike": 0.93, "muffled": 0.64, "pixelated": 0.42, "poor": 0.18}
"""The same of videos with sound: everything clear, only the sound bad, only the picture bad, both bad."""

SAMPLE_ASPECTS: Mapping[str, Mapping[str, float]] = {
    "audio": {"lifelike": 0.93, "muffled": 0.40, "pixelated": 0.78, "poor": 0.20},
    "video": {"lifelike": 0.93, "muffled": 0.78, "pixelated": 0.34, "poor": 0.16},
}
"""The quality of their sound and of their picture alone, by the question that asks about it. What is bad in one makes
the other seem a little worse."""

SPEAKING: Mapping[str, float] = {"captured": 0.90, "synthesised": 0.56, "still": 0.14}
"""The same of videos of a person who speaks: movements that go with the speech, that hardly do, and none."""

SAMPLE_CONDITIONS: Mapping[str, float] = {
    **{name: quality for medium in get_args(Medium) for name, quality in QUALITIES[medium].items()},
    **SPEECH_QUALITIES,
    **WITH_SOUND,
    **SPEAKING,
}
"""Every sample condition of all media with its planted quality."""


class _Kind(NamedTuple):
    """How the samples of one medium are called and written."""

    contents: tuple[str, ...]
    suffix: str
    write: Callable[[Path, int, str], None]


def make_samples(
    folder: Path,
    *,
    contents: int = 4,
    conditions: Sequence[str] | None = None,
    seconds: float = 3.0,
    size: tuple[int, int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Mapping[str, float]:
    """Return the planted quality of each condition after writing `folder`/<condition>/<content>.<ext>.

    The names of the conditions tell the medium; all conditions of video when they are left out. The same arguments
    give the same files. `seconds` is for video and audio; `size`, of video and images, is 480 x 270 and 640 x 400.
    """
    medium = medium_of(conditions or ())
    names = list(dict.fromkeys(conditions or QUALITIES[medium]))
    kind = _speech() if names[0] in SPEECH_QUALITIES else _kind(medium, seconds, size)
    for name in names:
        (folder / name).mkdir(parents=True, exist_ok=True)
    jobs = [(content, name) for content in range(contents) for name in names]
    with ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2)) as pool:
        work = [
            pool.submit(kind.write, folder / name / f"{_content_name(kind, content)}{kind.suffix}", content, name)
            for content, name in jobs
        ]
        try:
            for done, future in enumerate(as_completed(work), start=1):
                future.result()
                if progress is not None:
                    progress(done, len(jobs))
        finally:
            pool.shutdown(cancel_futures=True)
    return {name: SAMPLE_CONDITIONS[name] for name in names}


def make_transcripts(folder: Path, *, contents: int = 4) -> None:
    """Write what is said in the sample sentences to `folder`/<content>.csv, with the time of every word."""
    from beholder.stimuli.samples import sentences

    for content in range(contents):
        sentences.write_transcript(folder, content, _content_name(_speech(), content))


def content_name(number: int, medium: Medium = "video") -> str:
    """Return the name of a sample content, counted from 0."""
    return _content_name(_kind(medium, 0.0, None), number)


def _content_name(kind: _Kind, number: int) -> str:
    name = kind.contents[number % len(kind.contents)]
    return name if number < len(kind.contents) else f"{name}-{number // len(kind.contents) + 1}"


def _speech() -> _Kind:
    from beholder.stimuli.samples import sentences

    return _Kind(sentences.CONTENTS, ".wav", sentences.write)


def _kind(medium: Medium, seconds: float, size: tuple[int, int] | None) -> _Kind:
    # Imported when asked for: each brings the libraries of its medium.
    if medium == "audio":
        from beholder.stimuli.samples import audio

        return _Kind(audio.CONTENTS, ".wav", lambda path, content, name: audio.write(path, content, name, seconds))
    if medium == "image":
        from beholder.stimuli.samples import image

        shape = size or (640, 400)
        return _Kind(image.CONTENTS, ".png", lambda path, content, name: image.write(path, content, name, shape))
    if medium == "text":
        from beholder.stimuli.samples import text

        return _Kind(text.CONTENTS, ".txt", text.write)
    from beholder.stimuli.samples import video

    frame = size or (480, 270)
    return _Kind(video.CONTENTS, ".mp4", lambda path, content, name: video.write(path, content, name, seconds, frame))


def medium_of(conditions: Sequence[str]) -> Medium:
    """Return the medium to which sample conditions belong, video where there are none.

    Raises StimuliError for names that are unknown, or of several media.
    """
    unknown = [name for name in conditions if name not in SAMPLE_CONDITIONS]
    if unknown:
        known = list(SAMPLE_CONDITIONS)
        raise StimuliError(
            Problem("sample conditions", f"{name} is unknown", ", ".join(known), did_you_mean(name, known))
            for name in unknown
        )
    names_by_kind: dict[str, list[str]] = {}
    for name in conditions:
        other = "video" if name in WITH_SOUND or name in SPEAKING else "speech"
        kind = next((medium for medium, names in QUALITIES.items() if name in names), other)
        names_by_kind.setdefault(kind, []).append(name)
    if len(names_by_kind) > 1:
        mixed = " and ".join(f"{kind} ({', '.join(names)})" for kind, names in names_by_kind.items())
        raise StimuliError(Problem("sample conditions", f"are of several media: {mixed}", "conditions of one medium"))
    found = next(iter(names_by_kind), "video")
    return "audio" if found == "speech" else next(medium for medium in QUALITIES if medium == found)
