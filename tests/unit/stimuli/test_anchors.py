"""Low-pass anchors: in step with their reference to the sample, flat below, silent above."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from beholder.errors import StimuliError, StudyError
from beholder.methods import load_study
from beholder.simulation.truth import plant_truth
from beholder.stimuli.anchors import anchor_recipes
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.ffmpeg import run_ffmpeg
from beholder.stimuli.ingestion import load_catalogue
from beholder.stimuli.pcm import write_wav
from beholder.stimuli.workshop.anchors import degrade
from beholder.study.checks import installed_checks
from beholder.study.loading import build_study
from beholder.study.model import Study
from beholder.study.recipes import read_recipe
from beholder.study.yaml import read_document
from support.video_anchors import film, greys, psnr

STUDY = """beholder: 1
name: sounds
title: Sounds
method: parallel
options:
  anchors: {anchors}
stimuli: stimuli
conditions: [original, low, lowpass-9000]
"""


def study_with(folder: Path, anchors: str) -> Path:
    (folder / "study.yaml").write_text(STUDY.format(anchors=anchors), "utf-8")
    return folder / "study.yaml"


def test_recipes_are_the_anchors_without_files_of_their_own(tmp_path: Path) -> None:
    path = study_with(tmp_path, "[low, lowpass-3500, lowpass-9000, lowpass-7000, lowpass-3500]")
    assert anchor_recipes(load_study(path)) == ("lowpass-3500", "lowpass-7000")


def test_recipes_that_cannot_be_read_are_told_at_once(tmp_path: Path) -> None:
    study = load_study(study_with(tmp_path, "[lowpass-x, lowpass-0, low, lowpass]"))
    with pytest.raises(StudyError) as caught:
        anchor_recipes(study)
    allowed = "Allowed: lowpass- and a frequency in Hz from 20 on, as lowpass-3500."
    assert str(caught.value).splitlines() == [
        f"study.yaml:6  options.anchors.{place} is {name}, which is neither a condition nor a recipe. {allowed}"
        for place, name in ((0, "lowpass-x"), (1, "lowpass-0"), (3, "lowpass"))
    ]


RATE = 44100


REFERENCE = {"name": "original", "role": "reference"}


def study_in(
    folder: Path, anchors: list[str], conditions: list[object] | None = None, stimuli: object = "stimuli"
) -> Study:
    keys: dict[str, object] = {"beholder": 1, "name": "tiny", "title": "Tiny", "method": "acr", "stimuli": stimuli}
    keys["options"] = {"anchors": anchors}
    if conditions is not None:
        keys["conditions"] = conditions
    (folder / "study.yaml").write_text(json.dumps(keys))
    return build_study(read_document(folder), None, installed_checks())


def problems(study: Study) -> list[str]:
    with pytest.raises(StimuliError) as caught:
        load_catalogue(study)
    return [str(problem) for problem in caught.value.problems]


def spectrum(path: Path) -> np.ndarray:
    """Return the strength of each whole Hertz of a sound of one second."""
    ran = run_ffmpeg(["-v", "error", "-i", str(path), "-f", "f64le", "pipe:1"])
    samples = np.frombuffer(ran.out, dtype="<f8")
    assert len(samples) == RATE
    return np.abs(np.fft.rfft(samples)) / (RATE / 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study folder: two contents under an original and a codec, tones of 1, 5 and 9 kHz."""
    time = np.arange(RATE) / RATE
    tones = sum(0.2 * np.sin(2 * np.pi * hertz * time) for hertz in (1000, 5000, 9000))
    for condition, gain in (("original", 1.0), ("codec", 0.5)):
        for content, more in (("song", 1.0), ("talk", 0.8)):
            write_wav(tmp_path / "stimuli" / condition / f"{content}.wav", np.array(tones) * gain * more, RATE)
    return tmp_path


@pytest.mark.variant
def test_anchors_are_made_of_each_reference_and_come_last(folder: Path) -> None:
    seen: list[int] = []
    study = study_in(folder, ["lowpass-3500", "lowpass-7000"], ["codec", REFERENCE])
    catalogue = load_catalogue(study, lambda done, total: seen.append(done))
    assert catalogue.conditions == ("codec", "original", "lowpass-3500", "lowpass-7000")
    assert [s.id for s in catalogue.stimuli[4:]] == [
        "lowpass-3500/song", "lowpass-3500/talk", "lowpass-7000/song", "lowpass-7000/talk",
    ]  # fmt: skip
    assert {s.condition: s.role for s in catalogue.stimuli} == {
        "codec": "test", "original": "reference", "lowpass-3500": "anchor", "lowpass-7000": "anchor",
    }  # fmt: skip
    assert {content: s.id for content, s in catalogue.references.items()} == {
        "song": "original/song", "talk": "original/talk",
    }  # fmt: skip
    assert catalogue.missing() == ()
    (warning,) = catalogue.warnings
    assert "stimuli/original/song.wav is 6.1 LU louder than stimuli/codec/song.wav" in warning.what
    assert "lowpass" not in warning.what, "an anchor is softer by what is taken out of it"
    assert catalogue.by_id["lowpass-3500/talk"].file == "lowpass-3500 of stimuli/original/talk.wav"
    assert len(seen) == 8
    for recipe, left in (("lowpass-3500", (1000,)), ("lowpass-7000", (1000, 5000))):
        strength = spectrum(catalogue.by_id[f"{recipe}/song"].served)
        for hertz in (1000, 5000, 9000):
            assert strength[hertz] == pytest.approx(0.2 if hertz in left else 0, abs=0.002)


def test_anchors_are_made_once_and_again_when_the_reference_changes(folder: Path) -> None:
    study = study_in(folder, ["lowpass-3500"], ["codec", REFERENCE])
    seen: list[int] = []

    def load() -> Catalogue:
        seen.clear()
        return load_catalogue(study, lambda done, total: seen.append(done))

    first = load()
    assert len(seen) == 6
    assert load() == first
    assert seen == []
    made = sorted((folder / "media" / "made").iterdir())
    assert len(made) == 2
    made[0].unlink()
    assert load() == first
    assert len(seen) == 1
    write_wav(folder / "stimuli" / "original" / "song.wav", np.zeros(RATE), RATE)
    changed = load()
    assert len(seen) == 2
    assert {len(stimulus.sha256) for stimulus in changed.stimuli} == {64}
    assert changed.by_id["lowpass-3500/song"].sha256 != first.by_id["lowpass-3500/song"].sha256
    assert changed.by_id["lowpass-3500/talk"] == first.by_id["lowpass-3500/talk"]


def test_a_reference_of_a_manifest_gives_anchors_as_well(folder: Path) -> None:
    rows = ["file,content,condition,role,kind", "stimuli/original/song.wav,song,original,reference,a"]
    rows.append("stimuli/codec/song.wav,song,codec,,b")
    (folder / "list.csv").write_text("\n".join(rows))
    catalogue = load_catalogue(study_in(folder, ["lowpass-3500"], stimuli={"manifest": "list.csv"}))
    assert catalogue.conditions == ("codec", "original", "lowpass-3500")
    assert dict(catalogue.by_id["lowpass-3500/song"].factors) == {"kind": ""}


def test_a_condition_that_is_named_as_an_anchor_is_one(folder: Path) -> None:
    catalogue = load_catalogue(study_in(folder, ["codec"], ["codec", REFERENCE]))
    assert {s.condition: s.role for s in catalogue.stimuli} == {"codec": "anchor", "original": "reference"}


def test_a_listed_anchor_without_files_is_made_and_one_with_files_is_not(folder: Path) -> None:
    listed: list[object] = [{"name": "lowpass-3500", "role": "anchor", "label": "Low"}, "codec", REFERENCE]
    study = study_in(folder, ["lowpass-3500"], listed)
    catalogue = load_catalogue(study)
    assert catalogue.conditions == ("lowpass-3500", "codec", "original")
    assert catalogue.by_id["lowpass-3500/song"].file == "lowpass-3500 of stimuli/original/song.wav"
    for content in ("song", "talk"):
        write_wav(folder / "stimuli" / "lowpass-3500" / f"{content}.wav", np.zeros(RATE), RATE)
    for own in (study, study_in(folder, ["lowpass-3500"])):
        assert load_catalogue(own).by_id["lowpass-3500/song"].file == "stimuli/lowpass-3500/song.wav"


def test_anchors_that_cannot_be_made_are_problems(folder: Path, tmp_path: Path) -> None:
    assert problems(study_in(folder, ["lowpass-3500", "lowpass-7000"])) == [
        "study.yaml:1  options.anchors asks for lowpass-3500 and lowpass-7000, made of a reference, and no condition "
        "is one. Write role: reference at a condition, as {name: original, role: reference}."
    ]
    assert problems(study_in(folder, ["codek", "lowpass-x"], ["codec", REFERENCE])) == [
        "study.yaml:1  options.anchors.1 is lowpass-x, which is neither a condition nor a recipe. "
        "Allowed: lowpass- and a frequency in Hz from 20 on, as lowpass-3500.",
        "study.yaml:1  options.anchors.0 is codek, which is neither a condition nor a recipe. "
        "Allowed: codec, original, or lowpass-3500, lowpass-7000. Did you mean codec?",
    ]
    assert problems(study_in(folder, ["codek"], ["codec", REFERENCE])) == [
        "study.yaml:1  options.anchors.0 is codek, which is neither a condition nor a recipe. "
        "Allowed: codec, original, or lowpass-3500, lowpass-7000. Did you mean codec?"
    ]
    assert problems(study_in(folder, ["lowpass-22000"], ["codec", REFERENCE])) == [
        f"lowpass-22000 of stimuli/original/{content}.wav  has 44100 samples a second, so that no low-pass at 22000 Hz "
        "can be made. Allowed: 20 to 19845 Hz."
        for content in ("song", "talk")
    ]


def test_no_low_pass_is_made_of_texts(tmp_path: Path) -> None:
    (tmp_path / "stimuli" / "original").mkdir(parents=True)
    (tmp_path / "stimuli" / "original" / "x.txt").write_text("words")
    assert problems(study_in(tmp_path, ["lowpass-3500"], [REFERENCE])) == [
        "study.yaml:1  options.anchors asks for lowpass-3500, made of sound, and the stimuli are text. "
        "Allowed: names of conditions. Make the anchors as conditions."
    ]


@pytest.fixture
def video_folder(tmp_path: Path) -> Path:
    for condition in ("original", "codec"):
        film(tmp_path / "stimuli" / condition / "street.mp4", seconds=0.4)
    return tmp_path


def video_study(folder: Path, anchors: list[str], conditions: list[object] | None = None) -> Study:
    keys: dict[str, object] = {"beholder": 1, "name": "tiny", "title": "Tiny", "method": "acr", "stimuli": "stimuli"}
    keys |= {"options": {"anchors": anchors}} | ({} if conditions is None else {"conditions": conditions})
    (folder / "study.yaml").write_text(json.dumps(keys))
    return build_study(read_document(folder), None, installed_checks())


VIDEO_REFERENCE = {"name": "original", "role": "reference"}


def video_problems(study: Study) -> list[str]:
    with pytest.raises(StimuliError) as caught:
        load_catalogue(study)
    return [str(problem) for problem in caught.value.problems]


def test_a_study_gets_its_anchors_of_video(video_folder: Path) -> None:
    recipes = ["bitrate-30k", "resolution-36", "fps-7.5", "blur-20", "blur-40"]
    study = video_study(video_folder, recipes, ["codec", VIDEO_REFERENCE])
    catalogue = load_catalogue(study)
    assert catalogue.conditions == ("codec", "original", *recipes)
    assert {s.condition: s.role for s in catalogue.stimuli if s.condition in recipes} == dict.fromkeys(
        recipes, "anchor"
    )
    original = catalogue.by_id["original/street"]
    for recipe in recipes:
        anchor = catalogue.by_id[f"{recipe}/street"]
        assert anchor.file == f"{recipe} of stimuli/original/street.mp4"
        assert (anchor.medium, anchor.served.suffix) == ("video", ".mp4")
        assert (anchor.probe.width, anchor.probe.fps, anchor.probe.duration_ms) == (192, 25, original.probe.duration_ms)
        assert psnr(greys(original.served), greys(anchor.served)) < 36
    seen: list[int] = []
    assert load_catalogue(study, lambda done, total: seen.append(done)) == catalogue
    assert seen == []
    truth = plant_truth(catalogue, ("q",), seed=1).conditions
    assert sorted(truth, key=lambda name: -truth[name]) == ["original", "codec", *recipes]


def test_anchors_that_a_study_cannot_have_are_problems(video_folder: Path) -> None:
    listed: list[object] = ["codec", VIDEO_REFERENCE]
    assert video_problems(video_study(video_folder, ["blur-x", "codek", "fps-0"], listed)) == [
        "study.yaml:1  options.anchors.0 is blur-x, which is neither a condition nor a recipe. "
        "Allowed: blur- and 0.1 to 100 pixels at 1080 lines, as blur-4.",
        "study.yaml:1  options.anchors.2 is fps-0, which is neither a condition nor a recipe. "
        "Allowed: fps- and 0.5 to 240 frames a second, as fps-7.5.",
        "study.yaml:1  options.anchors.1 is codek, which is neither a condition nor a recipe. "
        "Allowed: codec, original, or bitrate-200k, resolution-180, fps-7.5, blur-4. Did you mean codec?",
    ]
    assert video_problems(video_study(video_folder, ["lowpass-3500", "blur-4", "lowpass-7000"], listed)) == [
        "study.yaml:1  options.anchors asks for lowpass-3500 and lowpass-7000, made of sound, and the stimuli are "
        "video. Allowed: names of conditions, or bitrate-200k, resolution-180, fps-7.5, blur-4. "
        "Make the anchors as conditions."
    ]
    assert video_problems(video_study(video_folder, ["blur-4"])) == [
        "study.yaml:1  options.anchors asks for blur-4, made of a reference, and no condition is one. "
        "Write role: reference at a condition, as {name: original, role: reference}."
    ]
    assert video_problems(video_study(video_folder, ["resolution-108"], listed)) == [
        "resolution-108 of stimuli/original/street.mp4  has 108 lines, so that 108 would not be worse. "
        "Allowed: less than 108 lines."
    ]


def test_no_video_is_made_of_sound(tmp_path: Path) -> None:
    write_wav(tmp_path / "stimuli" / "original" / "x.wav", np.zeros(4800), 48_000)
    assert video_problems(video_study(tmp_path, ["blur-4"], [VIDEO_REFERENCE])) == [
        "study.yaml:1  options.anchors asks for blur-4, made of video, and the stimuli are audio. "
        "Allowed: names of conditions, or lowpass-3500, lowpass-7000. Make the anchors as conditions."
    ]


def test_a_folder_whose_name_only_looks_like_a_recipe_is_a_condition(video_folder: Path) -> None:
    (video_folder / "stimuli" / "codec").rename(video_folder / "stimuli" / "blur-strong")
    study = video_study(video_folder, ["blur-strong"])
    assert load_catalogue(study).by_id["blur-strong/street"].role == "anchor"
    with pytest.raises(StudyError):
        anchor_recipes(study)


def test_a_recipe_is_made_where_it_is_told_to_be(tmp_path: Path) -> None:
    recipe = read_recipe("blur-8")
    assert recipe is not None
    with pytest.raises(StimuliError, match=r"^blur of it  cannot be read as video"):
        (tmp_path / "bad.mp4").write_bytes(b"no video")
        degrade(tmp_path / "bad.mp4", tmp_path / "anchor.mp4", recipe, "blur of it")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.mp4"]
