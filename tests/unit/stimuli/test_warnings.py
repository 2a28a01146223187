"""Warnings about a catalogue that can be served: what is missing, differs, or tells conditions apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from beholder.stimuli.catalogue import Catalogue, Probe, Stimulus
from beholder.stimuli.ingestion import load_catalogue
from beholder.stimuli.warnings import catalogue_warnings
from support.media_folders import load, noise, write
from support.video_studies import H264, Make, put, study_in


def test_what_a_lossy_codec_decodes_to_is_not_called_shallow(sound: Make, tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "stimuli/a/x.wav": sound("deep.wav", "-c:a", "pcm_s24le"),
            "stimuli/b/x.flac": sound("flat.flac", "-sample_fmt", "s16"),
            "stimuli/a/y.wav": sound("deep.wav", "-c:a", "pcm_s24le"),
            "stimuli/b/y.ogg": sound("lossy.ogg", "-c:a", "libvorbis"),
        },
    )
    assert [str(warning) for warning in load(tmp_path).warnings if "depths" in str(warning)] == [
        "content x  has different depths: 16 bits under b, 24 bits under a: a participant who looks into the files "
        "could tell these apart. Export all in the same depth, or accept it.",
    ]


def test_a_catalogue_warns_of_sounds_that_differ_in_length_rate_channels_and_depth(sound: Make, tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "stimuli/a/long.wav": sound("a.wav"),
            "stimuli/b/long.wav": sound("longer.wav", seconds=0.56),
            "stimuli/a/rate.wav": sound("a.wav"),
            "stimuli/b/rate.wav": sound("rate.wav", rate=48000),
            "stimuli/a/voice.wav": sound("a.wav"),
            "stimuli/b/voice.wav": sound("mono.wav", channels=1),
            "stimuli/a/deep.wav": sound("deep.wav", "-c:a", "pcm_s24le"),
            "stimuli/b/deep.wav": sound("a.wav"),
            "stimuli/a/wide.wav": sound("six.wav", channels=6),
            "stimuli/b/wide.wav": sound("six.wav", channels=6),
        },
    )
    assert [str(warning) for warning in load(tmp_path).warnings] == [
        "content deep  has different depths: 16 bits under b, 24 bits under a: a participant who looks into the files "
        "could tell these apart. Export all in the same depth, or accept it.",
        "content long  lasts 0.50 s under a and 0.56 s under b. Allowed: 0.05 s apart at most.",
        "content rate  has different sample rates: 44100 Hz under a, 48000 Hz under b.",
        "content voice  has different numbers of channels: 1 under b, 2 under a.",
        "content wide  has 6 channels, and most people listen to two. Allowed: 1 or 2.",
    ]


def test_lengths_have_to_be_close_where_switching_keeps_the_position(sound: Make, tmp_path: Path) -> None:
    write(tmp_path, {"stimuli/a/x.wav": sound("a.wav"), "stimuli/b/x.wav": sound("longer.wav", seconds=0.56)})
    (warning,) = load(tmp_path, playback={"switching": "keep"}).warnings
    assert str(warning) == (
        "content x  lasts 0.50 s under a and 0.56 s under b, and switching keeps the position. "
        "Allowed: 0.05 s apart at most."
    )


def test_pictures_of_different_sizes_are_warned_of_and_last_as_long_as_the_study_says(tmp_path: Path) -> None:
    write(tmp_path, {"stimuli/a/x.png": noise(), "stimuli/b/x.png": noise(size=(12, 8))})
    catalogue = load(tmp_path, playback={"look_seconds": 3.5})
    assert [str(warning) for warning in catalogue.warnings] == [
        "content x  has different sizes: 12x8 under b, 24x16 under a."
    ]
    assert [stimulus.probe.duration_ms for stimulus in catalogue.stimuli] == [3500, 3500]


def test_a_catalogue_warns_of_holes_and_of_lengths_and_sizes_that_differ(make: Make, tmp_path: Path) -> None:
    put(make("a.mp4"), tmp_path / "stimuli" / "good" / "city.mp4")
    put(make("big.mp4", size="128x96"), tmp_path / "stimuli" / "bad" / "city.mp4")
    put(make("a.mp4"), tmp_path / "stimuli" / "good" / "park.mp4")
    put(make("longer.mp4", seconds=0.8), tmp_path / "stimuli" / "bad" / "park.mp4")
    put(make("a.mp4"), tmp_path / "stimuli" / "good" / "sea.mp4")
    assert [str(warning) for warning in load_catalogue(study_in(tmp_path)).warnings] == [
        "content city  has different sizes: 64x48 under good, 128x96 under bad.",
        "content park  lasts 0.40 s under good and 0.80 s under bad. Allowed: 0.1 s apart at most.",
        "content sea  is missing under bad.",
    ]


def test_contents_with_the_same_problem_are_told_in_one_line(make: Make, tmp_path: Path) -> None:
    for content in ("lake", "room", "tree"):
        put(make("a.mp4"), tmp_path / "stimuli" / "good" / f"{content}.mp4")
        put(make("big.mp4", size="128x96"), tmp_path / "stimuli" / "bad" / f"{content}.mp4")
    put(make("longer.mp4", seconds=0.8), tmp_path / "stimuli" / "good" / "lake.mp4")
    put(make("longest.mp4", seconds=1.2), tmp_path / "stimuli" / "good" / "room.mp4")
    assert [str(warning) for warning in load_catalogue(study_in(tmp_path)).warnings] == [
        "2 contents: lake, room  last lake 0.40 s under bad and 0.80 s under good; room 0.40 s under bad and 1.20 s "
        "under good. Allowed: 0.1 s apart at most.",
        "3 contents: lake, room, tree  have different sizes: 64x48 under good, 128x96 under bad.",
    ]


def sized(*sizes: int) -> Catalogue:
    """Return a catalogue of one content whose copies have these sizes."""
    probe = Probe(1000, "mp4", 400, 64, 48, 25.0, "h264", "", 0)
    conditions = tuple("abcdef"[: len(sizes)])
    stimuli = tuple(
        Stimulus(f"{c}/city", "city", c, "test", "video", f"{c}.mp4", "00", probe, Path("x.mp4"), {}, size)
        for c, size in zip(conditions, sizes, strict=True)
    )
    return Catalogue(stimuli, conditions, ("city",))


def test_sizes_that_no_filler_evens_out_are_warned_of() -> None:
    even = [(50_000, 200_000), (3_000, 60_000), (5_000_000, 20_000_000), (1_000, 66_000)]
    assert [list(catalogue_warnings(sized(*sizes))) for sizes in even] == [[], [], [], []]
    assert [str(problem) for problem in catalogue_warnings(sized(700_000, 50_000, 5_400_000))] == [
        "content city  has files that differ in size more than the filler can hide (50 kB under b to 5.4 MB under c): "
        "a participant who opens the developer tools could put them in order. "
        "Allowed: 4 times the smallest at most, and 32.0 MB more than it. "
        "Encode the largest smaller or the smallest larger, or accept it."
    ]
    assert len(list(catalogue_warnings(sized(20_000_000, 70_000_000)))) == 1


def test_formats_that_differ_within_a_content_are_warned_of() -> None:
    catalogue = sized(1000, 1000, 1000)
    first, *others = catalogue.stimuli
    mixed = replace(catalogue, stimuli=(replace(first, served=Path("x.webm")), *others))
    assert [str(problem) for problem in catalogue_warnings(mixed)] == [
        "content city  is served as mp4 under b, webm under a: a participant who opens the developer tools could tell "
        "these apart. Allowed: one of them. Export all in the same format, or accept it."
    ]


def test_names_of_encoders_that_tell_conditions_apart_are_warned_of(make: Make, tmp_path: Path) -> None:
    for condition, codec in (("a", "aac"), ("b", "libmp3lame"), ("c", "flac")):
        clip = make(f"{codec}.mp4", *H264, "-c:a", codec, "-strict", "-2", sound=True)
        put(clip, tmp_path / "stimuli" / condition / "city.mp4")
    catalogue = load_catalogue(study_in(tmp_path))
    (lavc,) = catalogue.by_id["a/city"].encoders
    (lame,) = catalogue.by_id["b/city"].encoders
    assert (lavc[:4], lame[:4], catalogue.by_id["c/city"].encoders) == ("Lavc", "LAME", ())
    assert [str(warning) for warning in catalogue.warnings] == [
        f"stimuli  hold names of encoders inside their sound, and not the same under all conditions ({lame} under b; "
        f"{lavc} under a): a participant who looks into the files could tell these apart. "
        "Encode the sound of all conditions with the same program, or accept it."
    ]
    put(make("aac.mp4"), tmp_path / "stimuli" / "b" / "city.mp4")
    put(make("aac.mp4"), tmp_path / "stimuli" / "c" / "city.mp4")
    assert load_catalogue(study_in(tmp_path)).warnings == ()
