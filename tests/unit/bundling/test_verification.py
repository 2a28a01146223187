"""Verifying: what is whole comes out the same, and a changed byte, rating, number or figure is found and named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import beholder
from beholder.bundling.archive_contents import Bundled
from beholder.bundling.verification import Verification, open_bundle
from beholder.errors import UserError
from support.bundled_study import rewrite

PAGE = "study/report/index.html"
FIGURE = "study/report/figures/scores-quality.svg"


def changed(files: dict[str, bytes], name: str, pattern: str, new: str) -> None:
    text = files[name].decode()
    assert re.search(pattern, text), f"{name} has no {pattern}"
    files[name] = re.sub(pattern, new, text, count=1).encode()


def test_every_number_and_figure_of_a_bundle_comes_out_the_same(verified: Verification, public: Bundled) -> None:
    assert verified.is_same
    assert verified.digest == public.digest
    assert verified.words[0] == "Whole: every file has the bytes that its checksum says."
    assert verified.words[1].endswith(f"{len(verified.checks)} equal, 0 different, 0 not checkable.")
    checked = set(verified.files["file"])
    assert {"clean/ratings.csv", "analyse/pairs.csv", "analyse/notes.json", "report/index.html"} <= checked
    assert {"report/figures/scores-quality.svg", "report/figures/scores-quality.pdf"} <= checked
    assert len(verified.differences) == 0
    assert "facts/" in {one.file for one in verified.not_checkable}


def test_a_changed_byte_is_found_and_so_is_what_is_missing_or_was_added(public: Bundled, tmp_path: Path) -> None:
    def change(files: dict[str, bytes]) -> None:
        files["README.md"] = files["README.md"].replace(b"#", b"*", 1)
        del files["study/plan/balance.csv" if "study/plan/balance.csv" in files else "software/requirements.txt"]
        files["study/more.txt"] = b"more"

    found = open_bundle(rewrite(public.path, tmp_path / "x.zip", change, with_checksums=False), tmp_path / "x")
    assert {one.what for one in found.faults} == {
        "is missing", "was changed after its checksum was made", "is in no checksum: it was added",
    }  # fmt: skip


def test_a_changed_number_in_the_report_is_found_with_its_place(public: Bundled, tmp_path: Path) -> None:
    def change(files: dict[str, bytes]) -> None:
        changed(files, PAGE, r"4\.50", "4.80")
        changed(files, FIGURE, r"translate\((\d)", r"translate(1\1")

    found = beholder.verify(rewrite(public.path, tmp_path / "x.zip", change))
    assert (found.is_intact, found.is_same) == (True, False), "its checksums fit"
    different = {one.file for one in found.checks if one.state == "different"}
    assert different == {"report/index.html", "report/figures/scores-quality.svg"}
    row = found.differences[found.differences["file"] == "report/index.html"].iloc[0]
    assert (row["bundled"], row["computed"], round(row["by"], 6)) == ("4.80", "4.50", 0.3)
    assert row["place"].startswith("after “")
    reproduced = next(one for one in found.criteria if one.badge == "Results reproduced")
    assert (reproduced.answer, reproduced.why) == ("not met", "Some results came out otherwise.")


def test_a_changed_rating_is_found_in_everything_that_rests_on_it(public: Bundled, tmp_path: Path) -> None:
    found = beholder.verify(
        rewrite(
            public.path, tmp_path / "x.zip",
            lambda files: changed(files, "facts/answers.jsonl", r'"q1":\{"s1":5', '"q1":{"s1":4'),
        )
    )  # fmt: skip
    different = {one.file for one in found.checks if one.state == "different"}
    assert {"clean/ratings.csv", "analyse/conditions.csv", "report/index.html", "report/ratings.csv"} <= different
    rating = found.differences[found.differences["file"] == "clean/ratings.csv"].iloc[0]
    assert (rating["bundled"], rating["computed"], rating["by"]) == ("5", "4", 1.0)
    assert any(line.startswith("report/index.html, after “") for line in found.words)


def test_facts_that_no_store_would_take_are_told_and_no_crash(public: Bundled, tmp_path: Path) -> None:
    def rows(files: dict[str, bytes]) -> None:
        changed(files, "facts/sessions.jsonl", r'"digest":"d1"', '"digest":"d2"')

    assert "Nothing could be computed anew" in beholder.verify(rewrite(public.path, tmp_path / "a.zip", rows)).words[1]

    def lines(files: dict[str, bytes]) -> None:
        files["facts/claims.jsonl"] = b'{"session": 1}\n'

    found = beholder.verify(rewrite(public.path, tmp_path / "b.zip", lines))
    assert found.failure.startswith("facts/claims.jsonl:1  is no row of this table.")
    assert not found.is_same


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda files: files.pop("bundle.json"), "has no bundle.json, so it is no bundle of Beholder"),
        (lambda files: files.update({"bundle.json": b"[]"}), "has a bundle.json that no Beholder wrote"),
        (
            lambda files: files.update({"bundle.json": files["bundle.json"].replace(b'"format": 1', b'"format": 9')}),
            "has the format 9 of beholder",
        ),
    ],
)
def test_what_is_no_bundle_is_told_so(public: Bundled, tmp_path: Path, change: object, message: str) -> None:
    with pytest.raises(UserError, match=message):
        beholder.verify(rewrite(public.path, tmp_path / "x.zip", change))  # type: ignore[arg-type]


def test_a_folder_is_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a folder"):
        beholder.verify(tmp_path)


def test_other_software_is_named(public: Bundled, tmp_path: Path) -> None:
    def change(files: dict[str, bytes]) -> None:
        changed(files, "software/software.json", r'"numpy": "[^"]+"', '"numpy": "0.1"')

    found = beholder.verify(rewrite(public.path, tmp_path / "x.zip", change))
    assert found.is_same
    assert found.software["numpy"][0] == "0.1"
    assert any(line.startswith("Other software here: numpy ") for line in found.words)
