"""The stimuli of examples, drawn by Beholder, and the way of their studies from plan to report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.examples.contract import ExampleRun, sheet
from beholder.files import write_table
from beholder.formats import number

if TYPE_CHECKING:
    from pandas import DataFrame

    from beholder.reporting.sheets import TextTable
    from beholder.simulation.variance import PopulationSource

_SIZE = (320, 180)
_OTHERS = 100
"""The run of panels and laboratories, which no study has."""


def write_clips(run: ExampleRun, folder: Path, conditions: Mapping[str, str], contents: int) -> None:
    """Write `folder`/<condition>/<content>, each condition being a sample condition, or a recipe applied to one.

    A recipe stands behind the sample condition, as in `natural fps-6`. Conditions that are there are kept.
    """
    import os
    import shutil
    import tempfile
    from concurrent.futures import ThreadPoolExecutor

    from beholder.stimuli.samples import make_samples

    missing = {name: made_from for name, made_from in conditions.items() if not (folder / name).is_dir()}
    if not missing:
        return
    run.tell(f"Drawing {len(missing) * contents} stimuli")
    samples = sorted({made_from.split()[0] for made_from in missing.values()})
    folder.mkdir(parents=True, exist_ok=True)
    # Written aside and moved when complete, so that a run that was stopped begins this condition anew.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".drawn-") as aside:
        drawn = Path(aside)
        seconds = 0.4 if run.small else 1.0
        make_samples(drawn, contents=contents, conditions=samples, seconds=seconds, size=_SIZE, progress=run.progress)
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            jobs = [
                (source, drawn / f"made-{name}" / source.name, made_from.split()[1:])
                for name, made_from in missing.items()
                for source in sorted((drawn / made_from.split()[0]).iterdir())
            ]
            for name in missing:
                (drawn / f"made-{name}").mkdir()
            list(pool.map(lambda job: _make(*job), jobs))
        for name in missing:
            shutil.move(drawn / f"made-{name}", folder / name)


def _make(source: Path, target: Path, recipes: list[str]) -> None:
    import shutil

    from beholder.stimuli.workshop.anchors import degrade
    from beholder.study.recipes import read_recipe

    if not recipes:
        shutil.copyfile(source, target)
    for name in recipes:
        recipe = read_recipe(name)
        assert recipe is not None
        degrade(source, target, recipe)


def take(run: ExampleRun, study: Path, means: Mapping[str, float], *, raters: str = "honest") -> None:
    """Let simulated people take a study over HTTP, and judge their sessions.

    `means` are the qualities that the people find in the conditions, from 0 to 1.
    """
    import beholder

    run.tell(f"Simulated people take {study.parent.name}")
    beholder.simulate(study, raters=raters, source=_crowd(means), progress=run.progress)
    beholder.clean(study, robots=True)


def rehearse(run: ExampleRun, study: Path, means: Mapping[str, float], *, raters: str = "honest") -> None:
    """Let simulated people take a study, and unless the run is small, analyse it and write its report."""
    import beholder

    take(run, study, means, raters=raters)
    if not run.small:
        run.tell(f"Writing the report of {study.parent.name}")
        beholder.analyse(study)
        beholder.report(study, progress=run.progress)


def _crowd(means: Mapping[str, float]) -> PopulationSource:
    from beholder.simulation.truth import Population
    from beholder.simulation.variance import PopulationSource

    return PopulationSource(Population(), means, {"means": "planted after the paper"})


def rehearse_in_memory(
    study: Path, means: Mapping[str, float], *, raters: str, name: str, participants: int | None = None
) -> Path:
    """Return the ratings of people who answer without a server, kept under `name` beside the study.

    For panels and laboratories that the study is held against: no check judges them. They are a run of their own, so
    that they are other people who find the same in every stimulus.
    """
    import beholder
    from beholder.analysis.result import records
    from beholder.methods import load_study

    others = load_study(study).model_copy(update={"run": _OTHERS})
    rated = beholder.simulate(others, memory=True, participants=participants, raters=raters, source=_crowd(means))
    target = study.parent / f"{name}.csv"
    write_table(target, list(rated.ratings.columns), records(rated.ratings))
    return target


def drawn(path: Path) -> Path | None:
    """Return the path of a figure where it was drawn."""
    return path if path.is_file() else None


def stages_of(study: Path) -> TextTable:
    """Return the stages of a session and how long each takes, as `check` finds them."""
    import beholder

    stages = beholder.check(study).stages
    return sheet(
        ("Stage", "Screens", "Minutes"), [(one.name, str(one.screens), number(one.minutes, 1)) for one in stages]
    )


def indexed(table: DataFrame, *keys: str) -> dict[Any, dict[str, Any]]:
    """Return the rows of a table by one key, or by a tuple of several."""
    from beholder.analysis.result import records

    return {row[keys[0]] if len(keys) == 1 else tuple(row[key] for key in keys): row for row in records(table)}


def compared(run: ExampleRun, *sides: str | Path, out: Path) -> Mapping[str, DataFrame]:
    """Return the tables of a comparison by name, with its page and figures in `out` unless the run is small."""
    import beholder
    from beholder.comparison.result import find
    from beholder.comparison.sides import open_sides

    if run.small:
        return {name: one.table for name, one in find(open_sides(sides), None).results.items()}
    found = beholder.compare(*sides, out=out, progress=run.progress)
    return {"agreement": found.agreement, **found.also}


def set_run(study: Path, number: int) -> None:
    """Write which run a copied study file is."""
    text = study.read_text("utf-8").partition("\nrun: ")[0].rstrip("\n")
    study.write_text(f"{text}\nrun: {number}\n", "utf-8")


def set_size(study: Path, **design: int) -> None:
    """Write numbers of `design` into a copied study file, in place of those of the paper."""
    import re

    text = study.read_text("utf-8")
    for key, value in design.items():
        text, found = re.subn(rf"(?m)^(  {key}: )\d+", rf"\g<1>{value}", text)
        assert found == 1, f"{study}: design.{key}"
    study.write_text(text, "utf-8")


def picture_of_step(run: ExampleRun, study: Path, *keys: str) -> Path | None:
    """Return the picture of the first step whose key begins with one of `keys`; None where no pictures are wanted.

    A robot takes the study in a real browser once, and all its pictures are kept in storyboard/.
    """
    import beholder

    if not run.pictures:
        return None
    folder = study.parent / "storyboard"
    if not folder.is_dir():
        run.tell(f"A robot takes {study.parent.name} in a browser")
        beholder.simulate(study, browser=True, progress=run.progress)
    found = sorted(path for path in folder.rglob("*.png") if path.stem.partition("-")[2].startswith(keys))
    return found[0] if found else None
