"""Metrics beside ratings: correlations as scipy has them, values from elsewhere, what the page says, all problems."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import beholder
from beholder.errors import UserError
from beholder.objective.regions import read_regions
from support.measured_stimuli import SIZE, note, refused, value
from support.metric_tables import CONDITIONS
from support.plans import make_catalogue


def test_values_that_cannot_be_are_said_with_their_lines(rated: Path, tmp_path: Path) -> None:
    one, two, three = (tmp_path / f"{name}.csv" for name in ("one", "two", "three"))
    one.write_text("condition,sharp,soft\nno,1,high\n01,low,\nNA,,3\n", "utf-8")
    two.write_text("clip,sharp\nx,1\n", "utf-8")
    three.write_text("stimulus,sharp\nx/y,1\n", "utf-8")
    gone = tmp_path / "gone.csv"
    assert refused(lambda: beholder.metrics(rated, values=[one, two, three, gone])) == [
        f"{one}:3  sharp is 'low'. Allowed: a number, or nothing.",
        f"{one}:2  soft is 'high'. Allowed: a number, or nothing.",
        f"{two}  has neither stimulus nor condition. Allowed: stimulus or condition, and metric and value, or a column "
        "for each metric.",
        f"{three}  names nothing that was rated, as in 'x/y'. Allowed: a stimulus such as 01/c0, or a "
        "condition such as 01.",
        f"{gone}  is not there.",
    ]
    one.write_text("condition,metric,value\nno,sharp,1\nno,sharp,2\n", "utf-8")
    assert refused(lambda: beholder.metrics(rated, values=[one])) == [
        "metric sharp  has two values of no. Allowed: one of each."
    ]
    one.write_text("condition,metric,value\nno,,1\n", "utf-8")
    assert refused(lambda: beholder.metrics(rated, values=[one])) == [f"{one}:2  metric is empty. Allowed: a name."]
    one.write_text("condition\nno\n", "utf-8")
    assert refused(lambda: beholder.metrics(rated, values=[one])) == [
        f"{one}  has no values. Allowed: at least one column with numbers."
    ]
    assert refused(lambda: beholder.metrics(rated)) == [
        f"{rated}  is a table, and only a study has stimuli that can be measured. Allowed: --values alone. Name "
        "study.yaml to measure its stimuli."
    ]


def test_tables_as_people_save_them_are_read_or_refused_clearly(rated: Path, tmp_path: Path) -> None:
    path, scores = tmp_path / "values.csv", tmp_path / "scores.csv"
    rows = [f"{at},{name} ,{9 - at}" for at, name in enumerate(CONDITIONS)]
    # With a mark of order, ends of lines as on Windows, an empty line, numbered rows, spaces, and a metric of any name.
    path.write_bytes("\r\n".join(["", ", condition ,line", *rows, ""]).encode("utf-8-sig"))
    table = beholder.metrics(rated, values=[path]).correlations
    assert table[["metric", "n"]].to_numpy().tolist() == [["line", 7]]
    need = "Allowed: stimulus or condition, and metric and value, or a column for each metric."
    for text, said in {
        "condition,value\nno,1\n": f"has value and no metric. {need}",
        "condition,metric\nno,sharp\n": f"has metric and no value. {need}",
        "condition,sharp,sharp\nno,1,2\n": "has the column sharp twice. Allowed: one of each.",
        "condition;sharp\nno;1\n": "has semicolons between its cells. Allowed: commas. Save it as CSV with commas.",
        "condition,sharp\nno,1,2\n": "has rows with more cells than the header has names. Allowed: as many cells as "
        "names.",
        "": "cannot be read as a table: No columns to parse from file. Allowed: CSV, UTF-8, with a header line.",
    }.items():
        path.write_text(text, "utf-8")
        assert refused(lambda: beholder.metrics(rated, values=[path])) == [f"{path}  {said}"]
    # Squares of these would have no end.
    path.write_text("condition,sharp\nno,1e300\n", "utf-8")
    scores.write_text("condition,mean\nno,1e300\n", "utf-8")
    assert refused(lambda: beholder.metrics(rated, values=[path])) == [
        f"{path}:2  sharp is '1e300'. Allowed: a number below 1e+15, or nothing."
    ]
    assert refused(lambda: beholder.metrics(scores, values=[path])) == [
        f"{scores}:2  mean is '1e300'. Allowed: a number below 1e+15, or an empty cell."
    ]


def test_regions_that_cannot_be_are_said_with_their_lines(material: Path, tmp_path: Path) -> None:
    table = tmp_path / "regions.csv"
    table.write_text(
        "region,x,y,width,height,mask\nface,0,0,0,10,\n,1,1,10,10,\nhead,,,,,\ntorso,,,,,gone.png\n", "utf-8"
    )
    study = material / "study.yaml"

    def measure() -> object:
        return beholder.metrics(study, metric=["psnr"], regions=table, out=tmp_path / "out")

    assert refused(measure) == [
        f"{table}:2  is the box 0, 0, 0, 10. Allowed: x and y from 0, width and height above 0. White pixels of a mask "
        "count; x and y of a box are of its upper left corner.",
        f"{table}:3  region is empty. Allowed: a name, such as face.",
        f"{table}:4  has neither a box nor a mask. Allowed: numbers for x, y, width and height. White pixels of a mask "
        "count; x and y of a box are of its upper left corner.",
        f"{table}:5  mask is gone.png, which does not exist. Allowed: an image or a video beside the table.",
    ]
    table.write_text("stimulus,region,x,y,width,height\nfine/city,face,100,100,100,40\n", "utf-8")
    assert refused(measure) == [f"{table}:2  face ends at 200, 140, outside the picture of 192 x 180 of fine/city."]
    table.write_text("name,x\nface,1\n", "utf-8")
    assert refused(measure) == [
        f"{table}  has not the columns of regions. Allowed: region, then x, y, width and height, or mask; stimulus or "
        "content where they differ; side where it is outside."
    ]


def test_regions_of_nothing_and_a_folder_that_cannot_be_written_are_told_before_anything_is_measured(
    material: Path, tmp_path: Path
) -> None:
    table = tmp_path / "regions.csv"
    table.write_text(
        "stimulus,content,region,x,y,width,height\n,town,face,0,0,1,1\ncoarse/town,,face,0,0,1,1\n", "utf-8"
    )
    study = material / "study.yaml"
    with pytest.raises(UserError) as caught:
        beholder.metrics(study, metric=["psnr"], regions=table, out=tmp_path / "out")
    assert str(caught.value).splitlines() == [
        f"{table}:2  content is town, which is none. Allowed: such as Größe 2.",
        f"{table}:3  stimulus is coarse/town, which is none. Allowed: such as coarse/Größe 2.",
    ]
    (tmp_path / "out" / "cache.jsonl").unlink()
    (tmp_path / "out" / "cache.jsonl").mkdir()
    with pytest.raises(UserError) as caught:
        beholder.metrics(study, metric=["psnr"], out=tmp_path / "out")
    assert str(caught.value) == (
        f"{tmp_path / 'out' / 'cache.jsonl'}  cannot be written: Is a directory. Allowed: a folder in which you may "
        "write."
    )


def test_the_background_is_all_that_is_outside_of_a_region(material: Path, tmp_path: Path) -> None:
    table = tmp_path / "regions.csv"
    rows = ["stimulus,region,x,y,width,height,mask,side", "coarse/city,front,20,40,70,60,,inside"]
    rows += ["coarse/city,behind,20,40,70,60,,outside", "coarse/city,around,,,,,mask.png,outside"]
    table.write_text("\n".join(rows) + "\n", "utf-8")
    shutil.copy(material / "mask.png", tmp_path)
    found = beholder.metrics(
        material / "study.yaml", metric=["psnr-y", "ssim", "vmaf"], regions=table, out=tmp_path / "out"
    ).values
    whole, front, behind = (value(found, "coarse/city", "psnr-y", region) for region in ("", "front", "behind"))
    share = 70 * 60 / (SIZE[0] * SIZE[1])
    # What is wrong with all pixels is what is wrong inside and outside.
    errors = [10 ** (-psnr / 10) for psnr in (whole, front, behind)]
    assert errors[0] == pytest.approx(share * errors[1] + (1 - share) * errors[2], rel=1e-4)
    assert value(found, "coarse/city", "psnr-y", "around") == pytest.approx(behind, abs=1e-5)
    assert 0 < value(found, "coarse/city", "ssim", "behind") < 1
    assert note(found, "coarse/city", "vmaf", "behind") == (
        "nothing to measure; it cannot leave out a part of the picture"
    )
    table.write_text("region,x,y,width,height,side\nface,0,0,10,10,behind\n", "utf-8")
    assert refused(lambda: beholder.metrics(material / "study.yaml", metric=["psnr"], regions=table)) == [
        f"{table}:2  side is behind. Allowed: inside or outside. outside takes all pixels but those of the box or "
        "mask: the background."
    ]


def test_a_region_without_a_stimulus_or_a_content_is_of_all(tmp_path: Path) -> None:
    table = tmp_path / "regions.csv"
    table.write_text("region,x,y,width,height,content\nface,0,0,10,10,\ntorso,0,0,9,9,city\n", "utf-8")
    regions = read_regions(table)
    catalogue = make_catalogue(1, 1)
    (stimulus,) = catalogue.stimuli
    assert [one.name for one in regions.of(stimulus)] == ["face"]
    assert {one.name for one in regions.of(replace(stimulus, content="city"))} >= {"torso"}
