"""The column `for` of a manifest: whom stimuli are for, and what they are to these."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import Problem, StimuliError
from beholder.methods import load_study
from beholder.stimuli.ingestion import load_catalogue
from beholder.stimuli.relations import read_relations
from support.bound_studies import write_bound


def read(cell: str) -> dict[str, str]:
    problems: list[Problem] = []
    relations = read_relations("manifest.csv:2", cell, None, problems)
    assert problems == []
    return relations


def test_a_name_alone_is_whose_own_it_is_and_others_have_a_word_of_the_researchers() -> None:
    assert read("") == {}
    assert read("ann") == {"ann": "own"}
    assert read("ann; bob = team mate;") == {"ann": "own", "bob": "team mate"}
    assert read("ann=sibling; *") == {"ann": "sibling", "*": "own"}
    assert read("*") == {}


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("=own", "for has no name before =. Allowed: names, each with a relation if it is not own, as in ann; "
         "bob=colleague; and * for everybody else."),
        ("ann; ann=friend", "for names ann twice. Allowed: names, each with a relation if it is not own, as in ann; "
         "bob=colleague; and * for everybody else."),
        ("ann; *=stranger", "for calls it stranger to everybody, to whom it is common. Allowed: names, each with a "
         "relation if it is not own, as in ann; bob=colleague; and * for everybody else. Write * alone, or name the "
         "people or their group."),
        ("ann=common", "for calls it common to ann, which is what stimuli for everybody are called. Allowed: a word of "
         "up to 40 letters, digits, spaces, _ and -. Take another word, such as stranger."),
        ("ann=", "for has nothing as the relation of ann. Allowed: a word of up to 40 letters, digits, spaces, "
         "_ and -."),
        ("ann=<b>", "for has <b> as the relation of ann. Allowed: a word of up to 40 letters, digits, spaces, "
         "_ and -."),
    ],
)  # fmt: skip
def test_a_cell_that_does_not_say_whom_is_refused(cell: str, problem: str) -> None:
    problems: list[Problem] = []
    read_relations("manifest.csv:2", cell, None, problems)
    assert [" ".join(str(one).split()) for one in problems] == [" ".join(f"manifest.csv:2 {problem}".split())]


def test_the_lines_of_a_content_are_for_the_same_people(tmp_path: Path) -> None:
    study = write_bound(tmp_path)
    manifest = tmp_path / "manifest.csv"
    text = manifest.read_text("utf-8").replace("warm,ann; bob=colleague", "warm,")
    manifest.write_text(text + "texts/plain-face-0.txt,lesson,training,ann\n", "utf-8")
    manifest.write_text(
        manifest.read_text("utf-8").replace("file,content,condition,for", "file,content,condition,for,role")
    )
    manifest.write_text(manifest.read_text("utf-8").replace("training,ann", "training,ann,gold"))
    with pytest.raises(StimuliError) as caught:
        load_catalogue(load_study(study))
    assert [(one.where, one.what) for one in caught.value.problems] == [
        ("manifest.csv:18", "has role gold, and no answer is expected"),
        ("manifest.csv:18", "for is ann, and a stimulus with role gold is the same for everybody"),
        ("manifest.csv:15", "content face-21 is not for the same people as in manifest.csv:14"),
    ]


def test_names_that_results_would_tell_are_warned_of(tmp_path: Path) -> None:
    study = write_bound(tmp_path, {"Ann-face": "ann", "face-9": "bob"})
    warnings = [str(one) for one in load_catalogue(load_study(study)).warnings]
    assert any("Ann-face tells in results whom it is for, as it contains a name" in one for one in warnings)
    assert not any("face-9" in one for one in warnings)


def test_stimuli_for_everybody_are_what_is_common(tmp_path: Path) -> None:
    catalogue = load_catalogue(load_study(write_bound(tmp_path, {"face-9": "ann", "face-8": "bob; *"})))
    assert catalogue.is_bound
    assert catalogue.common.contents == (*(f"face-{n}" for n in range(6)), "face-8")
    assert not catalogue.common.is_bound
    plain = load_catalogue(load_study(write_bound(tmp_path / "plain", {})))
    assert not plain.is_bound
    assert plain.common is plain
