"""Tables of papers beside ours."""

from __future__ import annotations

from pathlib import Path

from beholder.examples.contract import ExampleRun, Exhibit, merge, read_published, sheet


def test_numbers_of_the_paper_stand_in_brackets() -> None:
    ours = sheet(("", "r"), [("run 1", "0.95"), ("run 2", "0.96"), ("average", "0.955")])
    theirs = sheet(("", "r"), [("run 1", "0.956"), ("run 2", "")])
    merged = merge(ours, theirs)
    assert merged is not None
    assert list(merged.rows) == [("run 1", "0.95 (0.956)"), ("run 2", "0.96"), ("average", "0.955")]


def test_tables_of_other_shape_are_not_merged() -> None:
    ours = sheet(("", "r"), [("run 1", "0.95")])
    assert merge(ours, sheet(("", "rho"), [("run 1", "0.95")])) is None
    assert merge(ours, sheet(("", "r"), [("run 2", "0.95")])) is None


def test_published_tables_are_read_as_printed(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("run,r\none,0.950\n", "utf-8")
    assert read_published(tmp_path / "table.csv").rows == [("one", "0.950")]


def test_an_exhibit_has_a_name_for_files() -> None:
    assert Exhibit("Figure 3, top left", "", "page", "").key == "figure-3-top-left"


def test_a_small_run_is_smaller_than_the_paper() -> None:
    assert [ExampleRun(Path(), small).size(184, 16) for small in (False, True)] == [184, 16]
