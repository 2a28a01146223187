"""How videos are encoded: told where it goes with a condition, and evened out."""

from __future__ import annotations

from pathlib import Path

from beholder.stimuli.ffmpeg import run_ffmpeg
from beholder.stimuli.ingestion import load_catalogue
from beholder.stimuli.layout import layout_of
from beholder.stimuli.probe import measure
from beholder.stimuli.workshop import make_prepared
from support.source_studies import study_in, warnings

WAYS = {
    "main": ("-profile:v", "main", "-g", "5", "-bf", "2"),
    "baseline": ("-profile:v", "baseline", "-g", "25"),
    "lines": ("-profile:v", "main", "-g", "5", "-bf", "2", "-movflags", "+frag_keyframe+empty_moov"),
}
"""The last one differs in its container alone, of which copies for participants have one kind."""


def encode(path: Path, *way: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    source = ("-f", "lavfi", "-i", "testsrc2=s=96x64:d=0.8:r=25")
    assert (
        run_ffmpeg([*source, "-c:v", "libx264", "-pix_fmt", "yuv420p", "-sc_threshold", "0", *way, str(path)]).code == 0
    )
    return path


def test_conditions_that_are_encoded_differently_are_told_apart_and_made_alike(tmp_path: Path) -> None:
    for condition, way in WAYS.items():
        encode(tmp_path / "stimuli" / condition / "city.mp4", *way)
    accepted = ["identical", "encoders", "file_size"]
    catalogue = load_catalogue(study_in(tmp_path, {"folder": "stimuli", "accept": accepted}))
    layouts = {one.condition: one.layout for one in catalogue.stimuli}
    assert layouts["main"] == layouts["lines"], "containers are alike in copies for participants"
    assert layouts["main"][:4] == (
        "H.264 Main, level 1.0", "pixels yuv420p", "a key frame every 5 frames", "frames in another order than shown",
    )  # fmt: skip
    assert layouts["baseline"][2:4] == ("one key frame", "frames in the order shown")
    (told,) = warnings(catalogue)
    assert told.startswith("stimuli  are encoded differently under their conditions (")
    assert "H.264 Main, level 1.0 under lines, main" in told
    assert "one key frame under baseline" in told
    remedy = "To make them alike: beholder media prepare stimuli --out prepared --uniform, and write stimuli: prepared."
    assert remedy in told
    assert told.endswith("accept: [identical, encoders, file_size, layout]}.")
    accepting = study_in(tmp_path, {"folder": "stimuli", "accept": [*accepted, "layout"]})
    assert warnings(load_catalogue(accepting)) == []
    make_prepared([tmp_path / "stimuli"], tmp_path / "prepared", uniform=True)
    made = load_catalogue(study_in(tmp_path, {"folder": "prepared", "accept": accepted}))
    assert warnings(made) == []
    (alike,) = {one.layout for one in made.stimuli}
    assert alike[0] == "H.264 High, level 5.1"


def test_uniform_takes_the_largest_size_and_rate_of_a_content(tmp_path: Path) -> None:
    encode(tmp_path / "stimuli" / "a" / "city.mp4")
    encode(tmp_path / "stimuli" / "b" / "city.mp4", "-vf", "scale=48:32", "-r", "10")
    make_prepared([tmp_path / "stimuli"], tmp_path / "prepared", uniform=True)
    made = load_catalogue(study_in(tmp_path, {"folder": "prepared", "accept": ["file_size", "identical", "duration"]}))
    assert {(one.probe.width, one.probe.height, one.probe.fps) for one in made.stimuli} == {(96, 64, 25.0)}
    assert warnings(made) == []


def test_a_file_that_is_no_mp4_has_its_codec_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.webm"
    assert run_ffmpeg(["-f", "lavfi", "-i", "testsrc2=s=64x48:d=0.2:r=5", "-c:v", "libvpx-vp9", str(path)]).code == 0
    assert layout_of(path, measure(path, "a.webm", "video"))[0] == "vp9"
