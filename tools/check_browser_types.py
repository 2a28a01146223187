"""Check the browser's half with `tsc --noEmit`, strictly; where there is no Node, say so and go on.

With `--install`, only fetch what this and the tests in browsers need from npm.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> int:
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        print("skipped: the types of the browser code need Node, which is not here")
        return 0
    compiler = ROOT / "node_modules" / "typescript" / "bin" / "tsc"
    if not compiler.exists():
        installed = subprocess.run([npm, "ci", "--no-audit", "--no-fund", "--silent"], cwd=ROOT)
        if installed.returncode != 0:
            print("skipped: the types of the browser code need TypeScript, which could not be installed")
            return 0
    if "--install" in sys.argv[1:]:
        return 0
    return subprocess.run(["node", str(compiler), "--noEmit", "-p", str(ROOT)], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
