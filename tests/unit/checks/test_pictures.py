"""Pictures of checks: PNG files that hold pixels and nothing else."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from beholder.checks.colour import Colour
from beholder.checks.page_contract import Attempt, CheckContext
from support.researcher_plates import OWN, paint


def test_a_plate_is_a_picture_in_srgb_and_nothing_else() -> None:
    check = Colour(Colour.Options())
    posed = check.pose(np.random.default_rng(1), CheckContext({"dpr": 1, "screen": [1280, 700]}))
    assert len({len(check.draw(posed.private, name).body) for name in posed.media}) == 1
    for name in posed.media:
        body, content_type = check.draw(posed.private, name)
        assert content_type == "image/png"
        assert body == check.draw(posed.private, name).body
        assert set(chunks(body)) == {b"IHDR", b"sRGB", b"IDAT", b"fiLl", b"IEND"}  # and zeros up to a length for all
        with Image.open(io.BytesIO(body)) as image:
            assert image.mode == "RGB"
            assert image.size == (posed.private["side"], posed.private["side"])


def chunks(body: bytes) -> list[bytes]:
    """Return the names of the chunks of a PNG."""
    chunks_read, at = [], 8
    while at < len(body):
        chunks_read.append(body[at + 4 : at + 8])
        at += 12 + int.from_bytes(body[at : at + 4], "big")
    return chunks_read


def test_own_images_are_shown_without_their_names_and_read_by_their_answers(tmp_path: Path) -> None:
    paint(tmp_path)
    check = Colour(Colour.Options.model_validate(OWN), tmp_path)
    posed = check.pose(np.random.default_rng(2), CheckContext())
    assert str(tmp_path) not in str(posed.private), "a path of this machine would be kept"
    side = posed.private["side"]
    assert posed.public == {"plates": ["p1", "p2"], "is_text": True, "size": [side, side]}
    bodies = [check.draw(posed.private, name).body for name in posed.media]
    for body in bodies:
        assert set(chunks(body)) == {b"IHDR", b"sRGB", b"IDAT", b"IEND"}
        with Image.open(io.BytesIO(body)) as image:
            assert max(image.size) == posed.private["side"]
            assert 2 * min(image.size) == max(image.size)
    answers = {"own": "duck", "control": "12"}
    plates: Any = posed.private["plates"]
    numbers = {f"p{place}": answers[plate["kind"]] for place, plate in enumerate(plates, 1)}
    assert check.judge(Attempt(posed.private, check.read(posed.private, {"numbers": numbers}))).verdict == "pass"
