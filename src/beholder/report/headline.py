"""The headline: what a study found in one or two sentences, with the uncertainty, above everything else."""

from __future__ import annotations

from beholder.analyse.result import records
from beholder.report.key_finding import key_finding
from beholder.report.markup import Markup, tag
from beholder.report.material import Material
from beholder.report.overview import short_names
from beholder.report.part import Part

MOST = 5
"""Questions that have a line at the top; the others are told below."""


def headline(material: Material) -> Markup:
    """Return the block at the top of the page: a line for each question, at most five, and how to read the brackets."""
    parts = material.parts
    told = [(part, key_finding(material, part)) for part in parts[:MOST]]
    shorts = short_names(material)
    label = "Rehearsal with robots, no result" if material.is_simulated else "Key finding"
    if len(parts) == 1:
        said: Markup = tag("p", _kept(told[0][1]), class_="headline__said")
    else:
        lines = [tag("li", tag("q", shorts[part.id]), " ", _kept(sentence)) for part, sentence in told]
        lines += [tag("li", f"And {len(parts) - MOST} more below.")] if len(parts) > MOST else []
        said = tag("ul", lines, class_="headline__said")
        label = label if material.is_simulated else "Key findings"
    foot = tag("p", _foot(material, [sentence for _, sentence in told]), class_="headline__foot")
    return tag(
        "section", tag("h2", label, id="key-h"), said, foot, class_="headline", id="key", aria_labelledby="key-h"
    )


def _kept(sentence: str) -> str:
    """Return the sentence with numbers and their signs kept on one line."""
    for sign in ("p < ", "p = "):
        sentence = sentence.replace(sign, sign.replace(" ", "\u00a0"))
    return sentence.replace(" %", "\u00a0%")


def _foot(material: Material, said: list[str]) -> str:
    """Return how to read brackets and p, as far as there are any."""
    told = []
    if any(" to " in one and "(" in one for one in said):
        told.append("Brackets: 95 % intervals.")
    if any("p = " in one or "p < " in one for one in said):
        told.append(f"p: {_test(material)}")
    if any(part.kind == "choice" for part in material.parts):
        ties = material.results.also.get("preferences")
        told += ["A tie counts half."] if ties is not None and (ties["ties"] > 0).any() else []
    return " ".join(told)


def _test(material: Material) -> str:
    contents = {int(n) for part in material.parts for n in part.pairs["contents"]}
    over = "participant" if contents == {1} else "participant and content"
    is_partly = any(_is_outside(part) for part in material.parts)
    return f"t test clustered by {over}, Holm-corrected{' among the conditions under test' if is_partly else ''}."


def _is_outside(part: Part) -> bool:
    """Return whether a pair was tested without being corrected for: one with a reference or an anchor."""
    rows = records(part.inner_pairs[part.inner_pairs["p"].notna() & part.inner_pairs["p_holm"].isna()])
    return any((row["condition"], row["other_condition"]) in part.tested for row in rows)
