"""RO-Crate metadata, README, versions and checksums of a bundle."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from beholder.bundling.archive_contents import Bundled
from support.bundled_study import files_of


def test_every_file_is_described_with_its_size_and_hash(public: Bundled) -> None:
    files = files_of(public.path)
    document = json.loads(files["ro-crate-metadata.json"])
    graph = {one["@id"]: one for one in document["@graph"]}
    assert graph["ro-crate-metadata.json"]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    root = graph["./"]
    assert (root["name"], root["license"]) == ("Exported", {"@id": "https://spdx.org/licenses/CC-BY-4.0.html"})
    assert root["author"] == [{"@id": "https://orcid.org/0000-0002-1694-233X"}]
    described = {name for name, one in graph.items() if one["@type"] == "File"}
    assert described == set(files) - {"ro-crate-metadata.json", "checksums.sha256"}
    for name in described:
        assert graph[name]["sha256"] == hashlib.sha256(files[name]).hexdigest()
        assert graph[name]["contentSize"] == str(len(files[name]))
    referred = {part["@id"] for one in graph.values() for part in one.get("hasPart", ())}
    assert referred <= set(graph)
    assert graph["#computation"]["object"] == [{"@id": "facts/"}]


def test_the_readme_says_how_to_read_check_and_repeat(public: Bundled, blinded: Bundled) -> None:
    readme = files_of(public.path)["README.md"].decode()
    for line in ("Open `study/report/index.html`", "$ beholder verify THIS-FILE.zip", "$ beholder rerun THIS-FILE.zip"):
        assert line in readme
    assert "Keys of study.yaml that were set and are left out: deploy." in readme
    assert "the day of the last fact: nobody has said another" in readme
    assert "| `answers.jsonl` | " in readme
    assert "How to cite" not in files_of(blinded.path)["README.md"].decode()


def test_versions_of_everything_that_computed_it_are_there(public: Bundled) -> None:
    files = files_of(public.path)
    lines = files["software/requirements.txt"].decode().splitlines()
    names = {line.partition("==")[0] for line in lines}
    assert {"beholder", "numpy", "scipy", "vl-convert-python", "annotated-types"} <= names
    assert all("==" in line for line in lines)
    assert json.loads(files["software/software.json"])["packages"]["numpy"]


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="no sha256sum here")
def test_sha256sum_reads_the_checksums(unpacked: Path) -> None:
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "checksums.sha256"], cwd=unpacked, check=True)
