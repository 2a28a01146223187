"""What a platform refuses or leaves open, as something that a person reads and can act on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from beholder.errors import Problem, RecruitError
from beholder.recruit.contract import PlatformAway, PlatformRefused, PlatformUnsure
from beholder.study.model import Study


@contextmanager
def asking(study: Study) -> Iterator[None]:
    """Turn what a platform answers instead of doing what it was asked into a RecruitError."""
    name = study.recruit.mode.capitalize()
    try:
        yield
    except PlatformRefused as error:
        raise RecruitError(Problem(name, f"said no: {error}")) from error
    except PlatformAway as error:
        fix = "Nothing has happened. Try again later."
        raise RecruitError(Problem(name, f"cannot be reached: {error}", "", fix)) from error
    except PlatformUnsure as error:
        fix = "Run the same command again: it looks first."
        raise RecruitError(Problem(name, f"did not say whether it was done: {error}", "", fix)) from error
