"""The crowdsourced P.910 study: five runs against a laboratory, what each check is worth, and four methods."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.examples.contract import ExampleRun, Exhibit, PaperStudy, read_published, sheet
from beholder.examples.steps import (
    compared,
    drawn,
    indexed,
    picture_of_step,
    rehearse,
    rehearse_in_memory,
    set_run,
    set_size,
    stages_of,
    take,
    write_clips,
)
from beholder.files import csv_lines, write_atomically, write_table
from beholder.formats import NONE, number, percent

if TYPE_CHECKING:
    import pandas as pd

    from beholder.reporting.sheets import TextTable

_FOLDER = Path(__file__).parent
_RECIPES = (
    "bitrate-110k", "resolution-120", "fps-15", "blur-8", "bitrate-70k", "resolution-90", "blur-14", "bitrate-45k",
    "fps-8", "resolution-60", "blur-22", "bitrate-30k", "fps-5", "resolution-40", "bitrate-20k",
)  # fmt: skip
"""Fifteen ways to impair a source, the mildest first; with the source itself there are sixteen conditions."""
_SMALL = ("bitrate-110k", "blur-14", "resolution-60", "resolution-40")
_RATERS = (
    "honest:0.7,careless:0.09,straight:0.04,unable-distance-far:0.04,unable-distance-unclear:0.03,unable-acuity:0.06,"
    "unable-brightness:0.04"
)
_RUNS = 5


def _recipes(run: ExampleRun) -> Sequence[str]:
    return _SMALL if run.small else _RECIPES


def _conditions(run: ExampleRun) -> Mapping[str, str]:
    """Return what every condition is made from; `hrc` is the standards' word for one way of processing."""
    made = {f"hrc{place:02}": f"natural {recipe}" for place, recipe in enumerate(_recipes(run), 1)}
    return {"source": "natural", **made}


def _qualities(run: ExampleRun) -> Mapping[str, float]:
    names = list(_conditions(run))
    return {name: 0.9 - 0.78 * place / (len(names) - 1) for place, name in enumerate(names)}


def _prepare(run: ExampleRun) -> None:
    write_clips(run, run.folder / "stimuli", _conditions(run), run.size(9, 2))
    write_clips(run, run.folder / "gold", {"best": "natural", "worst": "natural resolution-24"}, 2)
    _write_manifest(run.folder)


def _write_manifest(folder: Path) -> None:
    """Write stimuli.csv: what is rated, gold clips with the answer that everybody should give, and practice."""
    gold = {"best": "5", "worst": "1"}
    rows = []
    for path in sorted((folder / "stimuli").rglob("*.mp4")):
        rows.append((path.relative_to(folder).as_posix(), path.stem, path.parent.name, "test", "", ""))
    for path in sorted((folder / "gold").rglob("*.mp4")):
        is_practice = path == sorted(path.parent.glob("*.mp4"))[0]
        role = "training" if is_practice else "gold"
        name = f"{'practice' if is_practice else 'gold'}-{path.parent.name}-{path.stem}"
        rows.append((path.relative_to(folder).as_posix(), name, path.parent.name, role, gold[path.parent.name], ""))
    heads = ("file", "content", "condition", "role", "expected", "message")
    write_atomically(folder / "stimuli.csv", csv_lines((heads, *rows)).encode())


def _exhibits(run: ExampleRun) -> Iterator[Exhibit]:
    study = run.folder / "study.yaml"
    set_size(study, votes=run.size(6, 2), trials=run.size(10, 4), sessions_per_participant=run.size(5, 2))
    laboratory = _laboratory(run, study)
    count = run.size(_RUNS, 2)
    for number_of_run in range(1, count + 1):
        set_run(study, number_of_run)
        if number_of_run < count:
            take(run, study, _qualities(run), raters=_RATERS)
    rehearse(run, study, _qualities(run), raters=_RATERS)
    yield from _pages(run, study)
    yield from _runs(run, study, laboratory, count)
    yield _variants(run, laboratory)
    yield Exhibit(
        "Figure 7", "Screens of the participants", "rehearsal", "`beholder report`: clean/devices.csv",
        _screens(run), figure=drawn(run.folder / "report" / "figures" / "devices.svg"),
        note="Screens of simulated people are drawn from a distribution that Beholder plants; their diagonals are not.",
    )  # fmt: skip
    yield Exhibit(
        "Figure 8", "Agreement and error with fewer votes", "rehearsal", "`beholder analyse`: analyse/votes_needed.csv",
        figure=drawn(run.folder / "report" / "figures" / "votes_needed.svg"),
    )  # fmt: skip
    yield from _methods(run)


def _published(number_of_table: int, names: int = 1) -> TextTable:
    return read_published(_FOLDER / "published" / f"table-{number_of_table}.csv", names)


def _pages(run: ExampleRun, study: Path) -> Iterator[Exhibit]:
    yield Exhibit("Table 1", "Open-source systems and what they can do", "drawing", "in the literature")
    yield Exhibit("Figure 1", "Flow of data", "drawing", "the page Architecture")
    yield Exhibit(
        "Figure 2", "The test as a participant meets it", "page", "`beholder simulate --browser 1`: storyboard/",
        stages_of(study),
    )  # fmt: skip
    for place, title, key in (
        (3, "Squares with circles and triangles, for the screen", "check-display"),
        (4, "A video and the rating scale", "trial"),
        (5, "Which image is better? For the viewing distance", "check-distance"),
    ):
        yield Exhibit(f"Figure {place}", title, "page", "`beholder preview`", figure=picture_of_step(run, study, key))


def _laboratory(run: ExampleRun, study: Path) -> Path:
    """Return the ratings of 24 careful people who saw everything in one session, with the same planted opinions."""
    folder = run.folder / "laboratory"
    shutil.copytree(run.folder / "stimuli", folder / "stimuli")
    text = (
        study.read_text("utf-8").replace("preset: p910 ", "preset: none ").replace("{manifest: stimuli.csv}", "stimuli")
    )
    start, end = text.index("qualification:"), text.index("design:")
    (folder / "study.yaml").write_text(text[:start] + text[end:], "utf-8")
    shown = len(_conditions(run)) * run.size(9, 2)
    set_size(folder / "study.yaml", votes=24, trials=shown, sessions_per_participant=1)
    return rehearse_in_memory(
        folder / "study.yaml", _qualities(run), participants=24, raters="sharp", name="laboratory"
    )


def _runs(run: ExampleRun, study: Path, laboratory: Path, count: int) -> Iterator[Exhibit]:
    """Yield what compares the runs with the laboratory and with each other: Tables 2 to 4 and Figure 6."""
    run.tell("Comparing the runs with the laboratory")
    out = run.folder / "compare"
    sides = [f"run {place}={study}@{place}" for place in range(1, count + 1)]
    tables = compared(run, f"laboratory={laboratory}", *sides, out=out)
    by = "`beholder compare laboratory.csv study.yaml@all`: compare/accuracy.csv, compare/triangles.csv"
    for place, level, columns in ((2, "stimulus", _BY_STIMULUS), (3, "condition", _STATISTICS)):
        rows = tables["accuracy"]
        sides_of = indexed(rows[(rows["level"] == level) & (rows["question"] == "quality")], "other_side")
        yield Exhibit(
            f"Table {place}", f"Laboratory and runs, by {level}", "rehearsal", by,
            sheet(("", *columns), [(side, *_cells(row, columns)) for side, row in sides_of.items()]),
            _published(place),
        )  # fmt: skip
    names = [side.partition("=")[0] for side in sides]
    yield Exhibit(
        "Table 4", "Runs against each other, by stimulus", "rehearsal", by,
        sheet(("", *names), _triangle(tables["triangles"], "stimulus", names)), _published(4),
        note="Pearson’s r above the diagonal, Spearman’s below.",
    )  # fmt: skip
    if "failures" in tables:
        yield from _rules(tables["failures"])
    yield Exhibit(
        "Figure 6", "Scores of laboratory and crowd", "rehearsal", by,
        figure=drawn(out / "figures" / "scatter-stimulus-quality-1-2.svg"),
    )  # fmt: skip


_STATISTICS = {"PCC": "pearson", "SRCC": "spearman", "RMSE": "rmse", "RMSE mapped": "rmse_mapped"}
_BY_STIMULUS = {
    "MOS PCC": "pearson", "MOS SRCC": "spearman", "MOS RMSE mapped": "rmse_mapped", "DMOS PCC": "dmos_pearson",
    "DMOS SRCC": "dmos_spearman", "DMOS RMSE mapped": "dmos_rmse_mapped",
}  # fmt: skip


def _cells(row: Mapping[str, float], columns: Mapping[str, str], decimals: int = 3) -> list[str]:
    return [number(row[name], decimals) for name in columns.values()]


def _triangle(triangles: pd.DataFrame, level: str, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return Pearson's correlations above the diagonal and Spearman's below."""
    rows = indexed(triangles[(triangles["level"] == level) & (triangles["question"] == "quality")], "side")
    return [(one, *("" if one == other else number(rows[one][other], 3) for other in names)) for one in names]


_PASSED = ("", "", "passed", "passed")
"""Those who failed nothing: criterion, reason, result, and what is known of all other rules."""
_RULES: Mapping[int, tuple[str, Mapping[str, tuple[str, str, str, str]]]] = {
    5: ("What cleansing leaves out", {
        "All passed": _PASSED, "Gold failed": ("gold", "", "failed", "any"),
        "Playback too long": ("ratio", "", "failed", "any"), "Brightness failed": ("brightness", "", "failed", "any"),
        "One answer only": ("variance", "", "failed", "any"),
    }),
    6: ("Viewing distance", {
        "Distance passed": _PASSED, "Distance failed": ("distance", "", "failed", "passed"),
        "Too far": ("distance", "far", "failed", "passed"), "Unknown": ("distance", "unclear", "failed", "passed"),
    }),
    7: ("Visual acuity", {
        "Acuity passed, and all else": _PASSED, "Acuity failed, all else passed": ("acuity", "", "failed", "passed"),
        "Acuity passed": ("acuity", "", "passed", "any"), "Acuity failed": ("acuity", "", "failed", "any"),
    }),
}  # fmt: skip
"""The groups of each table, as compare/failures.csv names them."""


def _rules(failures: pd.DataFrame) -> Iterator[Exhibit]:
    """Yield Tables 5 to 7: those who failed a rule or a check, beside those who passed everything."""
    known = failures[failures["by"] == "session"].fillna({"criterion": "", "reason": ""})
    groups = indexed(known, "criterion", "reason", "result", "others")
    for place, (title, wanted) in _RULES.items():
        columns = {"Votes": "per_stimulus", **_STATISTICS} if place == 5 else _STATISTICS
        lines = [
            (name, *(number(groups[key][column], 0 if column == "per_stimulus" else 2) if key in groups else NONE
                     for column in columns.values()))
            for name, key in wanted.items()
        ]  # fmt: skip
        yield Exhibit(
            f"Table {place}", f"{title}: scores of those who failed, against the laboratory", "rehearsal",
            "`beholder compare laboratory.csv study.yaml@all`: compare/failures.csv", sheet(("", *columns), lines),
            _published(place),
            note="A dash: nobody, or everybody who failed. Simulated people who fail a check of eyes, room or distance "
            "rate like all others.",
        )  # fmt: skip


def _variants(run: ExampleRun, laboratory: Path) -> Exhibit:
    """Return Table 8: the whole test, without calibration of the screen, and without clips that ask."""
    changes = {
        "Complete": "",
        "Without calibration": "qualification:\n  display: false\n  brightness: false\n",
        "Without trap clips": "checks:\n  trap: false\n",
    }
    lines = []
    for title, change in changes.items():
        folder = run.folder / "variants" / title.lower().replace(" ", "-")
        for part in ("stimuli", "gold", "media"):  # what was measured of a clip holds for its copy
            shutil.copytree(run.folder / part, folder / part)
        shutil.copyfile(run.folder / "stimuli.csv", folder / "stimuli.csv")
        text = (run.folder / "study.yaml").read_text("utf-8")
        start, end = text.index("qualification:"), text.index("design:")
        (folder / "study.yaml").write_text(text[:start] + change + text[end:], "utf-8")
        take(run, folder / "study.yaml", _qualities(run), raters=_RATERS)
        tables = compared(run, f"laboratory={laboratory}", f"crowd={folder / 'study.yaml'}", out=folder / "compare")
        row = indexed(tables["agreement"], "level", "question")["stimulus", "quality"]
        share = (tables["stimuli"]["clear"] == 1).mean()
        lines.append((title, *_cells(row, _STATISTICS, 2), percent(share)))
    return Exhibit(
        "Table 8", "What calibration and trap clips are worth", "rehearsal",
        "`beholder compare laboratory.csv study.yaml` of three studies",
        sheet(("", *_STATISTICS, "Differs from the laboratory"), lines), _published(8),
        note="Simulated people who cannot see dark shades rate like the others: only the checks differ.",
    )  # fmt: skip


def _screens(run: ExampleRun) -> TextTable:
    import pandas as pd

    devices = pd.read_csv(run.folder / "clean" / "devices.csv").drop_duplicates("participant")
    sizes = (
        devices["screen_width"].astype("Int64").astype(str)
        + " x "
        + devices["screen_height"].astype("Int64").astype(str)
    )
    lines = [("Resolution", str(size), percent(share)) for size, share in sizes.value_counts(normalize=True).items()]
    rates = devices["refresh_hz"].dropna().round(-1).astype(int)
    lines += [
        ("Refresh rate", f"{rate} Hz", percent(share)) for rate, share in rates.value_counts(normalize=True).items()
    ]
    return sheet(("", "Of the screen", "Share of participants"), lines, names=2)


_METHODS = {"ACR": "acr", "ACR-HR": "acr-hr", "DCR": "dcr", "CCR": "ccr"}


def _methods(run: ExampleRun) -> Iterator[Exhibit]:
    """Yield Tables 9 and 10: four methods on the same clips, and what metrics say of them."""
    import pandas as pd

    from beholder.analysis.dmos import dmos
    from beholder.analysis.result import records
    from beholder.analysis.scores import scores

    tables: dict[str, Path] = {}
    for title, method in _METHODS.items():
        folder = run.folder / "methods" / method
        for part in ("stimuli", "media"):
            shutil.copytree(run.folder / part, folder / part)
        has_hidden = title == "ACR-HR"
        original = "source" if method == "acr" else "{name: source, role: reference}"
        names = ", ".join([original, *list(_conditions(run))[1:]])
        (folder / "study.yaml").write_text(
            f"beholder: 1\nname: {method}\ntitle: Video quality\nmethod: {method}\nstimuli: stimuli\n"
            f"conditions: [{names}]\nquestions: [{{id: quality, text: How good is the video?}}]\n"
            "design:\n  votes: 20\n  trials: 8\n  seed: 910\ncontact: researcher@example.org\n",
            "utf-8",
        )
        ratings = rehearse_in_memory(folder / "study.yaml", _qualities(run), raters="honest", name="ratings")
        made = (dmos if has_hidden else scores)(pd.read_csv(ratings))
        assert made is not None
        tables[title] = folder / f"{'dmos' if has_hidden else 'scores'}.csv"
        write_table(tables[title], list(made.table.columns), records(made.table))
    found = compared(
        run, *(f"{title}={path}" for title, path in tables.items()), out=run.folder / "methods" / "compare"
    )
    lines = [
        (name, level, *cells)
        for level in ("condition", "stimulus")
        for name, *cells in _triangle(found["triangles"], level, list(_METHODS))
    ]
    yield Exhibit(
        "Table 9", "Four methods on the same clips", "rehearsal",
        "`beholder compare ACR=acr/analyse/scores.csv ACR-HR=acr-hr/analyse/dmos.csv ...`: compare/triangles.csv",
        sheet(("", "Level", *_METHODS), lines, names=2), _published(9, 2),
        note="Pearson’s r above the diagonal, Spearman’s below.",
    )  # fmt: skip
    yield _metrics(run, run.folder / "methods" / "acr" / "study.yaml", tables)


def _metrics(run: ExampleRun, study: Path, tables: Mapping[str, Path]) -> Exhibit:
    """Return Table 10: what PSNR, MS-SSIM and VMAF have to do with the scores of each method."""
    import beholder
    from beholder.analysis.sides import read_side
    from beholder.objective.correlation import relate

    run.tell("Measuring the clips")
    names = {"PSNR": "psnr", "MS-SSIM": "ms-ssim", "VMAF": "vmaf"}
    measured = beholder.metrics(study, metric=list(names.values()), reference="source", progress=run.progress)
    lines = []
    for title, path in tables.items():
        related = relate(read_side(path).stimuli, measured.values, "stimulus").table
        rows = indexed(related, "metric")
        cells = [rows[name][column] for column in ("pearson", "spearman") for name in names.values()]
        lines.append((title, *(number(cell, 3) for cell in cells)))
    return Exhibit(
        "Table 10", "Scores of four methods and objective metrics, by stimulus", "rehearsal",
        "`beholder metrics scores.csv --values values.csv`",
        sheet(("", *(f"{name} r" for name in names), *(f"{name} rho" for name in names)), lines), _published(10),
        note="Metrics are measured on our clips; their planted scores know nothing of them.",
    )  # fmt: skip


EXAMPLE = PaperStudy(
    "p910-acr",
    "Video quality by crowdsourcing",
    "Naderi and Cutler (2022), A crowdsourcing approach to video quality assessment, arXiv 2204.06784",
    "absolute category rating after P.910 with every check, five runs, against a laboratory",
    _FOLDER,
    _prepare,
    _exhibits,
)
