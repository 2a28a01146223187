"""What cannot be changed about the conditions of an arena."""

from __future__ import annotations

import pytest

from beholder.errors import UserError
from beholder.server.arena_conditions import check_change
from beholder.store.condition_changes import RETIRE, RETURN


@pytest.mark.parametrize(
    ("what", "names", "message"),
    [
        (RETIRE, ["x"], "--retire  is x, which is no condition. Allowed: a, b, c."),
        (RETIRE, ["c"], "--retire  is c, which has retired already. Allowed: a, b."),
        (RETIRE, ["a"], "--retire  would leave 1 to compare. Allowed: at least 2."),
        (RETURN, ["a"], "--return  is a, which has not retired. Allowed: c."),
    ],
)
def test_what_cannot_be_changed_is_told(what: str, names: list[str], message: str) -> None:
    with pytest.raises(UserError) as caught:
        check_change(what, names, ("a", "b", "c"), frozenset({"c"}))
    assert [str(problem) for problem in caught.value.problems] == [message]
    check_change(RETURN, ["c"], ("a", "b", "c"), frozenset({"c"}))
