"""Further columns of the manifest appear in the ratings, in the export, and in a table of their levels."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import beholder

LEVELS = {"plain": "01", "warm": "NA"}


def write(folder: Path) -> Path:
    rows = ["file,content,condition,Größe,empty"]
    for condition, size in LEVELS.items():
        (folder / condition).mkdir(parents=True)
        for content in ("a", "b"):
            (folder / condition / f"{content}.txt").write_text(f"Some {condition} words on {content}.", "utf-8")
            rows.append(f"{condition}/{content}.txt,{content},{condition},{size},")
    (folder / "stimuli.csv").write_text("\n".join(rows), "utf-8")
    path = folder / "study.yaml"
    path.write_text(
        "beholder: 1\nname: factors\ntitle: Factors\nmethod: ab\nstimuli: {manifest: stimuli.csv}\n"
        "questions: [{id: better, text: Which one?}]\nplayback: {watch: none}\n"
        "design: {participants: 4, trials: 2}\ncontact: a@example.org\n", "utf-8"
    )  # fmt: skip
    return path


def test_a_column_of_the_manifest_flows_through(tmp_path: Path) -> None:
    study = write(tmp_path / "study")
    beholder.simulate(study, participants=4)
    beholder.clean(study)
    ratings = pd.read_csv(study.parent / "clean" / "ratings.csv", dtype=str, keep_default_na=False)
    for side in ("", "other_"):
        assert list(ratings[f"{side}factor_Größe"]) == list(ratings[f"{side}condition"].map(LEVELS))
    assert set(ratings["factor_empty"]) == {""}
    table = beholder.analyse(study).also["factors"]
    # A stimulus without ratings has a level as well.
    assert dict(zip(table["level"], table["factor"], strict=True)) == {"01": "Größe", "NA": "Größe"}
    assert table.set_index("level")["mean"].sum() == 0
    folder = beholder.export(study).folder
    exported = pd.read_csv(folder / "ratings.csv", dtype=str, keep_default_na=False)
    assert list(exported["factor_Größe"]) == list(exported["condition"].map(LEVELS))
    stimuli = pd.read_csv(folder / "stimuli.csv", dtype=str, keep_default_na=False)
    assert list(stimuli["factor_Größe"]) == list(stimuli["condition"].map(LEVELS))
