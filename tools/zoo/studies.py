"""The studies through which the zoo is sent: small ones of every preset, whose stimuli are made in seconds."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from beholder.stimuli.ffmpeg import run_ffmpeg
from beholder.stimuli.samples import make_samples
from beholder.study.presets import PRESETS

HONEST = ("sharp", "honest", "sloppy")
BLIND = ("careless", "straight", "copies", "middle", "forges")
"""Answer without looking."""
OTHER = ("visible", "fast", "away")
"""Look, but not as they should."""
REFUSED = ("skips", "shares", "tabs", "replays")
"""Send what the server has to refuse, whatever the preset; else they rate as honest people do."""

_CLIPS = 24
_NOBODY = tuple(PRESETS["p910"]["qualification"])


@dataclass(frozen=True)
class Arena:
    """A study of one preset, and the kinds of cheats that the preset is made for."""

    name: str
    says: str
    """What it is, for the table."""
    write: Callable[[Path, int], Path]
    """From a folder and a number of participants to study.yaml."""
    made_for: tuple[str, ...]
    otherwise: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The same sessions judged by other rules: what is written, and what it changes of `checks`."""


def _save(folder: Path, study: Mapping[str, Any], people: int, **design: Any) -> Path:
    head = {"beholder": 1, "name": "zoo", "title": "Zoo", "stimuli": "stimuli", "contact": "zoo@example.org"}
    seeded = {"participants": people, "seed": 5, **design}
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({**head, **study, "design": seeded}, sort_keys=False), "utf-8")
    return path


def _texts(folder: Path, contents: int, conditions: int) -> list[str]:
    """Write texts, as many as wanted; robots know how good they are by their condition."""
    names = [f"system-{number}" for number in range(1, conditions + 1)]
    for name in names:
        (folder / "stimuli" / name).mkdir(parents=True, exist_ok=True)
        for content in range(1, contents + 1):
            words = f"Text {content} as {name} writes it. It goes on for a while. Then it comes to its end."
            (folder / "stimuli" / name / f"text-{content:02}.txt").write_text(words + "\n", "utf-8")
    return names


_QUESTION = {"id": "quality", "text": "How good is it?"}


def write_texts_study(folder: Path, people: int, trials: int) -> Path:
    """Write a short study of texts, one on a page, for who operates a browser."""
    folder.mkdir(parents=True, exist_ok=True)
    conditions = _texts(folder, trials, 2)
    study = {"method": "acr", "conditions": conditions, "questions": [_QUESTION], "checks": {"automation": True},
             "playback": {"fullscreen": False}}  # fmt: skip
    return _save(folder, study, people, trials=trials)


def _hemvip_text(folder: Path, people: int) -> Path:
    conditions = _texts(folder, 12, 8)
    checks = {"attention": {"clips": 96}}
    study = {"method": "parallel", "preset": "hemvip", "conditions": conditions, "questions": [_QUESTION],
             "checks": checks}  # fmt: skip
    return _save(folder, study, people, trials=10, always=[conditions[0]])


def _clips(folder: Path, contents: int, conditions: list[str], seconds: int) -> None:
    """Write test pictures with a tone: to robots a video is as good as its condition."""
    for place, name in enumerate(conditions):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for content in range(contents):
            path = folder / name / f"clip-{content + 1:02}.mp4"
            look = f"testsrc2=size=160x90:rate=12:duration={seconds},hue=h={36 * content}:b={-place / 2}"
            tone = f"sine=frequency={200 + 20 * content}:duration={seconds}"
            ran = run_ffmpeg([
                "-f", "lavfi", "-i", look, "-f", "lavfi", "-i", tone, "-c:v", "libx264", "-pix_fmt", "yuv420p",
                "-c:a", "aac", str(path),
            ])  # fmt: skip
            if ran.code:
                raise RuntimeError(ran.error_line())


def _hemvip_voice(folder: Path, people: int) -> Path:
    conditions = [f"system-{number}" for number in range(1, 5)]
    _clips(folder / "stimuli", 10, conditions, 5)
    checks = {"attention": {"say": "voice", "clips": _CLIPS}}
    study = {"method": "parallel", "preset": "hemvip", "conditions": conditions, "questions": [_QUESTION],
             "checks": checks, "playback": {"volume": False}}  # fmt: skip
    return _save(folder, study, people, trials=10)


def _p910(folder: Path, people: int) -> Path:
    _clips(folder / "stimuli", 5, [f"codec-{number}" for number in range(1, 6)], 5)
    # Known to be as good, and as bad, as it gets.
    expected = {"best": "5", "worst": "1"}
    _clips(folder / "gold", 2, list(expected), 5)
    rows = []
    for path in sorted(folder.rglob("*.mp4")):
        place, condition, _ = path.relative_to(folder).parts
        is_gold = place == "gold"
        rows.append((
            path.relative_to(folder).as_posix(), f"gold-{path.stem}" if is_gold else path.stem, condition,
            "gold" if is_gold else "test", expected[condition] if is_gold else "",
        ))  # fmt: skip
    with (folder / "stimuli.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(("file", "content", "condition", "role", "expected"))
        table.writerows(rows)
    study = {
        "method": "acr", "preset": "p910", "stimuli": {"manifest": "stimuli.csv"}, "questions": [_QUESTION],
        "qualification": dict.fromkeys(_NOBODY, False), "training": False, "checks": {"trap": {"clips": _CLIPS}},
    }  # fmt: skip
    return _save(folder, study, people, trials=10)


def _mushra(folder: Path, people: int) -> Path:
    names = ("original", "light", "medium", "strong")
    make_samples(folder / "stimuli", contents=8, conditions=names, seconds=3)
    conditions = [{"name": "original", "role": "reference"}, *names[1:]]
    study = {
        "method": "mushra", "preset": "mushra", "conditions": conditions, "questions": [_QUESTION],
        "options": {"anchors": ["lowpass-3500", "lowpass-7000"]}, "playback": {"volume": False},
    }  # fmt: skip
    return _save(folder, study, people, trials=8)


def _none(folder: Path, people: int) -> Path:
    conditions = _texts(folder, 12, 8)
    study = {"method": "parallel", "conditions": conditions, "questions": [_QUESTION]}
    return _save(folder, study, people, trials=10)


def _survey(folder: Path, people: int) -> Path:
    conditions = _texts(folder, 12, 4)
    about = ("clear", "kind", "useful", "lively", "true", "calm")
    statements = [{"id": word, "text": f"This text is {word}."} for word in about]
    statements += [{"id": word, "text": f"This text is {word}.", "keyed": "-"} for word in ("dull", "rude")]
    study = {
        "method": "likert", "conditions": conditions, "questions": statements, "playback": {"fullscreen": False},
        "checks": {"trap_item": True, "repeat": {"items_per_trial": 1}, "speed": True},
    }  # fmt: skip
    return _save(folder, study, people, trials=10)


_FLAG = {"agreement": {"action": "flag"}}
ARENAS: Mapping[str, Arena] = {
    arena.name: arena
    for arena in (
        Arena(
            "hemvip", "`preset: hemvip`, parallel, 10 pages of 8 sliders, messages to read", _hemvip_text,
            (*BLIND, "fast"), {"`attention: {max_failed: 0}`": {"attention": {"max_failed": 0}}},
        ),
        Arena(
            "hemvip-voice", "`preset: hemvip` with `say: voice`, parallel, 10 pages of 4 sliders", _hemvip_voice,
            (*BLIND, "visible", "fast"), {"`attention: {max_failed: 0}`": {"attention": {"max_failed": 0}}},
        ),
        Arena(
            "p910", "`preset: p910`, acr, 10 clips, 1 trap and 1 gold; without the qualification", _p910,
            (*BLIND, "fast", "away"),
            {
                "`agreement: {action: flag}`": {"agreement": {"action": "flag", "min": 0.3}},
                "`gold: {action: record}`": {"gold": {"action": "record"}},
            },
        ),
        Arena(
            "mushra", "`preset: mushra`, 8 pages of 6 sliders with hidden reference and 2 anchors", _mushra,
            (*BLIND, "fast"),
        ),
        Arena(
            "survey", "likert, 10 clips, 8 statements, `trap_item`, `repeat` and `speed`", _survey, (*BLIND, "fast"),
            {
                "`repeat: {share: 0.5}`": {"repeat": {"share": 0.5}},
                "and `agreement: {action: flag}`": {"repeat": {"share": 0.5}, **_FLAG},
            },
        ),
        Arena(
            "none", "`preset: none`, parallel, 10 pages of 8 sliders", _none, ("straight", "copies", "middle"),
            {"`agreement: {action: flag}`": _FLAG},
        ),
    )
}  # fmt: skip
