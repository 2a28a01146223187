"""Tables for a paper, in LaTeX with booktabs."""

from __future__ import annotations

from collections.abc import Iterable

from beholder.report.sheets import Sheet

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    # Where a row begins with one of these, the line break before it would take it for its own argument.
    "[": "{[}", "*": "{*}",
    "−": "$-$", "–": "--",
}  # fmt: skip


def latex_text(text: str) -> str:
    """Return text as LaTeX prints it, every special character escaped; line breaks become spaces."""
    return "".join(_SPECIAL.get(character, character) for character in " ".join(text.split()))


def latex_table(sheet: Sheet) -> str:
    """Return a tabular: names at the left, numbers at the right."""
    kinds = "".join("l" if place < sheet.names else "r" for place in range(len(sheet.heads)))
    lines = [
        "% needs \\usepackage{booktabs}",
        f"\\begin{{tabular}}{{{kinds}}}",
        "\\toprule",
        _row(sheet.heads),
        "\\midrule",
        *(_row(row) for row in sheet.rows),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    return " & ".join(latex_text(cell) for cell in cells) + " \\\\"
