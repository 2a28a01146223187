"""A value of a document knows its place, and what is said of it is said of everything in it."""

from __future__ import annotations

from pathlib import Path

from beholder.importing.source_folder import SourceFolder
from beholder.importing.source_values import SourceValue

TEXT = """\
name: test
pages:
  - {type: mushra, flag: TRUE, level: 0x10, answer: yes, empty: }
  - []
"""


def read(tmp_path: Path) -> tuple[SourceFolder, SourceValue]:
    (tmp_path / "c.yaml").write_text(TEXT, "utf-8")
    source = SourceFolder(tmp_path / "c.yaml")
    return source, source.yaml("c.yaml")


def test_values_are_those_of_yaml_1_2(tmp_path: Path) -> None:
    _, root = read(tmp_path)
    first, second = root.get("pages")  # type: ignore[misc]
    assert first.data == {"type": "mushra", "flag": True, "level": 16, "answer": "yes", "empty": None}
    flag, level, answer, empty = (first.get(key) for key in ("flag", "level", "answer", "empty"))
    assert flag is not None and flag.flag() and flag.text() == "true"  # noqa: PT018
    assert level is not None and level.number() == 16  # noqa: PT018
    assert answer is not None and answer.text() == "yes" and answer.number() is None  # noqa: PT018
    assert empty is not None and empty.text("nothing") == "nothing"  # noqa: PT018
    assert (second.data, list(second), list(second.items())) == ([], [], [])
    assert (first.where, root.where) == ("c.yaml:3", "c.yaml:1")
    assert root.get("absent") is None


def test_what_is_said_of_a_value_is_said_of_every_leaf_in_it(tmp_path: Path) -> None:
    source, root = read(tmp_path)
    pages = root.get("pages")
    assert pages is not None
    pages.mapped("pages")
    next(iter(pages)).get("level").unsupported("no such thing")  # type: ignore[union-attr]
    source.provenance.close()
    places = {
        leaf.place: one.fate for fate in ("mapped", "unsupported") for leaf, one in source.provenance.of(fate).items()
    }
    assert places == {
        "": "mapped", "name": "unsupported", "pages.0.type": "mapped", "pages.0.flag": "mapped",
        "pages.0.level": "unsupported", "pages.0.answer": "mapped", "pages.0.empty": "mapped", "pages.1": "mapped",
    }  # fmt: skip
