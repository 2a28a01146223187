"""Files of strangers are opened within limits, in the encodings that people have, and nothing leads out of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import UserError
from beholder.importing.source_folder import SourceFolder, number_in
from support.small_media import write_stimulus


def folder(tmp_path: Path, **files: bytes | str) -> SourceFolder:
    for name, content in files.items():
        path = tmp_path / "source" / name.replace("__", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return SourceFolder(tmp_path / "source")


def test_a_table_is_read_with_a_mark_odd_ends_of_lines_blank_lines_and_doubled_columns(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbfName ;vote;VOTE;\r\n\r\nAnn; 5 ;3;x\r\nBob;4\r\n"
    table = folder(tmp_path, t__csv=text).table("t.csv", ("name", "vote"))
    assert table.columns == ["name", "vote", "vote#2", "#4"]
    (row,) = table.rows()
    assert (row.line, [row[name] for name in table.columns]) == (3, ["Ann", "5", "3", "x"])
    assert row["other"] == ""
    assert number_in(row["vote"]) == 5


def test_a_row_with_too_few_cells_is_broken_and_a_column_keeps_its_spelling(tmp_path: Path) -> None:
    opened = folder(tmp_path, t__csv="A,B\n1,2\n3\n4,5,,\n")
    table = opened.table("t.csv")
    table.column("a", "values")
    assert [row["a"] for row in table.rows()] == ["1", "4"]
    assert opened.provenance.entries("broken") == [
        {"file": "t.csv", "row": "3", "line": 3, "what": "has 1 cells, and the first line has 2", "done": "left out"}
    ]
    assert {"file": "t.csv", "column": "A", "to": "values"} in opened.provenance.entries("mapped")


def test_text_that_is_not_utf_8_is_read_as_windows_1252_and_told(tmp_path: Path) -> None:
    opened = folder(tmp_path, t__csv="Name\nJosé\n".encode("cp1252"), c__yaml="name: José\n".encode("cp1252"))
    assert [row["name"] for row in opened.table("t.csv").rows()] == ["José"]
    assert opened.yaml("c.yaml").data == {"name": "José"}
    assert [one.default for one in opened.provenance.assumptions] == ["Windows-1252", "Windows-1252"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"a": 1, "a": 2}', "has the key 'a' twice in one object"),
        ('{"a": NaN}', "holds NaN, which is no number of JSON"),
        ('{"a": 1,}', "is not JSON: "),
        ("[" * 200_000, "is nested too deeply"),
    ],
)
def test_json_is_refused_with_its_place(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(UserError) as refused:
        folder(tmp_path, d__json=text).json("d.json")
    assert refused.value.problems[0].where.startswith("d.json")
    assert refused.value.problems[0].what.startswith(what)


def test_yaml_that_runs_code_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        folder(tmp_path, c__yaml="a: !!python/object/apply:os.system [x]\n").yaml("c.yaml")
    assert refused.value.problems[0].what == "has the tag !!python/object/apply:os.system"


def test_a_link_out_of_the_source_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "private.yaml").write_text("a: 1", "utf-8")
    opened = folder(tmp_path, c__yaml="a: 2")
    (tmp_path / "source" / "link.yaml").symlink_to(tmp_path / "private.yaml")
    with pytest.raises(UserError, match=r"link\.yaml  is a link that leads out of the source"):
        opened.yaml("link.yaml")


def test_a_source_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere  is not there\. Give the file or the folder"):
        SourceFolder(tmp_path / "nowhere")


# Stimuli


def test_a_stimulus_is_found_by_its_path_its_address_and_above_a_file_that_was_given(tmp_path: Path) -> None:
    write_stimulus(tmp_path / "root" / "sounds" / "a.wav", 1)
    config = tmp_path / "root" / "configs" / "deep" / "test.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("a: 1", "utf-8")
    found = tmp_path / "root" / "sounds" / "a.wav"
    assert SourceFolder(tmp_path / "root").find_stimulus("./sounds/a.wav") == found
    assert SourceFolder(config).find_stimulus("sounds/a.wav") == found
    assert SourceFolder(config, found.parent).find_stimulus("https://example.org/old/place/a.wav?x=1") == found


@pytest.mark.parametrize("named", ["../secret.wav", "/etc/../../secret.wav", "sounds/../../secret.wav", "", "a.py"])
def test_no_name_of_a_stimulus_leads_out_of_the_source(tmp_path: Path, named: str) -> None:
    write_stimulus(tmp_path / "secret.wav", 1)
    (tmp_path / "source" / "sounds").mkdir(parents=True)
    (tmp_path / "source" / "a.py").write_text("", "utf-8")
    assert SourceFolder(tmp_path / "source").find_stimulus(named) is None


def test_a_table_says_which_file_stands_for_which_name(tmp_path: Path) -> None:
    write_stimulus(tmp_path / "mine.wav", 1)
    source = tmp_path / "source"
    source.mkdir()
    table = tmp_path / "map.csv"
    table.write_text("source,file\nhttps://vimeo.com/1,mine.wav\n", "utf-8")
    assert SourceFolder(source, table).find_stimulus("https://vimeo.com/1") == tmp_path / "mine.wav"
    table.write_text("source,file\nx,gone.wav\n", "utf-8")
    with pytest.raises(UserError, match=r"map\.csv:2  file is gone\.wav, which is not there\. Allowed: a file\."):
        SourceFolder(source, table).find_stimulus("x")
