"""`check`: what a session will be like."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import beholder
from beholder.buckets import upload_media
from beholder.checks.page_registry import page_checks
from beholder.testing import write_study
from support.commands import command
from support.data import ROOT
from support.s3_server import S3Server


def test_check_prints_what_a_participant_goes_through(study: Path) -> None:
    result = command("check", cwd=study.parent)
    assert result.returncode == 0, result.stderr
    for part in ("A tiny study", "3 trials", "min", "16 stimuli", "4 to 5 ratings", "No problems found"):
        assert part in result.stdout
    resolved = command("check", "--resolved", cwd=study.parent)
    assert yaml.safe_load(resolved.stdout)["playback"]["watch"] == "whole"


def test_a_missing_heading_does_not_hide_what_is_wrong_with_the_stimuli(tmp_path: Path) -> None:
    written = tmp_path / "study.yaml"
    written.write_text("title: Faces\nmethod: acr\nstimuli: faces\n", "utf-8")
    with pytest.raises(beholder.UserError) as told:
        beholder.check(written)
    assert [str(problem) for problem in told.value.problems] == [
        "study.yaml:1  beholder is missing. Allowed: 1. Write beholder: 1 in a line of its own.",
        "study.yaml:1  name is missing. Allowed: up to 64 small letters, digits, - and _, beginning with a letter or "
        "digit.",
        "study.yaml:3  stimuli is faces, which is not there. Make the folder faces with one folder per condition, or "
        "change stimuli in the study.",
    ]


def test_check_counts_its_warnings_at_the_end(study: Path) -> None:
    written = yaml.safe_load(study.read_text("utf-8"))
    written["conditions"] = ["natural", "smooth", "jerky"]
    written["recruit"] = {"reward": "1.50 GBP"}
    del written["contact"]
    study.write_text(yaml.safe_dump(written), "utf-8")
    result = command("check", cwd=study.parent)
    assert result.returncode == 0, result.stderr
    assert "\n6 sessions at 1.50 GBP earn 9.00 GBP, 45.00 GBP an hour at about 2 minutes; fees of a" in result.stdout
    assert result.stderr == ("Warning: condition frozen  is not listed in conditions, so its 4 stimuli are left out.\n")
    assert result.stdout.endswith(
        "\nParticipants have nobody to ask: write contact, an e-mail or web address.\nNo errors, 1 warning.\n"
    )


def test_texts_of_an_example_about_videos_are_told_where_the_stimuli_are_others(tmp_path: Path) -> None:
    for condition in ("plain", "polished"):
        for content in ("letter", "note"):
            path = tmp_path / "stimuli" / condition / f"{content}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"A {condition} {content}.", "utf-8")
    (tmp_path / "media").mkdir()
    texts = {"consent": "You read letters, {tme}. {pay}", "instructions": "Watch each **video** to its end. {time}"}
    study = write_study(tmp_path / "study", tmp_path, conditions=None, texts=texts, method="acr")
    warnings = [str(one).partition("  ")[2] for one in beholder.check(study).warnings]
    assert warnings == [
        "speaks of 'video', and the stimuli are texts. Say what people see or hear in this study.",
        "texts.consent holds {tme}, which participants would read as it stands. Allowed: {time} and {pay}, in the "
        "consent. Did you mean time?",
        "texts.instructions holds {time}, which participants would read as it stands. Allowed: {time} and {pay}, in "
        "the consent.",
    ]


def test_check_tells_the_stages_in_the_order_of_a_visit(tmp_path: Path, tiny: Path) -> None:
    before = [{"id": "field", "text": "Your field", "type": "text"}]
    after = [{"id": "age", "text": "Your age", "type": "number"}, {"id": "remarks", "text": "Remarks", "type": "text"}]
    checked = beholder.check(write_study(tmp_path / "study", tiny, before=before, after=after))
    names = [stage.name.partition(" (")[0] for stage in checked.stages]
    assert names == ["consent and instructions", "1 question before", "rating", "2 questions after"]


def test_check_tells_how_long_and_how_many_screens_it_takes_to_the_first_rating(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny, method="acr", qualification={"colour": True, "brightness": True})
    checked = beholder.check(study)
    names = [stage.name.partition(" (")[0] for stage in checked.stages]
    assert names == ["consent and instructions", "qualification, 1 check", "set-up, 2 checks", "rating"]
    checks = page_checks(checked.study)
    minutes = [stage.minutes for stage in checked.stages]
    assert minutes[1] + minutes[2] == pytest.approx(sum(check.seconds for check in checks) / 60)
    assert checked.minutes_before == pytest.approx(sum(minutes[:3]))
    assert checked.screens_before == 2 + sum(check.screens for check in checks)
    result = command("check", cwd=study.parent)
    assert re.search(r"^About \d min( [1-5]0 s)? and 7 screens before the first rating\.$", result.stdout, re.MULTILINE)


def test_a_first_visit_by_p910_takes_under_five_minutes_before_training(tmp_path: Path, tiny: Path) -> None:
    """By the times that the checks say they take, and 238 words a minute of our own instructions."""
    checked = beholder.check(write_study(tmp_path / "study", tiny, method="acr", preset="p910", training=False))
    assert [stage.name.partition(",")[0] for stage in checked.stages] == [
        "consent and instructions", "device", "qualification", "set-up", "rating (acr)",
    ]  # fmt: skip
    assert checked.minutes_before < 5
    docs = (ROOT / "docs" / "qualification.md").read_text("utf-8")
    seconds = 10 * round(6 * checked.minutes_before)
    assert f"has {checked.screens_before} screens up to the training" in docs
    assert f"take about {seconds // 60} min {seconds % 60} s" in " ".join(docs.split())


@pytest.mark.parametrize(
    ("method", "keys", "told"),
    [
        (
            "parallel", {},
            "is natural, and votes of parallel are not held against votes on an original. Allowed: with method: acr or "
            "acr-hr. Leave it out.",
        ),
        (
            "acr-hr", {"conditions": [{"name": "smooth", "role": "reference"}, "natural", "jerky"]},
            "is natural, and acr-hr takes its reference. Allowed: smooth. Leave it out.",
        ),
        (
            "acr", {"conditions": None, "analyse": {"dmos": "naturl"}},
            "is naturl, which is no condition. Allowed: frozen, jerky, natural, smooth. Did you mean natural?",
        ),
    ],
)  # fmt: skip
def test_an_original_that_cannot_be_one_is_told(
    tmp_path: Path, tiny: Path, method: str, keys: dict[str, object], told: str
) -> None:
    design = {"participants": 4, "trials": 6}
    study = write_study(
        tmp_path / "study", tiny, **{"method": method, "design": design, "analyse": {"dmos": "natural"}, **keys}
    )
    with pytest.raises(beholder.UserError) as error:
        beholder.check(study)
    place, _, what = str(error.value).partition("analyse.dmos ")
    assert place.startswith("study.yaml")
    assert what == told


def test_check_compares_the_place_of_the_media_with_the_folder(tmp_path: Path, tiny: Path, s3: S3Server) -> None:
    to = s3.new_folder()
    study = write_study(tmp_path / "study", tiny, media={"to": to, "copies": 4})
    line = f"study.yaml:{study.read_text('utf-8').splitlines().index('media:') + 1}"
    told = command("check", cwd=study.parent)
    assert (told.returncode, told.stderr) == (
        0,
        f"Warning: {line}  media holds 0 of 64 copies. `beholder media upload` uploads the others; `beholder serve` "
        "does so before it begins.\n",
    )
    upload_media(study)
    assert command("check", cwd=study.parent).stderr == ""


def test_check_says_what_keeps_it_from_comparing_media(
    tmp_path: Path, tiny: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = write_study(tmp_path / "study", tiny, media="s3://media/jerky-or-not")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    named, away = beholder.check(study).warnings
    assert str(named).partition("  ")[2] == (
        "media names the condition jerky, and stands in every address that participants get. Name bucket and folder by "
        "something that tells nothing."
    )
    assert str(away).partition("  ")[2] == (
        "media could not be compared: cannot be read (it does not answer). See that it is there, and that "
        "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY are those of somebody who may write to it."
    )
