"""Votes as the board reads them: in their order, with positions, factors and draw probabilities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beholder.analysis.ratings import open_ratings
from beholder.analysis.ratings_table import TableOptions
from beholder.leaderboard.votes import Votes, followed_by, votes_of
from support.arena_votes import arena, as_ratings, write_votes


def read(path: Path) -> Votes:
    return votes_of(open_ratings(path))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    given = arena(np.random.default_rng(1), [0.3, 0.0, -0.2], people=20, ties=0.1, position=0.1)
    path = tmp_path / "votes.csv"
    as_ratings(given).to_csv(path, index=False)
    votes = read(path)
    name = np.array(votes.conditions)
    assert (name[votes.one] == np.array(given.conditions)[given.one]).all()
    assert (name[votes.other] == np.array(given.conditions)[given.other]).all()
    assert (votes.sign == given.sign).all()
    assert (votes.person == given.person).all()
    assert (votes.at == given.at).all()
    is_tie = votes.sign == 0
    assert (votes.order == given.order)[~is_tie].all()
    assert not votes.has_draws


def test_votes_come_in_the_order_of_their_times_whatever_the_table_has(tmp_path: Path) -> None:
    given = arena(np.random.default_rng(2), [0.3, 0.0], people=12)
    path = tmp_path / "votes.csv"
    as_ratings(given).sample(frac=1, random_state=3).to_csv(path, index=False)
    votes = read(path)
    assert (np.diff(votes.at) > np.timedelta64(0)).all()
    assert (votes.person == given.person).all()


def test_factors_of_both_stimuli_and_draw_probabilities_are_read(tmp_path: Path) -> None:
    votes = read(write_votes(tmp_path, people=8))
    assert set(votes.factors) == {"language", "seconds"}
    assert votes.has_draws
    assert votes.draw.min() > 0


def test_a_plain_table_of_winners_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    lines = [f"p{who},k{who % 3},{'a,b' if who % 4 else 'b,a'}" for who in range(12)]
    path.write_text("participant,content,winner,loser\n" + "\n".join(lines) + "\n", "utf-8")
    votes = read(path)
    assert votes.size == 12
    a = votes.conditions.index("a")
    assert ((votes.sign > 0) == (votes.one == a)).sum() == 9
    assert not votes.order.any()
    assert np.isnat(votes.at).all()
    assert np.isnan(votes.draw).all()


def test_a_table_of_choices_may_say_when_and_how_probable_each_pair_was(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    head = "participant,content,condition,other_condition,kind,value,answered_at,draw_probability"
    rows = ["p1,k1,a,b,choice,1,2026-01-02T10:00:00Z,0.5", "p2,k1,b,a,choice,0,2026-01-01T10:00:00Z,"]
    path.write_text("\n".join([head, *rows]) + "\n", "utf-8")
    votes = read(path)
    assert votes.people == ("p2", "p1")
    assert votes.sign.tolist() == [0, 1]
    assert np.isnan(votes.draw[0])
    assert votes.draw[1] == 0.5
    assert str(votes.at[1])[:16] == "2026-01-02T10:00"


def test_an_old_table_of_winners_keeps_its_times(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    rows = [f"v{who},k{who % 3},a,b,2026-01-{28 - who}T10:00:00Z,0.25" for who in range(12)]
    path.write_text("\n".join(["voter,prompt,winner,loser,answered_at,draw_probability", *rows]) + "\n", "utf-8")
    votes = votes_of(open_ratings(path, TableOptions.of({"participant": "voter", "content": "prompt"}, *[None] * 4)))
    assert votes.people[0] == "v11"
    assert (votes.draw == 0.25).all()


def test_options_and_who_won_are_votes_as_large_arenas_publish_them(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    won = ["model_a", "model_b", "tie", "tie (bothbad)", "gpt"]
    rows = [f"q{n},gpt,claude,{who},u{n % 2},{1682351591.5 - n},en" for n, who in enumerate(won)]
    rows += [f"q{n},claude,gpt,model_b,u2,1682360000,en" for n in range(5, 30)]
    path.write_text("\n".join(["question_id,model_a,model_b,winner,judge,tstamp,language", *rows]) + "\n", "utf-8")
    loaded = open_ratings(path)
    votes = votes_of(loaded)
    gpt = votes.conditions.index("gpt")
    assert (votes.sign * np.where(votes.one == gpt, 1, -1)).tolist()[:5] == [1, 0, 0, -1, 1], "in the order of time"
    assert str(votes.at[4])[:22] == "2023-04-24T15:53:11.50"
    assert len(votes.contents) == 30, "each question was asked of both: a content"
    assert loaded.own is not None
    assert loaded.own.notes == (
        "judge is the participant, model_a is the condition, model_b is the other condition, tstamp is the time of "
        "the vote and question_id is the content",
        "1 vote for neither taken as a tie",
    )
    assert loaded.own.findings == ()


def test_every_two_that_were_put_in_order_are_a_vote(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    rows = [f"p{who},k{who % 2},{name},{place},{name}{who}" for who in range(3) for place, name in enumerate("bca", 1)]
    path.write_text("\n".join(["participant,content,condition,rank,factor_take", *rows]) + "\n", "utf-8")
    votes = read(path)
    assert votes.together == 3
    assert votes.size == 9
    name = np.array(votes.conditions)
    better = np.where(votes.sign > 0, name[votes.one], name[votes.other])
    worse = np.where(votes.sign > 0, name[votes.other], name[votes.one])
    assert {*zip(better.tolist(), worse.tolist(), strict=True)} == {("b", "c"), ("b", "a"), ("c", "a")}
    take, other = votes.factors["take"]
    assert [str(one)[0] for one in take] == name[votes.one].tolist()
    assert [str(one)[0] for one in other] == name[votes.other].tolist()


def test_earlier_votes_come_before_those_of_an_arena_by_other_people() -> None:
    rng = np.random.default_rng(7)
    earlier, later = arena(rng, [0.5, 0.0, -0.5], people=10), arena(rng, [0.5, 0.0], people=5, contents=3)
    later = later._replace(conditions=("c2", "new"), factors={"words": (np.full(50, 3, object),) * 2})
    both = followed_by(earlier, later)
    assert both.conditions == ("c0", "c1", "c2", "new")
    assert both.size == earlier.size + later.size
    assert both.people_of().tolist()[3] == 5
    assert (both.one[earlier.size :] == np.where(later.one == 0, 2, 3)).all()
    assert both.person.max() == 14
    assert len(both.contents) == 8, "the same name is the same content"
    assert both.factors["words"][0].tolist() == [""] * earlier.size + [3] * later.size
    assert both.of_first(10).size == earlier.size


def test_what_was_known_with_so_many_people_is_a_beginning_of_the_votes() -> None:
    votes = arena(np.random.default_rng(4), [0.3, 0.0], people=12)
    first = votes.of_first(5)
    assert first.person.max() == 4
    assert first.size == 50
    assert votes.of_first(99).size == votes.size


@pytest.mark.parametrize("people", [1, 3])
def test_counts_are_of_people_and_of_votes(people: int) -> None:
    votes = arena(np.random.default_rng(5), [0.3, 0.0], people=people)
    assert votes.people_of().tolist() == [people, people]
    assert votes.votes_of().tolist() == [10 * people] * 2
    assert votes.met()[0, 1] == 10 * people
