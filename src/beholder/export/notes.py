"""What a reader of an export has to know: what is left out, and which names a careless reader changes."""

from __future__ import annotations

from beholder.clean.masks import E_MAIL, ID
from beholder.export.source import Source
from beholder.export.withheld import Withheld

_OFTEN_CHANGED = frozenset(
    ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "true", "false", "TRUE", "FALSE", "True", "False", "T", "F")
)


def notes_of(source: Source) -> list[str]:
    """Return what a reader has to know of these tables, all of which are written already."""
    told = [
        "These are robots, a rehearsal and not a result." if source.judging.facts.population == "robots" else "",
        _together(source),
        _own_words(source.withheld),
        _easily_changed(source),
    ]
    return [note for note in told if note]


def _own_words(withheld: Withheld) -> str:
    """Return whether free text is here, and how much of it was replaced in which tables."""
    if withheld.masks is None:
        return "What people wrote in their own words is left out; `beholder export --with-texts` has it."
    counts = withheld.masks.counts
    told = ", ".join(f"{counts[table]} in `{table}`" for table in sorted(counts))
    replaced = f"E-mail addresses and ids of platforms were replaced by {E_MAIL} and {ID}: {told}."
    looked = "No e-mail address and no id of a platform was found in it."
    here = "What people wrote in their own words is here"
    return f"{here}. {replaced if told else looked} Names are not looked for: look through it before you hand it on."


def _together(source: Source) -> str:
    """Return that there are several runs, and where they are told apart."""
    runs = sorted({one.visit.run for one in source.judging.judged})
    told = f"{', '.join(map(str, runs[:-1]))} and {runs[-1]}" if len(runs) > 1 else ""
    return f"Runs {told} are in the same tables; the column `run` tells them apart." if told else ""


def _easily_changed(source: Source) -> str:
    """Return which names a reader of CSV that guesses would change."""
    names = {name for shown in source.judging.facts.stimuli.values() for name in (shown.content, shown.condition)}
    found = sorted(name for name in names if name in _OFTEN_CHANGED or _is_number(name))
    if not found:
        return ""
    listed = ", ".join(f"`{name}`" for name in found[:5]) + (", …" if len(found) > 5 else "")
    return f"Names that plain `read_csv` would change: {listed}. Read the CSV as the README shows, or take Parquet."


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
