"""A configuration of webMUSHRA, as its own parser reads it, becomes the keys of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder import import_study
from beholder.errors import UserError
from beholder.importing.contract import ImportOptions
from beholder.importing.source_folder import SourceFolder
from beholder.importing.webmushra.configuration import Configuration, quote_loose_values, read_configuration
from beholder.methods import load_study
from support.webmushra_source import MUSHRA, write_source


def read(tmp_path: Path, text: str, **options: Any) -> tuple[SourceFolder, Configuration]:
    (tmp_path / "test.yaml").write_text(text, "utf-8")
    source = SourceFolder(tmp_path / "test.yaml")
    return source, read_configuration(source, "test.yaml", ImportOptions(**options))


@pytest.mark.parametrize(
    ("loose", "strict"),
    [
        ("a: b: c", "a: 'b: c'"),
        ("  - name: it's: mine", "  - name: 'it''s: mine'"),
        ("id : ends:", "id : 'ends:'"),
        ('a: "b: c"', 'a: "b: c"'),
        ("a: {b: c}", "a: {b: c}"),
        ("a: http://x", "a: http://x"),
        ("a: plain", "a: plain"),
    ],
)
def test_a_plain_value_with_a_colon_gets_quotes_and_nothing_else_does(loose: str, strict: str) -> None:
    assert quote_loose_values(loose) == strict


def test_pages_become_texts_trials_and_questions(tmp_path: Path) -> None:
    study = load_study(import_study(write_source(tmp_path / "root"), tmp_path / "mine").studies[0])
    assert (study.name, study.title, study.method) == ("codec_test", "Codecs at 24 kbit/s: a test", "mushra")
    assert study.texts.pages[0].text == "## Welcome\n\nCompare **all** versions with the reference: take your time."
    assert study.texts.thanks == "## Thanks\n\nThat was it"
    assert tuple(study.options["anchors"]) == ("lowpass-3500", "lowpass-7000")
    assert [(one.name, one.role) for one in study.conditions] == [
        ("reference", "reference"), *((name, "test") for name in ("new", "old", "lowpass-3500", "lowpass-7000")),
    ]  # fmt: skip
    assert [item.options for item in study.after] == [(), (), ("A lot", "Not at all")]
    assert (study.playback.volume, study.playback.loop, study.playback.watch) == (True, "region", "none")


def test_random_as_the_first_of_all_pages_and_reserved_names_are_broken(tmp_path: Path) -> None:
    text = (
        "testname: T\npages:\n  - random\n  - {type: mushra, id: a, reference: r.wav, stimuli: {anchor35: x, A: y}}\n"
    )
    source, found = read(tmp_path, text)
    assert [entry["what"] for entry in source.provenance.entries("broken")] == [
        "random as the first of all pages stops the tool with an error",
        "is called anchor35, which results use for something else",
    ]
    assert list(found.studies[0].pages[0].stimuli) == ["reference", "A"]


def test_the_same_id_twice_is_two_contents(tmp_path: Path) -> None:
    page = "  - {type: mushra, id: a, reference: r.wav, stimuli: {A: y.wav}}\n"
    _, found = read(tmp_path, f"testname: T\npages:\n{page}{page}")
    assert [(one.trial_id, one.content) for one in found.studies[0].pages] == [("a", "a"), ("a", "a-2")]


def test_a_page_of_a_kind_that_nobody_knows_is_kept_under_source(tmp_path: Path) -> None:
    text = MUSHRA.replace("  - type: finish", "  - {type: preference_test, id: p}\n  - type: finish")
    source = write_source(tmp_path / "root", text)
    with pytest.raises(UserError, match="preference_test"):
        import_study(source, tmp_path / "mine")
    done = import_study(source, tmp_path / "mine", partial=True)
    assert load_study(done.studies[0]).source["unsupported"]["configs/test.yaml#pages.3.id"] == "p"
