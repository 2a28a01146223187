"""The folder report/: the page, with figures, tables, methods and ratings as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from beholder.analysis.figures.theme import DOUBLE
from beholder.analysis.ratings import open_ratings, record_look
from beholder.analysis.ratings_table import TableOptions
from beholder.analysis.result import TABLES, records
from beholder.files import json_bytes, utf8, write_atomically, write_table
from beholder.reporting.deviations import planned_sheet
from beholder.reporting.figures import DrawnFigure, draw_figure, figures, paper_files
from beholder.reporting.flow_diagram import NAME as FLOW
from beholder.reporting.flow_diagram import flow_svg
from beholder.reporting.material import Material, load_material, table_material
from beholder.reporting.methods_section import methods, methods_files
from beholder.reporting.page import page
from beholder.reporting.pair_tests import paper_contrasts
from beholder.reporting.participants import demographics_sheet
from beholder.reporting.result_page import own_files, refuse_taken
from beholder.reporting.sheets import latex_table, markdown_table, paper_sheets
from beholder.study.model import Study


def report_folder(study: str | Path | Study, *, progress: Callable[[int, int], None] | None = None) -> Path:
    """Write the report of a study and return the path of its page; `progress` gets figures done and all."""
    from beholder.methods import load_study

    loaded = study if isinstance(study, Study) else load_study(Path(study))
    material = load_material(loaded)
    folder = loaded.outputs / "report"
    for name in ("figures", "tables"):
        for stale in sorted((folder / name).glob("*.*")):
            stale.unlink()
    return _write(material, folder, progress).page


def report_table(
    path: Path,
    *,
    out: Path | None = None,
    options: TableOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Analyse a table, write its report and return the path of the page.

    What an earlier report of a table left in the folder is replaced; UserError is raised if another file is in the way.
    """
    folder = out or path.parent / "report"
    refuse_taken(folder, _TABLE_KIND)
    material = table_material(record_look(open_ratings(path, options), "report"), folder)
    earlier = own_files(folder, _TABLE_KIND)
    written = _write(material, folder, progress)
    for stale in sorted(earlier - {*written.files, "index.html", "notes.json"}):
        (folder / stale).unlink(missing_ok=True)
    notes = {**material.results.notes, "kind": _TABLE_KIND, "files": [*written.files, "notes.json", "index.html"]}
    write_atomically(folder / "notes.json", json_bytes(notes))
    return written.page


_TABLE_KIND = "report of a table"


class _Written(NamedTuple):
    page: Path
    files: list[str]


def _write(material: Material, folder: Path, progress: Callable[[int, int], None] | None) -> _Written:
    to_draw = figures(material)
    drawings: dict[str, DrawnFigure] = {}
    for done, figure in enumerate(to_draw):
        if progress:
            progress(done, len(to_draw))
        drawings[figure.name] = draw_figure(figure)
    flow = flow_svg(material)
    if flow is not None:
        drawings[FLOW] = DrawnFigure(None, paper_files(flow, DOUBLE))
    files = [*_write_figures(drawings, folder), *_write_tables(material, folder), *_write_ratings(material, folder)]
    files += _write_methods(material, folder)
    drawn = {name: drawing.inline for name, drawing in drawings.items() if drawing.inline is not None}
    path = folder / "index.html"
    write_atomically(path, utf8(page(replace(material, figures=drawn, files=files))))
    return _Written(path, files)


def _write_figures(figures: Mapping[str, DrawnFigure], folder: Path) -> list[str]:
    names = []
    for figure, drawing in figures.items():
        for kind, content in drawing.files.items():
            names.append(f"figures/{figure}.{kind}")
            write_atomically(folder / names[-1], content)
    return names


def _write_tables(material: Material, folder: Path) -> list[str]:
    names: list[str] = []
    demographics, deviations = demographics_sheet(material), planned_sheet(material)
    sheets = {
        **paper_sheets(material),
        **paper_contrasts(material),
        **({} if demographics is None else {"demographics": demographics}),
        **({} if deviations is None else {"deviations": deviations}),
    }
    for name, table in {**{name: getattr(material.results, name) for name in TABLES}, **material.results.also}.items():
        names.append(f"tables/{name}.csv")
        write_table(folder / names[-1], list(table.columns), records(table))
    for name, sheet in sheets.items():
        write_atomically(folder / f"tables/{name}.tex", utf8(latex_table(sheet)))
        write_atomically(folder / f"tables/{name}.md", utf8(markdown_table(sheet)))
        names.extend(f"tables/{name}.{kind}" for kind in ("tex", "md"))
    return names


def _write_methods(material: Material, folder: Path) -> list[str]:
    texts = methods_files(material, methods(material))
    for name, text in texts.items():
        write_atomically(folder / name, utf8(text))
    return list(texts)


def _write_ratings(material: Material, folder: Path) -> list[str]:
    """Write the tidy ratings as CSV, and as Parquet where pyarrow is installed."""
    ratings = material.results.ratings
    if material.table is None:
        write_atomically(folder / "ratings.csv", (material.study.outputs / "clean" / "ratings.csv").read_bytes())
    else:
        write_table(folder / "ratings.csv", list(ratings.columns), records(ratings))
    if find_spec("pyarrow") is None:
        return ["ratings.csv"]
    import io

    buffer = io.BytesIO()
    ratings.to_parquet(buffer, index=False)
    write_atomically(folder / "ratings.parquet", buffer.getvalue())
    return ["ratings.csv", "ratings.parquet"]
