"""Folders as the P.910 and P.808 toolkits leave them: configurations, clips, answers, and people who were made up."""

from __future__ import annotations

import base64
import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from support.small_media import write_stimulus

SITE = "https://media.example.org/"
MASTER = """\
[create_input]
number_of_clips_per_session:4
number_of_trapping_per_session:1
number_of_gold_clips_per_session:1
condition_pattern:.*_c(?P<condition_num>\\d{1,2})_.*.mp4
condition_keys = condition_num
clip_packing_strategy: random

[hit_app_html]
cookie_name:made_up
allowed_max_hit_in_project:60
hit_base_payment:0.5
quantity_hits_more_than: 30
quantity_bonus: 0.1
quality_top_percentage: 20
quality_bonus: 0.15
contact_email:somebody@example.org
scale:5
video_player: 70%
internet_speed_Mbps: 50

[viewing_condition]
min_screen_refresh_rate: 30
min_device_resolution: {w: 1280, h:720}
accepted_device: ["PC", "MOBILE"]
min_average_download_speed_Mbps: 40

[DefaultStorage]
StorageUrl:https://store.example.org
StorageAccountKey:a-key-that-nobody-may-see
"""
PARSER = """\
[general]
number_of_questions_in_rating: 6
scale: 5

[gold_question]
url_found_in: input.gold_clip
variance: 1

[acceptance_criteria]
correct_tps_bigger_equal: 1
matrix_ans_obfuscated: 1

[accept_and_use]
variance_bigger_equal: 0.15
viewing_duration_over:1.15
rater_min_acceptance_rate_current_test : 60
"""
CLIPS = ("src1_c01_v1", "src1_c02_v1", "src2_c01_v1", "src2_c02_v1")
PLATES = {3: "X594MJK=4U5J03", 4: "8R5DMTU=2L0B04"}
"""The names of plates that show 29 and 15."""
PEOPLE = ("AMADE1", "AMADE2", "AMADE3")


def url(name: str, suffix: str = ".mp4") -> str:
    return f"{SITE}clips/{name}{suffix}"


def matrix(circles: int, triangles: int) -> str:
    return f"{SITE}matrix/{base64.b64encode(f'c:{circles}_t:{triangles}'.encode()).decode()}.jpg"


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]], *, more: Sequence[Sequence[object]] = ()) -> None:
    """Write a table with every column that a row has, and then `more` lines as they are."""
    listed = list(rows)
    columns = list(dict.fromkeys(column for row in listed for column in row))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([row.get(column, "") for column in columns] for row in listed)
        writer.writerows(more)


# P.910


def write_p910(folder: Path, method: str = "acr", *, suffix: str = ".mp4", changes: Any = None) -> Path:
    """Write a batch of three people with two sessions each, and one more that was not sent off.

    `changes` is called with the rows of the page and those of the platform, which it may change.
    """
    folder.mkdir(parents=True)
    pattern = MASTER.replace(".mp4", suffix).replace("scale:5", "scale:7" if method == "ccr" else "scale:5")
    (folder / "master.cfg").write_text(pattern, "utf-8")
    (folder / "acr_result_parser.cfg").write_text(PARSER if method != "ccr" else PARSER.replace(": 5", ": 7"), "utf-8")
    references = ("src1", "src2") if method in ("acr-hr", "dcr", "ccr") else ()
    for strength, name in enumerate((*CLIPS, *references, "trap_src1_2", "gold_src2_5", "train_1"), 1):
        write_stimulus(folder / "clips" / f"{name}{suffix}", min(strength, 9))
    write_rows(folder / "training.csv", [{"training_pvs": url("train_1", suffix)}])
    page, platform = p910_rows(method, suffix)
    if changes is not None:
        changes(page, platform)
    write_rows(folder / "hitapp_answers.csv", page)
    write_rows(folder / "Batch_1_batch_results.csv", platform)
    return folder


def p910_rows(method: str, suffix: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of the page and those of the platform."""
    page, platform = [], []
    for number in range(7):
        person, visit = PEOPLE[number % 3], number // 3
        row: dict[str, Any] = {
            "id": number + 1, "AssignmentStatus": "Submitted", "WorkerId": f"loc{number % 3}", "ProjectId": 1,
            "AssignmentId": f"session{number}", "HITId": f"hit{visit}", "HITTypeId": "hit",
            "SubmitTime": f"2024-03-0{1 + visit} 12:0{number}:00.5+00:00", "work_duration_sec": 300,
            "v_code": f"code{number}",
        }  # fmt: skip
        if number < 6:
            row |= _answers(method, suffix, number)
            platform.append(_handed_in(number, person))
        page.append(row)
    return page, platform


def _handed_in(number: int, person: str) -> dict[str, Any]:
    return {
        "HITId": "HITMADE", "Title": "Rate videos", "Reward": "$0.50", "AssignmentId": f"AMT{number}",
        "WorkerId": person, "AssignmentStatus": "Approved" if number else "Rejected",
        "AcceptTime": "Mon Mar 04 11:48:59 PST 2024", "SubmitTime": "Mon Mar 04 12:02:48 PST 2024",
        "WorkTimeInSeconds": 881, "Input.url": "https://page.example.org",
        "Answer.hitapp_assignmentId": f"session{number}", "Answer.v_code": f" code{number} ",
    }  # fmt: skip


def _answers(method: str, suffix: str, number: int) -> dict[str, Any]:
    shown = [*CLIPS, *(("src1", "src2") if method == "acr-hr" else ())]
    shown = shown[number % 4 :] + shown[: number % 4]
    shown[1:1] = ["trap_src1_2"]
    shown[3:3] = ["gold_src2_5"]
    row: dict[str, Any] = {
        "Answer.device_type": "PC", "Answer.device_resolution": "2560x1440(1)", "Answer.device_os": "Windows",
        "Answer.1_gender": "MF"[number % 2], "Answer.2_birth_year": 1970 + number, "Answer.browser_info": "U_A:made up",
        "Answer.matrix_t1_circle_history": ",4,3", "Answer.matrix_t1_triangle_history": ",1,1",
        "Answer.T1_URL": url("train_1", suffix), "Answer.t1": 3, "Answer.video_n_play_t1": 1, "Answer.cmp1": "a",
    }  # fmt: skip
    if number % 2 == 0:
        row |= {
            "Answer.7_plate3": "29", "Answer.7_plate4": "15", "Answer.t1_circles": 3, "Answer.t1_triangles": 1,
            "Answer.t2_circles": 7, "Answer.t2_triangles": 2,
        }  # fmt: skip
    length = 0.1 if suffix == ".wav" else 0.4
    for place, name in enumerate(shown, 1):
        row[f"Answer.Q{place}_URL"] = url(name, suffix)
        is_turned = (place + number) % 2 == 0
        row |= {f"Answer.q{place}{item}": vote for item, vote in _votes(method, name, number).items()}
        if method == "ccr":
            row[f"Answer.Q{place}_order"] = "pr" if is_turned else "rp"
            if is_turned and name == "trap_src1_2":  # the label that was clicked is what a trap asks for
                row[f"Answer.q{place}"] = -2
        row |= {
            f"Answer.video_n_play_Q{place}": 1, f"Answer.video_n_finish_Q{place}": 1,
            f"Answer.video_play_duration_Q{place}": 1.02 * length, f"Answer.video_duration_Q{place}": length,
            f"Answer.video_dropped_frame_percent_Q{place}": 0,
        }  # fmt: skip
    for place, name in enumerate(CLIPS):
        source = url(name.partition("_")[0], suffix)
        if method in ("dcr", "ccr"):
            row |= {f"Input.Q{place}_P": url(name, suffix), f"Input.Q{place}_R": source}
        elif method == "acr-hr":
            row |= {f"Input.Q{place}": url(name, suffix), f"Input.Q{place}_R": source}
        else:
            row[f"Input.Q{place}"] = url(name, suffix)
    row |= {
        "Input.TP_CLIP": url("trap_src1_2", suffix), "Input.TP_ANS": "2.0",
        "Input.GOLD_CLIP": url("gold_src2_5", suffix), "Input.GOLD_ANS": "3.0" if method == "ccr" else "5.0",
        "Input.t1_matrix_c": 5, "Input.t1_matrix_t": 4, "Input.t1_matrix_url": matrix(3, 1),
        "Input.t2_matrix_c": 7, "Input.t2_matrix_t": 2, "Input.t2_matrix_url": matrix(7, 2),
        **{f"Input.cv_plate_{place}_url": f"{SITE}plates/{name}.png" for place, name in PLATES.items()},
        "Input.hit_type_id": "hit",
    }  # fmt: skip
    if method in ("dcr", "ccr"):
        row |= {"Input.TP_REF": url("src1", suffix), "Input.GOLD_REF": url("src2", suffix)}
    return row


def _votes(method: str, name: str, number: int) -> dict[str, int]:
    """Return what a person votes: traps and gold clips right, and the second condition below the first."""
    known = {"trap_src1_2": 2, "gold_src2_5": 5, "src1": 5, "src2": 5}
    vote = known.get(name) or (4 if "_c01_" in name else 2) + (number % 3 == 0)
    if method == "ccr":
        return {"": {"trap_src1_2": 2, "gold_src2_5": 3}.get(name, vote - 4)}
    if method == "avatar":
        return {"_realistic": vote, "_trust": 6 - vote, "_like": vote}
    return {"": vote}


# P.808


def write_p808(folder: Path, items: Sequence[str] = (), *, more: Sequence[Mapping[str, Any]] = ()) -> Path:
    """Write a batch of three people: answers in the results of the platform; `items` are those of P.835 or P.804."""
    folder.mkdir(parents=True)
    for strength, name in enumerate((*CLIPS, "trap_2", "gold_5"), 1):
        write_stimulus(folder / "clips" / f"{name}.wav", strength)
    (folder / "acr_result_parser.cfg").write_text(
        "[general]\nscale: 5\ncondition_pattern:.*_c(?P<condition_num>\\d+)_.*.wav\ncondition_keys = condition_num\n"
        "[acceptance_criteria]\nall_audio_played_equal: 1\ncorrect_cmp_bigger_equal: 2\n", "utf-8",
    )  # fmt: skip
    rows = []
    for number, person in enumerate(PEOPLE):
        shown = ["trap_2", *CLIPS, "gold_5"]
        row: dict[str, Any] = {**_handed_in(number + 1, person), "Approve": "", "Reject": "", "Answer.8_hearing": "yes"}
        for key in ("Answer.v_code", "Answer.hitapp_assignmentId"):
            del row[key]
        for place, name in enumerate(shown, 1):
            vote = {"trap_2": 2, "gold_5": 5}.get(name) or (4 if "_c01_" in name else 2) + (number == 1)
            row |= {
                f"Answer.Q{place}_URL": url(name, ".wav"), f"Answer.audio_n_play_q{place}": 1,
                f"Answer.audio_n_finish_q{place}": 1,
                **{f"Answer.q{place}{item}": vote for item in ([f"_{one}" for one in items] or [""])},
            }  # fmt: skip
        row |= {f"Input.Q{place}": url(name, ".wav") for place, name in enumerate(CLIPS)}
        row |= {
            "Input.TP": url("trap_2", ".wav"), "Input.TP_ANS": 2, "Input.gold_clips": url("gold_5", ".wav"),
            "Input.gold_clips_ans": 5, "Answer.cmp1": "a", "Input.CMP1_A": url("a", ".wav"), "Answer.math": 3,
        }  # fmt: skip
        rows.append(row)
    write_rows(folder / "Batch_2_batch_results.csv", [*rows, *more])
    return folder
