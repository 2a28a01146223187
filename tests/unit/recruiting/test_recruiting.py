"""The verbs of recruiting."""

from __future__ import annotations

import inspect

import pytest

import beholder
from beholder import recruiting
from beholder.errors import RecruitError


def test_nobody_signs_in_the_name_of_a_run() -> None:
    with pytest.raises(RecruitError) as error:
        beholder.decide("study.yaml", sign=" run")
    assert str(error.value) == "--sign  is run, as which only `beholder run` signs. Allowed: your name."


async def test_verbs_are_called_without_await_where_a_loop_is_running_too() -> None:
    with pytest.raises(RecruitError, match="as which only `beholder run` signs"):
        beholder.decide("study.yaml", sign="run")


@pytest.mark.parametrize("name", recruiting.__all__)
def test_every_verb_shows_what_it_takes_and_returns(name: str) -> None:
    verb = getattr(recruiting, name)
    signature = inspect.signature(verb)
    assert not inspect.iscoroutinefunction(verb)
    assert {"study", "store"} <= set(signature.parameters)
    assert all(one.annotation is not inspect.Parameter.empty for one in signature.parameters.values())
    assert "Coroutine" not in signature.return_annotation
    assert verb.__doc__
    assert verb.__name__ == name
