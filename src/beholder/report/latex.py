"""Tables for a paper, in LaTeX with booktabs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def latex_text(text: str) -> str:
    """Return text as LaTeX prints it, every special character escaped; line breaks become spaces."""
    return "".join(_SPECIAL.get(character, character) for character in " ".join(text.split()))


def latex_table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]], decimals: int = 2) -> str:
    """Return a tabular: names at the left, numbers at the right. An empty cell is a dash."""
    is_number = [all(isinstance(row[column], int | float) for row in rows) for column in columns]
    lines = [
        "% needs \\usepackage{booktabs}",
        f"\\begin{{tabular}}{{{''.join('r' if one else 'l' for one in is_number)}}}",
        "\\toprule",
        " & ".join(latex_text(column) for column in columns) + " \\\\",
        "\\midrule",
    ]
    lines.extend(" & ".join(_cell(row[column], column, decimals) for column in columns) + " \\\\" for row in rows)
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def _cell(value: Any, column: str, decimals: int) -> str:
    if isinstance(value, float):
        if math.isnan(value):
            return "--"
        places = (
            4
            if column in ("p", "p_holm")
            else 0
            if value.is_integer() and column in ("n", "participants")
            else decimals
        )
        text = f"{value:.{places}f}"
        return f"${text}$" if text.startswith("-") else text
    return latex_text(str(value)) or "--"
