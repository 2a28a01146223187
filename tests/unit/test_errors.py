"""The error tree."""

from __future__ import annotations

import inspect
import re

from beholder import errors
from beholder.errors import BeholderError, Problem, Refused, UserError, closest, did_you_mean


def test_the_drawn_tree_names_every_exception_below_its_base() -> None:
    drawn: dict[str, str] = {}
    open_at: dict[int, str] = {}
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r"    (?:((?:│   )*)[├└]── )?(\w+)(?:  |$)", line):
            depth = 0 if match[1] is None else 1 + len(match[1]) // 4
            open_at[depth] = drawn[match[2]] = match[2]
            drawn[match[2]] = open_at.get(depth - 1, "Exception")
    defined = {
        name: kind.__mro__[1].__name__
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, BaseException) and kind.__module__ == errors.__name__
    }
    assert drawn == defined


def test_a_problem_reads_as_one_line() -> None:
    problem = Problem("study.yaml:5", "scale.min is 100, above max 0", "min below max", "Write scale: cont100.")
    assert str(problem) == (
        "study.yaml:5  scale.min is 100, above max 0. Allowed: min below max. Write scale: cont100."
    )


def test_a_user_error_reports_all_problems_at_once() -> None:
    error = UserError([Problem("a", "is wrong"), Problem("b", "is missing.")])
    assert str(error) == "a  is wrong.\nb  is missing."
    assert UserError(Problem("a", "is wrong")).problems == (Problem("a", "is wrong"),)


def test_a_refusal_carries_what_the_browser_gets() -> None:
    refused = Refused("No", where="key", allowed="yes", code="ended", status=410, more={"return_url": "/"})
    assert isinstance(refused, BeholderError)
    assert (refused.what, refused.where, refused.allowed, refused.code, refused.status, refused.more) == (
        "No", "key", "yes", "ended", 410, {"return_url": "/"},
    )  # fmt: skip


def test_a_near_word_is_suggested_and_a_far_one_is_not() -> None:
    assert did_you_mean("methd", ["method", "scale"]) == "Did you mean method?"
    assert did_you_mean("xyz", ["method", "scale"]) == ""


def test_a_refusal_is_said_in_the_words_of_the_study() -> None:
    refused = Refused.because("cannot_be_missing", where="answer.missing.s1", slot="s1", reason="fun")
    assert refused.what == str(refused) == "s1 cannot be missing for fun"
    assert refused.text("xx") == refused.what, "in English where a language lacks it"
    texts = {"en": {"refused.odd": "{slot} is odd"}, "de": {"refused.odd": "{slot} ist seltsam"}}
    own = Refused.because("odd", texts=texts.__getitem__, slot="s1")
    assert (own.what, own.text("en"), own.text("de")) == ("s1 is odd", "s1 is odd", "s1 ist seltsam")
    assert (refused.where, refused.code, refused.status) == ("answer.missing.s1", "bad_answer", 422)
    assert Refused("A text of a stranger's method").text("de") == "A text of a stranger's method"


def test_what_was_meant_is_found_whatever_its_case_and_only_what_is_as_near() -> None:
    assert did_you_mean("ACR", ["acr", "acr-hr"]) == "Did you mean acr?"
    assert did_you_mean("mushra", ["MUSHRA"]) == "Did you mean MUSHRA?"
    assert did_you_mean("atention", ["attention", "automation", "ratio"], most=3) == "Did you mean attention?"
    assert did_you_mean("pages", ["page", "paged"], most=3) == "Did you mean page or paged?"
    assert closest("xyzzy", ["acr"], most=3) == []
