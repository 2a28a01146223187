"""The page Study: the file with its problems, a session, the plan, the storyboard, the steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from beholder.desk.documents.study import document
from beholder.planning.balance import balance_table
from support.desk_studies import BLINDED, UNBLINDED, on_desk
from support.taken_study import LABEL, TakenStudy


def look_at(folder: Path, viewer: Any = UNBLINDED) -> Any:
    return on_desk(folder, lambda on: document(on, viewer))


def test_the_file_is_shown_as_it_is_and_blinded_as_what_it_means(taken: TakenStudy) -> None:
    folder, _ = taken
    text = (folder / "study.yaml").read_text("utf-8")
    path = folder / "study.yaml"
    path.write_text(f"# frozen is the worst\n{text}", "utf-8")
    assert look_at(folder)["text"] == path.read_text("utf-8")
    blinded = look_at(folder, BLINDED)["text"]
    values, own = yaml.safe_load(blinded), yaml.safe_load(text)
    assert "frozen" not in blinded
    assert LABEL not in blinded
    assert {k: v for k, v in values.items() if k != "conditions"} == {k: v for k, v in own.items() if k != "conditions"}
    assert [one if isinstance(one, str) else one["name"] for one in values["conditions"]] == ["(condition)"] * 4
    assert "Condition A" not in blinded, "the place in the file would tell which it is"


def test_problems_are_told_with_what_is_wrong_and_how_to_mend_it(taken: TakenStudy) -> None:
    folder, _ = taken
    path = folder / "study.yaml"
    assert [one for one in look_at(folder)["problems"] if one["kind"] == "error"] == []

    async def broken(on: Any) -> Any:
        path.write_text(path.read_text("utf-8") + "\nsurprise: true\n", "utf-8")
        return await document(on, UNBLINDED)

    told = on_desk(folder, broken)
    (problem,) = told["problems"]
    assert (problem["kind"], told["session"]) == ("error", None)
    assert "surprise" in problem["what"]


def test_the_plan_is_told_by_its_counts(taken: TakenStudy) -> None:
    folder, _ = taken
    told = look_at(folder)
    assert list(told["plan"]["balance"][0]) == balance_table(())[0]
    assert told["plan"]["balance"][0]["difference"] == "0"
    assert next(step["title"] for step in told["steps"]) == "Consent"
    assert "Trial 1" in [step["title"] for step in told["steps"]]
    assert (told["session"]["lists"], told["served"]["lists"]) == (4, 4)
    (folder / "plan" / "balance.csv").unlink()
    assert look_at(folder)["plan"] is None


def test_pictures_of_the_storyboard_are_listed(taken: TakenStudy) -> None:
    folder, _ = taken
    for name in ("01-consent.png", "02-trial-1.png", "03-trial-1-answered.png"):
        (folder / "storyboard" / "robot-1").mkdir(parents=True, exist_ok=True)
        (folder / "storyboard" / "robot-1" / name).write_bytes(b"")
    (session,) = look_at(folder)["storyboard"]
    assert session["name"] == "robot-1"
    assert [one["title"] for one in session["pictures"]] == ["Consent", "Trial 1", "Trial 1, answered"]
    assert session["pictures"][0]["file"] == "robot-1/01-consent.png"
