"""`beholder power`: its tables, page and words, a pilot as its source, and what cannot be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import beholder
from beholder.analysis.result import records
from beholder.cli import cli
from beholder.errors import UserError
from beholder.simulation.pilot import from_pilot


def write(folder: Path, conditions: Sequence[str] = ("no", "01", "Größe 2"), **keys: Any) -> Path:
    """Write a study of texts, which take no time to look at."""
    for condition in conditions:
        for content in ("a", "b", "c", "d"):
            path = folder / "stimuli" / condition / f"{content}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{condition} {content}", "utf-8")
    study = {
        "beholder": 1, "name": "tiny", "title": "Which text?", "method": "acr", "stimuli": "stimuli",
        "questions": [{"id": "quality", "text": "How good?"}], "design": {"participants": 6, "trials": 6},
    }  # fmt: skip
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({**study, **keys}, allow_unicode=True, sort_keys=False), "utf-8")
    return path


def test_one_content_is_fixed(tmp_path: Path) -> None:
    """What conditions do to a single content is how good they are: there is no other that it could differ from."""
    path = write(tmp_path, design={"participants": 6, "trials": 3, "contents": "free"})
    for name in "bcd":
        for text in tmp_path.rglob(f"{name}.txt"):
            text.unlink()
    found = beholder.power(path, participants=[10], repetitions=60, methods=[])
    assert found.sizes["false_alarms_low"].tolist()[0] < 0.05
    assert found.notes["contents"] == "fixed"
    assert "There is one content: what is found holds for it, and says nothing about others." in found.words


def test_a_pilot_says_who_takes_part_and_how_good_conditions_are(tmp_path: Path) -> None:
    path = write(tmp_path)
    beholder.simulate(path, participants=6, people="bias:0.05,inconsistency:0.05", seed=2)
    found = beholder.power(path, source=path, participants=[6], repetitions=20, methods=[])
    pilot = from_pilot(path)
    pairs = found.power[found.power["target"] == "contrast"]
    for row in records(pairs):
        apart = 4 * (pilot.means[row["condition"]] - pilot.means[row["other_condition"]])
        assert row["difference"] == pytest.approx(apart)
    assert len(pairs) == 3
    assert "pilot tiny, robots" in " ".join(found.notes["notes"])


def test_the_verb_writes_tables_a_figure_and_a_page(tmp_path: Path) -> None:
    path = write(tmp_path, recruit={"mode": "link", "reward": "1.50 GBP"}, analyse={"contrasts": [["01", "no"]]})
    seen: list[tuple[int, int]] = []
    found = beholder.power(
        path, participants=[4, 8], repetitions=20, methods=["pair"], progress=lambda *step: seen.append(step)
    )
    assert seen[-1][0] == seen[-1][1]
    assert found.page == tmp_path / "power" / "index.html"
    names = {one.relative_to(found.page.parent).as_posix() for one in found.page.parent.rglob("*") if one.is_file()}
    assert names >= {"power.csv", "sizes.csv", "needed.csv", "methods.csv", "notes.json", "figures/power.svg"}
    page = found.page.read_text("utf-8")
    assert "nan" not in page.lower().replace("finance", "")
    assert "Simulated." in page
    assert found.sizes["cost"].tolist() == [6.0, 12.0]
    pair = found.power[found.power["target"] == "contrast"].iloc[0]
    assert (pair["condition"], pair["other_condition"]) == ("01", "no")
    assert "01 and no" in repr(found)
    assert "01 and no" in found._repr_html_()
    assert found.plot().to_dict()["vconcat"]


def test_the_command_prints_the_table_and_the_advice(tmp_path: Path) -> None:
    path = write(tmp_path)
    asked = [
        "power",
        str(path),
        "--participants",
        "4,8",
        "--repetitions",
        "20",
        "--methods",
        "none",
        "--contents",
        "fixed",
    ]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0].split() == ["difference", "4", "8"]
    assert lines[2].startswith("0.2 points")
    assert "Contents are fixed: what is found holds for these 4 contents, and says nothing about others." in lines
    assert "No pay rate: write recruit.reward, or give --rate, and cost is told as well." in lines
    assert lines[-1] == f"Page: {tmp_path / 'power' / 'index.html'}"


REFUSED: Mapping[str, tuple[dict[str, Any], str]] = {
    "sizes": (
        {"participants": "10,many,"},
        "--participants  is many, nothing. Allowed: whole numbers of 2 or more with commas between them, such as "
        "10,20,40,80.",
    ),
    "one": (
        {"participants": [1, 20]},
        "--participants  is 1. Allowed: whole numbers of 2 or more with commas between them, such as 10,20,40,80. A "
        "test takes two people.",
    ),
    "everything at once": (
        {"repetitions": 3, "difference": -1.0, "rate": "12 pounds"},
        "--repetitions  is 3. Allowed: 20 to 100,000.\n"
        "--difference  is -1. Allowed: a number above 0, in points of the scale.\n"
        "--rate  is 12 pounds. Allowed: an amount above 0 and a currency of three capital letters, such as "
        "12.00 GBP.",
    ),
    "seed": ({"seed": -1}, "--seed  is -1. Allowed: a whole number of 0 or more."),
    "leaving": (
        {"people": "leaving:1"},
        "--people  leaving is 1, and nobody would finish. Allowed: a number below 1.",
    ),
    "ladder": (
        {"difference": 2.5},
        "--difference  is 2.5: 3 conditions, each 2.5 from the next, take 5 points, and the scale has 4. Allowed: up "
        "to 2. 2.5 in a hundred of this scale are 0.1.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_asked_is_told(tmp_path: Path, name: str) -> None:
    keys, said = REFUSED[name]
    with pytest.raises(UserError) as caught:
        beholder.power(write(tmp_path), **keys)
    assert str(caught.value) == said
    assert not (tmp_path / "power").exists()


def test_one_condition_has_no_differences(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        beholder.power(write(tmp_path, ["only"]))
    said = "study.yaml:5  has 1 condition to compare, and power is about differences. Allowed: two or more."
    assert str(caught.value).endswith(said)


def test_correct_answers_compare_no_conditions(tmp_path: Path) -> None:
    path = write(tmp_path, ["a", "b"], method="abx", options={"mode": "identify"}, design={"trials": 4})
    with pytest.raises(UserError) as caught:
        beholder.power(path, participants=[4], repetitions=20)
    said = (
        "method is abx, of which power cannot be told. Allowed: methods whose answers are one number for each "
        "question: scores, or which of two is better. `beholder simulate` rehearses every method."
    )
    assert str(caught.value).endswith(said)


def test_an_unknown_method_beside_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        beholder.power(write(tmp_path), methods=["paralel"])
    assert str(caught.value).startswith("--methods  method is paralel, which is not a method.")
    assert str(caught.value).endswith("Did you mean parallel?")
