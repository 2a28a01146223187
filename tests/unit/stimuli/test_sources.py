"""Where stimuli come from: folders, patterns, manifests, addresses."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import httpx
import pytest

from beholder.errors import StimuliError
from beholder.stimuli.addresses import PublicNetwork
from beholder.stimuli.ingestion import load_catalogue
from support.source_studies import SUFFIXES, problems, study_in, warnings, write


def test_a_missing_folder_a_file_in_its_place_and_an_empty_one_are_problems(tmp_path: Path) -> None:
    fix = "Make the folder stimuli with one folder per condition, or change stimuli in the study."
    file_fix = "Name the folder that holds one folder per condition."
    assert problems(tmp_path) == [f"study.yaml:1  stimuli is stimuli, which is not there. {fix}"]
    (tmp_path / "stimuli").write_text("")
    assert problems(tmp_path) == [f"study.yaml:1  stimuli is stimuli, which is a file, not a folder. {file_fix}"]
    (tmp_path / "stimuli").unlink()
    (tmp_path / "stimuli" / "a").mkdir(parents=True)
    put = "Put files there as stimuli/<condition>/<content>, for example stimuli/a/city.mp4."
    assert problems(tmp_path) == [f"stimuli  holds no stimuli. Allowed: {SUFFIXES}. {put}"]
    write(tmp_path, {"stimuli/a/x.srt": "", "stimuli/a/y.json": ""})
    assert problems(tmp_path) == [f"stimuli  holds no stimuli (2 other files left out). Allowed: {SUFFIXES}. {put}"]


def test_hidden_files_are_ignored_and_other_kinds_are_told(tmp_path: Path, video: bytes) -> None:
    clutter = {
        "stimuli/.DS_Store": "x",
        "stimuli/a/Thumbs.db": "x",
        "stimuli/a/._city.mp4": "x",
        "stimuli/.git/x.mp4": "x",
    }
    others = {
        "stimuli/a/city.vtt": "x",
        "stimuli/README.md": "x",
        "stimuli/overview.PNG": "x",
        "stimuli/a/b/c.mp4": "x",
    }
    write(
        tmp_path, {"stimuli/a/city.MP4": video, **clutter, **others, "stimuli/a/notes.xyz": "x", "stimuli/a/bare": "x"}
    )
    catalogue = load_catalogue(study_in(tmp_path))
    assert [stimulus.id for stimulus in catalogue.stimuli] == ["a/city"]
    assert warnings(catalogue) == [
        "stimuli/a/b  is a folder inside a condition and is left out.",
        f"stimuli/a/bare  is left out: no suffix is an unknown kind of file. Allowed: {SUFFIXES}.",
        f"stimuli/a/city.vtt  is left out: .vtt is an unknown kind of file. Allowed: {SUFFIXES}.",
        f"stimuli/a/notes.xyz  is left out: .xyz is an unknown kind of file. Allowed: {SUFFIXES}.",
        "stimuli/README.md  is left out: text beside video.",
        "stimuli/overview.PNG  is left out: image beside video.",
    ]


def test_a_video_outside_a_condition_and_two_contents_of_one_name_are_problems(tmp_path: Path, video: bytes) -> None:
    write(tmp_path, {"stimuli/city.mp4": video, "stimuli/a/sea.mp4": video, "stimuli/a/sea.mov": video})
    assert problems(tmp_path) == [
        "stimuli/city.mp4  lies in no condition folder. "
        "Expected stimuli/<condition>/city.mp4  Move it there, or give a pattern for file names.",
        "stimuli/a/sea.mp4  is content sea under condition a again, as stimuli/a/sea.mov is. "
        "Allowed: one file for each content and condition. Rename one of them or take it out.",
    ]


def test_stimuli_of_several_media_are_a_problem_that_names_one_of_each(tmp_path: Path, video: bytes) -> None:
    write(tmp_path, {"stimuli/a/sea.mp4": video, "stimuli/b/sea.wav": "x"})
    assert problems(tmp_path)[0] == (
        "study.yaml:1  stimuli mix video (stimuli/a/sea.mp4) and audio (stimuli/b/sea.wav). "
        "Allowed: one medium. Take the others out, or make a study of each."
    )
    rows = "file,content,condition\nsea.mp4,sea,a\nhttps://example.org/sea.png?x=1,sea,b\n"
    write(tmp_path, {"list.csv": rows, "sea.mp4": video})

    def away(request: httpx.Request) -> httpx.Response:
        return httpx.Response(404)

    with pytest.raises(StimuliError) as caught:
        load_catalogue(
            study_in(tmp_path, {"manifest": "list.csv"}),
            network=PublicNetwork(httpx.MockTransport(away), lambda host, port: ["93.184.216.34"]),
        )
    assert str(caught.value.problems[0]) == (
        "study.yaml:1  stimuli mix video (sea.mp4) and image (https://example.org/sea.png?x=1). "
        "Allowed: one medium. Take the others out, or make a study of each."
    )


def test_a_note_among_videos_is_left_out_with_a_warning(tmp_path: Path, video: bytes) -> None:
    write(tmp_path, {"stimuli/a/sea.mp4": video, "stimuli/b/sea.mp4": video})
    write(tmp_path, {"stimuli/a/sea.txt": "A transcript.", "stimuli/notes/x.md": "A note."})
    catalogue = load_catalogue(study_in(tmp_path, {"folder": "stimuli", "accept": ["identical"]}))
    assert [stimulus.id for stimulus in catalogue.stimuli] == ["a/sea", "b/sea"]
    assert [str(warning) for warning in catalogue.warnings] == [
        "stimuli/a/sea.txt  is left out: text beside video.",
        "stimuli/notes/x.md  is left out: text beside video.",
    ]


def test_a_video_among_texts_is_a_mixture_of_media(tmp_path: Path, video: bytes) -> None:
    write(tmp_path, {f"stimuli/{name}/sea.txt": "A text." for name in ("long", "short")})
    write(tmp_path, {"stimuli/long/city.mp4": video})
    assert problems(tmp_path) == [
        "study.yaml:1  stimuli mix video (stimuli/long/city.mp4) and text (stimuli/long/sea.txt). "
        "Allowed: one medium. Take the others out, or make a study of each."
    ]


def test_names_in_another_unicode_form_are_the_same_names(tmp_path: Path, video: bytes) -> None:
    write(tmp_path, {f"stimuli/{unicodedata.normalize('NFD', 'Größe')}/café.mp4": video})
    catalogue = load_catalogue(study_in(tmp_path, conditions=[unicodedata.normalize("NFC", "Größe")]))
    assert [stimulus.id for stimulus in catalogue.stimuli] == [unicodedata.normalize("NFC", "Größe/café")]


def test_a_pattern_reads_content_condition_and_factors_and_lists_what_does_not_match(
    tmp_path: Path, video: bytes
) -> None:
    pattern = r"(?P<content>[^_]+)_(?P<condition>[^_]+)_(?P<rate>\d+)\.mp4"
    write(tmp_path, {"clips/city_h264_500.mp4": video, "clips/sea_h264_900.mp4": video})
    catalogue = load_catalogue(study_in(tmp_path, {"folder": "clips", "pattern": pattern}))
    assert [(s.id, dict(s.factors), s.file) for s in catalogue.stimuli] == [
        ("h264/city", {"rate": "500"}, "clips/city_h264_500.mp4"),
        ("h264/sea", {"rate": "900"}, "clips/sea_h264_900.mp4"),
    ]
    write(tmp_path, {"clips/park.mp4": video, "clips/wood.mp4": video})
    fix = "Rename it, take it out, or change the pattern."
    assert problems(tmp_path, {"folder": "clips", "pattern": pattern}) == [
        f"clips/{name}.mp4  does not match the pattern {pattern}. {fix}" for name in ("park", "wood")
    ]


def test_a_pattern_may_speak_of_the_name_without_its_suffix(tmp_path: Path, video: bytes) -> None:
    write(tmp_path, {"clips/city-a.mp4": video, "clips/notes.txt": "x"})
    study = study_in(tmp_path, {"folder": "clips", "pattern": "(?P<content>.+)-(?P<condition>.+)"})
    (tmp_path / "clips" / "more").mkdir()
    catalogue = load_catalogue(study)
    assert [stimulus.condition for stimulus in catalogue.stimuli] == ["a"]
    assert warnings(catalogue) == [
        "clips/more  is a folder and is left out: with a pattern the folder is flat.",
        "clips/notes.txt  is left out: text beside video.",
    ]


def test_a_pattern_that_leaves_a_name_empty_is_told(tmp_path: Path, video: bytes) -> None:
    write(tmp_path, {"clips/city-.mp4": video})
    stimuli = {"folder": "clips", "pattern": "(?P<content>.+)-(?P<condition>.*)[.]mp4"}
    assert problems(tmp_path, stimuli) == ["clips/city-.mp4  the condition is empty. Allowed: a name."]


LINKED = pytest.mark.skipif(sys.platform == "win32", reason="links need a right of their own there")
LINK_FIX = "Copy it into the study folder; for stimuli elsewhere, `beholder run --stimuli FOLDER` copies them."


@LINKED
def test_a_link_out_of_the_study_folder_is_refused_wherever_it_is(tmp_path: Path, video: bytes) -> None:
    study, away = tmp_path / "study", tmp_path / "away"
    write(study, {"stimuli/a/sea.mp4": video, "own/city.mp4": video})
    write(away, {"b/sea.mp4": video, "secret.mp4": video, "list.csv": "file,content,condition\n"})
    (study / "stimuli" / "a" / "secret.mp4").symlink_to(away / "secret.mp4")
    (study / "stimuli" / "b").symlink_to(away / "b")
    (study / "stimuli" / "c").symlink_to(study / "own")
    refused = f"a link out of the study folder. Allowed: files inside the study folder. {LINK_FIX}"
    assert problems(study)[:2] == [
        f"stimuli/b  is stimuli/b, {refused}",
        f"stimuli/a/secret.mp4  is stimuli/a/secret.mp4, {refused}",
    ]
    for name in ("stimuli/b", "stimuli/a/secret.mp4"):
        (study / name).unlink()
    # A link to another place in the folder is as good as a copy.
    catalogue = load_catalogue(study_in(study, {"folder": "stimuli", "accept": ["missing", "identical"]}))
    assert [one.id for one in catalogue.stimuli] == ["a/sea", "c/city"]
    (study / "elsewhere").symlink_to(away)
    assert problems(study, "elsewhere") == [f"study.yaml:1  stimuli.folder is elsewhere, {refused}"]
    (study / "list.csv").symlink_to(away / "list.csv")
    assert problems(study, {"manifest": "list.csv"}) == [f"study.yaml:1  stimuli.manifest is list.csv, {refused}"]
    write(study, {"own.csv": "file,content,condition\nelsewhere/secret.mp4,x,a\n"})
    assert problems(study, {"manifest": "own.csv"}) == [
        "own.csv:2  elsewhere/secret.mp4 lies outside the study folder. Allowed: paths inside it. "
        "Copy the files into the study folder."
    ]


def test_a_pattern_without_an_end_is_a_problem(tmp_path: Path, video: bytes) -> None:
    write(tmp_path, {f"stimuli/{'x' * 60}{n}.mp4": video for n in range(3)})
    slow = r"(?P<content>(x|xx)+)(?!.*x)\b(?P<condition>(?<=y))"
    assert problems(tmp_path, {"folder": "stimuli", "pattern": slow}) == [
        f"study.yaml:1  stimuli.pattern is {slow}, which takes too long on the name {'x' * 60}0.mp4. "
        "Allowed: a pattern that comes to an end. Repeat nothing that is repeated already, as (a+)+ does."
    ]


def test_a_manifest_of_a_hundred_megabytes_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "list.csv").open("wb") as file:
        file.truncate(100_000_000)
    assert problems(tmp_path, {"manifest": "list.csv"}) == [
        "study.yaml:1  stimuli.manifest is list.csv, which has 100000000 bytes. Allowed: at most 64000000 bytes."
    ]
