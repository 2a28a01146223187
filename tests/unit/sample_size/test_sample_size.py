"""The verb power: its tables, figure and page, and what the command prints."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

import beholder
from beholder.cli import cli
from support.power_worlds import write_study


def test_the_verb_writes_tables_a_figure_and_a_page(tmp_path: Path) -> None:
    path = write_study(tmp_path, recruit={"mode": "link", "reward": "1.50 GBP"}, analyse={"contrasts": [["01", "no"]]})
    labels = {"conditions": [{"name": "01", "label": "First"}, "no", "Größe 2"]}
    labels["questions"] = [{"id": "quality", "text": "How good?", "label": "Quality"}]
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text("utf-8")), **labels}), "utf-8")
    seen: list[tuple[int, int]] = []
    result = beholder.power(
        path, participants=[4, 8], repetitions=20, methods=["pair"], progress=lambda *step: seen.append(step)
    )
    assert seen[-1][0] == seen[-1][1]
    assert result.page == tmp_path / "power" / "index.html"
    names = {one.relative_to(result.page.parent).as_posix() for one in result.page.parent.rglob("*") if one.is_file()}
    assert names >= {"power.csv", "sizes.csv", "needed.csv", "methods.csv", "notes.json", "figures/power.svg"}
    page = result.page.read_text("utf-8")
    assert "nan" not in page.lower().replace("finance", "")
    assert "Simulated." in page
    assert result.sizes["cost"].tolist() == [6.0, 12.0]
    pair = result.power[result.power["target"] == "contrast"].iloc[0]
    assert (pair["condition"], pair["other_condition"]) == ("01", "no")
    assert "First and no" in repr(result)
    assert "First and no" in result._repr_html_()
    assert "First and no" in page
    assert result.plot("Quality").to_dict()["vconcat"] == result.plot("quality").to_dict()["vconcat"]
    with pytest.raises(beholder.UserError, match=r"no question 'Qualty' is asked\. Allowed: quality\."):
        result.plot("Qualty")


def test_the_command_prints_the_table_and_the_advice(tmp_path: Path) -> None:
    path = write_study(tmp_path)
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
