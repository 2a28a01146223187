"""Warnings about a catalogue that can be served: what is missing, differs, or tells conditions apart."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from beholder import check
from beholder.errors import Problem
from beholder.stimuli.catalogue import Catalogue, Probe, Stimulus
from beholder.stimuli.ingestion import load_catalogue
from beholder.stimuli.warnings import catalogue_warnings
from support.commands import command
from support.media_folders import load, noise, write
from support.video_studies import H264, Make, put, study_in

REMEDY, MEANT = "To make them alike: ", "If it is meant: "
QUESTIONS = [{"id": "quality", "text": "How good is it?", "scale": "acr5"}]
DESIGN = {"participants": 2, "trials": 1}
PREPARE = f"{REMEDY}beholder media prepare stimuli --out prepared "


def findings(warnings: Sequence[Problem]) -> list[str]:
    """Return what is wrong, without what to do about it."""
    return [str(replace(warning, fix="")) for warning in warnings]


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
        "could tell these apart. Export all in the same depth. "
        "If it is meant: stimuli: {folder: stimuli, accept: [depth]}.",
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
    accepted = {"folder": "stimuli", "accept": ["loudness", "identical"]}
    warnings = load(tmp_path, stimuli=accepted).warnings
    assert findings(warnings) == [
        "content deep  has different depths: 16 bits under b, 24 bits under a: a participant who looks into the files "
        "could tell these apart.",
        "content long  lasts 0.50 s under a and 0.56 s under b. Allowed: 0.05 s apart at most.",
        "content rate  has different sample rates: 44100 Hz under a, 48000 Hz under b.",
        "content voice  has different numbers of channels: 1 under b, 2 under a.",
        "content wide  has 6 channels, and most people listen to two. Allowed: 1 or 2.",
        "stimuli  can be made alike in all these respects by one command.",
    ]
    meant = "If it is meant: stimuli: {folder: stimuli, accept: [loudness, identical, NAME]}."
    assert [warning.fix for warning in warnings] == [
        f"Export all in the same depth. {meant.replace('NAME', 'depth')}",
        f"{PREPARE}--shortest, and write stimuli: prepared. {meant.replace('NAME', 'duration')}",
        f"{PREPARE}--rate 48000, and write stimuli: prepared. {meant.replace('NAME', 'sample_rate')}",
        f"{PREPARE}--channels 2, and write stimuli: prepared. {meant.replace('NAME', 'channels')}",
        f"{PREPARE}--channels 2, and write stimuli: prepared. {meant.replace('NAME', 'channels')}",
        f"{PREPARE}--channels 2 --rate 48000 --shortest, and write stimuli: prepared.",
    ]


def test_lengths_have_to_be_close_where_switching_keeps_the_position(sound: Make, tmp_path: Path) -> None:
    write(tmp_path, {"stimuli/a/x.wav": sound("a.wav"), "stimuli/b/x.wav": sound("longer.wav", seconds=0.56)})
    assert findings(load(tmp_path, playback={"switching": "keep"}).warnings) == [
        "content x  lasts 0.50 s under a and 0.56 s under b, and switching keeps the position. "
        "Allowed: 0.05 s apart at most."
    ]


def test_pictures_of_different_sizes_are_warned_of_and_last_as_long_as_the_study_says(tmp_path: Path) -> None:
    write(tmp_path, {"stimuli/a/x.png": noise(), "stimuli/b/x.png": noise(size=(12, 8))})
    catalogue = load(tmp_path, playback={"look_seconds": 3.5})
    assert [str(warning) for warning in catalogue.warnings] == [
        f"content x  has different sizes: 12x8 under b, 24x16 under a. {PREPARE}--height 16, and write stimuli: "
        "prepared. If it is meant: stimuli: {folder: stimuli, accept: [resolution]}."
    ]
    assert [stimulus.probe.duration_ms for stimulus in catalogue.stimuli] == [3500, 3500]


def test_a_catalogue_warns_of_holes_and_of_lengths_and_sizes_that_differ(make: Make, tmp_path: Path) -> None:
    put(make("a.mp4"), tmp_path / "stimuli" / "good" / "city.mp4")
    put(make("big.mp4", size="128x96"), tmp_path / "stimuli" / "bad" / "city.mp4")
    put(make("a.mp4"), tmp_path / "stimuli" / "good" / "park.mp4")
    put(make("longer.mp4", seconds=0.8), tmp_path / "stimuli" / "bad" / "park.mp4")
    put(make("a.mp4"), tmp_path / "stimuli" / "good" / "sea.mp4")
    study = study_in(tmp_path, {"folder": "stimuli", "accept": ["identical"]})
    assert findings(load_catalogue(study).warnings) == [
        "content sea  is missing under bad: stimuli/bad/sea.mp4 is not there.",
        "content city  has different sizes: 64x48 under good, 128x96 under bad.",
        "content park  lasts 0.40 s under good and 0.80 s under bad. Allowed: 0.1 s apart at most.",
        "stimuli  can be made alike in all these respects by one command.",
    ]


def test_contents_with_the_same_problem_are_told_in_one_line(make: Make, tmp_path: Path) -> None:
    for content in ("lake", "room", "tree"):
        put(make("a.mp4"), tmp_path / "stimuli" / "good" / f"{content}.mp4")
        put(make("big.mp4", size="128x96"), tmp_path / "stimuli" / "bad" / f"{content}.mp4")
    put(make("longer.mp4", seconds=0.8), tmp_path / "stimuli" / "good" / "lake.mp4")
    put(make("longest.mp4", seconds=1.2), tmp_path / "stimuli" / "good" / "room.mp4")
    study = study_in(tmp_path, {"folder": "stimuli", "accept": ["identical"]})
    assert findings(load_catalogue(study).warnings)[:2] == [
        "2 contents: lake, room  last lake 0.40 s under bad and 0.80 s under good; room 0.40 s under bad and 1.20 s "
        "under good. Allowed: 0.1 s apart at most.",
        "3 contents: lake, room, tree  have different sizes: 64x48 under good, 128x96 under bad.",
    ]


def sized(*sizes: int) -> Catalogue:
    """Return a catalogue of one content whose copies have these sizes."""
    probe = Probe(1000, "mp4", 400, 64, 48, 25.0, "h264", "", 0)
    conditions = tuple("abcdef"[: len(sizes)])
    stimuli = tuple(
        Stimulus(f"{c}/city", "city", c, "test", "video", f"{c}.mp4", c, probe, Path("x.mp4"), {}, size)
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
        "Encode the largest smaller or the smallest larger. "
        "If it is meant: stimuli: {folder: stimuli, accept: [file_size]}."
    ]
    assert len(list(catalogue_warnings(sized(20_000_000, 70_000_000)))) == 1


def test_formats_that_differ_within_a_content_are_warned_of() -> None:
    catalogue = sized(1000, 1000, 1000)
    first, *others = catalogue.stimuli
    mixed = replace(catalogue, stimuli=(replace(first, served=Path("x.webm")), *others))
    assert [str(problem) for problem in catalogue_warnings(mixed)] == [
        "content city  is served as mp4 under b, webm under a: a participant who opens the developer tools could tell "
        "these apart. Allowed: one of them. Export all in the same format. "
        "If it is meant: stimuli: {folder: stimuli, accept: [format]}."
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
        "Encode the sound of all conditions with the same program. "
        "If it is meant: stimuli: {folder: stimuli, accept: [encoders]}."
    ]
    put(make("aac.mp4"), tmp_path / "stimuli" / "b" / "city.mp4")
    put(make("aac.mp4"), tmp_path / "stimuli" / "c" / "city.mp4")
    assert load_catalogue(study_in(tmp_path, {"folder": "stimuli", "accept": ["identical"]})).warnings == ()


def test_conditions_that_are_not_equally_loud_are_warned_of_and_the_remedy_works(sound: Make, tmp_path: Path) -> None:
    for content in ("rain", "voice"):
        for condition, gain in (("soft", 0), ("loud", 6)):
            clip = sound(f"{content}{gain}.wav", "-af", f"volume={gain}dB", seconds=0.5 if content == "rain" else 0.6)
            put(clip, tmp_path / "stimuli" / condition / f"{content}.wav")
    (warning,) = load(tmp_path).warnings
    assert str(warning) == (
        "stimuli  differ in loudness from condition to condition, and people prefer what is louder: "
        "stimuli/loud/rain.wav is 6.0 LU louder than stimuli/soft/rain.wav (-15.8 and -21.8 LUFS); so it is in 2 of "
        "2 contents, with means of -21.8 under soft and -15.8 under loud. Allowed: 1 LU apart at most. "
        f"{PREPARE}--loudness -23, and write stimuli: prepared. "
        "If it is meant: stimuli: {folder: stimuli, accept: [loudness]}."
    )
    assert load(tmp_path, stimuli={"folder": "stimuli", "accept": ["loudness"]}).warnings == ()
    follow(warning, tmp_path)
    prepared = load(tmp_path, stimuli="prepared")
    assert prepared.warnings == ()
    assert [one.probe.loudness for one in prepared.stimuli] == pytest.approx([-23] * 4, abs=0.11)


def follow(warning: Problem, folder: Path) -> None:
    """Run the command that a warning names."""
    words = warning.fix.partition(REMEDY)[2].partition(", and write")[0]
    program, *arguments = shlex.split(words)
    assert program == "beholder"
    assert command(*arguments, cwd=folder).returncode == 0


def test_one_command_evens_out_several_differences(sound: Make, tmp_path: Path) -> None:
    put(sound("plain.wav", seconds=1), tmp_path / "stimuli/a/x.wav")
    late = ("-af", "adelay=500|500,volume=-9dB")
    put(sound("late.wav", *late, seconds=1.2, channels=1, rate=16000), tmp_path / "stimuli/b/x.wav")
    *each, together = load(tmp_path).warnings
    assert findings(each)[-2:] == [
        "content x  is silent for 0.00 s under a and 0.50 s under b before it starts. Allowed: 0.2 s apart at most.",
        findings(each)[-1],
    ]
    assert [warning.fix.partition("accept: [")[2].partition("]")[0] for warning in each] == [
        "duration", "channels", "sample_rate", "silence", "loudness",
    ]  # fmt: skip
    assert together.fix == (
        f"{PREPARE}--channels 2 --loudness -23 --rate 44100 --shortest --trim, and write stimuli: prepared."
    )
    follow(together, tmp_path)
    prepared = load(tmp_path, stimuli="prepared")
    assert prepared.warnings == ()
    assert {(one.probe.duration_ms, one.probe.channels, one.probe.sample_rate) for one in prepared.stimuli} == {
        (1000, 2, 44100)
    }


def test_frame_rates_that_differ_are_warned_of_and_easily_accepted(make: Make, tmp_path: Path) -> None:
    put(make("a second.mp4", seconds=1), tmp_path / "stimuli" / "full" / "city.mp4")
    put(make("slow.mp4", "-r", "10", *H264, seconds=1), tmp_path / "stimuli" / "slow" / "city.mp4")
    (warning,) = load_catalogue(study_in(tmp_path, {"folder": "stimuli", "accept": ["duration"]})).warnings
    assert str(warning) == (
        "content city  has different frame rates: 10 frames a second under slow, 25 frames a second under full. "
        f"{PREPARE}--fps 25, and write stimuli: prepared. "
        "If it is meant: stimuli: {folder: stimuli, accept: [duration, frame_rate]}."
    )
    accepting = study_in(tmp_path, {"folder": "stimuli", "accept": ["duration", "frame_rate"]})
    assert load_catalogue(accepting).warnings == ()


def test_videos_with_and_without_sound_are_warned_of(make: Make, tmp_path: Path) -> None:
    aac = (*H264, "-c:a", "aac")
    put(make("heard.mp4", *aac, sound=True, seconds=1), tmp_path / "stimuli" / "a" / "city.mp4")
    put(make("quiet.mp4", *H264, seconds=1), tmp_path / "stimuli" / "b" / "city.mp4")
    put(make("silent.mp4", *aac, "-af", "volume=0", sound=True, seconds=1), tmp_path / "stimuli" / "c" / "city.mp4")
    accepting = study_in(tmp_path, {"folder": "stimuli", "accept": ["encoders", "duration"]})
    assert findings(load_catalogue(accepting).warnings) == [
        "content city  has sound under some conditions only: no sound under b, 1 under a.",
        "stimuli/c/city.mp4  is silent from start to end.",
    ]


def test_a_silent_sound_is_named(sound: Make, tmp_path: Path) -> None:
    for content in ("x", "y"):
        put(sound(f"{content}.wav", seconds=1 if content == "x" else 1.1), tmp_path / "stimuli/a" / f"{content}.wav")
    put(sound("none.wav", "-af", "volume=0", seconds=1), tmp_path / "stimuli/b/x.wav")
    put(sound("softer.wav", "-af", "volume=-0.5dB", seconds=1.1), tmp_path / "stimuli/b/y.wav")
    assert [str(warning) for warning in load(tmp_path).warnings] == [
        "stimuli/b/x.wav  is silent from start to end. Export again what should be heard. "
        "If it is meant: stimuli: {folder: stimuli, accept: [silence]}."
    ]


def test_a_channel_without_sound_is_named(sound: Make, tmp_path: Path) -> None:
    one_side = sound("left.wav", "-af", "pan=stereo|c0=c0|c1=0*c0", seconds=1)
    put(sound("both.wav", "-af", "pan=stereo|c0=c0|c1=c0", seconds=1), tmp_path / "stimuli/a/x.wav")
    put(one_side, tmp_path / "stimuli/b/x.wav")
    told = [str(warning) for warning in load(tmp_path).warnings]
    assert told[-1] == (
        "stimuli/b/x.wav  has a channel without sound: headphones play it on one side only. Export again what should "
        "be heard on both sides. If it is meant: stimuli: {folder: stimuli, accept: [channels]}."
    )


def test_the_same_file_under_two_names_is_warned_of(tmp_path: Path) -> None:
    texts = {"One": ("a/x", "b/x"), "Two": ("a/y", "b/y", "c/y"), "Three": ("c/x", "c/z")}
    write(tmp_path, {f"stimuli/{name}.txt": text for text, names in texts.items() for name in names})
    assert findings(load(tmp_path, stimuli={"folder": "stimuli", "accept": ["missing"]}).warnings) == [
        "conditions a and b  are the same file in 1 of 3 contents: stimuli/a/x.txt and stimuli/b/x.txt.",
        "conditions a, b and c  are the same file in 1 of 3 contents: stimuli/a/y.txt, stimuli/b/y.txt and "
        "stimuli/c/y.txt.",
        "stimuli  are the same file under several names: stimuli/c/x.txt and stimuli/c/z.txt.",
    ]


def test_a_missing_clip_is_named_and_a_misspelt_one_found(tmp_path: Path) -> None:
    names = ("a/street", "a/harbour", "a/forest", "b/street", "b/harbor")
    write(tmp_path, {f"stimuli/{name}.txt": name for name in names})
    assert [str(warning) for warning in load(tmp_path).warnings] == [
        "2 contents: forest, harbour  are missing under b: stimuli/b/forest.txt and stimuli/b/harbour.txt are not "
        "there. Is stimuli/b/harbor.txt meant to be harbour? Add the files, or take the contents out. "
        "If it is meant: stimuli: {folder: stimuli, accept: [missing]}.",
        "content harbor  is missing under a: stimuli/a/harbor.txt is not there. Is stimuli/a/harbour.txt meant to be "
        "harbor? Add the file, or take the content out. If it is meant: stimuli: {folder: stimuli, accept: [missing]}.",
    ]


def test_with_a_manifest_or_a_pattern_the_remedy_says_what_to_write(tmp_path: Path) -> None:
    write(tmp_path, {"flat/x_a.png": noise(), "flat/x_b.png": noise(size=(12, 8))})
    (tmp_path / "all.csv").write_text("file,content,condition\nflat/x_a.png,x,a\nflat/x_b.png,x,b\n")
    pattern = {"folder": "flat", "pattern": "(?P<content>.+)_(?P<condition>.+)"}
    fixes = [load(tmp_path, stimuli=stimuli).warnings[0].fix for stimuli in (pattern, {"manifest": "all.csv"})]
    assert fixes == [
        f"{REMEDY}beholder media prepare flat --out prepared --height 16, and write folder: prepared. "
        "If it is meant: accept: [resolution] under stimuli.",
        f"{REMEDY}beholder media prepare FILES --out prepared --height 16, and list what is in prepared in all.csv. "
        "If it is meant: accept: [resolution] under stimuli.",
    ]


def test_a_second_check_starts_no_ffmpeg_and_reads_no_stimulus(
    sound: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for condition, gain in (("soft", 0), ("loud", 6)):
        put(sound(f"level{gain}.wav", "-af", f"volume={gain}dB", seconds=1), tmp_path / f"stimuli/{condition}/x.wav")
    keys = {"beholder": 1, "name": "tiny", "title": "Tiny", "method": "acr", "stimuli": "stimuli"}
    (tmp_path / "study.yaml").write_text(json.dumps({**keys, "questions": QUESTIONS, "design": DESIGN}))
    first = check(tmp_path / "study.yaml")
    assert "LU louder" in "\n".join(map(str, first.warnings))
    # Where ffmpeg started, this would fail; where a file were read, its other bytes would be found.
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(tmp_path / "no-such-program"))
    for path in (tmp_path / "stimuli").rglob("*.wav"):
        state = path.stat()
        path.write_bytes(bytes(state.st_size))
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert check(tmp_path / "study.yaml") == first


def test_a_file_that_was_moved_is_known_by_its_hash(
    sound: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(sound("plain.wav", seconds=1), tmp_path / "stimuli/a/x.wav")
    before = load(tmp_path).stimuli[0].probe
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(tmp_path / "no-such-program"))
    (tmp_path / "stimuli/a").rename(tmp_path / "stimuli/b")
    os.utime(tmp_path / "stimuli/b/x.wav")
    assert [(one.id, one.probe) for one in load(tmp_path).stimuli] == [("b/x", before)]
