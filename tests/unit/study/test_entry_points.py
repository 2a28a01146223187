"""Entry points: names are known without an import, and a package that cannot be used is named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from beholder.errors import StudyError
from beholder.study.entry_points import Group

PLANETS = Group("tests.planets", "planet", "tests.Planet")
CLASSES = Group("tests.planets", "planet", "tests.Planet", of_classes=True)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages on the path, with one that registers four planets."""
    (tmp_path / "orrery.py").write_text(
        "class Mars:\n    name, moons = 'mars', 2\nmars = Mars()\nclass Venus:\n    name = 'venus'\nvenus = Venus()\n",
        "utf-8",
    )
    info = tmp_path / "orrery-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: orrery\nVersion: 1.0\n", "utf-8")
    lines = [
        "mars = orrery:mars",
        "venus = orrery:venus",
        "red = orrery:mars",
        "pluto = orrery:pluto",
        "type = orrery:Mars",
    ]
    (info / "entry_points.txt").write_text("\n".join(["[tests.planets]", *lines, ""]), "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "orrery", raising=False)
    return tmp_path


def refusal(name: str, group: Group = PLANETS) -> str:
    with pytest.raises(StudyError) as caught:
        group.load(group.entry(name, "here"), "here", ("name", "moons"))
    return str(caught.value)


def test_names_are_known_without_an_import(site: Path) -> None:
    assert PLANETS.names() == ("mars", "pluto", "red", "type", "venus")
    assert "orrery" not in sys.modules


def test_what_keeps_the_contract_is_loaded(site: Path) -> None:
    assert PLANETS.load(PLANETS.entry("mars", "here"), "here", ("name", "moons")).moons == 2


def test_every_fault_of_a_package_names_it(site: Path) -> None:
    subject = "here  planet {}, entry point orrery:{} of the package orrery,"
    assert refusal("mras") == (
        "here  planet is mras, which is not a planet. Allowed: mars, pluto, red, type or venus. Did you mean mars?"
    )
    assert refusal("venus") == (
        f"{subject.format('venus', 'venus')} lacks moons. Allowed: what tests.Planet names. Update that package."
    )
    assert refusal("red") == (
        f"{subject.format('red', 'mars')} calls itself mars. Allowed: one name. Register it under its own name."
    )
    assert refusal("pluto").startswith(f"{subject.format('pluto', 'pluto')} cannot be imported: AttributeError: ")
    assert refusal("type") == f"{subject.format('type', 'Mars')} is a class. Allowed: an instance of it."
    assert refusal("mars", CLASSES) == f"{subject.format('mars', 'mars')} is an instance. Allowed: its class."


def test_two_packages_with_one_name_are_refused(site: Path) -> None:
    info = site / "twin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: twin\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[tests.planets]\nmars = twin:mars\n", "utf-8")
    assert refusal("mars") == (
        "here  planet mars is brought by two packages: orrery:mars and twin:mars. "
        "Allowed: one package for each name. Uninstall one of them."
    )
