"""`check_metric`: an objective metric keeps the contract, on whole pictures, on regions, and on what is identical."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
from PIL import Image

from beholder.methods import load_study
from beholder.objective.contract import (
    ComparedPair,
    ConditionMetric,
    LandmarkPair,
    Need,
    ObjectiveMetric,
    PairMetric,
    Picture,
)
from beholder.objective.decoding import Mask, MediaPair, colour_frames
from beholder.objective.regions import Region
from beholder.objective.registry import find
from beholder.stimuli.catalogue import Stimulus
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.ingestion import load_catalogue
from beholder.workflow.demo import DEFAULT_METHOD

_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_SIDE, _FRAMES, _SECONDS = 192, 17, 1.28
_CODING = {"original": "8", "fine": "28", "coarse": "46"}


def check_metric(metric: str | ObjectiveMetric) -> None:
    """Raise AssertionError with a sentence if a metric does not keep the contract.

    It declares what it is; where something is not installed it says what and how to get it, and no more is tried. Else
    it gives a number of clips beside their reference, the same one each time; what is coarsely coded is not better than
    what is identical; on a box, on a mask and on the background it gives a number or none, and none where nothing is
    picked; and it leaves the frames that it gets as they are.
    """
    one = find(metric) if isinstance(metric, str) else metric
    _check_declared(one)
    need = one.need()
    if need is not None:
        assert isinstance(need, Need), f"{one.name} says what it needs as a {type(need).__name__}, not a Need"
        assert need.what, f"{one.name} does not say what it needs"
        assert need.fix, f"{one.name} does not say how to get what it needs"
        return
    assert one.version().strip(), f"{one.name} has no version, so that values of another would be taken for its own"
    clips = _clips()
    values = {name: _value(one, clips.pairs(name)) for name in ("same", "fine", "coarse")}
    for name in ("fine", "coarse"):
        assert math.isfinite(values[name]), f"{one.name} is {values[name]} of a clip that can be measured"
    again = _value(one, clips.pairs("fine"))
    is_same = math.isclose(again, values["fine"], rel_tol=1e-6, abs_tol=1e-9)
    assert is_same, f"{one.name} is {values['fine']} and then {again} of the same clip"
    sign = -1 if one.lower_is_better else 1
    worse, best = sign * values["coarse"], sign * values["same"]
    assert math.isnan(best) or worse <= best, (
        f"{one.name} is {values['coarse']} of what is coded coarsely and {values['same']} of what is identical, and "
        f"{'lower' if one.lower_is_better else 'higher'} is better"
    )
    if one.looks_at == "pictures":
        _check_regions(one, clips, values["coarse"])


def _check_declared(one: ObjectiveMetric) -> None:
    """Assert that everything that a reader needs to know is declared."""
    assert isinstance(one, PairMetric | ConditionMetric), f"{one!r} is neither a PairMetric nor a ConditionMetric"
    assert _NAME.fullmatch(one.name), f"{one.name!r} is not a name of small letters, digits and hyphens"
    assert one.title.strip(), f"{one.name} has no title"
    assert one.looks_at in ("pictures", "sound", "landmarks"), f"{one.name} looks at {one.looks_at!r}"
    assert one.smallest >= 1, f"{one.name} needs {one.smallest} pixels a side"
    media = {"video", "image", "audio", "text"}
    assert set(one.usual_for) <= media, f"{one.name} is usual for {sorted(one.usual_for)}, of which not all are media"


def _check_regions(one: ObjectiveMetric, clips: _Clips, whole: float) -> None:
    """Assert that boxes, masks and what is outside of them give a number or none, and an empty mask none."""
    for name, region in clips.regions.items():
        value = _value(one, clips.pairs("coarse", region))
        assert not math.isinf(value), f"{one.name} is infinite on {name}, of which nothing is identical"
        if name == "an empty mask":
            assert math.isnan(value), f"{one.name} is {value} where a mask picks nothing"
        elif name == "a mask of everything" and math.isfinite(value):
            apart = abs(value - whole) <= 1e-4 * max(1, abs(whole))
            assert apart, f"{one.name} is {value} on a mask of everything, and {whole} without a mask"


def _value(one: ObjectiveMetric, pairs: Sequence[ComparedPair]) -> float:
    """Return what a metric says; of one pair by itself the same as together with others of its class."""
    if isinstance(one, ConditionMetric):
        value = one.measure(pairs)
    else:
        assert isinstance(one, PairMetric)
        value = type(one).measure_together([one], pairs[0])[one.name]
    assert isinstance(value, float), f"{one.name} gives a {type(value).__name__}, not a float"
    return value


# Clips that are measured


class _Clips(NamedTuple):
    folder: tempfile.TemporaryDirectory[str]
    stimuli: dict[str, list[Stimulus]]
    regions: dict[str, Region]

    def pairs(self, condition: str, region: Region | None = None) -> list[ComparedPair]:
        """Return the clips of a condition beside their references."""
        shift = {"same": 0.0, "fine": 2.0, "coarse": 9.0}[condition]
        points = np.random.default_rng(5).uniform(20, 150, (_FRAMES, 4, 2))
        landmarks = LandmarkPair(points + shift, points, ("a", "b", "c", "d"), _SIDE, _SIDE)
        both = zip(self.stimuli[condition], self.stimuli["original"], strict=True)
        return [_DecodedPair(own, other, region, landmarks=landmarks) for own, other in both]


class _DecodedPair(ComparedPair):
    """A pair whose frames are decoded once a process, as every metric is tried on the same ones."""

    def pictures(self, *, is_reference: bool) -> Iterator[Picture]:
        return iter(_pictures(self.media, is_reference))


@cache
def _pictures(media: MediaPair, is_reference: bool) -> tuple[Picture, ...]:
    return tuple(colour_frames(media, is_reference=is_reference))


@cache
def _clips() -> _Clips:
    """Return coded clips with sound, and regions of them: made once a process."""
    # Kept as long as the process, as is everything that is read from it.
    kept = tempfile.TemporaryDirectory(prefix="beholder-metric-", ignore_cleanup_errors=True)
    folder = Path(kept.name)
    for content, picture in (("moving", "testsrc2"), ("turning", "mandelbrot")):
        for condition, crf in _CODING.items():
            noise = {"original": "0", "fine": "0.02", "coarse": "0.3"}[condition]
            _film(folder / "stimuli" / condition / f"{content}.mp4", picture, crf, noise)
        original = folder / "stimuli" / "original" / f"{content}.mp4"
        (folder / "stimuli" / "same").mkdir(exist_ok=True)
        (folder / "stimuli" / "same" / original.name).write_bytes(original.read_bytes())
    study = {
        "beholder": 1, "name": "measured", "title": "Measured", "method": DEFAULT_METHOD, "stimuli": "stimuli",
        "conditions": [{"name": "original", "role": "reference"}, "same", "fine", "coarse"],
        "questions": [{"id": "quality", "text": "How good is it?"}], "contact": "me@example.org",
    }  # fmt: skip
    (folder / "study.yaml").write_text(yaml.safe_dump(study), "utf-8")
    catalogue = load_catalogue(load_study(folder / "study.yaml"))
    stimuli: dict[str, list[Stimulus]] = {}
    for one in sorted(catalogue.by_cell.values(), key=lambda one: one.content):
        stimuli.setdefault(one.condition, []).append(one)
    return _Clips(kept, stimuli, dict(_regions(folder)))


def _regions(folder: Path) -> list[tuple[str, Region]]:
    picked = np.zeros((_SIDE, _SIDE), np.uint8)
    masks = {"an empty mask": picked, "a mask of everything": picked + 255}
    masks["a mask"] = picked.copy()
    masks["a mask"][20:170, 30:180] = 255
    found = [("a box", Region("box", "", box=(8, 8, 180, 180)))]
    for name, pixels in masks.items():
        path = folder / f"{name.replace(' ', '-')}.png"
        Image.fromarray(pixels).save(path)
        found.append((name, Region(name, "", mask=Mask(path, name))))
    outside = Region("background", "", box=(60, 60, 60, 60), is_outside=True)
    return [*found, ("the background", outside)]


def _film(path: Path, picture: str, crf: str, noise: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    voice = f"aevalsrc=(0.3*sin(1400*t)+0.2*sin(5300*t))*(1+sin(20*t))/2+{noise}*(random(0)-0.5):s=16000"
    words = ["-f", "lavfi", "-i", f"{picture}=size={_SIDE}x{_SIDE}:rate=25", "-f", "lavfi", "-i", voice]
    coding = [
        "-frames:v",
        str(_FRAMES),
        "-t",
        str(_SECONDS),
        "-c:v",
        "libx264",
        "-crf",
        crf,
        "-pix_fmt",
        "yuv420p",
        "-c:a",
        "aac",
    ]
    ran = run_ffmpeg(["-v", "error", "-y", *words, *coding, file_argument(path)])
    assert ran.code == 0, ran.log
