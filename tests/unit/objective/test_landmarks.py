"""Points of a file, and how far they are from those of the reference."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import beholder
from support.measured_stimuli import SIZE, note, refused, value

HEAD = "stimulus,frame,point,x,y"
CLIPS = ["original/city", "fine/city", "coarse/city", "small/city", "short/city", "same/city"]
CLIPS += [f"{name}/Größe 2" for name in ("original", "fine", "coarse")]


def landmarks(path: Path, *rows: str) -> Path:
    path.write_text("\n".join([HEAD, *rows]) + "\n", "utf-8")
    return path


def test_the_distance_is_a_share_of_the_diagonal_whatever_the_size_of_the_clip(material: Path, tmp_path: Path) -> None:
    half = {"small/city": 0.5}  # coded at half the size, so that its points are in its own pixels
    shift = {"coarse/city": 6, "small/city": 3}
    rows = [
        f"{clip},{frame},{point},{half.get(clip, 1) * 40 + shift.get(clip, 0)},{half.get(clip, 1) * y}"
        for clip in CLIPS for frame in (0, 1) for point, y in (("mouth", 60), ("eye", 20))
        if (clip, frame, point) != ("fine/city", 1, "eye")
    ]  # fmt: skip
    path = landmarks(tmp_path / "points.csv", *rows)
    found = beholder.metrics(material / "study.yaml", metric=["lmd"], landmarks=path, out=tmp_path / "out").values
    moved = 100 * 6 / math.hypot(*SIZE)
    assert value(found, "same/city", "lmd") == 0
    assert value(found, "coarse/city", "lmd") == pytest.approx(moved)
    assert value(found, "small/city", "lmd") == pytest.approx(moved)
    assert note(found, "fine/city", "lmd") == "3 of 4 points are in both"
    changed = landmarks(
        tmp_path / "points.csv", *[row.replace(",46.0,", ",40.0,").replace(",46,", ",40,") for row in rows]
    )
    again = beholder.metrics(material / "study.yaml", metric=["lmd"], landmarks=changed, out=tmp_path / "out").values
    assert value(again, "coarse/city", "lmd") == 0, "other points are measured anew"


def test_what_is_wrong_with_points_is_said_all_at_once(material: Path, tmp_path: Path) -> None:
    study, path = material / "study.yaml", tmp_path / "points.csv"
    assert refused(lambda: beholder.metrics(study, metric=["lmd"])) == [
        "--metric  is lmd, which looks at landmarks, and there are none. Name a CSV of points with --landmarks."
    ]
    landmarks(path, "coarse/city,0,eye,1,2", "nobody,0,eye,1,2", "fine/city,0.5,eye,1,2", "fine/city,0,,1,two")
    assert refused(lambda: beholder.metrics(study, metric=["lmd"], landmarks=path)) == [
        f"{path}:3  stimulus is 'nobody', which is none. Allowed: such as original/Größe 2.",
        f"{path}:4  has frame '0.5', point 'eye', x '1', y '2'. Allowed: a whole frame from 0, a name, and numbers for "
        "x and y.",
        f"{path}:5  has frame '0', point '', x '1', y 'two'. Allowed: a whole frame from 0, a name, and numbers for "
        "x and y.",
    ]
    landmarks(path, *[f"{clip},0,eye,1,2" for clip in CLIPS if clip != "same/city"])
    assert refused(lambda: beholder.metrics(study, metric=["lmd"], landmarks=path)) == [
        "stimulus same/city  has no landmarks, and lmd looks at them."
    ]
    path.write_text("stimulus,x\na,1\n", "utf-8")
    assert refused(lambda: beholder.metrics(study, metric=["lmd"], landmarks=path)) == [
        f"{path}  has not the columns of landmarks. Allowed: stimulus, or content and condition; frame from 0, point, "
        "x and y."
    ]
