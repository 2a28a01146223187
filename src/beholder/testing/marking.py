"""A study under names that no honest page contains."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from beholder.methods import load_study
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.ingest import load_catalogue

MARKS = ("markedcondition", "markedcontent")


def mark_names(study: Path, folder: Path) -> Path:
    """Write the study again with conditions and contents under names that no honest page contains.

    Roles stay, and so do the recipes of anchors, which are made from the marked references.
    """
    loaded = load_study(study)
    catalogue = load_catalogue(loaded)
    recipes = [name for name in loaded.options.get("anchors") or () if not _has_files(study.parent, name, catalogue)]
    named = [name for name in catalogue.conditions if name not in recipes]
    conditions = {name: f"{MARKS[0]}{n}" for n, name in enumerate(named, 1)}
    contents = {name: f"{MARKS[1]}{n}" for n, name in enumerate(catalogue.contents, 1)}
    folder.mkdir(parents=True)
    with (folder / "stimuli.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["file", "content", "condition"])
        for stimulus in catalogue.stimuli:
            if stimulus.condition not in conditions:
                continue
            name = contents[stimulus.content] + Path(stimulus.file).suffix
            target = folder / "files" / conditions[stimulus.condition] / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((study.parent / stimulus.file).read_bytes())
            row = [target.relative_to(folder).as_posix(), contents[stimulus.content], conditions[stimulus.condition]]
            table.writerow(row)
    written = yaml.safe_load(study.read_text("utf-8"))
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(_marked(written, conditions, named), allow_unicode=True), "utf-8")
    return path


def _has_files(folder: Path, condition: str, catalogue: Catalogue) -> bool:
    return any(s.condition == condition and (folder / s.file).is_file() for s in catalogue.stimuli)


def _marked(written: dict[str, Any], conditions: Mapping[str, str], named: list[str]) -> dict[str, Any]:
    """Return what stands in study.yaml with every condition under its other name."""
    written |= {"stimuli": {"manifest": "stimuli.csv"}, "texts": {}}
    written["conditions"] = [
        {**({} if isinstance(c, str) else c), "name": conditions[c if isinstance(c, str) else c["name"]]}
        for c in written.get("conditions") or named
    ]
    design = written.get("design") or {}
    if "always" in design:
        design["always"] = [conditions[condition] for condition in design["always"]]
    if isinstance(design.get("pairs"), dict):
        design["pairs"] = {kind: conditions[condition] for kind, condition in design["pairs"].items()}
    options = written.get("options") or {}
    if "anchors" in options:
        options["anchors"] = [conditions.get(name, name) for name in options["anchors"]]
    return written
