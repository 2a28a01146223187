"""Files of sample stimuli, written in parallel."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from beholder.stimuli.samples.qualities import QUALITIES, SAMPLE_CONDITIONS, medium_of
from beholder.types import Medium


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
    kind = _kind(medium, seconds, size)
    for name in names:
        (folder / name).mkdir(parents=True, exist_ok=True)
    jobs = [(content, name) for content in range(contents) for name in names]
    with ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2)) as pool:
        work = [
            pool.submit(kind.write, folder / name / f"{_called(kind, content)}{kind.suffix}", content, name)
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


def content_name(number: int, medium: Medium = "video") -> str:
    """Return the name of a sample content, counted from 0."""
    return _called(_kind(medium, 0.0, None), number)


def _called(kind: _Kind, number: int) -> str:
    name = kind.contents[number % len(kind.contents)]
    return name if number < len(kind.contents) else f"{name}-{number // len(kind.contents) + 1}"


def _kind(medium: Medium, seconds: float, size: tuple[int, int] | None) -> _Kind:
    # Imported when asked for: each brings the libraries of its medium.
    if medium == "audio":
        from beholder.stimuli.samples import tunes

        return _Kind(tunes.CONTENTS, ".wav", lambda path, content, name: tunes.write(path, content, name, seconds))
    if medium == "image":
        from beholder.stimuli.samples import scenes

        shape = size or (640, 400)
        return _Kind(scenes.CONTENTS, ".png", lambda path, content, name: scenes.write(path, content, name, shape))
    if medium == "text":
        from beholder.stimuli.samples import passages

        return _Kind(passages.CONTENTS, ".txt", passages.write)
    from beholder.stimuli.samples import talks

    frame = size or (480, 270)
    return _Kind(talks.CONTENTS, ".mp4", lambda path, content, name: talks.write(path, content, name, seconds, frame))
