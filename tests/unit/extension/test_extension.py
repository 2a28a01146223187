"""The verb extend: what it adds, what it refuses, and what the command line prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import beholder
from beholder.aio import block_on
from beholder.cli import cli
from beholder.errors import UserError
from beholder.store.open import read_tables
from support.extended_folders import CONDITIONS, begin, finish, lists_of, plan_json, write_texts


async def test_what_was_lost_is_added_once_and_finished(study: Path, store: str) -> None:
    await begin(study, store)
    before = lists_of(study)
    await finish(study, store, "abcd", lost="b")
    extension = beholder.extend(study, store=store)
    shared = store.startswith("postgresql")
    assert extension.words == (
        "Added 1 list, 5:",
        "  1 again, of which nothing is used although somebody finished",
        "4 votes were missing.",
        "Running servers hand them out from now on."
        if shared
        else "`beholder serve` or `beholder run` goes on until they are finished, too.",
    )
    assert lists_of(study)[:4] == before, "what is there stays, byte for byte"
    again = beholder.extend(study, store=store)
    assert again.words == (
        "Nothing to add: every stimulus has its votes when 1 list is finished that nobody has finished yet.",
    )
    assert await finish(study, store, "e") == [5]
    assert beholder.extend(study, store=store).words == ("Nothing to add: every stimulus has its votes.",)
    cleaned = beholder.clean(study, store=store)
    assert (cleaned.counts["short_votes"], cleaned.counts["missing_sessions"]) == (0, 0)
    (written,) = plan_json(study)["extensions"]
    assert (written["first"], written["last"], written["why"]) == (5, 5, "makes up")
    tables = read_tables(store, ("lists",))
    assert [row["list"] for row in tables["lists"]] == [1, 2, 3, 4, 5]


async def test_more_participants_follow_and_a_dry_run_writes_nothing(study: Path) -> None:
    store = str(study.parent / "store")
    await begin(study, store)
    await finish(study, store, "abcd")
    looked = beholder.extend(study, store=store, participants=3, dry_run=True)
    assert looked.words == (
        "Would add 3 lists, 5 to 7:", "  3 for more participants, by the same design", "Nothing was written.",
    )  # fmt: skip
    assert len(lists_of(study)) == 4
    added = beholder.extend(study, store=store, participants=3)
    assert (added.more, added.added, added.is_written) == (3, 3, True)
    assert added.balance == looked.balance, "the same draw"
    assert await finish(study, store, "efg") == [5, 6, 7]
    assert len(beholder.plan(study).lists) == 7, "planning again keeps what was added"
    assert len(lists_of(study)) == 7


async def test_votes_say_how_many_lists_new_conditions_need(tmp_path: Path) -> None:
    design = {"votes": 3, "trials": 4, "seed": 3}
    study, store = write_texts(tmp_path, design=design), str(tmp_path / "store")
    await begin(study, store)
    number = len(lists_of(study))
    write_texts(tmp_path, (*CONDITIONS, "odd"), design=design)
    extension = beholder.extend(study)
    assert (extension.more, extension.again, extension.dealt) == (3, 0, 0)
    await begin(study, store)
    await finish(study, store, "abcdefghijklmnop"[: number + 3])
    assert beholder.extend(study).words == ("Nothing to add: every stimulus has its votes.",)


def test_a_study_that_nobody_has_begun_is_explained(study: Path) -> None:
    with pytest.raises(UserError) as refused:
        beholder.extend(study)
    assert str(refused.value) == (
        f"{study.parent / 'store'}  holds no answers: nobody has taken part in this study yet. Run `beholder run` "
        "with people or `beholder run --simulate` with robots first, or name a store with --store."
    )
    with pytest.raises(UserError, match=r"^participants  is 0. Allowed: 1 or more.$"):
        beholder.extend(study, participants=0)
    block_on(begin(study, str(study.parent / "store")))
    with pytest.raises(UserError, match=r"^store/  holds no sessions yet. Let people in"):
        beholder.extend(study)


async def test_the_command_line_says_what_was_added_and_how_even_it_is(study: Path) -> None:
    store = str(study.parent / "store")
    await begin(study, store)
    await finish(study, store, "abcd", lost="a")
    ran = CliRunner().invoke(cli, ["extend", str(study)])
    assert ran.exit_code == 0, ran.output
    assert ran.output.startswith("Added 1 list, 5:\n  1 again, of which nothing is used although somebody finished\n")
    assert "condition totals" in ran.output
    again = CliRunner().invoke(cli, ["extend", str(study)])
    assert again.output.startswith("Nothing to add: every stimulus has its votes when 1 list is finished")


async def test_a_given_plan_that_was_edited_is_told_and_nothing_is_added(tmp_path: Path) -> None:
    rows = [
        f"{number},{place},1,{condition}/{content}"
        for number in (1, 2)
        for place, (condition, content) in enumerate((("plain", "dawn"), ("ornate", "noon")), 1)
    ]
    study = write_texts(tmp_path, design={"plan": "mine.csv", "seed": 3})
    (tmp_path / "mine.csv").write_text("\n".join(["list,position,slot,stimulus", *rows, ""]), "utf-8")
    await begin(study, str(tmp_path / "store"))
    assert beholder.extend(study, participants=1, dry_run=True).more == 1
    (tmp_path / "mine.csv").write_text(
        "\n".join(["list,position,slot,stimulus", *rows[:-1], "2,2,1,ornate/dusk", ""]), "utf-8"
    )
    with pytest.raises(UserError) as refused:
        beholder.extend(study, participants=1)
    assert str(refused.value).endswith(
        "design.plan is mine.csv, which deals other stimuli than when people came. Put the earlier file back: lists "
        "that people have begun stay as they were. Another plan is another study."
    )
