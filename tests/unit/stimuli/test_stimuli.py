"""Probing, stripping and the catalogue that remembers them."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from beholder.errors import StimuliError
from beholder.stimuli.catalogue import Catalogue, Probe, Stimulus
from beholder.stimuli.ffmpeg import run_ffmpeg
from beholder.stimuli.ingestion import load_catalogue
from beholder.stimuli.probe import measure, playback_problem
from beholder.stimuli.warnings import catalogue_warnings
from beholder.study.loading import build_study
from beholder.study.model import Study
from beholder.study.yaml import read_document

H264 = ("-c:v", "libx264", "-pix_fmt", "yuv420p")
VP9 = ("-c:v", "libvpx-vp9", "-cpu-used", "8")
MARKS = (
    "-metadata", "title=MARKTITLE", "-metadata", "comment=MARKCOMMENT", "-metadata", "encoder=MARKENCODER",
    "-metadata:s:v", "handler_name=MARKHANDLER", "-metadata", "creation_time=2019-08-07T06:05:04Z",
)  # fmt: skip

Make = Callable[..., Path]


@pytest.fixture(scope="session")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Return a maker of tiny videos: 64 x 48, 0.4 s, 25 frames a second unless told otherwise."""
    folder = tmp_path_factory.mktemp("videos")

    def make(name: str, *options: str, size: str = "64x48", seconds: float = 0.4, sound: bool = False) -> Path:
        path = folder / name
        if not path.exists():
            tone = ("-f", "lavfi", "-i", f"sine=d={seconds}") if sound else ()
            picture = ("-f", "lavfi", "-i", f"testsrc2=s={size}:d={seconds}:r=25")
            ran = run_ffmpeg(["-v", "error", *picture, *tone, *(options or H264), str(path)])
            assert ran.code == 0, ran.log
        return path

    return make


def put(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def study_in(folder: Path, stimuli: object = "stimuli", conditions: Sequence[object] = ()) -> Study:
    keys = {"beholder": 1, "name": "tiny", "title": "Tiny", "method": "acr", "stimuli": stimuli}
    (folder / "study.yaml").write_text(json.dumps({**keys, **({"conditions": conditions} if conditions else {})}))
    return build_study(read_document(folder), None)


def problems_of(study: Study) -> list[str]:
    with pytest.raises(StimuliError) as caught:
        load_catalogue(study)
    return [str(problem) for problem in caught.value.problems]


def frames_in(path: Path) -> list[str]:
    ran = run_ffmpeg(["-v", "error", "-i", str(path), "-map", "0:v", "-f", "framemd5", "pipe:1"])
    assert (ran.code, ran.log) == (0, "")
    return [line.rpartition(b",")[2].decode().strip() for line in ran.out.splitlines() if not line.startswith(b"#")]


def sound_in(path: Path) -> bytes:
    ran = run_ffmpeg(["-v", "warning", "-i", str(path), "-map", "0:a", "-f", "md5", "pipe:1"])
    assert (ran.code, ran.log) == (0, "")
    return ran.out


def test_a_probe_holds_what_the_file_holds(make: Make) -> None:
    path = make("sound.mp4", *H264, "-c:a", "aac", "-ac", "2", sound=True)
    assert measure(path, "x").probe == Probe(path.stat().st_size, "mp4", 400, 64, 48, 25.0, "h264", "aac", 2)


@pytest.mark.parametrize(
    ("name", "options", "container", "codec"),
    [
        ("a.mov", H264, "mov", "h264"),
        ("a.m4v", (*H264, "-f", "mp4"), "mp4", "h264"),
        ("a.mkv", H264, "mkv", "h264"),
        ("a.webm", VP9, "webm", "vp9"),
        ("vp8.webm", ("-c:v", "libvpx"), "webm", "vp8"),
        ("av1.mp4", ("-c:v", "libaom-av1", "-cpu-used", "8"), "mp4", "av1"),
    ],
)
def test_every_container_and_codec_of_browsers_is_read(
    make: Make, name: str, options: tuple[str, ...], container: str, codec: str
) -> None:
    measured = measure(make(name, *options), name)
    probe = measured.probe
    assert (probe.container, probe.codec, probe.duration_ms, probe.fps) == (container, codec, 400, 25.0)
    assert (probe.width, probe.height, measured.frames, playback_problem(measured, name)) == (64, 48, 10, None)


def test_the_size_is_the_one_that_is_shown(make: Make, tmp_path: Path) -> None:
    run_ffmpeg(["-display_rotation", "90", "-i", str(make("a.mp4")), "-c", "copy", str(tmp_path / "turned.mp4")])
    turned = measure(tmp_path / "turned.mp4", "x").probe
    wide = measure(make("wide.mp4", *H264, "-vf", "setsar=2"), "x").probe
    assert (turned.width, turned.height, wide.width, wide.height) == (48, 64, 128, 48)


def test_the_length_is_true_where_the_header_has_none(make: Make, tmp_path: Path) -> None:
    piped = run_ffmpeg(["-v", "error", "-i", str(make("a.webm", *VP9)), "-c", "copy", "-f", "webm", "pipe:1"])
    (tmp_path / "live.webm").write_bytes(piped.out)
    assert measure(tmp_path / "live.webm", "x").probe.duration_ms == 400


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("text.mp4", lambda whole: b"hello", "it is no mp4, mov, webm or mkv, or it is cut off"),
        (
            "list.mp4",
            lambda whole: b"ffconcat version 1.0\nfile a.mp4\n",
            "it is no mp4, mov, webm or mkv, or it is cut off",
        ),
        ("empty.mp4", lambda whole: b"", "the file is empty"),
        ("half.mp4", lambda whole: whole[: len(whole) * 6 // 10], "it is cut off or damaged"),
        ("start.mp4", lambda whole: whole[:200], "it has no picture, or it is cut off"),
    ],
)
def test_a_file_that_is_no_whole_video_is_named(
    make: Make, tmp_path: Path, name: str, data: Callable[[bytes], bytes], reason: str
) -> None:
    whole = make("front.mp4", *H264, "-movflags", "+faststart", size="320x240", seconds=1.0).read_bytes()
    (tmp_path / "stimuli" / "a").mkdir(parents=True)
    (tmp_path / "stimuli" / "a" / name).write_bytes(data(whole))
    assert problems_of(study_in(tmp_path)) == [
        f"stimuli/a/{name}  cannot be read as video: {reason}. Export or copy it again, or take it out."
    ]


def test_a_webm_that_is_cut_off_is_named(make: Make, tmp_path: Path) -> None:
    whole = make("long.webm", *VP9, size="320x240", seconds=1.0).read_bytes()
    (tmp_path / "half.webm").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StimuliError, match=r"^half\.webm  cannot be read as video: it is cut off or damaged\."):
        measure(tmp_path / "half.webm", "half.webm")


ADVICE = "Re-encode it with beholder media prepare."
UNPLAYED = f"which browsers do not play. Allowed: H.264, VP8, VP9, AV1. {ADVICE}"
NOT_BY_ALL = f"which some browsers do not play. Allowed: yuv420p. {ADVICE}"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("hevc.mp4", ("-c:v", "libx265", "-x265-params", "log-level=none"), f"is HEVC, {UNPLAYED}"),
        ("prores.mov", ("-c:v", "prores"), f"is ProRes, {UNPLAYED}"),
        ("old.mp4", ("-c:v", "mpeg4"), f"is MPEG-4 part 2, {UNPLAYED}"),
        ("full.mp4", ("-c:v", "libx264", "-pix_fmt", "yuv444p"), f"is H.264 in yuv444p, {NOT_BY_ALL}"),
    ],
)
def test_what_browsers_do_not_play_is_a_problem(
    make: Make, tmp_path: Path, name: str, options: tuple[str, ...], message: str
) -> None:
    put(make(name, *options), tmp_path / "stimuli" / "a" / name)
    assert problems_of(study_in(tmp_path)) == [f"stimuli/a/{name}  {message}"]


def test_sound_that_browsers_do_not_play_is_a_problem(make: Make) -> None:
    path = make("pcm.mov", *H264, "-c:a", "pcm_s16le", sound=True)
    assert str(playback_problem(measure(path, "pcm.mov"), "pcm.mov")) == (
        "pcm.mov  has pcm_s16le sound, which browsers do not play with H.264. Allowed: aac, flac, mp3, opus. "
        "Re-encode it with beholder media prepare."
    )


@pytest.mark.parametrize(
    ("name", "options", "served"),
    [
        ("MARKNAME.mp4", (*H264, "-c:a", "aac"), ".mp4"),
        ("MARKNAME.mov", (*H264, "-c:a", "aac"), ".mp4"),
        ("MARKNAME.mkv", (*H264, "-c:a", "aac"), ".mp4"),
        ("MARKNAME.webm", (*VP9, "-c:a", "libopus"), ".webm"),
    ],
)
def test_served_copies_keep_the_pictures_and_no_trace_of_their_origin(
    make: Make, tmp_path: Path, name: str, options: tuple[str, ...], served: str
) -> None:
    source = make(name, *options, *MARKS, sound=True)
    put(source, tmp_path / "stimuli" / "MARKCONDITION" / name)
    (stimulus,) = load_catalogue(study_in(tmp_path)).stimuli
    data = stimulus.served.read_bytes()
    assert b"MARKTITLE" in source.read_bytes()
    assert [mark for mark in (b"MARK", b"x264", b"libvpx", b"crf=", b"2019", b"Lavf61") if mark in data] == []
    assert stimulus.served.suffix == served
    assert stimulus.served.parent == tmp_path / "media"
    assert frames_in(stimulus.served) == frames_in(source)
    assert len(frames_in(source)) == 10
    before, after = measure(source, "x").probe, measure(stimulus.served, "x").probe
    assert (after.duration_ms, after.audio_codec) == (before.duration_ms, before.audio_codec)


def test_a_clip_that_would_not_play_once_stripped_is_refused(make: Make, tmp_path: Path) -> None:
    whole = make("open.mp4", *H264, "-x264-params", "open-gop=1:keyint=25:bframes=3", seconds=4.0)
    target = tmp_path / "stimuli" / "a" / "cut.mp4"
    target.parent.mkdir(parents=True)
    run_ffmpeg(["-ss", "2.5", "-i", str(whole), "-c", "copy", str(target)])
    assert problems_of(study_in(tmp_path)) == [
        "stimuli/a/cut.mp4  cannot be copied without its metadata: the copy does not play like it, as with clips cut "
        "between two key frames. Re-encode it with beholder media prepare."
    ]
    assert [path.name for path in (tmp_path / "media").iterdir()] == ["catalogue.json"]


def test_a_catalogue_has_conditions_in_the_order_of_the_study_and_contents_by_code_point(
    make: Make, tmp_path: Path
) -> None:
    for condition in ("no", "NA", "01", "Größe 2", "-"):
        for content in ("b", "B", "a c"):
            put(make("a.mp4"), tmp_path / "stimuli" / condition / f"{content}.mp4")
    plain = load_catalogue(study_in(tmp_path))
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


def test_listed_conditions_restrict_and_misspelt_ones_are_problems(make: Make, tmp_path: Path) -> None:
    for condition in ("natural", "noisy"):
        put(make("a.mp4"), tmp_path / "stimuli" / condition / "a.mp4")
    catalogue = load_catalogue(study_in(tmp_path, conditions=["natural"]))
    assert [s.id for s in catalogue.stimuli] == ["natural/a"]
    assert [str(warning) for warning in catalogue.warnings] == [
        "condition noisy  is not listed in conditions, so its 1 stimulus is left out."
    ]
    assert problems_of(study_in(tmp_path, conditions=["natural", "nosy"])) == [
        "study.yaml:1  conditions.1 is nosy, which has no stimuli. Allowed: natural, noisy. Did you mean noisy?"
    ]


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


def test_every_stimulus_has_the_size_class_of_its_content(make: Make, tmp_path: Path) -> None:
    put(make("a.mp4"), tmp_path / "stimuli" / "x" / "city.mp4")
    put(make("big.mp4", size="128x96"), tmp_path / "stimuli" / "y" / "city.mp4")
    put(make("a.mp4"), tmp_path / "stimuli" / "x" / "park.mp4")
    catalogue = load_catalogue(study_in(tmp_path))
    own = {stimulus.id: stimulus.served.stat().st_size for stimulus in catalogue.stimuli}
    assert own["x/city"] < own["y/city"]
    assert catalogue.class_sizes == {"x/city": own["y/city"], "y/city": own["y/city"], "x/park": own["x/park"]}


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


def test_a_catalogue_knows_the_sizes_of_its_copies(make: Make, tmp_path: Path) -> None:
    put(make("soft.mp4", *H264, "-crf", "45", size="320x240"), tmp_path / "stimuli" / "low" / "city.mp4")
    noisy = make("noisy.mp4", *H264, "-crf", "1", "-vf", "noise=alls=100:allf=t", size="320x240")
    put(noisy, tmp_path / "stimuli" / "high" / "city.mp4")
    (warning,) = load_catalogue(study_in(tmp_path)).warnings
    assert str(warning).startswith("content city  has files that differ in size more than the filler can hide (")
    assert load_catalogue(study_in(tmp_path)).warnings == (warning,)


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


def test_vorbis_sound_is_copied_without_its_comments(make: Make, tmp_path: Path) -> None:
    source = make("vorbis.webm", *VP9, "-c:a", "libvorbis", *MARKS, "-metadata:s:a", "title=MARKSOUND", sound=True)
    put(source, tmp_path / "stimuli" / "a" / "city.webm")
    (stimulus,) = load_catalogue(study_in(tmp_path)).stimuli
    assert b"Xiph.Org libVorbis" in source.read_bytes()
    assert [mark for mark in (b"MARK", b"Xiph", b"Lavc") if mark in stimulus.served.read_bytes()] == []
    assert stimulus.encoders == ()
    assert sound_in(stimulus.served) == sound_in(source)


def test_a_second_load_touches_nothing_and_a_deleted_or_changed_file_is_made_again(make: Make, tmp_path: Path) -> None:
    for content in ("a", "b"):
        put(make("a.mp4"), tmp_path / "stimuli" / "x" / f"{content}.mp4")
    put(make("big.mp4", size="128x96"), tmp_path / "stimuli" / "x" / "c.mp4")
    seen: list[tuple[int, int]] = []

    def load() -> int:
        seen.clear()
        catalogue = load_catalogue(study_in(tmp_path), lambda done, total: seen.append((done, total)))
        assert all(stimulus.served.is_file() for stimulus in catalogue.stimuli)
        return len(seen)

    assert load() == 3
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert load() == 0
    load_catalogue(study_in(tmp_path)).by_id["x/c"].served.unlink()
    assert load() == 1
    put(make("longer.mp4", seconds=0.8), tmp_path / "stimuli" / "x" / "a.mp4")
    assert load() == 1
    (tmp_path / "media" / "catalogue.json").write_text("{")
    assert load() == 3
    shutil.rmtree(tmp_path / "media")
    assert load() == 3
    assert [path.name for path in (tmp_path / "media").iterdir() if path.name.endswith(".part")] == []


def test_one_bad_file_does_not_cost_the_work_on_the_others(make: Make, tmp_path: Path) -> None:
    put(make("a.mp4"), tmp_path / "stimuli" / "x" / "a.mp4")
    (tmp_path / "stimuli" / "x" / "b.mp4").write_text("no video")
    assert len(problems_of(study_in(tmp_path))) == 1
    (tmp_path / "stimuli" / "x" / "b.mp4").unlink()
    seen: list[int] = []
    load_catalogue(study_in(tmp_path), lambda done, total: seen.append(done))
    assert seen == []


def test_an_ffmpeg_that_is_not_there_is_said_plainly(monkeypatch: pytest.MonkeyPatch, make: Make) -> None:
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(make("a.mp4").parent / "none"))
    with pytest.raises(StimuliError) as caught:
        run_ffmpeg(["-version"])
    assert str(caught.value) == (
        f"ffmpeg  cannot be started: {os.strerror(errno.ENOENT)}. Set IMAGEIO_FFMPEG_EXE to an ffmpeg that runs here."
    )
