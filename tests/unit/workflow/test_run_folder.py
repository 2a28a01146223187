"""The folder of a run on other stimuli."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import beholder
from beholder.methods import load_study
from beholder.testing import write_study
from beholder.workflow.run_folder import make_run_folder, named_as_given
from support.commands import command

CONDITIONS = ("new", "old")


def _write_outputs(folder: Path, words: str = "A sentence.") -> Path:
    for condition in CONDITIONS:
        (folder / condition).mkdir(parents=True, exist_ok=True)
        for content in ("one", "two"):
            (folder / condition / f"{content}.txt").write_text(f"{words} {condition} {content}", "utf-8")
    return folder


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study without any stimulus of its own."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "study"
    folder.mkdir()
    (tmp_path / "seed" / "stimuli").mkdir(parents=True)
    (tmp_path / "seed" / "media").mkdir()
    (folder / "texts").mkdir()
    (folder / "texts" / "hello.md").write_text("Hello.", "utf-8")
    return write_study(
        folder,
        tmp_path / "seed",
        method="acr",
        conditions=list(CONDITIONS),
        questions=[{"id": "good", "text": "Is it good?"}],
        design={"participants": 2, "trials": 4, "contents": "free"},
        playback={"fullscreen": False},
        texts={"consent": "texts/hello.md"},
    )


def _problems(error: pytest.ExceptionInfo[beholder.UserError]) -> str:
    return "\n".join(map(str, error.value.problems))


def test_a_run_on_other_stimuli_works_in_a_folder_of_its_own_that_is_named_after_its_content(
    bare: Path, tmp_path: Path
) -> None:
    _write_outputs(tmp_path / "outputs")
    done = command("run", "study", "--stimuli", "outputs", "--simulate", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (folder,) = (bare.parent / "runs").iterdir()
    assert f"folder   this run works in {folder}\n" in done.stdout
    assert f"Report: {folder / 'report' / 'index.html'}" in done.stdout
    assert (folder / "texts" / "hello.md").read_text("utf-8") == "Hello."
    assert not (bare.parent / "store").exists()
    origin = json.loads((folder / "origin.json").read_text("utf-8"))
    assert origin["stimuli"] == "outputs"
    assert origin["digest"].startswith(folder.name)
    assert origin["files"] == 5
    assert (folder / ".gitignore").read_text("utf-8") == "*\n"


def test_the_same_files_are_continued_and_others_get_another_folder(bare: Path, tmp_path: Path) -> None:
    outputs = _write_outputs(tmp_path / "outputs")
    first = make_run_folder(bare, outputs)
    (outputs / "new" / "model.pt").write_bytes(b"no stimulus")
    _write_outputs(outputs / "step-100")  # conditions that the study does not name
    assert make_run_folder(bare.parent, outputs) == first
    _write_outputs(outputs, "Another sentence.")
    second = make_run_folder(bare, outputs)
    assert second.parent.parent == first.parent.parent == bare.parent / "runs"
    assert second != first
    assert (first.parent / "stimuli" / "new" / "one.txt").read_text("utf-8") == "A sentence. new one"
    assert (second.parent / "stimuli" / "new" / "one.txt").read_text("utf-8") == "Another sentence. new one"
    bare.write_text(bare.read_text("utf-8").replace("Is it good?", "How good is it?"), "utf-8")
    assert make_run_folder(bare, outputs) not in (first, second)
    assert not list((bare.parent / "runs").glob(".run-*"))
    assert len(list((bare.parent / "runs").iterdir())) == 3


def test_a_folder_can_be_named_and_is_never_shared_by_other_stimuli(bare: Path, tmp_path: Path) -> None:
    outputs = _write_outputs(tmp_path / "outputs")
    study = make_run_folder(bare, outputs, tmp_path / "loop" / "step-1")
    assert study == tmp_path / "loop" / "step-1" / "study.yaml"
    assert make_run_folder(bare, outputs, study.parent) == study
    _write_outputs(outputs, "Another.")
    with pytest.raises(beholder.UserError) as error:
        make_run_folder(bare, outputs, study.parent)
    assert _problems(error) == (
        f"{study.parent.as_posix()}  holds the run of another study file or of other stimuli. Allowed: a new folder, "
        "or that of a run on the same stimuli. Choose another folder, or leave --folder out: every run then has one "
        "of its own."
    )
    with pytest.raises(beholder.UserError, match="outputs  holds something else"):
        make_run_folder(bare, outputs, outputs)
    (tmp_path / "empty").mkdir()
    assert make_run_folder(bare, outputs, tmp_path / "empty").is_file()


def test_what_is_given_wrongly_is_said_by_the_name_under_which_it_was_given(bare: Path, tmp_path: Path) -> None:
    done = command("run", "study", "--stimuli", "nowhere", "--simulate", cwd=tmp_path)
    expected = "nowhere  does not exist. Allowed: a folder of stimuli, as <condition>/<content>.<ext>.\n"
    assert (done.returncode, done.stderr) == (2, expected)
    done = command("run", "study", "--folder", "here", "--simulate", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "folder  is for a run on other stimuli, and none are given. Allowed: with stimuli. A run on the study's own "
        "stimuli works in the folder of study.yaml.\n"
    )
    outputs = _write_outputs(tmp_path / "outputs")
    (outputs / "new" / "one.txt").write_bytes(b"\xff\xfe\xfa")
    done = command("run", "study", "--stimuli", "outputs", "--simulate", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("outputs/new/one.txt  ")


def test_every_problem_of_a_study_and_its_stimuli_is_reported_at_once(bare: Path) -> None:
    text = bare.read_text("utf-8")
    bare.write_text(text.replace("stimuli: stimuli\n", "stimuli: {manifest: files.csv}\n"), "utf-8")
    with pytest.raises(beholder.UserError) as error:
        make_run_folder(bare, bare)
    assert _problems(error) == (
        "study.yaml:5  stimuli.manifest names each file by itself, and another folder is given. Write stimuli: "
        "stimuli in study.yaml; any folder can then stand in for it.\n"
        f"{bare.as_posix()}  is a file, not a folder. Allowed: a folder of stimuli, as <condition>/<content>.<ext>."
    )


def test_a_flat_folder_is_read_by_the_pattern_of_the_study(bare: Path, tmp_path: Path) -> None:
    pattern = "stimuli: {folder: clips, pattern: '(?P<content>[^_]+)_(?P<condition>.+)[.]txt'}\n"
    bare.write_text(bare.read_text("utf-8").replace("stimuli: stimuli\n", pattern), "utf-8")
    flat = tmp_path / "flat"
    (flat / "deeper").mkdir(parents=True)
    for name in ("one_new", "one_old", "deeper/two_new"):
        (flat / f"{name}.txt").write_text(name, "utf-8")
    folder = make_run_folder(bare, flat).parent
    assert sorted(path.name for path in (folder / "clips").iterdir()) == ["one_new.txt", "one_old.txt"]
    with pytest.raises(beholder.UserError, match="a folder of files whose names match"):
        make_run_folder(bare, tmp_path / "nowhere")


def test_other_studies_whose_people_are_left_out_are_found_from_the_new_folder(bare: Path, tmp_path: Path) -> None:
    names = ("../first/again", "../first")
    for name in names:
        (bare.parent / name).mkdir(parents=True, exist_ok=True)
    text = bare.read_text("utf-8") + "recruit: {mode: panel, id_parameter: id, exclude: [../first/again, ../first]}\n"
    bare.write_text(text, "utf-8")
    study = load_study(make_run_folder(bare, _write_outputs(tmp_path / "outputs")))
    assert [(study.folder / name).resolve() for name in study.recruit.exclude] == [
        (bare.parent / name).resolve() for name in names
    ]


def test_problems_elsewhere_keep_their_place(bare: Path, tmp_path: Path) -> None:
    study = make_run_folder(bare, _write_outputs(tmp_path / "outputs"))
    problem = beholder.Problem("study.yaml:3", "is wrong")
    with pytest.raises(beholder.UserError) as error, named_as_given(study, "outputs"):
        raise beholder.UserError(problem)
    assert error.value.problems == (problem,)
