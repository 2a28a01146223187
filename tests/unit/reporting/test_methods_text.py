"""The methods text in every format."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from beholder.reporting.html import Markup
from beholder.reporting.methods_section import methods, methods_files
from beholder.reporting.methods_text import Paragraph, Sentence, latex_methods, markdown_methods, plain_text
from beholder.reporting.page import page
from support.report_material import analysed_material
from support.report_pages import made_up


def test_special_characters_and_other_scripts_survive_in_every_format(tmp_path: Path) -> None:
    conditions = [{"name": "a", "label": "50 % & $x_1$ \\cite{x} #1"}, {"name": "Größe 2"}, {"name": "no"}]
    asked = [{"id": "q", "text": "Wie *gut* <b>ist</b> [es]? 好", "scale": "cont100"}]
    quality = {"a": 80.0, "Größe 2": 60.0, "no": 40.0}
    material = analysed_material(made_up(tmp_path, quality, participants=6, conditions=conditions, questions=asked))
    files = methods_files(material, methods(material))
    assert r"50 \% \& \$x\_1\$ \textbackslash{}cite\{x\} \#1, Größe 2 and no" in files["methods.tex"]
    assert (
        r"“Wie {*}gut{*} \textless{}b\textgreater{}ist\textless{}/b\textgreater{} {[}es]? 好”" in files["methods.tex"]
    )
    assert r"“Wie \*gut\* \<b\>ist\</b\> \[es\]? 好”" in files["methods.md"]
    assert "<b>ist</b>" not in page(replace(material, figures=defaultdict(Markup)))


def test_sentences_cite_before_their_full_stop_in_every_format() -> None:
    paragraphs = [
        Paragraph(
            "Tests",
            [Sentence("p was corrected", ("holm1979", "cameron2011")), Sentence("“Why?”"), Sentence("Why not?")],
        )
    ]
    assert plain_text(paragraphs) == "Tests. p was corrected (Holm, 1979; Cameron et al., 2011). “Why?”. Why not?\n"
    assert markdown_methods(paragraphs).endswith(
        "**Tests.** p was corrected [@holm1979; @cameron2011]. “Why?”. Why not?\n"
    )
    assert latex_methods(paragraphs).endswith(
        "\\paragraph{Tests.} p was corrected~\\cite{holm1979,cameron2011}. “Why?”. Why not?\n"
    )
