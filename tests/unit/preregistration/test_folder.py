"""The folder preregistration/: what is recorded, what is refused, and what can be checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.errors import UserError
from beholder.files import write_json
from beholder.preregistration.folder import Preregistration, read_words
from beholder.preregistration.registration import Registration
from beholder.study.serialization import digest
from beholder.testing import write_study
from support.report_pages import Page
from support.taken_study import TakenStudy


def edit(study: Path, before: str, after: str) -> None:
    text = study.read_text("utf-8")
    assert before in text
    study.write_text(text.replace(before, after), "utf-8")


def test_the_plan_is_recorded_once_and_each_change_is_an_amendment(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny, title="Walks <b>& more</b>")
    first = beholder.preregister(study)
    assert (first.version, first.is_new, first.is_late, first.people) == (1, True, False, 0)
    assert first.words[0].endswith(", before the first person.")
    assert "Authors, Description" in first.summary()
    assert "Authors, Description" in first._repr_html_()
    again = beholder.preregister(study)
    assert (again.version, again.is_new, again.digest) == (1, False, first.digest)
    assert again.words[0].endswith("nothing new.")
    edit(study, "participants: 6", "participants: 8")
    write_json(
        tmp_path / "study/power/notes.json", {"words": ["So many."], "repetitions": 9, "seed": 1, "contents": "fixed"}
    )
    second = beholder.preregister(study, why="More power", registered="https://osf.io/abcde")
    assert (second.version, second.is_new) == (2, True)
    assert [one.key for one in second.changes] == ["design.participants"]
    assert "Changed since version 1: design.participants." in second.words
    assert "So many." in second.answers["Sample size rationale"]
    page = Page(second.page.read_text("utf-8"))
    assert "Walks <b>& more</b>" in page.text
    assert "More power https://osf.io/abcde" in page.text
    assert page.open == []


def test_anybody_can_compute_the_digest_from_the_file(tmp_path: Path, tiny: Path) -> None:
    made = beholder.preregister(write_study(tmp_path / "study", tiny))
    kept = json.loads((made.folder / "version-1.json").read_text("utf-8"))
    assert digest({name: kept[name] for name in ("plan", "words", "answers")}) == made.digest == kept["digest"]
    assert Registration.read(kept).is_intact
    (made.folder / "version-1.json").write_text("{}", "utf-8")
    (made.folder / "version-7.json").write_text("{}", "utf-8")
    again = beholder.preregister(made.folder.parent)
    assert json.loads((again.folder / "version-1.json").read_text("utf-8")) == kept, "the store has it"
    assert not (again.folder / "version-7.json").exists(), "the store has no such version"
    for name, title in (("osf.md", "### Hypotheses"), ("aspredicted.md", "## 2) Hypothesis")):
        text = (made.folder / name).read_text("utf-8")
        assert title in text
        assert made.digest in text


def test_ones_own_words_are_recorded_and_kept(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny)
    words = tmp_path / "words.md"
    words.write_text("# Description\n\nAbout *codecs*.\n\n## exploratory analysis ##\nAge.\n", "utf-8")
    made = beholder.preregister(study, words=words)
    assert made.answers["Description"] == "About *codecs*."
    assert made.answers["Exploratory analysis"].endswith("\n\nAge.")
    assert "Description" not in made.blanks
    assert not beholder.preregister(study).is_new, "words stay as they were"
    words.write_text("# Description\nAbout voices.\n", "utf-8")
    assert beholder.preregister(study, words=words).version == 2


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (
            "Before.\n# Hypothesis\n# Other\n# Other\n",
            [
                "words.md:1  stands below no heading. Allowed: text below headings.",
                "words.md:2  'Hypothesis' is no heading of the template. Allowed: Title, Authors, Description, "
                "Hypotheses, Study type, Blinding, Additional blinding, Study design, Randomization, Existing data, "
                "Explanation of existing data, Data collection procedures, Sample size, Sample size rationale, "
                "Stopping rule, Manipulated variables, Measured variables, Indices, Statistical models, "
                "Transformations, Inference criteria, Data exclusion, Missing data, Exploratory analysis or Other. "
                "Did you mean Hypotheses?",
                "words.md:4  has Other a second time. Allowed: each heading once.",
            ],
        ),
        (None, ["words.md  cannot be read. Allowed: a Markdown file with headings of the template."]),
        (b"\xff", ["words.md  is not UTF-8. Allowed: a Markdown file with headings of the template."]),
    ],
)
def test_words_below_no_heading_of_the_template_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | bytes | None, problems: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("words.md")
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError) as refused:
        read_words(path)
    assert [str(one) for one in refused.value.problems] == problems


# Once people have taken part


def refused(study: Path, **options: Any) -> str:
    with pytest.raises(UserError) as error:
        beholder.preregister(study, **options)
    return str(error.value)


def test_a_plan_after_the_first_person_is_refused_or_called_late(taken: TakenStudy) -> None:
    folder, _ = taken
    assert refused(folder) == (
        "preregister  comes too late: 3 people have taken part in this run already. Allowed: a plan before the first "
        "person. With --late and --why it is recorded all the same, and called late wherever it stands."
    )
    assert refused(folder, late=True) == (
        "--why  is missing, and 3 people have taken part in this run already. Allowed: why the plan is recorded or "
        "changed now."
    )
    assert refused(folder, registered="osf") == (
        "--registered  is osf. Allowed: an address such as https://osf.io/abcde, or a DOI."
    )
    made: Preregistration = beholder.preregister(folder, late=True, why="Forgotten")
    assert (made.is_late, made.people) == (True, 3)
    assert made.words[0].endswith("Late: 3 people had taken part.")
    assert "▲ Late. People had taken part before this was recorded." in Page(made.page.read_text("utf-8")).text
    assert made.answers["Existing data"].startswith("It is complicated")
