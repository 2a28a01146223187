"""The avatar study: ten dimensions in two templates, five runs, experts, dimensionality and objective metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
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
    take,
    write_clips,
)
from beholder.files import csv_lines, write_atomically, write_table
from beholder.formats import number

if TYPE_CHECKING:
    import pandas as pd

    from beholder.reporting.sheets import TextTable

_FOLDER = Path(__file__).parent
_MODELS = {
    "LivePortrait": "natural", "MS1_0": "smooth", "MS3_0": "natural fps-8", "External1_0": "blurred",
    "External3_0": "noisy", "Unreal_0": "jerky", "External2_0": "blocky", "MS5_0": "frozen",
}  # fmt: skip
"""The eight models of Table 14, and what is drawn for each."""
_DIMENSIONS = {
    "appropriate": "Appropriate", "comfortableinteracting": "Comfortable interacting",
    "comfortableusing": "Comfortable using", "formal": "Formal", "like": "Affinity", "creepy": "Not creepy",
    "realistic": "Realistic", "trust": "Trust", "facialexpressions": "Emotion accuracy", "lookslike": "Resemblance",
}  # fmt: skip
"""The paper's name of each item, in the order of its tables."""
_TEMPLATE_A = list(_DIMENSIONS)[:8]
_RUNS = 5
_METRICS = ("PSNR", "SSIM", "LPIPS", "FID", "FVD")


def _models(run: ExampleRun) -> Mapping[str, str]:
    return dict(list(_MODELS.items())[::2]) if run.small else _MODELS


def _qualities(column: str) -> dict[str, float]:
    """Return the published means of a dimension as shares of the scale."""
    published = read_published(_FOLDER / "published" / "table-14.csv")
    place = published.heads.index(column)
    return {row[0]: (float(row[place]) - 1) / 4 for row in published.rows}


def _prepare(run: ExampleRun) -> None:
    for template, contents in (("a", run.size(8, 2)), ("b", run.size(6, 2))):
        folder = run.folder / template
        write_clips(run, folder / "stimuli", _models(run), contents)
        if template == "b":
            write_clips(run, folder / "people", {"person": "natural resolution-160"}, contents)
        write_clips(run, folder / "gold", {"filmed": "natural resolution-150", "drawn": "blocky resolution-30"}, 1)
        _write_manifest(folder)


def _write_manifest(folder: Path) -> None:
    """Write stimuli.csv: avatars seen from two sides, and the people who move them."""
    rows = [("file", "content", "condition", "role", "view")]
    contents = sorted({path.stem for path in (folder / "stimuli").rglob("*.mp4")})
    for path in sorted((folder / "stimuli").rglob("*.mp4")):
        view = "front" if contents.index(path.stem) % 2 == 0 else "side"
        rows.append((path.relative_to(folder).as_posix(), path.stem, path.parent.name, "test", view))
    people = sorted((folder / "people").rglob("*.mp4"))
    rows += [(path.relative_to(folder).as_posix(), path.stem, "person", "reference", "") for path in people]
    # A clip with a known answer is shown beside a person, too.
    known = ("gold-filmed", "gold-drawn") if people else ()
    rows += [(people[0].relative_to(folder).as_posix(), content, "person", "reference", "") for content in known]
    write_atomically(folder / "stimuli.csv", csv_lines(rows).encode())


def _exhibits(run: ExampleRun) -> Iterator[Exhibit]:
    a, b = (run.folder / template / "study.yaml" for template in ("a", "b"))
    planted = {a: _qualities("Realistic"), b: _qualities("Emotion accuracy")}
    for study, means in planted.items():
        set_size(study, votes=run.size(5, 3), trials=8)
        count = run.size(_RUNS, 2)
        for number_of_run in range(1, count + 1):
            set_run(study, number_of_run)
            if number_of_run < count:
                take(run, study, means)
        rehearse(run, study, means)
    yield from _pages(run, a, b)
    yield Exhibit(
        "Table 5", "The clips", "rehearsal", "a/stimuli.csv and b/stimuli.csv", _test_set(run),
        read_published(_FOLDER / "published" / "table-5.csv"), note="Theirs were 237 clips of 19 avatars.",
    )  # fmt: skip
    yield from _agreement(run, planted)
    yield from _dimensions(run, a, b)
    yield from _from_published(run)


def _published(number_of_table: int) -> TextTable:
    return read_published(_FOLDER / "published" / f"table-{number_of_table}.csv")


def _pages(run: ExampleRun, a: Path, b: Path) -> Iterator[Exhibit]:
    for name, title in (("Table 1", "Open-source systems and what they can do"), ("Figure 1", "Flow of data"),
                        ("Figure 2", "The test as a participant meets it")):  # fmt: skip
        where = (
            "in the literature; what Beholder can do stands in the README" if name == "Table 1" else "page Architecture"
        )
        yield Exhibit(name, title, "drawing", where)
    yield Exhibit("Figure 3", "Statements of Template A", "page", "`beholder preview a/study.yaml`",
                  figure=picture_of_step(run, a, "trial"))  # fmt: skip
    yield Exhibit("Figure 3, b", "Statements of Template B", "page", "`beholder preview b/study.yaml`",
                  figure=picture_of_step(run, b, "trial"))  # fmt: skip
    yield Exhibit("Figure 4", "The avatars", "not made", "pictures of their avatars; ours are drawn figures")


def _test_set(run: ExampleRun) -> TextTable:
    rows = []
    for model in _models(run):
        clips = [len(list((run.folder / template / "stimuli" / model).glob("*.mp4"))) for template in ("a", "b")]
        rows.append((model, *map(str, clips), "no", "yes"))
    return sheet(("Avatar", "Clips of Template A", "of Template B", "Speech", "Reference video"), rows)


def _agreement(run: ExampleRun, planted: Mapping[Path, Mapping[str, float]]) -> Iterator[Exhibit]:
    """Yield how far experts and crowd agree (Table 6), and how far runs do (Tables 7 and 8)."""
    import pandas as pd

    experts, runs = [], []
    for study, means in planted.items():
        panel = rehearse_in_memory(study, means, participants=5, raters="sharp", name="experts")
        run.tell(f"Comparing the runs of template {study.parent.name}")
        beside = compared(run, f"crowd={study}", f"experts={panel}", out=study.parent / "experts")
        experts.append(beside["agreement"])
        runs.append(compared(run, study, out=study.parent / "runs")["agreement"])
    yield Exhibit(
        "Table 6", "Experts and crowd, by model", "rehearsal", "`beholder compare a/study.yaml experts.csv`",
        _by_dimension(pd.concat(experts)), _published(6),
    )  # fmt: skip
    for place, level in ((7, "condition"), (8, "stimulus")):
        yield Exhibit(
            f"Table {place}", f"Runs against each other, by {'model' if level == 'condition' else 'clip'}", "rehearsal",
            "`beholder compare a/study.yaml`: runs/agreement.csv", _by_run(pd.concat(runs), level), _published(place),
        )  # fmt: skip


def _by_dimension(table: pd.DataFrame) -> TextTable:
    rows = indexed(table[table["level"] == "condition"], "question")
    values = {title: [rows[name][kind] for kind in ("pearson", "spearman")] for name, title in _DIMENSIONS.items()}
    return sheet(("", "PCC", "SRCC"), _with_average(values))


def _by_run(table: pd.DataFrame, level: str) -> TextTable:
    rows = indexed(table[table["level"] == level], "side", "other_side", "question")
    values = {
        f"{side}, {other}": [rows[side, other, name]["pearson"] for name in _DIMENSIONS]
        for side, other in dict.fromkeys(key[:2] for key in rows)
    }
    return sheet(("", *_DIMENSIONS.values()), _with_average(values))


def _with_average(values: Mapping[str, Sequence[float]]) -> list[tuple[str, ...]]:
    """Return lines of numbers, and their average as the last one."""
    lines = [(name, *(number(value, 3) for value in row)) for name, row in values.items()]
    return [*lines, ("average", *(number(fmean(column), 3) for column in zip(*values.values(), strict=True)))]


def _dimensions(run: ExampleRun, a: Path, b: Path) -> Iterator[Exhibit]:
    """Yield profiles (Figures 5 to 7), correlations (Tables 9 to 11), spread (Figure 8) and relation (Figure 9)."""
    import beholder
    from beholder.dimensionality.data import open_joined
    from beholder.dimensionality.folder import find

    run.tell("Relating the dimensions")
    folder = run.folder / "dimensions"
    figures = folder / "figures"
    if run.small:
        found = find(open_joined([a, b]), split=("realistic", 2), factor="view", of="realistic")
    else:
        found = beholder.dimensions(a, b, split=("realistic", 2), factor="view", of="realistic", out=folder)
    by = "`beholder dimensions a/study.yaml b/study.yaml --split realistic:2 --factor view`"
    yield Exhibit(
        "Figure 5", "Scores of every model and view", "rehearsal", by, figure=drawn(figures / "profile-levels.svg")
    )
    yield Exhibit(
        "Figure 6", "Scores of every model over all views", "rehearsal", by, figure=drawn(figures / "profile.svg")
    )
    yield Exhibit(
        "Figure 7", "Scores of clips without sound", "rehearsal", by, figure=drawn(figures / "profile.svg"),
        note="Our clips have no sound: this is Figure 6.",
    )  # fmt: skip
    correlations = found.tables["correlations"]
    yield Exhibit(
        "Table 9", "Correlations of all dimensions, by model", "rehearsal", f"{by}: correlations.csv",
        _square(correlations, list(_DIMENSIONS), "condition"), _published(9),
        note="Template A and Template B have planted qualities of their own; within a template they are the same.",
    )  # fmt: skip
    split = found.tables["split_correlations"]
    for place, part, title in ((10, "realistic > 2", "above 2"), (11, "realistic ≤ 2", "2 or below")):
        yield Exhibit(
            f"Table {place}", f"Correlations where realism is {title}", "rehearsal", f"{by}: split_correlations.csv",
            _square(split[split["part"] == part], _TEMPLATE_A, "stimulus"), _published(place),
            note="Ours by clip, theirs by model: eight models are too few to be split.",
        )  # fmt: skip
    yield Exhibit(
        "Figure 8", "Spread over dimensions against realism", "rehearsal", by, figure=drawn(figures / "spread.svg")
    )
    yield Exhibit(
        "Figure 9",
        "Affinity against realism",
        "rehearsal",
        by,
        figure=drawn(figures / "relation-like-on-realistic.svg"),
    )


def _square(table: pd.DataFrame, names: list[str], level: str) -> TextTable:
    """Return correlations as a square of dimensions, as papers print them."""
    rows = table[table["level"] == level]
    known = {frozenset((row["question"], row["other_question"])): row["pearson"] for row in rows.to_dict("records")}
    lines = [
        (_DIMENSIONS[one], *("1" if one == other else _cell(known.get(frozenset((one, other)))) for other in names))
        for one in names
    ]
    return sheet(("", *(_DIMENSIONS[name] for name in names)), lines)


def _cell(value: float | None) -> str:
    return number(value, 3) if value is not None else ""


def _from_published(run: ExampleRun) -> Iterator[Exhibit]:
    """Yield Tables 12 and 13, computed from the published Table 14, and Table 14 with our own clips beside it."""
    from beholder.analysis.result import records
    from beholder.dimensionality.data import open_joined
    from beholder.objective.correlation import relate

    run.tell("Relating the published scores to the published metrics")
    table = _published(14)
    scores, values = _published_scores(table), _published_values(table)
    path = run.folder / "published-scores.csv"
    write_table(path, list(scores.columns), records(scores))
    related = relate(open_joined([path]).means, values, "condition").table
    for place, region, title in ((12, "torso", "head and torso"), (13, "face", "the face")):
        here = related[related["region"] == region]
        yield Exhibit(
            f"Table {place}", f"Scores and metrics on {title}", "published",
            "`beholder metrics scores.csv --values values.csv` of the published Table 14",
            _metric_table(here), _published(place),
        )  # fmt: skip
    yield Exhibit(
        "Table 14", "Scores and metrics of every model", "rehearsal", "`beholder metrics b/study.yaml`: metrics/",
        _own_scores(run), table,
        note="PSNR and SSIM are measured on our clips beside the person who moves them. LPIPS, FID and FVD need their "
        "libraries and weights, or a table of values.",
    )  # fmt: skip


def _published_scores(table: TextTable) -> pd.DataFrame:
    import pandas as pd

    wide = pd.DataFrame(table.rows, columns=["condition", *table.heads[1:]])
    long = wide.melt("condition", list(_DIMENSIONS.values()), "question", "mean")
    return long.assign(mean=long["mean"].astype(float))


def _published_values(table: TextTable) -> pd.DataFrame:
    import pandas as pd

    wide = pd.DataFrame(table.rows, columns=["condition", *table.heads[1:]])
    columns = [f"{metric} {region}" for metric in _METRICS for region in ("face", "torso")]
    long = wide.melt("condition", columns, "name", "value")
    names = long["name"].str.split(" ", expand=True)
    return long.assign(metric=names[0], region=names[1], value=long["value"].astype(float))


def _metric_table(related: pd.DataFrame) -> TextTable:
    rows = indexed(related, "question", "metric")
    heads = ("", *(f"{metric} r" for metric in _METRICS), *(f"{metric} tau" for metric in _METRICS))
    lines = [
        (
            title,
            *(number(rows[title, metric][kind], 3) for kind in ("pearson", "tau_b") for metric in _METRICS),
        )
        for title in _DIMENSIONS.values()
    ]
    return sheet(heads, lines)


def _own_scores(run: ExampleRun) -> TextTable:
    """Return the scores of our clips with what PSNR and SSIM measure on them."""
    import pandas as pd

    import beholder
    from beholder.analysis.sides import read_side

    run.tell("Measuring the clips")
    measured = beholder.metrics(run.folder / "b" / "study.yaml", metric=("psnr", "ssim"))
    means = indexed(
        measured.values.groupby(["condition", "metric"])["value"].mean().reset_index(), "condition", "metric"
    )
    tables = [read_side(run.folder / name / "study.yaml").conditions for name in ("a", "b")]
    scores = indexed(pd.concat(tables), "condition", "question")
    lines = [
        (model, *(number(means[model, metric]["value"], 3) for metric in ("psnr", "ssim")),
         *(number(scores[model, name]["mean"], 3) for name in _DIMENSIONS))
        for model in _models(run)
    ]  # fmt: skip
    return sheet(("", "PSNR", "SSIM", *_DIMENSIONS.values()), lines)


EXAMPLE = PaperStudy(
    "avatar",
    "Ten dimensions of avatars",
    "Cutler, Naderi, Gopal and Palle (2024), A multidimensional measurement of photorealistic avatar quality of "
    "experience, arXiv 2411.09066",
    "two templates of statements, five runs, experts, dimensionality, objective metrics",
    _FOLDER,
    _prepare,
    _exhibits,
)
