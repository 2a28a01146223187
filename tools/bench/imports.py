"""Importing: a batch of the P.910 toolkit with 20,000 submissions."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
from pathlib import Path

from beholder import import_study
from bench.table import Row, below

_SUBMISSIONS = 20_000
_EACH = 5
"""Submissions of one person."""
_CLIPS = 10
_SITE = "https://media.example.org/"


def measure_import(scratch: Path) -> Row:
    """Return how long a batch takes from its tables to a store with all facts."""
    source = scratch / "p910-batch"
    source.mkdir()
    _write(source / "answers.csv")
    began = time.perf_counter()
    done = import_study(source, scratch / "p910-imported")
    seconds = time.perf_counter() - began
    assert done.sessions == _SUBMISSIONS
    what = f"import of {_SUBMISSIONS:,} P.910 submissions ({done.answers:,} answers)"
    return below(what, seconds, 20, "s")


def _write(path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = _rows()
        first = next(rows)
        writer = csv.DictWriter(file, list(first))
        writer.writeheader()
        writer.writerow(first)
        writer.writerows(rows)


def _rows() -> Iterator[dict[str, object]]:
    for number in range(_SUBMISSIONS):
        clips = (((number + place) % 20, (7 * number + place) % 30) for place in range(_CLIPS))
        shown = [f"{_SITE}pvs/src{content:02d}_c{condition:02d}.mp4" for content, condition in clips]
        row: dict[str, object] = {
            "id": number, "AssignmentStatus": "Submitted", "WorkerId": f"loc{number // _EACH}",
            "AssignmentId": f"s{number}", "ProjectId": 1, "HITId": f"h{number % 40}", "HITTypeId": "t",
            "SubmitTime": f"2024-03-{1 + number % 28:02d} 12:02:48.609246+00:00", "Answer.device_type": "PC",
            "Answer.device_resolution": "2560x1440(1)", "Answer.device_os": "Windows",
            "Answer.1_gender": "MF"[number % 2], "Answer.7_plate3": "29", "Answer.7_plate4": "15",
            "Answer.t1_circles": 3, "Answer.t1_triangles": 1,
            "Answer.t2_circles": 7, "Answer.t2_triangles": 2, "Answer.matrix_t1_circle_history": ",3",
            "Answer.matrix_t1_triangle_history": ",1",
        }  # fmt: skip
        for place, url in enumerate([*shown[:4], f"{_SITE}tps/trap_3.mp4", *shown[4:], f"{_SITE}gold/gold_1.mp4"], 1):
            row |= {
                f"Answer.Q{place}_URL": url, f"Answer.q{place}": 3 if "trap" in url else 1 + (number * place) % 5,
                f"Answer.video_n_play_Q{place}": 1, f"Answer.video_n_finish_Q{place}": 1,
                f"Answer.video_play_duration_Q{place}": 10.5, f"Answer.video_duration_Q{place}": 10.2,
                f"Answer.video_dropped_frame_percent_Q{place}": 0,
            }  # fmt: skip
        row |= {"work_duration_sec": 829, "v_code": f"code{number}"}
        row |= {f"Input.Q{place}": url for place, url in enumerate(shown)}
        row |= {
            "Input.t1_matrix_c": 5, "Input.t1_matrix_t": 4, "Input.t2_matrix_c": 7, "Input.t2_matrix_t": 2,
            "Input.cv_plate_3_url": f"{_SITE}plates/X594MJK=4U5J03.png",
            "Input.cv_plate_4_url": f"{_SITE}plates/8R5DMTU=2L0B04.png", "Input.TP_CLIP": f"{_SITE}tps/trap_3.mp4",
            "Input.TP_ANS": 3, "Input.GOLD_CLIP": f"{_SITE}gold/gold_1.mp4", "Input.GOLD_ANS": 1,
        }  # fmt: skip
        yield row
