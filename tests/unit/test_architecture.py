"""The architecture: imports point one way, the package is portable, the public names are pinned."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import beholder

ROOT = Path(beholder.__file__).parent
SOURCES = sorted(ROOT.rglob("*.py"))

BELOW = {"errors", "types", "aio", "clock", "files", "formats", "words", "stats"}
"""What every part may import; these import nothing but each other."""
ORDER = ["study", "stimuli", "methods", "checks", "planning", "store", "server", "workflow.check", "recruiting"]
"""Each part may import those to its left. `check` walks through a session as the server would, and `launch` checks."""
READERS = {
    "cleaning", "analysis", "reporting", "exporting", "comparison", "dimensionality", "extension", "objective",
}  # fmt: skip
"""They read what the store holds, and import neither the server nor recruiting."""
ANYTHING = {"__init__", "__main__", "cli", "sample_size", "simulation", "testing", "workflow"}
"""The parts on top. The fake platform is for rehearsals: like simulated people, whom it sends, it sees everything."""


def part(module: str) -> str:
    """Return the part of the house to which a module belongs, such as `server` for `beholder.server.app`."""
    inside = module.split(".")[1:] or ["__init__"]
    for whole in ("workflow.check", "recruiting.fake"):
        if ".".join(inside[:2]) == whole:
            return whole
    return inside[0]


def module_of(path: Path) -> str:
    inside = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(["beholder", *(inside[:-1] if inside[-1] == "__init__" else inside)])


def imports(path: Path) -> Iterator[str]:
    """Yield every module of ours that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("beholder."):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("beholder."))


def allowed(own: str, other: str) -> bool:
    if own == other or other in BELOW:
        return True
    if own in BELOW:
        return False
    if own == "recruiting":
        return other in ORDER or other in READERS
    if own in ORDER:
        return other in ORDER[: ORDER.index(own)]
    if own in READERS:
        return other in READERS or (other in ORDER and other not in ("server", "workflow.check", "recruiting"))
    if own in ("simulation", "recruiting.fake"):
        return other != "cli"
    return own in ANYTHING


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    wrong = [module for module in imports(path) if not allowed(part(module_of(path)), part(module))]
    assert not wrong, f"{path.relative_to(ROOT)} imports {wrong}"


FAMILIES = {"contract", "boards", "choices", "pairs", "presentation", "scores"}
"""What a method may build on: the contract, and what several methods share."""


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("methods/*/*.py")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_a_method_sees_only_the_contract_the_families_and_itself(path: Path) -> None:
    own = f"beholder.methods.{path.parent.name}."
    seen = {module for module in imports(path) if not module.startswith(own)}
    assert seen <= {f"beholder.methods.{name}" for name in FAMILIES}


def test_the_name_of_a_method_lives_in_its_own_folder_only() -> None:
    names = {folder.name.replace("_", "-") for folder in (ROOT / "methods").iterdir() if (folder / "view.js").exists()}
    assert names
    names -= {"pair", "likert"}  # also a kind of unit, and a type of questionnaire item
    quoted = re.compile(rf"""["']({"|".join(names)})["']""")
    # What to show without being asked.
    defaults = {
        ROOT / "workflow" / "demo.py",
        ROOT / "cli" / "study.py",
        ROOT / "testing" / "__init__.py",
        ROOT / "sample_size" / "variants.py",
    }
    # Names of numbers in tables whose method need not be installed; names of presets.
    defaults |= {ROOT / "analysis" / "result.py", ROOT / "study" / "presets.py"}
    places = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in [*SOURCES, *ROOT.rglob("*.js")]
        if path.parent.parent != ROOT / "methods" and path not in defaults
        for found in quoted.finditer(path.read_text("utf-8"))
    ]
    assert not places


UNPORTABLE = {
    "a shell": r"shell\s*=\s*True|os\.system|os\.popen",
    "fork": r"os\.fork|\bpty\.|set_start_method\(.fork",
    "a POSIX signal": r"signal\.(SIGKILL|SIGHUP|SIGUSR|SIGCHLD|SIGALRM|alarm|setitimer)|os\.kill|add_signal_handler",
    "a POSIX module": r"^\s*(import|from)\s+(fcntl|pwd|grp|resource|termios|posix)\b",
    "a POSIX path": r"""["']/(tmp|dev|proc|etc|usr|var)/""",
    "a process group": r"start_new_session|preexec_fn|os\.setsid|os\.getuid|os\.geteuid",
}


@pytest.mark.parametrize("what", UNPORTABLE)
def test_the_package_runs_on_every_system(what: str) -> None:
    pattern = re.compile(UNPORTABLE[what], re.MULTILINE)
    places = [str(path.relative_to(ROOT)) for path in SOURCES if pattern.search(path.read_text("utf-8"))]
    assert not places, f"{what} in {places}"


def test_text_files_are_read_and_written_as_utf_8() -> None:
    """Windows would take another encoding where none is named."""
    bare = re.compile(r"\.(read_text|write_text)\(\s*\)|\.open\(\s*\)|\.write_text\([^,()]*\)")
    places = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in SOURCES
        for found in bare.finditer(path.read_text("utf-8"))
        if "utf" not in found[0]
    ]
    assert not places


def test_the_public_names_are_these() -> None:
    assert beholder.__all__ == [
        "BeholderError", "Problem", "UserError", "analyse", "chain", "check", "clean", "close", "compare", "decide",
        "demo", "dimensions", "export", "extend", "forget", "launch", "metrics", "monitor", "new", "participants",
        "pay", "plan", "power", "purge", "report", "run", "schema", "serve", "simulate",
    ]  # fmt: skip
    for name in beholder.__all__:
        assert callable(getattr(beholder, name))


def test_importing_beholder_loads_nothing_heavy() -> None:
    heavy = "numpy pandas scipy starlette granian altair pydantic yaml httpx PIL asyncpg rich"
    code = f"import beholder.cli, sys; print([m for m in '{heavy}'.split() if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_no_name_says_nothing() -> None:
    empty = {"utils", "util", "core", "misc", "common", "helpers", "helper", "manager"}
    named = {path.stem for path in [*SOURCES, *ROOT.rglob("*.js")]} | {path.name for path in ROOT.rglob("*/")}
    assert not named & empty
