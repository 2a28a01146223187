"""`make docs`: make the reference parts of the docs and their pictures anew."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from beholder.testing.browser import find_chromium
from documentation.reference import renew

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the reference pages and the pictures of the docs anew.")
    parser.add_argument("--no-pictures", action="store_true", help="Only the reference pages; needs no browser.")
    asked = parser.parse_args()
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text("utf-8")
        made = renew(text)
        if made != text:
            page.write_text(made, "utf-8", newline="\n")
            print(f"made anew: {page.relative_to(ROOT)}")
    if asked.no_pictures:
        return 0
    chromium = find_chromium()
    if chromium is None:
        print("skipped: the pictures need Chromium, which is not here")
        return 0
    from documentation.pictures import take_pictures

    with tempfile.TemporaryDirectory(prefix="beholder-docs-") as scratch:
        for picture in asyncio.run(take_pictures(PICTURES, Path(scratch), chromium)):
            print(f"taken: {picture.relative_to(ROOT)}, {picture.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
