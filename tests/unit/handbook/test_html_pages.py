"""Pages for the browser: every link and picture of theirs is there, and they are made once."""

from __future__ import annotations

import re
from pathlib import Path

from beholder.handbook import write_html


def test_every_link_and_picture_of_the_pages_is_there(tmp_path: Path) -> None:
    folder = write_html(tmp_path)
    texts = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.html")}
    assert {"index.html", "trust.html", "methods/acr.html"} <= set(texts)
    for name, text in texts.items():
        for address in re.findall(r'(?:href|src)="([^":]+)"', text):
            file, _, anchor = address.partition("#")
            there = ((folder / name).parent / file).resolve() if file else folder / name
            assert there.exists(), f"{name} leads to {address}"
            if anchor:
                assert f'id="{anchor}"' in there.read_text("utf-8"), f"{name} leads to {address}"


def test_pages_are_written_once_for_each_version(tmp_path: Path) -> None:
    folder = write_html(tmp_path)
    (folder / "trust.html").write_text("kept", "utf-8")
    assert write_html(tmp_path) == folder
    assert (folder / "trust.html").read_text("utf-8") == "kept"
    (folder / "complete").unlink()
    write_html(tmp_path)
    assert "kept" not in (folder / "trust.html").read_text("utf-8")[:10]
