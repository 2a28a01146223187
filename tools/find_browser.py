"""Find the Chromium that browser tests drive; install it from the system's packages where that is allowed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from beholder.testing.browser import CHROMIUM_NAMES, HEADLESS_NAME, find_chromium


def main() -> int:
    path = find_chromium()
    apt = shutil.which("apt-get")
    if path is None and apt and hasattr(os, "geteuid") and os.geteuid() == 0:
        print("installing chromium from the system's packages")
        subprocess.run([apt, "update", "-qq"], stdout=subprocess.DEVNULL)
        # Without windows it is smaller and faster; not every system has a package of it.
        for name in (HEADLESS_NAME, CHROMIUM_NAMES[0]):
            command = [apt, "install", "-y", "-qq", "--no-install-recommends", name]
            if subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0:
                break
        path = find_chromium()
    if path is None:
        print("skipped: there is no Chromium here and none can be installed, so the browser tests will not run")
    else:
        print(f"browser tests drive {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
