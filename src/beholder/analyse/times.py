"""times: how long people took for a page, and for a rating."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.plots.times import times_chart
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings, as_ratings

COLUMNS = ["of", "position", "condition", "n", "median_s", "q1_s", "q3_s"]
_NOTE = (
    "Seconds from when a page was shown until its answer was sent, watching and listening included. `page`: each page "
    "once, however many ratings are on it; first over all pages, then by its place in the session. `rating`: the time "
    "of a page shared out evenly among its ratings. `condition`: pages on which one condition alone was rated. n "
    "counts pages; median and quartiles are over pages."
)


def times(data: pd.DataFrame | Ratings) -> Result | None:
    """Return median and quartiles of the time per page, by position, per rating, and by condition where it can be."""
    ratings = as_ratings(data)
    pages = _pages(ratings.kept)
    if pages is None or pages.empty:
        return None
    rows = [_row("page", pages["seconds"])]
    if pages["position"].notna().all():
        placed = pages.groupby("position")["seconds"]
        rows += [_row("page", part, position=float(str(place))) for place, part in placed]
    rows.append(_row("rating", pages["seconds"] / pages["ratings"]))
    if bool(pages["condition"].notna().all()):
        named = dict(iter(pages.groupby("condition")["seconds"]))
        rows += [_row("condition", named[name], condition=name) for name in ratings.conditions if name in named]
    return Result(pd.DataFrame(rows, columns=COLUMNS), _NOTE, "", draw=times_chart)


def _pages(kept: pd.DataFrame) -> pd.DataFrame | None:
    """Return one row per page: its time, its place, how many ratings it has, and its condition if it has only one."""
    if "response_ms" not in kept:
        return None
    known = kept[kept["response_ms"].notna()]
    visit = next((known[name] for name in ("session", "participant") if name in known), None)
    page = next((known[name] for name in ("position", "trial") if name in known and known[name].notna().all()), None)
    if visit is None or page is None:
        return None
    keys = known.groupby([visit, page], sort=True)
    pages = pd.DataFrame(
        {
            "seconds": keys["response_ms"].first() / 1000,
            "position": keys["position"].first() if "position" in known else float("nan"),
            "ratings": keys.size(),
            "condition": keys["condition"].first(),
        }
    )
    is_single = (keys["condition"].nunique() == 1) & (keys["other_condition"].max() == "")
    return pages.assign(condition=pages["condition"].where(is_single)).reset_index(drop=True)


def _row(of: str, seconds: pd.Series, *, position: float = float("nan"), condition: str = "") -> tuple[object, ...]:
    q1, median, q3 = (float(value) for value in seconds.quantile([0.25, 0.5, 0.75]))
    return (of, position, condition, len(seconds), median, q1, q3)
