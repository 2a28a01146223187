"""The report of an import: every part of the source with what became of it, for programs and for people."""

from __future__ import annotations

import json
from pathlib import Path

from beholder import import_study
from support.webmushra_source import mushra_results, write_source


def test_every_part_of_a_source_is_in_one_list(tmp_path: Path) -> None:
    row = ("codec_test", "", "", "", "u9", "c", "new", 50, 10, "")
    source = write_source(tmp_path / "root", results={"mushra.csv": mushra_results(2, row)})
    (source / "readme <b>.txt").write_text("Nothing", "utf-8")
    done = import_study(source, tmp_path / "mine")
    found = json.loads((tmp_path / "mine" / "import-report.json").read_text("utf-8"))
    assert found["counts"] == dict(done.counts)
    assert [one["file"] for one in found["files"]] == ["configs/test.yaml", "results/codec-test/mushra.csv"]
    assert found["broken"] == [
        {
            "file": "results/codec-test/mushra.csv", "row": "22", "line": 22,
            "what": "trial_id is c, which is no page of the configuration", "done": "left out",
        }
    ]  # fmt: skip
    assert {"file": "results/codec-test/mushra.csv", "row": "2-21", "line": 2, "to": "rating"} in found["mapped"]
    assert {"file": "readme <b>.txt", "why": "not known to this importer"} in found["unsupported"]
    page = done.page.read_text("utf-8")
    assert "readme &lt;b&gt;.txt" in page
    assert "<h1>Import of root</h1>" in page
