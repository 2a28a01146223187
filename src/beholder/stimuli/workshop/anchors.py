"""Anchors of many sounds and videos: each is its reference made worse by a recipe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from beholder.errors import Problem
from beholder.stimuli.anchors import FILTER, lowpass
from beholder.stimuli.media import medium_of
from beholder.stimuli.workshop.degrade import DEGRADE, degrade
from beholder.stimuli.workshop.jobs import Job, Made, Progress, do, refuse
from beholder.stimuli.workshop.ledger import recipe_of
from beholder.study.recipes import KINDS, Recipe, read_recipe
from beholder.types import Medium

_OPTIONS: Mapping[str, str] = {kind: "--cutoff" if kind == "lowpass" else f"--{kind}" for kind in KINDS}
"""What asks for each kind on the command line."""


class _Words(NamedTuple):
    one: str
    many: str
    files: str


_WORDS: Mapping[Medium, _Words] = {
    "audio": _Words("sound", "sounds", "sound files"),
    "video": _Words("video", "videos", "videos"),
}


def make_anchors(
    files: Iterable[Path],
    cutoffs: Sequence[int],
    out: Path,
    *,
    bitrates: Sequence[str] = (),
    resolutions: Sequence[str | int] = (),
    rates: Sequence[str | float] = (),
    blurs: Sequence[str | float] = (),
    progress: Progress | None = None,
) -> Made:
    """Return what was made: `out`/lowpass-<hertz>/<name>.wav of each sound and each cut-off, and of each video
    `out`/<kind>-<value>/<name>.mp4.

    A folder stands for the sounds and videos in it. What is there by the same recipe is left alone.
    """
    problems: list[Problem] = []
    asked: Mapping[str, Sequence[str | float]] = {
        "lowpass": cutoffs, "bitrate": bitrates, "resolution": resolutions, "fps": rates, "blur": blurs,
    }  # fmt: skip
    given = [kind for kind, values in asked.items() if values]
    found = list(dict.fromkeys(_found(files, given, problems)))
    if not found and not problems:
        words = [_WORDS[medium] for medium in _media(given)]
        allowed = f"{' or '.join(word.files for word in words)}, or folders with some in them"
        problems.append(Problem("FILES", f"holds no {' and no '.join(word.one for word in words)}", allowed))
    recipes = _recipes(asked, problems)
    if out.is_file():
        problems.append(Problem("--out", f"is {out}, which is a file", "a folder"))
    problems += _misfits(found, given)
    by_name: dict[tuple[Medium | None, str], Path] = {}
    for path in found:
        first = by_name.setdefault((medium_of(path.name), path.stem), path)
        if first is not path:
            problems.append(
                Problem(str(path), f"has the name of {first}, so that one anchor would replace the other",
                        "names that differ", "Rename one, or make them in two runs with two --out.")
            )  # fmt: skip
    refuse(problems)
    jobs = [
        _job(path, out, name, recipe)
        for path in found
        for name, recipe in recipes.items()
        if recipe.medium == medium_of(path.name)
    ]
    return do(jobs, out, (), progress)


def _recipes(asked: Mapping[str, Sequence[str | float]], problems: list[Problem]) -> dict[str, Recipe]:
    """Return the recipes by name, each once; values that cannot be used are problems."""
    found: dict[Recipe, str] = {}
    for kind, values in asked.items():
        for value in dict.fromkeys(value if isinstance(value, str) else f"{value:.12g}" for value in values):
            recipe = read_recipe(f"{kind}-{value}")
            if recipe is None:
                problems.append(Problem(_OPTIONS[kind], f"is {value}", KINDS[kind].allowed.format("")))
            else:
                found.setdefault(recipe, f"{kind}-{value}")
    return {name: recipe for recipe, name in found.items()}


def _job(path: Path, out: Path, name: str, recipe: Recipe) -> Job:
    if recipe.medium == "audio":
        target, hertz = out / name / f"{path.stem}.wav", int(recipe.value)
        return Job(target, recipe_of(("lowpass", FILTER, hertz), (path,)), lambda _: lowpass(path, target, hertz))
    target = out / name / f"{path.stem}.mp4"
    parts = (DEGRADE, recipe.kind, recipe.value)
    return Job(target, recipe_of(parts, (path,)), lambda threads: degrade(path, target, recipe, threads=threads))


def _found(files: Iterable[Path], given: Sequence[str], problems: list[Problem]) -> Iterator[Path]:
    """Yield the files, and of folders those that something is asked of."""
    media = _media(given)
    for path in files:
        if path.is_dir():
            inside = [part for part in sorted(path.iterdir()) if medium_of(part.name) in media]
            if not inside:
                what = f"has no {' and no '.join(_WORDS[medium].one for medium in media)} in it"
                allowed = f"a folder with {' or '.join(_WORDS[medium].files for medium in media)}"
                problems.append(Problem(str(path), what, allowed))
            yield from inside
        elif path.is_file():
            yield path
        else:
            problems.append(Problem(str(path), "does not exist", fix="Look for a slip in the name."))


def _media(given: Sequence[str]) -> list[Medium]:
    """Return the media that something is asked of: sound where nothing is asked."""
    return list(dict.fromkeys(KINDS[kind].medium for kind in given)) or ["audio"]


def _misfits(found: Sequence[Path], given: Sequence[str]) -> Iterator[Problem]:
    """Yield files that nothing is asked of, and options that no file is for."""
    media = {path: medium_of(path.name) for path in found}
    for path, medium in media.items():
        if medium is None or medium not in _WORDS:
            yield Problem(str(path), "is neither a sound nor a video", "sound files, videos, or folders of them")
        elif given and medium not in _media(given):
            options = [_OPTIONS[kind] for kind in given]
            verb = "is" if len(options) == 1 else "are"
            other = _WORDS[KINDS[given[0]].medium].many
            what = f"is a {_WORDS[medium].one}, and {', '.join(options)} {verb} for {other}"
            yield Problem(str(path), what, _options_of(medium))
    if len(_media(given)) > 1:
        for kind in given:
            if found and KINDS[kind].medium not in media.values():
                words = _WORDS[KINDS[kind].medium]
                what = f"is for {words.many}, and none is among the files"
                yield Problem(_OPTIONS[kind], what, f"{words.files}, or folders of them")
    if not given and "video" in media.values():
        yield Problem(_options_of("video"), "are missing", "one of them or more, as --resolution 180")
    if not given and ("audio" in media.values() or not found):
        yield Problem("--cutoff", "is missing", "one or more frequencies in Hz, as --cutoff 3500")


def _options_of(medium: Medium) -> str:
    return ", ".join(option for kind, option in _OPTIONS.items() if KINDS[kind].medium == medium)
