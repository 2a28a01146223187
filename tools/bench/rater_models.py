"""How long Annex E takes: against sureal on the same ratings, and on ten million."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from beholder.stats.rater_models import RaterVotes, p910
from bench.servers import most_memory
from bench.table import Row, at_least, below

_DATA = Path(os.environ.get("BEHOLDER_TEST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
_TABLE = _DATA / "ratings" / "synth_1000x500_raw.csv"
_TIMES = 20
_LIMIT_S, _LIMIT_GB = 60, 4
_PER_RATER, _STIMULI = 100, 2003


def measure_models(*, ratings: int = 10_000_000) -> list[Row]:
    """Return Annex E against sureal's, both from what they take to what they give, and alone on so many ratings."""
    return [_against_sureal(), *_alone(ratings)]


def _against_sureal() -> Row:
    what = "Annex E on 25,000 ratings (1,000 stimuli, 500 people) against sureal's P910"
    if not _TABLE.is_file():
        return Row(what, f"skipped: {_TABLE.name} is not there; set BEHOLDER_TEST_DATA")
    raw = pd.read_csv(_TABLE)
    rater, raters = pd.factorize(raw["subject"])
    stimulus, stimuli = pd.factorize(raw["stimulus"])
    votes = RaterVotes(raw["score"].to_numpy(float), rater, stimulus, len(raters), len(stimuli))
    reader = sureal_reader(votes)
    ours, theirs = [], []
    for _ in range(3):
        theirs.append(_seconds(lambda: sureal_p910(reader)))
        ours.append(min(_seconds(lambda: p910(votes)) for _ in range(5)))
    spent = f" ({1000 * min(ours):.0f} ms, sureal {1000 * min(theirs):.0f} ms)"
    return at_least(what, min(theirs) / min(ours), _TIMES, "times", spent)


def sureal_reader(votes: RaterVotes) -> Any:
    """Return the ratings as sureal reads them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sureal.dataset_reader import RawDatasetReader

    scores: list[dict[str, float]] = [{} for _ in range(votes.stimuli)]
    for value, rater, stimulus in zip(votes.value.tolist(), votes.rater.tolist(), votes.stimulus.tolist(), strict=True):
        scores[stimulus][str(rater)] = value
    shown = [
        {"content_id": place, "asset_id": place, "os": given, "path": f"{place}.yuv"}
        for place, given in enumerate(scores)
    ]
    sources = [{"content_id": place, "content_name": str(place), "path": f"{place}.yuv"} for place in range(len(shown))]
    dataset = SimpleNamespace(
        dataset_name="ratings", yuv_fmt="yuv420p", width=1, height=1, ref_videos=sources, dis_videos=shown
    )
    return RawDatasetReader(dataset)


def sureal_p910(reader: Any) -> dict[str, Any]:
    """Return what sureal's Annex E finds; observers are in the order of `_get_list_observers`."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        from sureal.subjective_model import SubjectMLEModelProjectionSolver2

        found: dict[str, Any] = SubjectMLEModelProjectionSolver2(reader).run_modeling()
    return found


def _seconds(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _alone(ratings: int) -> list[Row]:
    """Return time and memory of a process of its own."""
    done = subprocess.run([sys.executable, __file__, str(ratings)], stdout=subprocess.PIPE, check=True)
    told = json.loads(done.stdout)
    what = f"Annex E on {ratings:,} ratings ({_PER_RATER} each, {_STIMULI:,} stimuli)"
    note = f" ({told['iterations']} rounds)"
    return [
        below(what, told["seconds"], _LIMIT_S, "s", note),
        below(f"{what}: most memory", told["gigabytes"], _LIMIT_GB, "GB"),
    ]


def many_votes(ratings: int) -> RaterVotes:
    """Return votes on five points of raters with biases and inconsistencies of their own."""
    rng = np.random.default_rng(1)
    raters = max(2, ratings // _PER_RATER)
    rater = np.repeat(np.arange(raters), _PER_RATER)
    # Everybody has a start and a stride of their own; as 2,003 is prime, none of their stimuli comes twice.
    start, stride = rng.integers(0, _STIMULI, raters), rng.integers(1, _STIMULI, raters)
    stimulus = (start[rater] + stride[rater] * (np.arange(len(rater)) % _PER_RATER)) % _STIMULI
    value = rng.standard_normal(len(rater))
    value *= np.exp(rng.normal(np.log(0.6), 0.35, raters))[rater]
    value += rng.uniform(1.5, 4.5, _STIMULI)[stimulus]
    value += rng.normal(0, 0.35, raters)[rater]
    return RaterVotes(np.clip(np.rint(value, out=value), 1, 5, out=value), rater, stimulus, raters, _STIMULI)


if __name__ == "__main__":
    votes = many_votes(int(sys.argv[1]))
    began = time.perf_counter()
    found = p910(votes)
    seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "iterations": found.iterations, "gigabytes": most_memory() / 1e9}))
