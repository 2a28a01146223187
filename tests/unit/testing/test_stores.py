"""`check_store` says what is not true of a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.store.open import open_store
from beholder.testing import check_store


async def test_check_store_says_what_is_not_true_of_a_store(tmp_path: Path) -> None:
    same = tmp_path / "same"
    with pytest.raises(AssertionError, match="not true of this store: a store gives back the study that began"):
        for _ in range(2):
            await check_store(lambda name: open_store(same), only=["a_store_gives_back_the_study_that_began"])
