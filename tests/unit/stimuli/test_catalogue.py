"""The catalogue: order of conditions and contents, and the size class of each stimulus."""

from __future__ import annotations

from pathlib import Path

from beholder.stimuli.ingestion import load_catalogue
from support.video_studies import H264, Make, put, study_in


def test_a_catalogue_has_conditions_in_the_order_of_the_study_and_contents_by_code_point(
    make: Make, tmp_path: Path
) -> None:
    for condition in ("no", "NA", "01", "Größe 2", "-"):
        for content in ("b", "B", "a c"):
            put(make("a.mp4"), tmp_path / "stimuli" / condition / f"{content}.mp4")
    plain = load_catalogue(study_in(tmp_path, {"folder": "stimuli", "accept": ["identical"]}))
    assert plain.conditions == ("-", "01", "Größe 2", "NA", "no")
    assert plain.contents == ("B", "a c", "b")
    assert plain.stimuli[0].id == "-/B"
    assert len(plain.by_id) == len(plain.by_cell) == 15
    assert plain.warnings == ()
    order = ["no", {"name": "01", "role": "reference"}, "Größe 2", "NA", "-"]
    listed = load_catalogue(study_in(tmp_path, conditions=order))
    assert listed.conditions == ("no", "01", "Größe 2", "NA", "-")
    assert [s.condition for s in listed.stimuli[::3]] == list(listed.conditions)
    assert {s.condition: s.role for s in listed.stimuli}["01"] == "reference"


def test_every_stimulus_has_the_size_class_of_its_content(make: Make, tmp_path: Path) -> None:
    put(make("a.mp4"), tmp_path / "stimuli" / "x" / "city.mp4")
    put(make("big.mp4", size="128x96"), tmp_path / "stimuli" / "y" / "city.mp4")
    put(make("a.mp4"), tmp_path / "stimuli" / "x" / "park.mp4")
    catalogue = load_catalogue(study_in(tmp_path))
    own = {stimulus.id: stimulus.served.stat().st_size for stimulus in catalogue.stimuli}
    assert own["x/city"] < own["y/city"]
    assert catalogue.class_sizes == {"x/city": own["y/city"], "y/city": own["y/city"], "x/park": own["x/park"]}


def test_a_catalogue_knows_the_sizes_of_its_copies(make: Make, tmp_path: Path) -> None:
    put(make("soft.mp4", *H264, "-crf", "45", size="320x240"), tmp_path / "stimuli" / "low" / "city.mp4")
    noisy = make("noisy.mp4", *H264, "-crf", "1", "-vf", "noise=alls=100:allf=t", size="320x240")
    put(noisy, tmp_path / "stimuli" / "high" / "city.mp4")
    (warning,) = load_catalogue(study_in(tmp_path)).warnings
    assert str(warning).startswith("content city  has files that differ in size more than the filler can hide (")
    assert load_catalogue(study_in(tmp_path)).warnings == (warning,)
