"""The folder of a run on other stimuli."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

import beholder
from beholder.cli import cli
from beholder.methods import load_study
from beholder.testing import write_study
from beholder.workflow.run_folder import make_run_folder, named_as_given
from support.commands import command
from support.data import ROOT

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
        design={"participants": 6, "trials": 4, "contents": "free"},
        playback={"fullscreen": False, "watch": "none"},
        texts={"consent": "texts/hello.md"},
    )


def _problems(error: pytest.ExceptionInfo[beholder.UserError]) -> str:
    return "\n".join(map(str, error.value.problems))


def test_the_job_of_the_docs_runs_on_play_money_and_fails_when_the_new_one_is_worse(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs" / "chains.md").read_text("utf-8")
    job = yaml.safe_load(re.search(r"^```yaml job\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1])  # type: ignore[index]
    fragment = re.search(r"^recruit: .*\nbudget: .*\n", text, re.MULTILINE)[0]  # type: ignore[index]
    lines = [step["run"] for step in job["jobs"]["evaluate"]["steps"] if "run" in step]
    run, better = (shlex.split(line)[1:] for line in lines[-2:])
    _write_outputs(bare.parent / "outputs")
    bare.write_text(f"{bare.read_text('utf-8')}{fragment}analyse: {{claim: these}}\n", "utf-8")
    options = cli.commands["run"].make_context("run", run[1:]).params
    given = {name: options[name] for name in ("stimuli", "folder", "play_money", "port")}
    news: list[str] = []
    monkeypatch.chdir(bare.parent)
    beholder.run(options["study"], **given, draw=False, news=lambda one: news.append(f"{one.stage}: {one.words}"))
    assert any(line.startswith("close: Closed.") for line in news), news
    assert better[1:] == ["evaluation", "new", "old", "||", "test", "$?", "-eq", "4"]  # 3 fails, 4 does not
    assert command(*better[: better.index("||")], cwd=bare.parent).returncode == 0
    assert command("better", "evaluation", "old", "new", cwd=bare.parent).returncode == 3
    assert not (bare.parent / "store").exists()


def test_a_run_on_other_stimuli_works_in_a_folder_of_its_own_that_is_named_after_its_content(
    bare: Path, tmp_path: Path
) -> None:
    _write_outputs(tmp_path / "outputs")
    news: list[str] = []
    results = beholder.run(
        bare, stimuli="outputs", simulate=True, draw=False, news=lambda one: news.append(f"{one.stage}: {one.words}")
    )
    assert set(results.conditions["condition"]) == set(CONDITIONS)
    (folder,) = (bare.parent / "runs").iterdir()
    planted = "Planted by the simulation: new is best (0.85 of 1) down to old (0.20); people and contents differ as in "
    assert news == [f"folder: this run works in {folder}", f"rehearsal: {planted}public data (VQEG HDTV3)."]
    assert (folder / "texts" / "hello.md").read_text("utf-8") == "Hello."
    assert not (bare.parent / "store").exists()
    origin = json.loads((folder / "origin.json").read_text("utf-8"))
    assert origin["stimuli"] == "outputs"
    assert origin["digest"].startswith(folder.name)
    assert origin["files"] == 5
    assert (folder / ".gitignore").read_text("utf-8") == "*\n"


def test_play_money_has_a_folder_of_its_own(bare: Path, tmp_path: Path) -> None:
    outputs = _write_outputs(tmp_path / "outputs")
    plain, played = make_run_folder(bare, outputs), make_run_folder(bare, outputs, play_money=True)
    assert played.parent.name == f"{plain.parent.name}-play-money"
    with pytest.raises(beholder.UserError, match="holds the run of another study file"):
        make_run_folder(bare, outputs, plain.parent, play_money=True)
    _write_outputs(bare.parent / "stimuli")
    assert (make_run_folder(bare, None, play_money=True).parent / "stimuli" / "new" / "one.txt").is_file()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--play-money", "--simulate"],
            "play_money  and simulate are both given. Allowed: one of the two. Robots need no money, people need real "
            "money, and play money has a store of its own.\n",
        ),
        (["--play-money", "--runs", "2"], "--play-money  and --runs are both given. Allowed: one of the two.\n"),
        (
            ["--play-money", "--stimuli", "outputs"],
            "play_money  goes with a platform, and recruit.mode is link. Allowed: recruit.mode: prolific.\n",
        ),
    ],
)
def test_play_money_is_for_one_run_on_a_platform(options: list[str], words: str, bare: Path, tmp_path: Path) -> None:
    _write_outputs(tmp_path / "outputs")
    done = command("run", "study", *options, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, words)


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
        "study.yaml:5  stimuli.manifest names each file by itself, and such a run copies a folder. Write stimuli: "
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
