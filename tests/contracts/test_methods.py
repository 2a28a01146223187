"""Every method keeps the contract: the built-in ones, and one that is discovered through its entry point."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from beholder.methods import names
from beholder.testing import check_method
from beholder.testing.browser import find_chromium
from beholder.testing.methods import check_browser_completes
from support.data import ROOT

if TYPE_CHECKING:
    from playwright.async_api import Browser

HERE = ROOT / "tests"
BUILT_IN = (
    "ab", "abx", "acr", "acr-hr", "av", "best-worst", "bs1116", "ccr", "dcr", "dscqs", "likert", "mismatch", "mushra",
    "p835", "pair", "parallel", "rank", "samviq", "transcribe", "word-select",
)  # fmt: skip


SEEN_BY_BROWSER = ("dcr",)
"""Methods whose example a browser completes in `make test`; other browser tests complete studies of the other ones."""
RATED_OVER_HTTP = ("likert", "mushra", "pair")
"""Methods that a crowd takes over HTTP in `make test`, up to the whole analysis: a kind of rating each. With the other
ones robots rate in memory there, which gives the same ratings."""


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("name", BUILT_IN)
async def test_a_built_in_method_keeps_the_contract(
    name: str, tmp_path: Path, installed_chromium: Browser | None, whole: bool
) -> None:
    check_method(name, tmp_path, browser=False, crowd=whole or name in RATED_OVER_HTTP)
    if installed_chromium is not None and (whole or name in SEEN_BY_BROWSER):
        await check_browser_completes(tmp_path / "example" / "study.yaml", installed_chromium)


@pytest.mark.browser
def test_a_third_party_method_is_found_and_keeps_the_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(HERE / "third_party")
    assert "thumbs" in names()
    check_method("thumbs", tmp_path, browser=find_chromium() is not None)


def test_all_built_in_methods_are_registered() -> None:
    assert set(names()) >= set(BUILT_IN)
