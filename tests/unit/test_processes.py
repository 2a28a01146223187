"""Work beside this process: what a copy finds comes back, and what it does not bring is missed."""

from __future__ import annotations

import subprocess
import sys

import pytest

COPYING = """
import os
from contextlib import closing
from beholder.processes import Turns, beside, spare_cores

os.sched_getaffinity = lambda process: {0, 1}  # also where the tests have one core
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    """Run this in a process without other threads, such as the tests have."""
    if not sys.platform.startswith("linux"):
        pytest.skip("processes are copied on Linux alone")
    return subprocess.run([sys.executable, "-c", COPYING + code], capture_output=True, text=True, check=True)


def test_a_copy_has_what_is_in_memory_and_sends_what_it_finds() -> None:
    done = run("""
known = [object()]

def work(pipe):
    pipe.send((os.getpid(), len(known), pipe.recv() + 1, spare_cores()))

assert spare_cores() == 1
with beside(work) as pipe:
    pipe.send(41)
    process, length, answer, spare = pipe.recv()
print(process != os.getpid(), length, answer, spare)
""")
    assert done.stdout == "True 1 42 0\n", "a copy makes no copies"
    assert not done.stderr, "nobody is warned of threads that are idle"


def test_a_copy_that_fails_is_told_by_the_end_of_the_pipe() -> None:
    done = run("""
def work(pipe):
    raise ValueError("broken")

with beside(work) as pipe:
    try:
        pipe.recv()
    except EOFError:
        print("nothing came")
""")
    assert (done.stdout, done.stderr) == ("nothing came\n", "")


def test_a_copy_that_is_not_needed_any_more_is_ended() -> None:
    done = run("""
def work(pipe):
    pipe.send(os.getpid())
    while True:
        pass

with beside(work) as pipe:
    process = pipe.recv()
try:
    os.kill(process, 0)
except ProcessLookupError:
    print("gone")
""")
    assert done.stdout == "gone\n"


def test_each_number_is_taken_once_by_whichever_process_comes_first() -> None:
    done = run("""
def work(pipe):
    pipe.send([*turns])

with closing(Turns(200)) as turns, beside(work) as pipe:
    mine = [*turns]
    theirs = pipe.recv()
print(sorted([*mine, *theirs]) == list(range(200)))
""")
    assert done.stdout == "True\n"


def test_beside_other_threads_nothing_is_copied() -> None:
    done = run("""
import threading

done = threading.Event()
thread = threading.Thread(target=done.wait)
thread.start()
print(spare_cores())
done.set()
thread.join()
print(spare_cores())
""")
    assert done.stdout == "0\n1\n"
