"""Blocks: trials with the same value stand together, the blocks in every place and after each other equally often."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.methods import find
from beholder.methods.contract import Method, Trial
from beholder.planning.balance import balance
from beholder.planning.builder import make_plan
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.study.model import Study
from support.pair_methods import compare
from support.plans import acr, acr_hr, assert_promises, make_catalogue, make_study, parallel, problems_of

METHODS = {"content": parallel, "stimulus": acr, "pair": compare}


def factored(catalogue: Catalogue, value: Callable[[Stimulus], str], column: str = "genre") -> Catalogue:
    """Return the catalogue with one more column of the manifest."""
    return replace(
        catalogue, stimuli=tuple(replace(s, factors={**s.factors, column: value(s)}) for s in catalogue.stimuli)
    )


def by_content(*sizes: int) -> Callable[[Stimulus], str]:
    """Return blocks `b0`, `b1`, ... of so many contents each."""
    blocks = [f"b{number}" for number, size in enumerate(sizes) for _ in range(size)]
    return lambda stimulus: blocks[int(stimulus.content.removeprefix("content"))]


def blocks_of(trials: tuple[Trial, ...], catalogue: Catalogue) -> list[str]:
    return [catalogue.by_id[trial.slots[0].stimulus].factors["genre"] for trial in trials]


@st.composite
def blocked(draw: st.DrawFn) -> tuple[Study, Catalogue, Method]:
    kind = draw(st.sampled_from(sorted(METHODS)))
    sizes = draw(st.lists(st.integers(2, 5), min_size=2, max_size=4))
    catalogue = factored(make_catalogue(sum(sizes), 3), by_content(*sizes))
    rule = draw(st.sampled_from(["once", "apart", "free"])) if kind != "content" else "once"
    most = sum(sizes) if rule == "once" else 2 * sum(sizes) if kind != "content" else sum(sizes)
    study = make_study(
        participants=draw(st.integers(1, 30)), trials=draw(st.integers(len(sizes), most)), contents=rule,
        blocks="genre", order=draw(st.sampled_from(["balanced", "latin", "williams"])), seed=draw(st.integers(0, 5)),
    )  # fmt: skip
    return study, catalogue, METHODS[kind]


@settings(max_examples=60, deadline=None)
@given(blocked())
def test_every_promise_holds_in_blocks(case: tuple[Study, Catalogue, Method]) -> None:
    study, catalogue, method = case
    plan = make_plan(study, catalogue, method)
    assert_promises(plan, catalogue)
    shares: dict[str, set[int]] = {}
    for planned in plan.lists:
        shown = blocks_of(planned.trials, catalogue)
        assert len(list(groupby(shown))) == len(set(shown)), "a block comes in two pieces"
        counts = Counter(shown)
        for name in {s.factors["genre"] for s in catalogue.stimuli}:
            shares.setdefault(name, set()).add(counts[name])
        order = [trial.content for trial in planned.trials]
        pages = [frozenset(slot.stimulus for slot in trial.slots) for trial in planned.trials]
        assert len(pages) == len(set(pages)) == study.design.trials
        if study.design.contents == "once":
            assert len(order) == len(set(order))
        if study.design.contents == "apart":
            assert all(one != two for one, two in pairwise(order))
    assert all(max(counts) - min(counts) <= 1 for counts in shares.values())


def test_the_rows_of_blocks_are_promised() -> None:
    catalogue = factored(make_catalogue(8, 3), by_content(2, 2, 2, 2))
    plan = make_plan(make_study(participants=8, trials=8, blocks="genre"), catalogue, acr)
    rows = {row.count: row for row in balance(plan, catalogue)}
    assert [(rows[name].difference, rows[name].promised) for name in ("block x list", "block x place")] == [(0, 1)] * 2
    assert (rows["block after block"].cells, rows["block after block"].least) == (12, 2)
    assert (rows["block after block"].difference, rows["block after block"].promised) == (0, 1)
    assert rows["content totals"].promised == 1
    assert rows["content x position"].promised is None
    latin = make_plan(make_study(participants=8, trials=8, blocks="genre", order="latin"), catalogue, acr)
    assert next(row for row in balance(latin, catalogue) if row.count == "block after block").promised is None


def test_contents_of_a_block_are_not_always_in_the_same_company() -> None:
    catalogue = factored(make_catalogue(12, 2), by_content(6, 6))
    plan = make_plan(make_study(participants=40, trials=6, blocks="genre", contents="once"), catalogue, parallel)
    b0 = {f"content{number}" for number in range(6)}
    company = {frozenset(b0 & {trial.content for trial in planned.trials}) for planned in plan.lists}
    assert len(company) >= 6


def test_a_block_may_be_some_of_the_conditions() -> None:
    catalogue = factored(
        make_catalogue(6, 4), lambda s: "low" if s.condition in ("condition0", "condition1") else "high"
    )
    plan = make_plan(make_study(participants=12, trials=6, blocks="genre"), catalogue, acr)
    assert_promises(plan, catalogue)
    for planned in plan.lists:
        shown = blocks_of(planned.trials, catalogue)
        assert Counter(shown) == {"low": 3, "high": 3}
        assert len(list(groupby(shown))) == 2
        assert all(one.content != two.content for one, two in pairwise(planned.trials))
    counts = Counter(slot.stimulus for planned in plan.lists for trial in planned.trials for slot in trial.slots)
    assert set(counts.values()) == {3}
    starts = Counter(blocks_of(planned.trials, catalogue)[0] for planned in plan.lists)
    assert starts == {"low": 6, "high": 6}


def test_sessions_of_one_person_share_nothing_in_blocks_either() -> None:
    catalogue = factored(make_catalogue(12, 2), by_content(6, 6))
    study = make_study(participants=9, trials=4, blocks="genre", sessions_per_participant=3)
    plan = make_plan(study, catalogue, acr)
    assert_promises(plan, catalogue)
    for first in range(0, len(plan.lists), 3):
        shown = [trial.slots[0].stimulus for planned in plan.lists[first : first + 3] for trial in planned.trials]
        assert len(shown) == len(set(shown)) == 12
        assert all(Counter(blocks_of(p.trials, catalogue)) == {"b0": 2, "b1": 2} for p in plan.lists[first : first + 3])


def test_trials_that_are_left_out_are_enough_for_every_block() -> None:
    catalogue = factored(make_catalogue(14, 1), by_content(*[1] * 14))
    assert len(make_plan(make_study(blocks="genre"), catalogue, acr).lists[0].trials) == 14


def test_names_of_blocks_are_any_words() -> None:
    names = ["no", "01", "NA", "Größe 2"]
    catalogue = factored(make_catalogue(8, 2), lambda s: names[int(s.content.removeprefix("content")) % 4], "größe")
    plan = make_plan(make_study(participants=8, trials=8, blocks="größe"), catalogue, acr)
    assert_promises(plan, catalogue)


def block_problems_of(catalogue: Catalogue, method: Method = acr, **design: Any) -> str:
    return problems_of(make_study(**{"blocks": "genre", **design}), catalogue, method)


def test_a_column_that_is_unknown_or_splits_nothing_is_told() -> None:
    catalogue = factored(make_catalogue(4, 2), by_content(2, 2))
    assert block_problems_of(catalogue, blocks="gerne") == (
        "study.yaml  design.blocks is gerne, which is no column of the manifest. Allowed: genre. Did you mean genre?"
    )
    assert block_problems_of(make_catalogue(4, 2)) == (
        "study.yaml  design.blocks is genre, which is no column of the manifest. Add it to the manifest."
    )
    assert block_problems_of(factored(make_catalogue(4, 2), lambda _: "sport")) == (
        "study.yaml  design.blocks is genre, which is sport everywhere and splits nothing. "
        "Allowed: a column with 2 or more values. Leave it out."
    )
    assert block_problems_of(factored(make_catalogue(4, 2), lambda _: "")) == (
        "study.yaml  design.blocks is genre, which is empty everywhere and splits nothing. "
        "Allowed: a column with 2 or more values. Leave it out."
    )


def test_what_has_no_value_is_told() -> None:
    catalogue = factored(make_catalogue(4, 2), lambda s: "" if s.content == "content2" else by_content(2, 2)(s))
    assert block_problems_of(catalogue) == (
        "study.yaml  design.blocks is genre, but content2-condition0 has no value in it, nor have 1 more. "
        "Allowed: a value for each."
    )


def test_a_page_that_would_stand_in_two_blocks_is_told() -> None:
    catalogue = factored(make_catalogue(4, 3), lambda s: "low" if s.condition == "condition0" else "high")
    assert block_problems_of(catalogue, parallel, contents="once") == (
        "study.yaml  design.blocks is genre, but content0-condition0 is low and content0-condition1 is high, and they "
        "are shown in one trial of content content0, and 3 more. Allowed: one value for all that is shown in one trial."
    )
    assert "are shown in one trial" in block_problems_of(catalogue, compare)


def test_a_content_in_several_blocks_cannot_come_once() -> None:
    catalogue = factored(make_catalogue(4, 2), lambda s: "low" if s.condition == "condition0" else "high")
    assert block_problems_of(catalogue, contents="once") == (
        "study.yaml  design.contents is once, but content content0 is in 2 blocks: low, high. Allowed: apart or free."
    )


def test_too_few_trials_for_the_blocks_are_told() -> None:
    catalogue = factored(make_catalogue(8, 2), by_content(2, 2, 2, 2))
    assert block_problems_of(catalogue, trials=3) == (
        "study.yaml  design.trials is 3, but design.blocks is genre, and a list holds something of each of its 4 "
        "blocks. Allowed: 4 to 16."
    )
    make_plan(make_study(blocks="genre", trials=4), catalogue, acr)


def test_a_block_of_one_content_cannot_keep_its_trials_apart() -> None:
    catalogue = factored(make_catalogue(4, 4), by_content(1, 3))
    assert block_problems_of(catalogue, trials=12) == (
        "study.yaml  design.contents is apart, but a list has about 3 trials of block b0, which has 1 content, and "
        "trials of one content may not be neighbours. Allowed: free. Add contents to the block, or write contents: "
        "free."
    )
    make_plan(make_study(blocks="genre", trials=12, contents="free"), catalogue, acr)


def test_contents_that_meet_at_every_seam_are_told() -> None:
    catalogue = factored(make_catalogue(2, 3, frozenset({(1, 0), (1, 1), (0, 2)})), lambda s: s.condition)
    assert re.sub("[0-9]+", "N", block_problems_of(catalogue, trials=3, participants=6)) == (
        "study.yaml  design.contents is apart, and no order of the blocks of list N keeps its contents apart. "
        "Allowed: free. Add contents, or write contents: free."
    )
    make_plan(make_study(blocks="genre", contents="free", trials=3, participants=6), catalogue, acr)


def test_methods_whose_trials_stand_elsewhere_have_no_blocks() -> None:
    catalogue = factored(make_catalogue(4, 3, roles={0: "reference"}), by_content(2, 2))
    assert block_problems_of(catalogue, acr_hr).endswith(
        "design.blocks is genre, but with acr-hr references come between the tests. Leave it out."
    )


def test_a_reference_beside_what_is_rated_is_in_no_block() -> None:
    family = {"condition0": "old", "condition1": "old", "condition2": "new"}
    catalogue = factored(make_catalogue(6, 3, roles={0: "reference"}), lambda one: family[one.condition])
    plan = make_plan(make_study("dcr", participants=12, trials=6, blocks="genre"), catalogue, find("dcr"))
    rows = {row.count: row for row in balance(plan, catalogue)}
    assert [rows[f"block {of}"].cells for of in ("x list", "x place", "after block")] == [24, 4, 2]
    assert [rows[f"block {of}"].difference for of in ("x list", "x place", "after block")] == [0, 0, 0]


def test_a_block_that_is_in_no_list_is_counted() -> None:
    catalogue = factored(make_catalogue(7, 5), lambda one: str(one.condition == "condition4"))
    studies = [make_study(participants=1, trials=2, blocks="genre", seed=seed) for seed in range(8)]
    plans = [make_plan(study, catalogue, acr) for study in studies]
    rows = [{row.count: row for row in balance(plan, catalogue)} for plan in plans]
    assert {row["block x list"].cells for row in rows} == {2}
    alone = [row for row in rows if row["block x list"].least == 0]
    assert alone
    assert {row["block x place"].promised for row in alone} == {None}


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 7), st.integers(2, 6), st.integers(1, 3), st.integers(2, 6), st.integers(0, 100))
def test_few_lists_keep_contents_apart_where_blocks_share_them(
    contents: int, conditions: int, participants: int, trials: int, seed: int
) -> None:
    catalogue = factored(make_catalogue(contents, conditions), lambda one: str(int(one.condition[-1]) % 2))
    trials = min(trials, contents * conditions)
    plan = make_plan(make_study(participants=participants, trials=trials, blocks="genre", seed=seed), catalogue, acr)
    assert_promises(plan, catalogue)
    for planned in plan.lists:
        assert all(one.content != two.content for one, two in pairwise(planned.trials))
        assert len({trial.slots[0].stimulus for trial in planned.trials}) == trials
