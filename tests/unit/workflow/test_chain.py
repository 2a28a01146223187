"""Chains: a study that asks only what another left open, of other people, under one budget."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import beholder
from beholder.analysis.result import Results
from beholder.errors import UserError
from beholder.methods import load_study
from beholder.recruiting.collection import RunProgress, remaining_budget
from beholder.recruiting.fake import FakeProlific, serve_fake
from beholder.store.contract import LedgerEntry
from beholder.store.open import open_store
from beholder.study.recruitment import Mode, money
from beholder.testing import write_study
from beholder.testing.stores.facts import HOUR, NOON, session_of, study_record
from beholder.workflow.chain import exclude_studies, folder_of, write_open_pairs
from support.chain_files import CHAIN, write_chain
from support.server_process import free_port


def follow_up(folder: Path, tiny: Path) -> Path:
    return write_study(
        folder, tiny, name="pairs", method="pair",
        questions=[{"id": "preference", "text": "Which one do you prefer?"}],
        design={"participants": 6, "trials": 2, "per_trial": None, "pairs": "open.csv", "seed": 4},
    )  # fmt: skip


def test_the_second_study_of_a_chain_asks_only_what_the_first_left_open(tmp_path: Path, tiny: Path) -> None:
    write_study(tmp_path / "mos", tiny, name="mos", design={"participants": 5, "trials": 2, "seed": 3})
    pairs = follow_up(tmp_path / "pairs", tiny)
    results = beholder.chain(write_chain(tmp_path, CHAIN), simulate=True)
    assert list(results) == ["mos", "pairs"]
    left = (pairs.parent / "open.csv").read_text(encoding="utf-8").splitlines()
    assert left[0] == "condition,other,part"
    asked = {frozenset(line.split(",")[:2]) for line in left[1:]}
    undecided = {
        frozenset(pair)
        for pair in zip(results["mos"].pairs["condition"], results["mos"].pairs["other_condition"], strict=True)
        if results["mos"].better(*pair) == "undecided"
    }
    assert asked == undecided
    shown = results["pairs"].ratings
    assert {frozenset(pair) for pair in zip(shown["condition"], shown["other_condition"], strict=True)} == asked
    for one in results.values():
        assert one.notes["correction"]["family"].endswith(
            "The study has 50 % of the error rate of its chain: p_holm is divided by this share."
        )
        assert (one.pairs["p_holm"] >= 1.999 * one.pairs["p"].clip(upper=0.5)).all()
    again = beholder.analyse(pairs)
    assert np.allclose(again.pairs["p_holm"], results["pairs"].pairs["p_holm"], atol=1e-5), "the share stays with it"


def test_a_study_that_is_added_to_a_chain_finds_what_the_others_have_left(tmp_path: Path, tiny: Path) -> None:
    write_study(tmp_path / "mos", tiny, name="mos", design={"participants": 5, "trials": 2, "seed": 3})
    follow_up(tmp_path / "pairs", tiny)
    asyncio.run(_spend(tmp_path / "mos" / "store", 0.8))
    with pytest.raises(UserError) as error:
        beholder.chain(write_chain(tmp_path, CHAIN))
    assert str(error.value) == (
        "mos-then-pairs  would spend 130 % of its error rate: studies that were run have spent their shares. "
        "Allowed: 100 % over all studies. Give those that are to come smaller shares (share), or run them on their own."
    )


async def _spend(folder: Path, share: float) -> None:
    async with open_store(folder) as store:
        evidence: Any = {"run": 1, "population": "people", "chain": "x", "studies": 1, "share": share, "after": ""}
        await store.ledger.append([LedgerEntry("chain", "done", NOON, evidence=evidence)])


def scored(folder: Path, means: dict[str, float]) -> Results:
    """Return the results of ten people who rate each condition around a mean."""
    rng = np.random.default_rng(1)
    rows = [
        f"p{person},c{content},{name},{mean + rng.normal(0, 4):.1f}"
        for person in range(10)
        for content in range(8)
        for name, mean in means.items()
    ]
    path = folder / "ratings.csv"
    path.write_text("\n".join(["participant,content,condition,value", *rows]), encoding="utf-8")
    return beholder.analyse(path)


@pytest.mark.variant
async def test_what_stayed_open_is_written_by_parts_and_stays_once_people_are_asked(tmp_path: Path, tiny: Path) -> None:
    study = load_study(follow_up(tmp_path / "pairs", tiny))
    means = {"natural": 80.0, "smooth": 80.2, "jerky": 30.0, "frozen": 30.1}
    both, one = scored(tmp_path, means), scored(tmp_path, means | {"smooth": 20.0})
    file = write_open_pairs(study, both)
    assert file.read_text(encoding="utf-8").split() == [
        "condition,other,part", "frozen,jerky,1", "natural,smooth,2",
    ]  # fmt: skip
    beholder.plan(study.folder)  # parts that are named need not hold together
    async with open_store(study.folder / "store") as store:
        await store.begin(study_record(study=study.name))
        arrivals: tuple[tuple[Mode, int, Results], ...] = (("robot", 1, one), ("link", 2, both), ("link", 1, both))
        for mode, run, left in arrivals:
            write_open_pairs(study, left)
            assert ("natural,smooth,2" in file.read_text(encoding="utf-8")) is (left is both), mode
            session = session_of(f"{mode}-{run}", mode=mode, run=run)
            await store.arrive(session)
            await store.claim(session.session, now=NOON, until=NOON + HOUR, per_list=None)
        write_open_pairs(study, one)
        assert "natural,smooth,2" in file.read_text(encoding="utf-8"), "a person has got a list of this run"


@pytest.mark.variant
def test_where_nothing_stayed_open_nothing_is_asked_and_the_chain_goes_on(tmp_path: Path, tiny: Path) -> None:
    design = {"participants": 6, "trials": 4, "seed": 3}
    write_study(tmp_path / "mos", tiny, name="mos", conditions=["natural", "frozen"], design=design)
    for name in ("pairs", "third"):
        path = follow_up(tmp_path / name, tiny)
        path.write_text(path.read_text("utf-8").replace("name: pairs", f"name: {name}"), "utf-8")
    reports: list[RunProgress] = []
    text = f"{CHAIN}  - {{study: third, asks: inconclusive}}\n"
    results = beholder.chain(write_chain(tmp_path, text), simulate=True, news=reports.append)
    assert list(results) == ["mos"]
    assert [news.words for news in reports if news.stage == "chain"] == [
        f"{name}  has nothing to ask: no pair of the study before it was left open." for name in ("pairs", "third")
    ]
    assert not (tmp_path / "pairs" / "open.csv").exists()
    with pytest.raises(UserError) as error:
        beholder.run(tmp_path / "pairs", after=tmp_path / "mos")
    assert str(error.value) == (
        "after  names a study that only robots have taken. Run it with people first; robots stand for them where this "
        "is a rehearsal too (--simulate)."
    )


PAID = {"mode": "prolific", "reward": "2.00 GBP", "minutes": 10}


async def test_the_smaller_budget_is_a_hard_cap_over_the_chain(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    consent = {"consent": "We keep what you answer for two years. Do you agree?"}
    study = load_study(write_study(tmp_path / "mos", tiny, name="mos", recruit=PAID, texts=consent))
    path, fake = write_chain(tmp_path, CHAIN.partition("  - {study: pairs")[0].replace("200", "8")), FakeProlific()
    monkeypatch.setenv("PROLIFIC_TOKEN", fake.token)
    async with serve_fake(fake) as url:
        monkeypatch.setenv("BEHOLDER_PROLIFIC_URL", url)
        with pytest.raises(UserError) as error:
            await asyncio.to_thread(beholder.chain, path, publish=True, budget="500 GBP", port=free_port())
    assert str(error.value).partition("  ")[2].startswith("budget is 8.00 GBP, and 6 people may cost ")
    amounts: dict[float | str, str] = {
        0: "is 0. Allowed: an amount above 0 and a currency, such as 120 GBP.",
        "9.00 USD": "is 9.00 USD, and mos pays 2.00 GBP. Allowed: an amount in GBP.",
    }
    for budget, words in amounts.items():
        with pytest.raises(UserError) as error:
            beholder.chain(path, publish=True, budget=budget)
        assert str(error.value) == f"budget  {words}"
    evidence: Any = {"places": 6, "total": "8.00 GBP"}
    async with open_store(study.folder / "store", write=False) as store:
        drafted: Any = {"run": 1, "key": "k", "places": 6}
        await store.ledger.append([LedgerEntry("draft", "done", NOON, provider_ref="p1", evidence=drafted)])
        await store.ledger.append([LedgerEntry("publish", "done", NOON, provider_ref="p1", evidence=evidence)])
    assert str(remaining_budget(study, [study], money("8.01 GBP"))) == "0.01 GBP"
    with pytest.raises(UserError) as error:
        remaining_budget(study, [study], money("8.00 GBP"))
    assert str(error.value) == (
        "budget  is 8.00 GBP, and nothing is left for mos: the studies before it may cost 8.00 GBP. "
        "Allowed: more than 8.00 GBP."
    )


def test_nobody_of_an_earlier_study_takes_part(tmp_path: Path, tiny: Path) -> None:
    study = load_study(write_study(tmp_path / "second", tiny))
    first = tmp_path / "first"
    assert exclude_studies(study, [first, first]).recruit.exclude == ("../first",)
    assert exclude_studies(study, []) is study
    assert folder_of(first / "study.yaml") == first


def test_nothing_is_published_before_every_study_of_a_chain_can_be(tmp_path: Path, tiny: Path) -> None:
    write_study(tmp_path / "mos", tiny, name="mos", recruit=PAID)
    follow_up(tmp_path / "pairs", tiny)
    with pytest.raises(UserError) as error:
        beholder.chain(write_chain(tmp_path, CHAIN), publish=True)
    assert str(error.value) == (
        "pairs/study.yaml:1  recruit.mode is link, and publishing goes with a platform. Allowed: prolific."
    )


def test_a_follow_up_says_where_the_pairs_that_are_left_go(tmp_path: Path, tiny: Path) -> None:
    for name in ("mos", "pairs"):
        write_study(tmp_path / name, tiny, name=name)
    with pytest.raises(UserError) as error:
        beholder.chain(write_chain(tmp_path, CHAIN), simulate=True)
    place = str(error.value).partition("  ")[0]
    assert place.startswith("pairs/study.yaml:")
    assert str(error.value) == (
        f"{place}  design.pairs names no file for the pairs that are left. Allowed: a CSV. "
        "Write design: {pairs: open.csv}: the pairs that are left are written there."
    )


def test_a_later_study_that_cannot_be_planned_is_told_before_anybody_is_asked(tmp_path: Path, tiny: Path) -> None:
    write_study(tmp_path / "mos", tiny, name="mos")
    questions = [{"id": "preference", "text": "Which one do you prefer?"}]
    design = {"participants": 6, "trials": 2, "per_trial": None, "pairs": "open.csv", "seed": 4}
    write_study(tmp_path / "pairs", tiny, name="pairs", method="ab", questions=questions, design=design)
    write_study(tmp_path / "more", tiny, name="more", design={"participants": 5, "trials": 200, "seed": 3})
    with pytest.raises(UserError) as error:
        beholder.chain(write_chain(tmp_path, f"{CHAIN}  - study: more\n"), simulate=True)
    long = (
        "more/study.yaml:16  design.trials is 200, but there are 4 contents and each may come once. Allowed: 1 to 4. "
        "Add contents."
    )
    assert str(error.value).splitlines() == [
        "pairs/study.yaml:6  conditions are 4, and ab compares two. Allowed: two conditions. For all pairs of more, "
        "use method: pair.",
        long,
    ]
    assert not (tmp_path / "mos" / "store").exists()
    with pytest.raises(UserError) as error:
        beholder.chain(write_chain(tmp_path, "beholder: 1\nchain: one\nstudies:\n  - study: more\n"), simulate=True)
    assert str(error.value) == long, "what a run says is told with its folder too"


def test_two_studies_of_a_chain_have_two_names(tmp_path: Path, tiny: Path) -> None:
    for folder in ("mos", "pairs"):
        write_study(tmp_path / folder, tiny, name="same")
    text = CHAIN.replace(", asks: inconclusive", "")
    with pytest.raises(UserError) as error:
        beholder.chain(write_chain(tmp_path, text), simulate=True)
    assert str(error.value) == (
        "pairs/study.yaml  has the name same, as mos has. Allowed: a name of its own for each study of the chain."
    )
