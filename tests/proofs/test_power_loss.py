"""Acknowledged answers survive a loss of power, on a disk that forgets what was not synced and tears what was begun."""

from __future__ import annotations

import asyncio
import random
import shutil
from pathlib import Path

import pytest

from beholder.store.contract import Answer
from beholder.store.open import open_store
from beholder.testing.stores.facts import arrive, rows, study_record
from support.clock_service import NOON
from support.power_loss import ForgetfulDisk, on_forgetful_disk


class PowerLosses:
    """Losses of power at moments of chance: for each, the files as they are then and what was acknowledged before."""

    def __init__(self, folder: Path, losses: int, *, seed: int, lies: bool) -> None:
        self.rng, self.folder = random.Random(seed), folder
        self.acknowledged: list[str] = []
        self.found: list[tuple[Path, frozenset[str]]] = []
        self.disk = ForgetfulDisk(self.look, lies=lies)
        self._left, self._next = losses, 0

    def begin(self) -> None:
        self._next = self.disk.changes + 1

    def look(self) -> None:
        """Lose the power once now and then; here a copy is made, and the store goes on."""
        if self._left and 0 < self._next <= self.disk.changes:
            place = self.folder / f"loss-{self._left}"
            known = frozenset(self.acknowledged)  # before the files are looked at: a later one may be there, too
            self.disk.after_power_loss(place, self.rng)
            self.found.append((place, known))
            self._left -= 1
            self._next = self.disk.changes + self.rng.randrange(1, 12)


async def answered(folder: Path, losses: int, *, seed: int = 1, lies: bool = False) -> PowerLosses:
    """Store answers of eight people at once until the power was lost so often."""
    power = PowerLosses(folder, losses, seed=seed, lies=lies)
    store_folder = folder / "store"
    with on_forgetful_disk(power.disk, store_folder):
        async with open_store(str(store_folder)) as store:
            await store.begin(study_record())
            sessions = [await arrive(store, str(number)) for number in range(8)]
            power.begin()

            async def rate(session: str) -> None:
                number = 0
                while len(power.found) < losses:
                    number += 1
                    key = f"trial:{number}"
                    await store.append([Answer(session, key, {"n": number}, {}, 1, 2, "mouse", "tab", NOON)])
                    power.acknowledged.append(f"{session} {key}")

            await asyncio.gather(*map(rate, sessions))
    return power


async def lost_answers(power: PowerLosses) -> list[str]:
    """Return what was acknowledged before a loss and is not there after it."""
    lost: list[str] = []
    for place, known in power.found:
        try:
            async with open_store(str(place)) as store:
                stored = {f"{row['session']} {row['key']}" for row in await rows(store, "answers")}
        except Exception as error:
            lost.append(f"{place.name}: {error}")
            continue
        lost += sorted(known - stored)
    return lost


@pytest.mark.long
async def test_what_was_acknowledged_survives_a_loss_of_power_at_any_moment(tmp_path: Path, whole: bool) -> None:
    losses = 25  # of each round, whose files are deleted after it: a store is copied at each loss
    for number in range(80 if whole else 1):
        power = await answered(tmp_path / f"round-{number}", losses, seed=number)
        assert len(power.found) == losses
        assert len({known for _, known in power.found}) > losses // 10, "losses come at many moments"
        assert await lost_answers(power) == []
        shutil.rmtree(power.folder)


async def test_a_disk_that_only_pretends_to_sync_loses_answers(tmp_path: Path) -> None:
    """So the proof above can fail: the disk does forget."""
    assert await lost_answers(await answered(tmp_path, 10, lies=True))
