"""`make papers`: run the studies of the four papers whole, and write docs/papers.md with its figures."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from beholder.examples import FinishedExample, examples, run_example
from beholder.examples.contract import Exhibit
from beholder.examples.page import markdown_section
from beholder.testing.browser import find_chromium

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_WIDTH = 900
SECTION = "section.json"
_HEAD = """# The papers, again

Four published systems are what Beholder unites. Each of their studies is an example that runs: from stimuli that
Beholder draws, through a rehearsal with simulated people, to the tables and figures of the paper. `make papers` writes
this page.

```console
$ beholder examples list
$ beholder examples run hemvip
$ beholder examples run p910-acr --small
$ beholder examples copy avatar --folder my-avatars
```

Ours stand beside theirs: in a cell, the paper's number is in brackets. **Read the line under each title.** Where
numbers are computed from what the paper publishes, they should agree, and they do. Where people are simulated, their
opinions are planted: the table shows that Beholder makes it, not that the finding replicates.

| paper | exhibits | from published numbers | from a rehearsal | pictures of pages | not ours to make |
|---|---|---|---|---|---|
"""


def _count(exhibits: tuple[Exhibit, ...], *origins: str) -> int:
    return sum(one.origin in origins for one in exhibits)


def _keep_figure(exhibit: Exhibit, target: Path) -> None:
    """Copy a figure or a picture of a page, no wider than the page of the docs."""
    from PIL import Image

    assert exhibit.figure is not None
    source = exhibit.figure.with_suffix(".png")
    with Image.open(source) as image:
        if image.width > _WIDTH:
            height = round(image.height * _WIDTH / image.width)
            image.convert("RGB").resize((_WIDTH, height)).quantize(128).save(target, optimize=True)
        else:
            shutil.copyfile(source, target)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the studies of the four papers, and write docs/papers.md.")
    parser.add_argument("--small", action="store_true", help="Fewer stimuli and people: to try this command.")
    parser.add_argument(
        "--folder", type=Path, help="Where the examples are kept, and not run again; a temporary folder when left out."
    )
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beholder-papers-") as scratch:
        folder = asked.folder or Path(scratch)
        for name in examples():
            if not (folder / name / SECTION).is_file():
                pictures = find_chromium() is not None
                keep(run_example(name, folder / name, small=asked.small, pictures=pictures, tell=print), folder / name)
        kept = {name: json.loads((folder / name / SECTION).read_text("utf-8")) for name in examples()}
    rows = "\n".join(section["row"] for section in kept.values())
    texts = "\n".join(section["text"] for section in kept.values())
    (DOCS / "papers.md").write_text(f"{_HEAD}{rows}\n\n{texts}", "utf-8", newline="\n")
    return 0


def keep(done: FinishedExample, folder: Path) -> None:
    """Keep the section of an example beside it, and its figures among the pictures of the docs."""
    pictures = DOCS / "pictures" / "papers"
    pictures.mkdir(parents=True, exist_ok=True)
    name, links = done.example.name, {}
    for exhibit in done.exhibits:
        if exhibit.figure is not None:
            _keep_figure(exhibit, pictures / f"{name}-{exhibit.key}.png")
            links[exhibit.key] = f"pictures/papers/{name}-{exhibit.key}.png"
    counts = [_count(done.exhibits, origin) for origin in ("published", "rehearsal", "page")]
    counts.append(_count(done.exhibits, "drawing", "not made"))
    cells = (f"[{done.example.title}](#{_anchor(done.example.title)})", len(done.exhibits), *counts)
    section = {
        "row": f"| {' | '.join(map(str, cells))} |",
        "text": markdown_section(done.example, done.exhibits, links),
    }
    (folder / SECTION).write_text(json.dumps(section), "utf-8")


def _anchor(title: str) -> str:
    return "".join(letter for letter in title.lower().replace(" ", "-") if letter.isalnum() or letter == "-")


if __name__ == "__main__":
    sys.exit(main())
