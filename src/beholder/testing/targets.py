"""The conformance suite of targets: where a study can be deployed to.

    check_target(lambda: SshTarget("ada@lab.example.org"))

Each check is one sentence about every target. The target is one that may be created and destroyed.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TypeAlias

from beholder.deployment.contract import DeployTarget, Machine

__all__ = ["TARGET_CHECKS", "check_target"]

TargetOpener: TypeAlias = Callable[[], DeployTarget]
"""Returns the target, each time as a new object, as two commands would have it."""
_LARGE = 3_000_000


def it_says_what_and_where_it_is(open_: TargetOpener) -> None:
    target = open_()
    assert target.kind.isidentifier()
    assert target.place.strip()
    assert target.problems() == [], "it cannot be used as it is"


def a_target_that_is_created_twice_is_one(open_: TargetOpener) -> None:
    open_().create()
    before = sorted(open_().remains())
    open_().create()
    assert sorted(open_().remains()) == before, "a second one was made"
    assert bool(before) == open_().is_made, "what it makes is not listed, or it makes what it says it does not"


def what_is_sent_comes_out_as_it_was(open_: TargetOpener) -> None:
    content = bytes(range(256)) * (_LARGE // 256)
    with open_().connect() as machine:
        assert machine.run(["cat"], [content[:1000], content[1000:]]).out == content, "bytes were changed on the way"
        received = io.BytesIO()
        machine.run(["cat"], [content], received)
        assert received.getvalue() == content, "bytes were changed on the way to a file"


def arguments_arrive_as_they_are(open_: TargetOpener) -> None:
    hard = ["a b", "'", '"', "$HOME", "*", "\\", "a;b", "", "é"]
    with open_().connect() as machine:
        printed = machine.run(["sh", "-c", 'for one in "$@"; do printf "%s\\n" "$one"; done', "sh", *hard]).out
    assert printed.decode().split("\n")[:-1] == hard, "a shell has read them"


def a_command_tells_how_it_ended(open_: TargetOpener) -> None:
    with open_().connect() as machine:
        reply = machine.run(["sh", "-c", "echo out; echo err >&2; exit 7"])
        assert (reply.code, reply.out, reply.err.strip()) == (7, b"out\n", "err")
        assert machine.run(["a-program-that-nobody-has"]).code != 0
        assert machine.run(["sh", "-c", "exit 3"], [b"x" * _LARGE]).code == 3, "it waits for who reads nothing"


def its_machine_keeps_what_is_written(open_: TargetOpener) -> None:
    name = ".beholder-check"
    with open_().connect() as machine:
        _run(machine, "sh", "-c", f'echo kept > "$HOME/{name}"')
    with open_().connect() as machine:
        assert _run(machine, "sh", "-c", f'cat "$HOME/{name}"') == b"kept\n", "another machine answers the second time"
        _run(machine, "sh", "-c", f'rm "$HOME/{name}"')


def nothing_is_left_of_what_was_destroyed(open_: TargetOpener) -> None:
    open_().destroy()
    open_().destroy()
    assert open_().remains() == [], "something was left"


TARGET_CHECKS: tuple[Callable[[TargetOpener], None], ...] = (
    it_says_what_and_where_it_is, a_target_that_is_created_twice_is_one, what_is_sent_comes_out_as_it_was,
    arguments_arrive_as_they_are, a_command_tells_how_it_ended, its_machine_keeps_what_is_written,
    nothing_is_left_of_what_was_destroyed,
)  # fmt: skip


def check_target(open_: TargetOpener) -> None:
    """Check that a target keeps the contract; `open_` returns it, each time as a new object."""
    for check in TARGET_CHECKS:
        try:
            check(open_)
        except AssertionError as error:
            error.add_note(f"The target breaks its contract: {check.__name__.replace('_', ' ')}.")
            raise


def _run(machine: Machine, *command: str) -> bytes:
    reply = machine.run(command)
    assert reply.code == 0, reply.err
    return reply.out
