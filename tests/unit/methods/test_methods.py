"""Methods are registered by entry points, ours and those of other packages alike."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from beholder.errors import StudyError
from beholder.formats import listed
from beholder.methods import find, load_study, method_folder, methods, names
from support.installed_packages import install

STRANGER = """
from typing import ClassVar
from pydantic import BaseModel
from beholder.methods.acr import Acr

class Options(BaseModel):
    loud: bool = False
    times: int = 1

class Stranger(Acr):
    name = "{name}"
    Options = Options
    defaults = {{"design": {{"trials": 3}}, "questions": [{{"id": "own", "text": "Own"}}]}}

method = Stranger()
"""


def bring(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, source: str, entry: str = "method") -> None:
    """Put a distribution with one method on the path."""
    module = f"stranger_{name}"
    install(folder, monkeypatch, module, source.format(name=name), f"[beholder.methods]\n{name} = {module}:{entry}\n")


def refusal(name: str) -> str:
    with pytest.raises(StudyError) as caught:
        find(name)
    return str(caught.value)


def test_every_registered_method_is_found_under_its_name() -> None:
    ours = {
        "ab",
        "abx",
        "acr",
        "acr-hr",
        "av",
        "bs1116",
        "ccr",
        "dcr",
        "dscqs",
        "likert",
        "mismatch",
        "mushra",
        "p835",
        "pair",
        "parallel",
        "samviq",
        "transcribe",
    }
    assert set(names()) >= ours
    assert {name: method.name for name, method in methods().items()} == {name: name for name in names()}


def test_a_method_folder_holds_its_example() -> None:
    for name in names():
        assert (method_folder(name) / "example.yaml").is_file()


def test_the_registry_is_light_to_import() -> None:
    code = (
        "import sys, beholder.methods, beholder.study, beholder.workflow.new\n"
        "print([name for name in ('numpy', 'pandas', 'pydantic', 'yaml', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_method_is_refused_with_the_names() -> None:
    assert refusal("paralel") == (
        f"method  method is paralel, which is not a method. Allowed: {listed(names())}. Did you mean parallel?"
    )


def test_a_strangers_method_loads_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bring(tmp_path / "site", monkeypatch, "shout", STRANGER)
    head = "beholder: 1\nname: a\ntitle: A\nmethod: shout\nstimuli: s\n"
    file = tmp_path / "study.yaml"
    file.write_text(head + "options: {loud: true}\n", "utf-8")
    study = load_study(file)
    assert study.options == {"loud": True, "times": 1}
    assert study.design.trials == 3
    assert study.questions[0].id == "own"
    assert find("shout").defaults["questions"] == [{"id": "own", "text": "Own"}]
    file.write_text(head + "options: {lod: true, loud: yes, times: x}\n", "utf-8")
    with pytest.raises(StudyError) as caught:
        load_study(file)
    assert str(caught.value).splitlines() == [
        "study.yaml:6  options.lod is not a known key. Allowed: loud and times. Did you mean loud?",
        "study.yaml:6  options.loud is yes. Allowed: true or false. Write true.",
        "study.yaml:6  options.times is x. Allowed: a whole number.",
    ]


def test_a_method_that_cannot_be_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bring(tmp_path, monkeypatch, "broken", "import nothing_of_this_name")
    assert refusal("broken") == (
        "method  method broken, entry point stranger_broken:method of the package stranger_broken, cannot be imported: "
        "ModuleNotFoundError: No module named 'nothing_of_this_name'. Repair, update or uninstall that package."
    )
    assert find("acr").name == "acr"
    with pytest.raises(StudyError):
        methods()


def test_a_method_that_breaks_the_contract_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bring(tmp_path / "a", monkeypatch, "half", STRANGER.replace("Stranger()", "object()"))
    assert refusal("half").startswith(
        "method  method half, entry point stranger_half:method of the package stranger_half, lacks name, media, scales,"
    )
    bring(tmp_path / "b", monkeypatch, "kind", STRANGER, entry="Stranger")
    assert refusal("kind") == (
        "method  method kind, entry point stranger_kind:Stranger of the package stranger_kind, is a class. "
        "Allowed: an instance of it."
    )
    bring(tmp_path / "c", monkeypatch, "alias", STRANGER.replace("{name}", "other"))
    assert refusal("alias") == (
        "method  method alias, entry point stranger_alias:method of the package stranger_alias, calls itself other. "
        "Allowed: one name. Register it under its own name."
    )


def test_two_packages_with_one_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bring(tmp_path, monkeypatch, "acr", STRANGER)
    assert refusal("acr") == (
        "method  method acr is brought by two packages: beholder.methods.acr:acr and stranger_acr:method. "
        "Allowed: one package for each name. Uninstall one of them."
    )
