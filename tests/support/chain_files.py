"""The file of a chain of two studies."""

from __future__ import annotations

from pathlib import Path


def write_chain(folder: Path, text: str) -> Path:
    path = folder / "chain.yaml"
    path.write_text(text, encoding="utf-8")
    return path


CHAIN = """
beholder: 1
chain: mos-then-pairs
budget: 200 GBP
studies:
  - study: mos
  - {study: pairs/study.yaml, asks: inconclusive}
"""
