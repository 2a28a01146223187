"""The folder report/: the page, and beside it figures, tables and ratings."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from beholder.analyse.result import records
from beholder.analyse.results import TABLES
from beholder.clean.tables import utf8, write_table, write_whole
from beholder.report.figures import NARROW, PAPER_WIDTH, WIDE, described, scores_chart, to_svg
from beholder.report.latex import latex_table
from beholder.report.markup import Markup, tag
from beholder.report.material import Material, load_material
from beholder.report.page import page
from beholder.report.part import Part
from beholder.report.sheets import paper_sheets
from beholder.report.words import listed, number
from beholder.study.model import Study

_PIXELS, _PPI = 3, 300
"""Of a PNG: pixels for each of the figure, and pixels per inch, so that documents place it some 17 cm wide."""


def report_folder(study: str | Path | Study) -> Path:
    """Write the report of a study and return the path of its page."""
    from beholder.methods import load_study

    loaded = study if isinstance(study, Study) else load_study(Path(study))
    material = load_material(loaded)
    folder = loaded.folder / "report"
    for name in ("figures", "tables"):
        for stale in sorted((folder / name).glob("*.*")):
            stale.unlink()
    files = [*_write_figures(material, folder), *_write_tables(material, folder), *_write_ratings(material, folder)]
    figures = {part.id: _inline(part, material) for part in material.parts if part.order}
    path = folder / "index.html"
    write_whole(path, utf8(page(material, figures, files)))
    return path


def _inline(part: Part, material: Material) -> Markup:
    """Return the figure twice: for wide screens and paper, and for phones; the stylesheet shows one of them."""
    told = [
        f"{material.labels[row['condition']]} {number(row['mean'], part.decimals)}" for row in records(part.best_first)
    ]
    words = f"{part.heading}: {listed(told)}. The intervals are in the table of scores."
    title = f"{part.metric}: {part.name}"
    wide = described(to_svg(scores_chart(part, material.labels, WIDE)), f"wide-{part.slug}", title, words)
    narrow = described(to_svg(scores_chart(part, material.labels, NARROW)), f"narrow-{part.slug}", title, words)
    return Markup(tag("div", wide, class_="figure figure--wide") + tag("div", narrow, class_="figure figure--narrow"))


def _write_figures(material: Material, folder: Path) -> list[str]:
    import vl_convert

    names = []
    for part in material.parts:
        if not part.order:
            continue
        title = f"{part.id}: {part.metric}, mean and 95 % interval over participants"
        svg = to_svg(scores_chart(part, material.labels, PAPER_WIDTH, title=title))
        kinds = {
            "svg": svg.encode(),
            "pdf": vl_convert.svg_to_pdf(svg),
            "png": vl_convert.svg_to_png(svg, scale=_PIXELS * 72 / _PPI, ppi=_PPI),
        }
        for kind, content in kinds.items():
            name = f"figures/scores-{part.slug}.{kind}"
            write_whole(folder / name, content)
            names.append(name)
    return names


def _write_tables(material: Material, folder: Path) -> list[str]:
    names: list[str] = []
    sheets = paper_sheets(material)
    for name in TABLES:
        table = getattr(material.results, name)
        write_table(folder / f"tables/{name}.csv", list(table.columns), records(table))
        write_whole(folder / f"tables/{name}.tex", utf8(latex_table(sheets[name])))
        names.extend((f"tables/{name}.csv", f"tables/{name}.tex"))
    return names


def _write_ratings(material: Material, folder: Path) -> list[str]:
    """Write the tidy ratings as CSV, and as Parquet where pyarrow is installed."""
    ratings = material.results.ratings
    write_table(folder / "ratings.csv", list(ratings.columns), records(ratings))
    if find_spec("pyarrow") is None:
        return ["ratings.csv"]
    import io

    buffer = io.BytesIO()
    ratings.to_parquet(buffer, index=False)
    write_whole(folder / "ratings.parquet", buffer.getvalue())
    return ["ratings.csv", "ratings.parquet"]
