"""Check what can be checked of dependencies without network: that installed ones fit each other, and the lock files."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)")


def main() -> int:
    uv = Path(sys.executable).with_name("uv.exe" if sys.platform == "win32" else "uv")
    fitting = subprocess.run([str(uv), "pip", "check", "--quiet", "--python", sys.executable]).returncode
    faults = [*lock_faults("run"), *lock_faults("dev")]
    print("\n".join(faults), end="\n" * bool(faults))
    print("skipped: known vulnerabilities are looked up in a database on the network; `make audit` does that")
    return 1 if fitting or faults else 0


def lock_faults(name: str, root: Path = ROOT) -> Iterator[str]:
    """Yield what is wrong with a lock file: a dependency without a fitting pin, a pin without a hash, an address."""
    path = root / "requirements" / f"{name}.txt"
    text = path.read_text("utf-8")
    pins: dict[str, list[str]] = {}
    for block in re.split(r"\n(?=\S)", text):
        if pin := PIN.match(block):
            pins.setdefault(canonicalize_name(pin[1]), []).append(pin[2])
            if "--hash=sha256:" not in block:
                yield f"{path.name}: {pin[1]} has no hash"
    if "://" in text:
        yield f"{path.name}: holds an address"
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    wanted = [*project["project"]["dependencies"], *(project["dependency-groups"]["dev"] if name == "dev" else ())]
    for one in map(Requirement, wanted):
        versions = pins.get(canonicalize_name(one.name), [])
        if not any(one.specifier.contains(version, prereleases=True) for version in versions):
            yield f"{path.name}: has no pin for {one}; run `make lock`"


if __name__ == "__main__":
    sys.exit(main())
