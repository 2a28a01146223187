"""A researcher's colour plates, with texts in their metadata."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

OWN = {
    "images": [{"file": "plates/a.png", "answer": "Duck"}, {"file": "plates/b.jpg", "answer": "12", "control": True}]
}


def paint(folder: Path) -> None:
    """Write two images with metadata that must not be served."""
    from PIL.PngImagePlugin import PngInfo

    metadata = PngInfo()
    metadata.add_text("answer", "Duck")
    (folder / "plates").mkdir(parents=True)
    Image.new("RGB", (60, 30), (200, 10, 10)).save(folder / "plates" / "a.png", pnginfo=metadata)
    Image.new("RGB", (30, 60), (10, 10, 200)).save(folder / "plates" / "b.jpg", comment=b"12")
