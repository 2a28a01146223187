"""What each kind of bundle holds, and what is left out of it."""

from __future__ import annotations

from beholder.bundling.holdings import KINDS, Choice


def without(choice: Choice) -> str:
    return " ".join(one.without for one in choice.holdings)


def test_each_kind_says_what_it_holds_and_leaves_out() -> None:
    public, reviewers, archive = (Choice.of(kind, None, None, robots=False) for kind in KINDS)
    assert "authors, affiliations" in without(reviewers)
    assert "authors" not in without(public) + without(archive)
    assert ("payments" in without(public), "payments" in without(archive)) == (True, False)
    assert [one.with_texts for one in (public, reviewers, archive)] == [False, False, True]
    assert "study/stimuli/" in [one.place for one in archive.holdings]
    assert "study/stimuli/" not in [one.place for one in public.holdings]
    assert [one.words for one in (public, reviewers, archive)] == [
        "A bundle for anybody, such as a repository of data.",
        "A bundle for reviewers who are not to know the authors.",
        "A bundle for a place with few readers, such as the archive of an institute.",
    ]


def test_what_somebody_says_comes_before_the_kind() -> None:
    choice = Choice.of("archive", False, False, robots=True)
    assert (choice.with_stimuli, choice.with_texts, choice.robots, choice.has_payments) == (False, False, True, True)
