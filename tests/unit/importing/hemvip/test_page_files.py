"""The configurations of HEMVIP become one study; what asks for an answer by itself is a check with its target."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from beholder import import_study
from beholder.errors import UserError
from beholder.importing.hemvip.page_files import PAIRS, SLIDERS, Marker, marker_of
from beholder.methods import load_study
from support.hemvip_sources import write_hemvip
from support.imported_folders import import_document


@pytest.mark.parametrize(
    ("condition", "target", "kind", "marker"),
    [
        ("at", 5, SLIDERS, Marker(5, 3)),
        ("at", None, SLIDERS, Marker(None, 3)),
        ("attn_check_95", None, SLIDERS, Marker(95, 3)),
        ("attn", None, PAIRS, Marker(None, 3)),
        ("x_att_Good", None, SLIDERS, Marker(70, 12)),
        ("x_att_Left_is_slightly_better", None, PAIRS, Marker(1, 0)),
        ("cat", 5, SLIDERS, None),
    ],
)
def test_each_branch_has_its_markers(condition: str, target: float | None, kind: str, marker: Marker | None) -> None:
    assert marker_of(condition, target, kind) == marker


def test_pages_become_contents_texts_questions_and_a_check(tmp_path: Path) -> None:
    done = import_study(write_hemvip(tmp_path / "one"), tmp_path / "mine")
    study = load_study(done.studies[0])
    assert (study.method, study.title, study.questions[0].text) == (
        "parallel", "Gestures", "How **human-like** are the movements?",
    )  # fmt: skip
    assert [one.name for one in study.conditions] == ["GT", "BA", "SA"]
    assert (study.design.trials, study.design.participants) == (2, 2)
    assert study.texts.pages[0].text == "## Welcome\n\nWatch **all** of them."
    assert [item.id for item in study.after] == ["age", "gender"]
    manifest = (done.folder / "stimuli.csv").read_text("utf-8").splitlines()
    assert manifest[-1].endswith("clip1,attention asks,attention,5,3") or any(
        line.endswith("clip1,attention asks,attention,5,3") for line in manifest
    )
    assert done.missing == ()


def test_pages_of_another_kind_refuse_the_source_and_a_marker_without_target_is_told(tmp_path: Path) -> None:
    source = write_hemvip(tmp_path / "one")
    path = source / "configs" / "g" / "config0.json"
    text = path.read_text("utf-8")
    text = re.sub(r'(asks\.wav",\s*)5', r"\1null", text.replace('"type": "generic"', '"type": "maze"'))
    path.write_text(text, "utf-8")
    with pytest.raises(UserError, match=r"pages\.0  ?is a page of type maze"):
        import_study(source, tmp_path / "mine")
    done = import_study(source, tmp_path / "mine", partial=True)
    assert any("at asks for an answer, and nothing says which" in words for words in import_document(done)["warnings"])
