"""Check the types of Python with two processes of mypy; where these do not start, with one."""

from __future__ import annotations

import subprocess
import sys

COMMAND = [sys.executable, "-m", "mypy"]
DID_NOT_RUN = 2
"""What mypy returns where it could not check; 1 where it found something."""


def main() -> int:
    # Two share the work evenly, but mypy gives up where one needs more than 3 s to start, as on a busy machine.
    checked = subprocess.run([*COMMAND, "--num-workers", "2"], stderr=subprocess.DEVNULL).returncode
    return subprocess.run(COMMAND).returncode if checked == DID_NOT_RUN else checked


if __name__ == "__main__":
    sys.exit(main())
