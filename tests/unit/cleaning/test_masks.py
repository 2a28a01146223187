"""Marks in what people wrote: addresses and ids go, everything else stays as it was."""

from __future__ import annotations

import pytest

from beholder.cleaning.texts import Masks


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("jürgen.o’neil@büro.example.de.", "[e-mail]."),
        ("<a@b.org>, (c_d@e-f.co.uk)", "<[e-mail]>, ([e-mail])"),
        ("loud @ 3 pm, and 4@5", "loud @ 3 pm, and 4@5"),
        ("I am 5F0f0f0f0f0f0f0f0f0f0f0f!", "I am [id]!"),
        ("5f0f0f0f0f0f0f0f0f0f0f0", "5f0f0f0f0f0f0f0f0f0f0f0"),
        ("a5f0f0f0f0f0f0f0f0f0f0f0f", "a5f0f0f0f0f0f0f0f0f0f0f0f"),
        ("GRÖSSE 2 and größe 2x, seat 12", "[id] and größe 2x, seat 12"),
        ("p-0042-b, p-0042", "[id], [id]"),
    ],
)
def test_addresses_and_ids_are_marked(written: str, told: str) -> None:
    masks = Masks(["größe 2", "GRÖSSE 2", "p-0042", "P-0042-B", "12"])
    assert masks.text(written, "comments") == told
    assert masks.counts["comments"] == told.count("[")


def test_a_text_that_is_nearly_an_address_takes_no_longer_than_others() -> None:
    written = "a." * 100_000
    assert Masks().text(written) == written
