"""How everything played, of used sessions: failures, halts, dropped frames, and what was watched whole."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from beholder.checks.watched import WHOLE
from beholder.report.data_quality.line import Line, share_of
from beholder.report.material import Material
from beholder.report.tallies import percent
from beholder.study.checks import Smooth

_COLUMNS = ("errors", "stalled_ms", "dropped", "frames", "coverage")
_FAILED, _STALLED, _DROPPED, _WHOLE = 0.02, 0.05, 0.02, 0.95
"""Shares from which a number is worth a warning."""


def played(material: Material) -> Iterator[Line]:
    """Yield each number that is known; nothing where no playing was logged."""
    table = material.clean("playback")
    if table.empty:
        return
    ratings = material.results.ratings
    table = table[table["session"].isin(set(ratings.loc[ratings["use"], "session"]))]
    known = {name: pd.to_numeric(table[name], errors="coerce") for name in _COLUMNS}
    yield from _errors(known["errors"].dropna())
    yield from _halts(known["stalled_ms"].dropna())
    yield from _frames(known["dropped"], known["frames"])
    yield from _watched(material, known["coverage"].dropna())


def _errors(errors: pd.Series) -> Iterator[Line]:
    if len(errors):
        n = int((errors > 0).sum())
        warning = f"{percent(n / len(errors))} of the stimuli failed to load or to play at least once."
        said = "Stimuli that failed to load or to play at least once."
        yield Line("Failures to play", share_of(n, len(errors)), said, warning if n > _FAILED * len(errors) else "")


def _halts(halts: pd.Series) -> Iterator[Line]:
    if len(halts):
        limit = Smooth.model_fields["stall_s"].default
        n = int((halts > 1000 * limit).sum())
        said = f"Stimuli that stood still for more than {limit:g} s; the longest halt was {halts.max() / 1000:.1f} s."
        warning = f"{percent(n / len(halts))} of the stimuli stood still for more than {limit:g} s while they played."
        yield Line("Halts while playing", share_of(n, len(halts)), said, warning if n > _STALLED * len(halts) else "")


def _frames(dropped: pd.Series, frames: pd.Series) -> Iterator[Line]:
    both = dropped.notna() & (frames > 0)
    drawn, lost = int(frames[both].sum()), int(dropped[both].sum())
    if drawn + lost:
        share = lost / (drawn + lost)
        worst = (dropped[both] / (dropped[both] + frames[both])).max()
        said = f"Of all frames; {percent(worst)} at worst."
        warning = f"{percent(share)} of all frames were dropped: motion looked less smooth than it is."
        yield Line("Dropped frames", f"{lost:,} ({percent(share)})", said, warning if share > _DROPPED else "")


def _watched(material: Material, coverage: pd.Series) -> Iterator[Line]:
    if len(coverage):
        n = int((coverage >= WHOLE).sum())
        asked = {text["watch"] for text in material.texts} == {"whole"}
        said = "Stimuli that were played whole; ratings of the others are left out." if asked else "Not asked for."
        warning = f"{percent(1 - n / len(coverage))} of the stimuli were not watched to the end."
        is_bad = asked and n < _WHOLE * len(coverage)
        yield Line("Watched whole", share_of(n, len(coverage)), said, warning if is_bad else "")
