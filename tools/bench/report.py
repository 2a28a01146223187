"""How long it takes to analyse a study of HEMVIP's size and to write its report, with figures."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from beholder.cleaning.ratings import COLUMNS
from beholder.columns import names_of
from bench.table import Row, below

PARTICIPANTS, PAGES, CONDITIONS, CONTENTS = 184, 11, 7, 46
_STUDY = {
    "beholder": 1, "name": "hemvip", "title": "Gestures while talking", "method": "parallel", "stimuli": "stimuli",
    "questions": [{"id": "quality", "text": "How human-like is the motion?", "scale": "cont100"}],
}  # fmt: skip


_LIMIT_S = 2


def measure_report(scratch: Path) -> list[Row]:
    """Return the times that a fresh process takes for `analyse` and `report`, and another for `report` alone."""
    folder = write_clean(scratch / "hemvip")
    warm = "import altair, vl_convert, pyarrow, scipy.stats, beholder.analysis.folder, beholder.reporting.folder"
    subprocess.run([sys.executable, "-c", warm], check=True)
    both = _seconds_of("beholder.analyse(sys.argv[1]); print(beholder.report(sys.argv[1]))", folder)
    alone = _seconds_of("print(beholder.report(sys.argv[1]))", folder)
    n = PARTICIPANTS * PAGES * CONDITIONS
    what = f"{PARTICIPANTS} participants, {n:,} ratings, all pairs, all figures"
    return [
        below(f"analyse and report, {what}", both, 15, "s"),
        below("the same: `report` alone", alone, _LIMIT_S, "s"),
    ]


def _seconds_of(code: str, folder: Path) -> float:
    began = time.perf_counter()
    command = [sys.executable, "-c", f"import sys, beholder; {code}", str(folder / "study.yaml")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def write_clean(folder: Path) -> Path:
    """Write study.yaml and clean/ with made-up ratings: 7 conditions on each of 11 pages, and return the folder."""
    (folder / "clean").mkdir(parents=True)
    (folder / "stimuli").mkdir()
    names = [f"system {letter}" for letter in "ABCDEFG"]
    study = {**_STUDY, "conditions": names}
    (folder / "study.yaml").write_text(json.dumps(study), "utf-8")  # JSON is YAML
    _ratings(names).to_csv(folder / "clean" / "ratings.csv", index=False, lineterminator="\n")
    account = _account(study)
    (folder / "clean" / "account.json").write_text(json.dumps(account), "utf-8")
    return folder


def _ratings(names: list[str]) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    shape = (PARTICIPANTS, PAGES, CONDITIONS)
    person, page, condition = (index.ravel() for index in np.indices(shape))
    content = np.stack([rng.permutation(CONTENTS)[:PAGES] for _ in range(PARTICIPANTS)])[person, page]
    felt = np.linspace(70, 25, CONDITIONS)[condition] + rng.normal(0, 8, PARTICIPANTS)[person]
    felt += rng.normal(0, 5, (CONTENTS, CONDITIONS))[content, condition] + rng.normal(0, 14, person.size)
    value = np.clip(felt.round(), 0, 100)
    named = pd.Series(names, dtype=object)[condition].to_numpy()
    source = pd.Series([f"clip {number:02}" for number in range(CONTENTS)], dtype=object)[content].to_numpy()
    table = pd.DataFrame(dict.fromkeys(names_of(COLUMNS), ""), index=range(person.size))
    seconds = 40 + 60 * np.exp(-np.arange(PAGES) / 3)
    spent = (1000 * seconds * rng.lognormal(0, 0.4, (PARTICIPANTS, PAGES))).round()
    return table.assign(
        study="hemvip", digest="d1", run=1, participant=[f"p{number:03}" for number in person],
        session=[f"s{number:03}" for number in person], mode="link", trial=[f"t{number}" for number in page],
        position=page + 1, repetition=1, method="parallel", question="quality", kind="score", content=source,
        condition=named, stimulus=named + "/" + source, role="test", value=value, raw_value=value, keyed=value,
        scale_min=0, scale_max=100, slot=[f"s{number}" for number in condition], response_ms=spent[person, page],
        answered_at="2026-11-14T09:00:00+00:00", use=np.where(person < PARTICIPANTS - 4, "true", "false"),
    )  # fmt: skip


def _account(study: dict[str, object]) -> dict[str, object]:
    used, rows = PARTICIPANTS - 4, PARTICIPANTS * PAGES * CONDITIONS
    counts = {
        "participants": PARTICIPANTS, "sessions": PARTICIPANTS, "completed": PARTICIPANTS,
        "completed_participants": PARTICIPANTS, "used_participants": used, "used_sessions": used, "ratings": rows,
        "used_ratings": used * PAGES * CONDITIONS, "missing_ratings": 0, "other_plans": 0,
    }  # fmt: skip
    question = {"id": "quality", "text": "How human-like is the motion?", "scale": _scale(), "keyed": "+"}
    text = {
        "digest": "d1", "title": study["title"], "watch": "none", "questions": [question], "used_sessions": used,
        "used_participants": used,
    }  # fmt: skip
    return {
        "study": study["name"], "population": "people", "finished": {"people": PARTICIPANTS, "robots": 0},
        "digests": ["d1"], "texts": [text], "roles": {}, "counts": counts, "lost": [], "verdicts": {},
    }  # fmt: skip


def _scale() -> dict[str, object]:
    words = ("Bad", "Poor", "Fair", "Good", "Excellent")
    return {"min": 0, "max": 100, "step": 1, "labels": [[10 + 20 * place, word] for place, word in enumerate(words)]}
