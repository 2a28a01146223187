"""The page of a board: one file that says all that is known."""

from __future__ import annotations

import re

import numpy as np

from beholder.leaderboard.folder import BoardResult
from beholder.leaderboard.page import finding, methods_text, outcome
from beholder.leaderboard.tables import board_of
from beholder.reporting.html import render
from support.arena_votes import arena


def test_the_page_needs_no_network_and_says_all_that_is_known(board: BoardResult) -> None:
    text = (board.page.parent / "index.html").read_text("utf-8")
    assert "default-src &#x27;none&#x27;" in text or "default-src 'none'" in text
    assert not re.search(r'(?:src|href)="https?:', text)
    for words in ("Ranks", "History", "Every pair", "By language", "What it rests on", "Methods", "Updated at"):
        assert words in text
    assert "nan" not in re.sub(r"<script.*?</script>|<style.*?</style>", "", text, flags=re.DOTALL).lower().split()


def test_who_may_be_first_is_said_in_words() -> None:
    rng = np.random.default_rng(3)
    clear = arena(rng, [1.5, 0.0, -1.5], people=80, taste=0.2)
    assert finding(board_of(clear)) == (
        "c0 is first among 3 conditions: it is preferred to every other.", "3 of 3 pairs are told apart.",
    )  # fmt: skip
    alike = arena(rng, [0.0, 0.0, -1.5], people=80, taste=0.2)
    assert "which of these 2 leads is not known." in finding(board_of(alike))[0]
    many = arena(rng, [0.0] * 9, people=30, taste=0.2)
    assert finding(board_of(many))[0].startswith("9 of 9 conditions may be first, among them c")
    assert finding(board_of(many))[1] == "0 of 36 pairs are told apart."
    alone = clear._replace(retired=frozenset({"c0", "c1"}))
    assert finding(board_of(alone)) == ("No ranks: fewer than two conditions are in the arena.",)
    assert finding(board_of(many.rows(np.zeros(0, np.intp)))) == ("No votes yet.",)


def test_the_methods_say_what_was_done() -> None:
    votes = arena(np.random.default_rng(4), [0.5, 0.0], people=30, ties=0.1, position=0.3)
    text = methods_text(board_of(votes))
    assert text.startswith("30 people gave 300 votes up to 2026-11-01 12:59 UTC on 2 conditions and 8 contents.")
    assert "with ties and an effect of position" in text
    assert "clustered by people and contents" in text
    assert "clustered by people;" in methods_text(board_of(votes, claim="these"))
    assert "Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024)" in text


def test_with_few_contents_ranks_on_these_alone_are_said_beside() -> None:
    votes = arena(np.random.default_rng(6), [1.0, 0.0, -1.0], people=40, contents=3, taste=0.2, content_sd=0.3)
    board = board_of(votes)
    assert [words.partition(":")[0] for words in finding(board)][2:] == ["On these 3 contents alone"]
    page = render(outcome(board, "Few").sections({}))
    assert ">Here</th>" in page
    assert "of which few contents tell little" in page
    assert len(finding(board_of(votes, claim="these"))) == 2


def test_what_also_holds_on_these_contents_alone_is_not_said_twice() -> None:
    quality = [1.0, 0.6, 0.2, -0.2, -0.6, -1.0]
    votes = arena(np.random.default_rng(8), quality, people=50, contents=10, taste=0.4, content_sd=0.2)
    board = board_of(votes)
    assert ">Here</th>" in render(outcome(board, "Some").sections({})), "a rank further down is another one"
    assert finding(board) == (
        "First is one of c0, c1 and c2: which of these 3 leads is not known.", "5 of 15 pairs are told apart.",
    )  # fmt: skip
