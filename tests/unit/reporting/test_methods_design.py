"""Sentences on the design."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from beholder.files import write_table
from beholder.reporting.methods_section import methods
from beholder.study.model import Study
from support.report_material import analysed_material
from support.report_pages import change_account, made_up


def test_the_methods_tell_every_number_and_leave_blanks_for_the_rest(tmp_path: Path) -> None:
    asks = [
        {"id": "age", "text": "How old are you?", "type": "number"},
        {"id": "gender", "text": "Your gender?", "type": "single", "options": ["woman", "man"]},
    ]
    study = made_up(tmp_path, {"natural": 85.0, "jerky": 40.0}, participants=6, before=asks)
    columns = ["participant", "use", "answer_age", "answer_gender"]
    people = [(f"p{n}", n < 6, 20 + n, "woman" if n % 3 else "man") for n in range(8)]
    write_table(
        study.folder / "clean" / "participants.csv", columns, [dict(zip(columns, p, strict=True)) for p in people]
    )
    paragraphs = {one.title: one.text for one in methods(analysed_material(study))}
    assert list(paragraphs) == ["Design", "Participants", "Apparatus", "Quality control", "Analysis", "Data"]
    assert paragraphs["Design"] == (
        "The study used rating of several stimuli in parallel (HEMVIP) (Jonell et al., 2021). Versions of the same "
        "content were on one page, to be played in any order, each with a slider of its own. Participants were asked "
        "“How good is it?” (0 to 100 in steps of 1: 10 Bad, 30 Poor, 50 Fair, 70 Good, 90 Excellent). There were 8 "
        "stimuli, 4 contents under 2 conditions: natural and jerky. Each stimulus was rated by 6 participants. [How "
        "contents were chosen and how stimuli were made]. A session had 4 trials that are analysed. The order of "
        "trials and the places of stimuli on a page were drawn beforehand and balanced over participants (seed 1). "
        "Participants were blind to conditions: they saw the names of neither conditions nor files. A stimulus had to "
        "be played to its end, or be in view for a set time, before it could be rated."
    )
    assert paragraphs["Participants"] == (
        "19 people followed an open link [where and how they were recruited, and who could take part] on 14 November "
        "2026. Of these, 10 finished. 13 sessions were left out: did not finish (9); nearly the same answer (4). 6 "
        "participants with 48 ratings are analysed. Mean age 22.5 years, SD 1.9, 20 to 25, n = 6. Gender: woman 4 and "
        "man 2. [Experience of participants, if known]. [Payment of a participant, and what that is in an hour]. "
        "[Consent and ethics approval]."
    )
    assert "two-sided t tests with the error clustered by participant and by content" in paragraphs["Analysis"]
    assert (
        "Tests are at the 5 % level, with Holm's correction within each question over all pairs of conditions "
        in (paragraphs["Analysis"])
    )
    assert "seeds: plan 1, ranks 20240229 and votes needed 1" in paragraphs["Analysis"]


@pytest.mark.parametrize(
    ("plays", "watched"),
    [
        (1.0, "be played to its end before"),
        (0.0, "be in view for a set time before"),
        (float("nan"), "be played to its end, or be in view for a set time, before"),
    ],
)
def test_a_page_with_one_stimulus_has_no_places_and_watching_is_told_by_what_it_is(
    tmp_path: Path, plays: float, watched: str
) -> None:
    study = made_up(tmp_path, {"natural": 85.0, "jerky": 40.0}, participants=4)

    def one_at_a_time(ratings: pd.DataFrame) -> pd.DataFrame:
        return ratings.assign(position=range(len(ratings)), plays=plays)

    text = methods(analysed_material(study, one_at_a_time))[0].text
    assert "The order of trials was drawn beforehand and balanced over participants (seed 1)." in text
    assert f"A stimulus had to {watched} it could be rated." in text


def design_of(study: Study) -> str:
    return next(one.text for one in methods(analysed_material(study)) if one.title == "Design")


def test_the_methods_tell_of_waveforms_numbers_and_looped_parts_where_there_were_any(tmp_path: Path) -> None:
    question = {"id": "quality", "text": "How good is it?", "scale": {"name": "cont100", "numbers": "ticks"}}
    study = made_up(
        tmp_path, {"a": 60.0, "b": 40.0}, questions=[question], playback={"waveform": True, "loop": "region"}
    )
    design = design_of(study)
    assert "90 Excellent; numbers were shown along the scale, and the one that was given below it)." in design
    assert "A waveform was drawn over the line of time" in design
    assert "looped" not in design, "nobody did"
    change_account(study, lambda account: account.update(loops={"pages": 34, "of": 1120, "median_ms": 2140}))
    assert "Participants looped a part on 34 of 1,120 pages (median length 2.1 s)" in design_of(study)
