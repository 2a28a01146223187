"""Two versions of a file: what is equal, what differs by how much, and what cannot be checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.bundling.number_checks import FileCheck, check_file, counted, is_close


def check(folder: Path, name: str, before: str | bytes | None, after: str | bytes | None, **versions: str) -> FileCheck:
    for place, content in (("before", before), ("after", after)):
        if content is not None:
            path = folder / place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return check_file(name, folder / "before" / name, folder / "after" / name, versions)


def told(found: FileCheck) -> list[tuple[str, str, str, float | None]]:
    return [(one.place, one.bundled, one.computed, one.by) for one in found.differences]


def test_cells_of_a_table_are_compared_one_by_one(tmp_path: Path) -> None:
    found = check(tmp_path, "a.csv", "name,mean\nx,1.5\ny,2\n", "name,mean\nx,1.25\ny,2.0000000000001\n")
    assert (found.state, found.values, found.equal) == ("different", 4, 3)
    assert told(found) == [("line 2 (x), mean", "1.5", "1.25", 0.25)]
    assert found.largest == 0.25
    longer = check(tmp_path, "b.csv", "name\nx\ny\n", "name\nx\n")
    assert told(longer) == [("line 3", "y", "no such line", None)]
    assert told(check(tmp_path, "c.csv", "a\n1\n", "b\n1\n")) == [("columns", "a", "b", None)]


def test_values_of_json_are_compared_and_versions_of_software_are_not(tmp_path: Path) -> None:
    found = check(
        tmp_path, "a.json", '{"a": {"b": [1, 2]}, "software": {"x": "1"}}', '{"a": {"b": [1, 3]}, "software": {}}'
    )
    assert told(found) == [("a.b.1", "2", "3", 1.0)]
    assert found.values == 2
    assert check(tmp_path, "b.json", "{", "{}").state == "different"


def test_numbers_of_a_text_are_told_with_what_stands_before_them(tmp_path: Path) -> None:
    found = check(
        tmp_path,
        "a.html",
        "<p>The mean is <b>4.50</b> of 1,200 votes</p>",
        "<p>The mean is <b>4.25</b> of 1,200 votes</p>",
    )
    assert told(found) == [("after “The mean is”", "4.50", "4.25", 0.25)]
    words = check(tmp_path, "b.md", "It is better than 3", "It is worse than 3")
    assert told(words) == [("after “”", "It is better than", "It is worse than", None)]


def test_what_a_page_draws_and_runs_is_compared_too(tmp_path: Path) -> None:
    drawn = check(tmp_path, "a.html", '<svg><path d="M1 2"/></svg>', '<svg><path d="M1 9"/></svg>')
    assert told(drawn) == [("element 2", '<path d="M1 2"/>', '<path d="M1 9"/>', None)]
    run = check(tmp_path, "b.html", "<script>a()</script>1", "<script>b()</script>1")
    assert run.differences[0].place == "script"
    figure = check(tmp_path, "c.svg", '<svg><g x="1"/><text>A</text></svg>', '<svg><g x="2"/><text>B</text></svg>')
    assert [one.place for one in figure.differences] == ["words", "element 2"]
    more = check(tmp_path, "d.svg", "<svg><g/></svg>", "<svg></svg>")
    assert told(more) == [("shapes and elements", "2", "1", 1.0)]


def test_drawings_of_other_software_are_not_checkable_and_never_called_equal(tmp_path: Path) -> None:
    assert check(tmp_path, "a.png", b"1", b"1").state == "equal"
    assert check(tmp_path, "b.png", b"1", b"2").state == "different"
    found = check(tmp_path, "c.pdf", b"1", b"2", numpy="2")
    assert (found.state, found.equal) == ("not checkable", 0)
    assert found.unchecked == "drawn by other software; the SVG beside it is checked"
    absent = check(tmp_path, "d.parquet", b"1", None)
    assert absent.unchecked.startswith("needs pyarrow")


def test_versions_in_a_text_are_no_results(tmp_path: Path) -> None:
    assert check(tmp_path, "a.md", "With numpy 2.4.1 and 3", "With numpy 2.5 and 3", numpy="2.5").state == "equal"
    assert check(tmp_path, "b.md", "With numpy 2.4.1 and 3", "With numpy 2.4.1 and 4", numpy="2.5").state == "different"


def test_a_file_on_one_side_only_is_a_difference(tmp_path: Path) -> None:
    gone = check(tmp_path, "a.csv", "a\n", None)
    new = check(tmp_path, "b.csv", None, "a\n")
    assert [told(one)[0][1:3] for one in (gone, new)] == [
        ("is in the bundle", "is not computed here"), ("is not in the bundle", "is computed here"),
    ]  # fmt: skip
    assert counted([gone, new]) == {"equal": 0, "different": 2, "not checkable": 0}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("1", "1.0000000001", True),
        ("1", "1.00001", False),
        ("−1", "-1", True),
        ("a", "a ", False),
        ("nan", "nan", False),
    ],
)
def test_numbers_are_close_or_not(one: str, other: str, expected: bool) -> None:
    assert is_close(one, other) is expected
