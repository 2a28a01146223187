"""`beholder new` writes a study that runs at once."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from beholder.errors import StudyError
from beholder.methods import load_study, method_folder, names
from beholder.stimuli.ingestion import load_catalogue
from beholder.study import schema
from beholder.study.chain import load_chain
from beholder.workflow.new import new
from support.commands import command
from support.data import ROOT

METHOD = """
from beholder.methods.acr import Acr

class Whisper(Acr):
    name = "whisper"

whisper = Whisper()
"""
EXAMPLE = """# A comment that stays.
beholder: 1
name: shouts
title: Shouts
method: whisper
stimuli: stimuli
conditions: [natural]
texts: {consent: texts/consent.md}
"""


@pytest.fixture
def method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A method with few sample stimuli, so that they are made quickly."""
    folder = tmp_path / "site" / "whispering"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(METHOD, "utf-8")
    info = tmp_path / "site" / "whispering-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: whispering\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[beholder.methods]\nwhisper = whispering:whisper\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.delitem(sys.modules, "whispering", raising=False)
    (folder / "example.yaml").write_text(EXAMPLE, "utf-8")
    (folder / "texts").mkdir()
    (folder / "texts" / "consent.md").write_text("I agree.", "utf-8")
    return "whisper"


def test_a_new_study_is_whole(tmp_path: Path, method: str) -> None:
    file = new(method, tmp_path / "deep" / "mine", seconds=0.4)
    folder = tmp_path / "deep" / "mine"
    assert file == folder / "study.yaml"
    assert sorted(path.name for path in folder.iterdir()) == [
        ".gitignore", "stimuli", "study.schema.json", "study.yaml", "texts",
    ]  # fmt: skip
    assert sorted(path.name for path in folder.parent.iterdir()) == ["mine"]
    lines = file.read_text("utf-8").splitlines()
    assert lines[:2] == ["# yaml-language-server: $schema=study.schema.json", "# A comment that stays."]
    assert json.loads((folder / "study.schema.json").read_text("utf-8")) == schema()
    ignored = set((folder / ".gitignore").read_text("utf-8").splitlines())
    assert {"store/", "media/", "launch/links.csv", "decide/", "pay/"} <= ignored
    assert load_study(folder).name == "shouts"
    text = file.read_text("utf-8")
    ways = [line for line in lines if line.startswith("# recruit:")]
    for way in ways:  # each is a way to bring people as it stands
        file.write_text(text.replace(way, way.removeprefix("# ")), "utf-8")
        assert load_study(folder).recruit.mode in way
    assert len(ways) == 3
    assert len(list((folder / "stimuli" / "natural").glob("*.mp4"))) == 4


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("x", "utf-8")
    with pytest.raises(StudyError) as caught:
        new("acr", tmp_path / "mine")
    assert str(caught.value) == (
        f"{tmp_path / 'mine'}  is not empty. Allowed: a new or an empty folder. Choose another name."
    )
    with pytest.raises(StudyError) as caught:
        new("acr", tmp_path / "mine" / "notes.txt")
    assert str(caught.value) == (
        f"{tmp_path / 'mine' / 'notes.txt'}  is a file. Allowed: a new or an empty folder. Choose another name."
    )


def test_an_unknown_method_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="acrr, which is not a method"):
        new("acrr", tmp_path / "mine")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_half_way_leaves_no_folder(tmp_path: Path, method: str) -> None:
    example = tmp_path / "site" / "whispering" / "example.yaml"
    example.write_text(EXAMPLE + "design: {seed: x}\n", "utf-8")
    with pytest.raises(StudyError, match=r"design\.seed is x"):
        new(method, tmp_path / "deep" / "mine")
    assert list((tmp_path / "deep").iterdir()) == []
    example.unlink()
    with pytest.raises(StudyError, match=r"has no example\.yaml\. Allowed: a method folder with an example\."):
        new(method, tmp_path / "deep" / "mine")


@pytest.mark.parametrize("page", ["README.md", "docs/quick-start.md"])
def test_readme_quick_start_and_new_recommend_the_same_commands(page: str) -> None:
    shown = (ROOT / page).read_text("utf-8")
    for method in names():
        example = (method_folder(method) / "example.yaml").read_text("utf-8")
        lines = [line.partition("  ")[2].strip() for line in example.splitlines()[:5] if "beholder " in line]
        assert lines == ["beholder preview", "beholder run --simulate", "beholder run"], method
        assert all(f"$ {line}" in shown for line in lines), method


def test_a_preset_writes_studies_that_belong_together(tmp_path: Path) -> None:
    path = new("mismatch", tmp_path / "gestures", preset="genea", seconds=0.2)
    chain = load_chain(path)
    assert [follow.study for follow in chain.studies] == ["naturalness", "appropriateness"]
    studies = [load_study(path.parent / follow.study) for follow in chain.studies]
    assert [(one.method, one.playback.sound, one.playback.watch) for one in studies] == [
        ("parallel", "off", "whole"), ("mismatch", "on", "whole"),
    ]  # fmt: skip
    assert len(load_catalogue(studies[1]).of_role("mismatched")) == 12
    files = [sorted((one.folder / "stimuli").rglob("*.mp4")) for one in studies]
    assert [file.read_bytes() for file in files[0]] == [file.read_bytes() for file in files[1]]


@pytest.mark.parametrize(
    ("method", "preset", "told"),
    [
        ("mismatch", "genia", "--preset  is genia, and mismatch has no studies of this name. Allowed: genea. Did you "
         "mean genea?"),
        ("acr", "genea", "--preset  is genea, and acr has no studies of this name. Allowed: none with acr; mismatch "
         "has genea."),
    ],
)  # fmt: skip
def test_a_preset_that_a_method_does_not_have_is_refused(tmp_path: Path, method: str, preset: str, told: str) -> None:
    with pytest.raises(StudyError) as caught:
        new(method, tmp_path / "study", preset=preset)
    assert str(caught.value) == told
    assert not (tmp_path / "study").exists()


def test_a_new_study_is_in_the_language_that_is_asked_for(tmp_path: Path) -> None:
    study = load_study(new("pair", tmp_path / "german", language="de"))
    assert (study.language, study.all_languages) == ("de", ("de",))
    assert study.title != load_study(method_folder("pair") / "example.yaml").title
    german = method_folder("pair") / "texts" / "de"
    assert (tmp_path / "german" / "texts" / "consent.md").read_text("utf-8") == (german / "consent.md").read_text(
        "utf-8"
    )
    both = load_study(new("pair", tmp_path / "both", language="en,de"))
    assert both.all_languages == ("en", "de")
    assert both.in_language("de").title == study.title
    assert both.in_language("de").texts.consent == "texts/de/consent.md"


def test_a_language_without_our_words_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="--language  is xx, and our words are not written in it"):
        new("pair", tmp_path / "odd", language="en,xx")
    assert not (tmp_path / "odd").exists()


def test_check_says_who_wrote_our_words_in_a_language_and_that_the_texts_are_ours(tmp_path: Path) -> None:
    new("pair", tmp_path / "german", language="de")
    said = command("check", cwd=tmp_path / "german")
    assert "What we say on the pages in German: ours, unreviewed." in said.stdout
    assert "Participants read our default consent and instructions." in said.stdout
