"""The architecture: imports point one way, modules are chapters named by the field, and the package is portable."""

from __future__ import annotations

import ast
import gc
import importlib
import inspect
import json
import re
import statistics
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeVar, get_args

import pytest

import beholder
from beholder.checks.page_contract import PageCheck
from beholder.checks.page_registry import page_check_kinds
from beholder.checks.registry import rules
from beholder.study.questionnaire import QUESTION_TYPES
from beholder.study.recruitment import SOURCES as RECRUITED
from beholder.study.recruitment import Mode
from support.data import ROOT as REPOSITORY

ROOT = Path(beholder.__file__).parent
SOURCES = sorted(ROOT.rglob("*.py"))
EXAMPLES = ROOT / "examples"
"""Studies of papers: like any study file, they name methods, checks and rules."""

BELOW = {
    "errors", "types", "aio", "clock", "columns", "files", "formats", "processes", "recent_entries", "result_view",
    "words", "stats",
}  # fmt: skip
"""What every part may import; these import nothing but each other."""
ORDER = [
    "study",
    "stimuli",
    "methods",
    "checks",
    "planning",
    "store",
    "buckets",
    "backups",
    "server",
    "workflow.check",
    "recruiting",
]
"""Each part may import those to its left. `check` walks through a session as the server would, and `launch` checks."""
READERS = {
    "cleaning", "analysis", "reporting", "exporting", "comparison", "dimensionality", "extension", "leaderboard",
    "objective", "preregistration",
}  # fmt: skip
"""They read what the store holds, and import neither the server nor recruiting."""
ANYTHING = {
    "__init__", "__main__", "bundling", "cli", "deployment", "desk", "examples", "handbook", "importing", "sample_size",
    "simulation", "testing", "translation", "workflow",
}  # fmt: skip
"""The parts on top. The fake platform is for rehearsals: like simulated people, whom it sends, it sees everything."""


@cache
def syntax_tree(path: Path) -> ast.Module:
    """Return a module's syntax tree, kept while this file is tested; nobody changes it."""
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes_by_kind(path: Path) -> dict[type[ast.AST], list[Any]]:
    """Return all nodes of a module by their class: a walk of the whole package takes more than a second."""
    kinds: dict[type[ast.AST], list[Any]] = defaultdict(list)
    for node in ast.walk(syntax_tree(path)):
        kinds[type(node)].append(node)
    return kinds


Node = TypeVar("Node", bound=ast.AST)


def nodes(path: Path, *kinds: type[Node]) -> Iterator[Node]:
    """Yield the nodes of a module that are of these classes, which have no classes under them."""
    for kind in kinds:
        yield from nodes_by_kind(path).get(kind, ())


@pytest.fixture(scope="module", autouse=True)
def _keep_syntax_trees() -> Iterator[None]:
    """Read the package once. The collector would look at its million nodes again and again."""
    gc.disable()
    for path in SOURCES:
        nodes_by_kind(path)
    gc.freeze()
    gc.enable()
    yield
    syntax_tree.cache_clear()
    nodes_by_kind.cache_clear()


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
    for node in nodes(path, ast.ImportFrom):
        if node.module and node.module.startswith("beholder."):
            yield node.module
    for plain in nodes(path, ast.Import):
        yield from (name.name for name in plain.names if name.name.startswith("beholder."))


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


# A module is a chapter


def lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def importers() -> dict[str, set[str]]:
    """Return by which modules of ours each module is imported."""
    modules = {module_of(path) for path in SOURCES}
    users: dict[str, set[str]] = defaultdict(set)
    for path in SOURCES:
        for node in nodes(path, ast.ImportFrom):
            if node.module:
                for name in {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)} & modules:
                    users[name].add(module_of(path))
    return users


def test_modules_are_chapters_and_not_slivers() -> None:
    sizes = [lines(path) for path in SOURCES]
    # Bundles, importers, the desk and the handbook are packages of their own: with them the house has more chapters.
    assert len(sizes) <= 850
    assert statistics.median(sizes) >= 180


def test_no_module_is_a_slab() -> None:
    """A longer one has a second noun in it, which gets a module of its own."""
    assert not {module_of(path): lines(path) for path in SOURCES if lines(path) > 600}


SHORT_CHAPTERS = {
    "beholder.analysis.folder": "the folder of a verb, whose front has to stay light",
    "beholder.backups.buckets": "a destination, which is imported where it is named",
    "beholder.backups.sftp": "a destination, which is imported where it is named",
    "beholder.bundling.holdings": "what the documents, the command and the archive share",
    "beholder.bundling.recomputation": "what making and verifying share",
    "beholder.bundling.verification_page": "the page of a verb, which only those load who ask for it",
    "beholder.comparison.replication": "one question of a comparison, with its table and its words",
    "beholder.bundling.authors": "names alone: what is left out of facts is another noun",
    "beholder.cli.backups": "the commands of one group",
    "beholder.cli.desk": "the commands of one group",
    "beholder.cli.bundles": "the commands of one group",
    "beholder.cli.examples": "the commands of one group",
    "beholder.cli.translation": "a command of its own",
    "beholder.desk.documents.now": "a page of the desk, which is served by its name",
    "beholder.desk.documents.studies": "a page of the desk, which is served by its name",
    "beholder.desk.desk_server": "a process of its own, which commands start",
    "beholder.deployment.here": "a target: one module each",
    "beholder.deployment.contained": "runs in a container, by its own name",
    "beholder.deployment.served": "runs on the machine of a deployment, by its own name",
    "beholder.examples.page": "the page of an example, which `make papers` also writes",
    "beholder.importing.folder": "the folder of a verb, whose front has to stay light",
    "beholder.importing.html_text": "what importers of tools with pages in HTML share",
    "beholder.importing.questionnaire": "what importers of tools with this last page share",
    "beholder.methods.likert.items": "the item sets of one method",
    "beholder.processes": "what every part may import",
    "beholder.objective.audio": "metrics that are found by their entry point",
    "beholder.reporting.devices": "a section of the report",
    "beholder.reporting.marked_words": "a section of the report",
    "beholder.reporting.recurring_questions": "a section of the report",
    "beholder.reporting.transcriptions": "a section of the report",
    "beholder.reporting.flow_diagram": "a figure that is drawn by hand, for papers",
    "beholder.reporting.folder": "the folder of a verb, whose front has to stay light",
    "beholder.sample_size.folder": "the folder of a verb, whose front has to stay light",
    "beholder.simulation.pilot": "reads a study, which `variance` must not import",
    "beholder.stimuli.samples.sentences": "the samples of one medium",
    "beholder.stimuli.samples.text": "the samples of one medium",
    "beholder.simulation.time_marks": "a rater model of its own, which only the oracle asks",
    "beholder.stats.marked_times": "formulas alone: one analysis uses them",
    "beholder.study.bibliography": "what the researcher writes: one module for each larger key",
    "beholder.study.chain": "what the researcher writes; the workflow reads it",
    "beholder.server.study_versions": "the texts with which sessions began; the service is the way of requests",
    "beholder.store.postgresql.servers": "who leads and what servers tell; the store only hands it on",
    "beholder.testing.stores.servers": "a part of a conformance suite",
    "beholder.testing.prolific": "a conformance suite: strangers import it",
    "beholder.analysis.appropriateness": "an analysis: found by its entry point",
    "beholder.testing.targets": "a conformance suite: strangers import it",
    "beholder.cli.handbook": "a command",
    "beholder.workflow.plan": "a verb",
    "beholder.workflow.serve": "a verb",
    "beholder.exporting.sureal_data_sets": "a format of another tool, beside the tables that are our own",
}
"""Modules under 120 lines with one importer that are no section of it, and why."""


def test_a_short_module_with_one_importer_is_a_section_of_it() -> None:
    users = importers()
    slivers = {
        module_of(path)
        for path in SOURCES
        if path.stem not in ("__init__", "__main__", "contract")
        and lines(path) < 120
        and len(users[module_of(path)]) <= 1
    }
    assert slivers <= set(SHORT_CHAPTERS), slivers - set(SHORT_CHAPTERS)


def test_every_module_can_be_imported_by_its_dotted_name() -> None:
    """A function of a package with the name of one of its modules would hide that module, or be replaced by it."""
    for name in (module_of(path) for path in SOURCES if path.stem != "__main__"):
        module = importlib.import_module(name)
        seen: object = beholder
        for part_of_name in name.split(".")[1:]:
            seen = getattr(seen, part_of_name)
        assert seen is module, f"{name} is hidden by something of the same name"


def classes() -> Iterator[tuple[str, str]]:
    """Yield the name of every class at the top of a module, and the module."""
    for path in SOURCES:
        for node in syntax_tree(path).body:
            if isinstance(node, ast.ClassDef):
                yield node.name, module_of(path)


def test_a_class_name_occurs_once() -> None:
    homes = defaultdict(list)
    for name, module in classes():
        homes[name].append(module)
    assert not {name: modules for name, modules in homes.items() if len(modules) > 1}


MOODS = {
    "again", "aside", "beside", "books", "carrying", "counting", "dealing", "doors", "emptied", "enough",
    "examiner", "exhibits", "farewell", "found", "given", "ground", "growing", "guest", "halts", "heard", "host",
    "judging", "known", "lots", "made", "ordered", "others", "parcel", "placing", "proctor", "room", "said",
    "sayings", "seen", "spared", "standing", "teaching", "telling", "till", "together", "told", "trouble", "wanted",
    "way", "whereabouts",
}  # fmt: skip
"""Metaphors, moods and participles that were names of ours: nobody would search for them."""
ACTIVITIES = {
    "blinding", "bundling", "decoding", "cleaning", "even_rounding", "exporting", "importing", "loading", "mixing",
    "monitoring", "planning", "printing", "recruiting", "rendering", "reporting", "screening", "testing", "training",
    "unblinding",
}  # fmt: skip
"""Nouns in -ing that the field or every programmer uses."""


def test_no_module_or_class_is_named_by_a_mood() -> None:
    stems = {module.rpartition(".")[2] for module in map(module_of, SOURCES)}
    named = stems | {name.strip("_").lower() for name, _ in classes()}
    assert not named & MOODS


def test_modules_are_nouns() -> None:
    stems = {module.rpartition(".")[2] for module in map(module_of, SOURCES)}
    assert {stem for stem in stems if stem.endswith("ing")} <= ACTIVITIES


SAME_NOUN = {
    "agreement", "anchors", "app", "audio", "ballots", "chain", "checks", "cleaning", "collection", "columns",
    "connection", "context", "contract",
    "contrasts", "correlation", "decisions", "demo", "deployment", "design", "devices", "distributions", "erasure",
    "facts", "figures", "filters", "folder", "groups",
    "image", "items", "known_answers", "ledger", "languages", "marked_words", "media", "mixed", "model",
    "moderation", "page", "pairs", "participants", "playback", "probe", "profile", "qualification", "questionnaire",
    "ranks", "rater_models", "raters", "ratings", "recurring_questions", "registry",
    "operations", "relation", "relations", "reliability", "result", "results", "run", "runs", "scores", "servers",
    "sensitivity", "serialization", "sessions", "shortfall", "sides", "store", "studies", "study",
    "submissions", "tables",
    "tests", "text", "texts", "time_marks", "tokens", "transcriptions", "video", "views", "votes_needed", "writer",
}  # fmt: skip
"""Names of several modules: the same noun in another layer, or the same part of a shape."""


def test_a_module_name_repeats_only_for_the_same_noun() -> None:
    stems = Counter(path.stem for path in SOURCES if path.stem not in ("__init__", "__main__"))
    assert {stem for stem, count in stems.items() if count > 1} == SAME_NOUN


# Tests mirror modules

COVERED_ELSEWHERE = {
    "beholder.cli.deployment": "tests/end_to_end/test_deploy.py",
    "beholder.cleaning.time_marks": "tests/end_to_end/test_time_marks.py",
    "beholder.deployment": "tests/end_to_end/test_deploy.py",
    "beholder.deployment.contained": "tests/unit/deployment/test_engine.py",
    "beholder.deployment.contract": "tests/contracts/test_targets.py",
    "beholder.deployment.machine.__main__": "tests/end_to_end/test_deploy.py",
    "beholder.deployment.machine.caddy": "tests/end_to_end/test_deploy.py",
    "beholder.deployment.machine.installation": "tests/end_to_end/test_deploy.py",
    "beholder.deployment.machine.machine_facts": "tests/end_to_end/test_deploy.py",
    "beholder.deployment.machine.places": "tests/end_to_end/test_deploy.py",
    "beholder.deployment.machine.snapshot": "tests/end_to_end/test_deploy.py",
    "beholder.deployment.machine.supervisor": "tests/end_to_end/test_deploy.py",
    "beholder.deployment.program": "tests/unit/deployment/test_ssh.py",
    "beholder.deployment.rollout": "tests/end_to_end/test_deploy.py",
    "beholder.deployment.store_copy": "tests/end_to_end/test_deploy.py",
    "beholder.cleaning.recurring_questions": "tests/end_to_end/test_between_trials.py",
    "beholder.reporting.recurring_questions": "tests/end_to_end/test_between_trials.py",
    "beholder.study.deployment": "tests/unit/deployment/test_settings.py",
    "beholder.testing.targets": "tests/contracts/test_targets.py",
    "beholder.recruiting.fake.__main__": "tests/unit/recruiting/fake/test_main.py",
    "beholder.server": "tests/end_to_end/test_servers.py",
    "beholder.server.app": "tests/end_to_end/test_http.py",
    "beholder.server.operations": "tests/end_to_end/test_openapi.py",
    "beholder.server.process": "tests/end_to_end/test_servers.py",
    "beholder.server.workers": "tests/end_to_end/test_workers.py",
    "beholder.store.contract": "tests/contracts/test_store.py",
    "beholder.store.postgresql.servers": "tests/contracts/test_store.py",
    "beholder.testing.stores.servers": "tests/contracts/test_store.py",
    "beholder.testing.check_pages": "tests/browser/test_qualification.py",
    "beholder.testing.methods": "tests/contracts/test_methods.py",
    "beholder.testing.importers": "tests/contracts/test_importers.py",
    "beholder.testing.metrics": "tests/contracts/test_metrics_contract.py",
    "beholder.testing.stores.facts": "tests/contracts/test_store.py",
    "beholder.testing.stores.ledger": "tests/contracts/test_store.py",
    "beholder.testing.engines": "tests/unit/deployment/test_engine.py",
    "beholder.testing.tunnels": "tests/unit/deployment/machine/test_tunnel.py",
    "beholder.testing.stores.sessions": "tests/contracts/test_store.py",
    "beholder.workflow.serve": "tests/end_to_end/test_servers.py",
}
"""Modules without a test file of their name, and the file that covers them."""


def mirror_of(module: str) -> Path:
    """Return where the tests of a module are: `unit/<package>/test_<module>.py`; of a front `test_<package>.py`."""
    names = module.split(".")[1:]
    is_package = len(names) == 1 and ROOT.joinpath(*names).is_dir()
    folder = names if is_package else names[:-1]
    return REPOSITORY.joinpath("tests", "unit", *folder, f"test_{names[-1]}.py")


def defines_something(path: Path) -> bool:
    body = syntax_tree(path).body
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in body)


def test_every_module_has_a_test_file_of_its_name() -> None:
    # Of the front of the whole package the public names are tested, in this file.
    modules = {module_of(path) for path in SOURCES if defines_something(path)} - {"beholder"}
    without = {module for module in modules if not mirror_of(module).is_file()}
    assert without == set(COVERED_ELSEWHERE), sorted(without ^ set(COVERED_ELSEWHERE))
    assert len(COVERED_ELSEWHERE) <= 40
    for module, file in COVERED_ELSEWHERE.items():
        assert (REPOSITORY / file).is_file(), f"{file}, which covers {module}, is not there"


# Tables


def test_a_column_of_a_table_is_described_once() -> None:
    """Its meaning stands in the module that writes the table, or in `cleaning.columns` for many tables."""
    described = Counter(
        tuple(argument.value for argument in node.args[:3] if isinstance(argument, ast.Constant))
        for path in SOURCES
        for node in nodes(path, ast.Call)
        if isinstance(node.func, ast.Name) and node.func.id == "Column"
    )
    assert not [column for column, count in described.items() if count > 1 and len(column) == 3]


# The server is functions of one context


def collaborators(constructor: ast.FunctionDef, ours: set[str]) -> list[str]:
    """Return the parameters of a constructor that are objects of classes of ours, by their annotations."""
    parameters = [*constructor.args.posonlyargs, *constructor.args.args, *constructor.args.kwonlyargs]
    return [
        one.arg
        for one in parameters
        if one.annotation and {name.id for name in ast.walk(one.annotation) if isinstance(name, ast.Name)} & ours
    ]


def test_a_constructor_takes_at_most_five_objects_of_ours() -> None:
    """What needs more is a function of a context. Records, whose constructor is not written out, only hold values."""
    types = [node for path in SOURCES for node in nodes(path, ast.ClassDef)]
    ours = {one.name for one in types}
    wide = {
        one.name: names
        for one in types
        for node in one.body
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
        if len(names := collaborators(node, ours)) > 5
    }
    assert not wide


OWN_RECORDS = {
    "beholder.server.playback": "fills the records that it makes",
    "beholder.stimuli.messages.synthesis": "declares functions of a library in C",
}
"""Modules that set fields of what belongs to another object, and why."""


def test_nothing_reaches_through_an_object_to_set_a_field() -> None:
    places = defaultdict(list)
    for path in SOURCES:
        targets: list[ast.expr] = [target for node in nodes(path, ast.Assign) for target in node.targets]
        targets += [node.target for node in nodes(path, ast.AugAssign)]
        targets += [node.target for node in nodes(path, ast.AnnAssign)]
        for target in targets:
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Attribute):
                root = ast.unparse(target).partition(".")[0]
                if root != "self" or ast.unparse(target).count(".") > 2:
                    places[module_of(path)].append(ast.unparse(target))
    assert not {module: found for module, found in places.items() if module not in OWN_RECORDS}


# Recruiters

MODES = frozenset(get_args(Mode))
MODE_COMPARISONS = {
    "beholder.study.recruitment": "its home: `is_robot`",
}
"""Modules that compare a mode with one that is written out, or hold a table by mode, and why: at most five places."""


def is_mode(node: ast.expr) -> bool:
    """Return whether an expression is a mode: `mode`, `recruit.mode`, `row["mode"]`, `recruit.get("mode")`."""
    match node:
        case ast.Name(id="mode") | ast.Attribute(attr="mode") | ast.Subscript(slice=ast.Constant(value="mode")):
            return True
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value="mode"), *_]):
            return True
    return False


def literals(node: ast.AST) -> set[object]:
    return {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)}


def mode_comparisons(path: Path) -> Iterator[int]:
    """Yield the lines on which a module decides by the name of a mode."""
    for node in nodes(path, ast.Compare, ast.Dict, ast.Match):
        match node:
            case ast.Compare():
                sides = [node.left, *node.comparators]
                if any(map(is_mode, sides)) and any(literals(side) & MODES for side in sides if not is_mode(side)):
                    yield node.lineno
            case ast.Dict():
                keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
                if len(keys & {source.mode for source in RECRUITED}) > 1:
                    yield node.lineno
            case ast.Match() if is_mode(node.subject):
                yield node.lineno


def test_what_a_mode_means_is_known_by_its_source_its_recruiter_and_its_entrance() -> None:
    """Adding a recruiter touches its module in recruiting, its source in study.recruitment, and its entrance."""
    deciding = {module_of(path): lines_ for path in SOURCES if (lines_ := list(mode_comparisons(path)))}
    assert deciding.keys() == MODE_COMPARISONS.keys(), deciding
    assert sum(len(lines_) for lines_ in deciding.values()) <= 5


def test_the_recruiter_of_every_mode_is_where_its_source_says() -> None:
    for source in RECRUITED:
        assert callable(resolve_name(source.recruiter)), source.mode


# Questionnaires


def is_question_type(node: ast.AST) -> bool:
    """Return whether an expression is the type of something: `item.type` or `item["type"]`."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value == "type"
    return isinstance(node, ast.Attribute) and node.attr == "type"


def test_the_type_of_a_question_is_compared_nowhere() -> None:
    """What depends on it is in its object in the study, and how it is drawn in its entry in `questions.js`."""
    types = set(QUESTION_TYPES)
    compared = {
        module_of(path)
        for path in SOURCES
        for node in nodes(path, ast.Compare, ast.Match)
        if any(map(is_question_type, ast.walk(node)))
        and types & {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)}
    }
    assert compared == set()
    scripts = sorted((ROOT / "web").rglob("*.js"))
    assert not [path for path in scripts if re.search(r"item\.type\s*[!=]==", path.read_text("utf-8"))]


# Methods


FAMILIES = {
    "aspects", "contract", "boards", "choices", "differences", "orders", "pairs", "presentation", "scores",
    "time_marks", "transcripts", "views",
}  # fmt: skip
"""What a method may build on: the contract, and what several methods share."""


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("methods/*/*.py")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_a_method_sees_only_the_contract_the_families_and_itself(path: Path) -> None:
    own = f"beholder.methods.{path.parent.name}."
    seen = {module for module in imports(path) if not module.startswith(own)}
    assert seen <= {f"beholder.methods.{name}" for name in FAMILIES}


OTHER_THINGS = {"pair", "likert", "rank"}
"""Names of methods that are also a kind of unit, a type of questionnaire item, and a column of tables of others."""


def is_method(node: ast.expr) -> bool:
    """Return whether an expression is the name of a method: `study.method`, `method.name` or `row["method"]`."""
    match node:
        case ast.Name(id="method") | ast.Attribute(attr="method") | ast.Subscript(slice=ast.Constant(value="method")):
            return True
        case ast.Attribute(attr="name", value=ast.Name(id="method") | ast.Attribute(attr="method")):
            return True
    return False


def test_no_method_is_compared_with_a_name_that_is_also_something_else() -> None:
    compared = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        for node in nodes(path, ast.Compare)
        if any(map(is_method, sides := [node.left, *node.comparators]))
        and any(literals(side) & OTHER_THINGS for side in sides if not is_method(side))
    ]
    assert not compared


def test_the_name_of_a_method_lives_in_its_own_folder_only() -> None:
    names = {folder.name.replace("_", "-") for folder in (ROOT / "methods").iterdir() if (folder / "view.js").exists()}
    assert names
    names -= OTHER_THINGS
    quoted = re.compile(rf"""["']({"|".join(names)})["']""")
    # What to show without being asked, and the names of presets.
    defaults = {ROOT / "workflow" / "demo.py", ROOT / "sample_size" / "variants.py", ROOT / "study" / "presets.py"}
    places = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in [*SOURCES, *ROOT.rglob("*.js")]
        if path.parent.parent != ROOT / "methods" and path not in defaults
        # Like studies of papers, importers say by which method a page of another tool is asked.
        if not {EXAMPLES, ROOT / "importing"} & {*path.parents}
        for found in quoted.finditer(path.read_text("utf-8"))
    ]
    assert not places


# Checks with a page


OTHER_MEANINGS = {
    "colour": "of a slot", "device": "a stage, a scope, and what a browser reports",
    "language": "of a person and of texts", "media": "a folder of the study", "questions": "of the study",
    "screen": "what a browser reports", "sides": "of a comparison",
}  # fmt: skip
"""Names of checks that are also other words: of these only what looks a check up is looked for."""
NAMING_CHECKS = {
    ROOT / "study" / "presets.py": "which checks a preset switches on",
    ROOT / "exporting" / "ratings.py": "a column of the export",
    ROOT / "exporting" / "sessions.py": "a column of the export",
    ROOT / "exporting" / "source.py": "a column of the export",
}


def naming(name: str) -> re.Pattern[str]:
    lookup = rf"""(?:rule|kinds|checks|TITLES|REASONS)[(\[]["']{name}["']|qualification\.{name}\b"""
    return re.compile(lookup if name in OTHER_MEANINGS else rf"""["']{name}["':]|:{name}["']""")


def test_the_name_of_a_check_with_a_page_lives_in_its_own_folder_only() -> None:
    """What a check measured may be a word in the folder of another one."""
    kinds = page_check_kinds()
    homes = {kind.home() for kind in kinds.values()}
    patterns = {name: naming(name) for name in kinds}
    places = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in [*SOURCES, *ROOT.rglob("*.js")]
        if path not in NAMING_CHECKS and path.parent not in homes
        # Like studies of papers, importers say which checks a page of another tool asks for.
        if not {EXAMPLES, ROOT / "importing"} & {*path.parents}
        for text in [path.read_text("utf-8")]
        for name, pattern in patterns.items()
        if name in text
        for found in pattern.finditer(text)
    ]
    assert not places


@pytest.mark.parametrize("kind", page_check_kinds().values(), ids=lambda kind: kind.name)
def test_a_check_with_a_page_has_its_page_and_words_beside_it(kind: type[PageCheck]) -> None:
    assert kind.home().parent == ROOT / "checks"
    assert (kind.home() / kind.page).is_file()
    assert (kind.home() / kind.words / "en.json").is_file()


# Analyses


ENTRY_POINTS = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
REPORTED = {"reporting/sheets.py": "the tables that a paper prints, as text"}
"""Where tables by the names of analyses are not knowledge of an analysis, and why."""


@pytest.mark.parametrize("kind", ["analyses", "methods"])
def test_no_table_is_keyed_by_the_names_of_a_kind_outside_its_home(kind: str) -> None:
    """What is to be known of an analysis or a method is said by itself."""
    names = set(ENTRY_POINTS[f"beholder.{kind}"])
    places = {
        str(path.relative_to(ROOT))
        for path in SOURCES
        # Importers say which method, and which rule, a part of another tool becomes.
        if not {EXAMPLES, ROOT / "importing"} & {*path.parents}
        for node in nodes(path, ast.Dict)
        if len(keys := [key.value for key in node.keys if isinstance(key, ast.Constant)]) > 1 and names.issuperset(keys)
    }
    assert places == (set(REPORTED) if kind == "analyses" else set())


def test_an_analysis_stands_in_the_module_that_computes_it() -> None:
    """One object for each table, with its order, beside its function."""
    for name, value in ENTRY_POINTS["beholder.analyses"].items():
        module, _, variable = value.partition(":")
        analysis = getattr(importlib.import_module(module), variable)
        assert (analysis.name, analysis.compute.__module__) == (name, module)


# Rules over sessions

RULE_NAMES = {rule.name: rule.__module__ for rule in rules()}
PLAIN_WORDS = {"agreement", "consistency", "focus", "ratio", "smooth", "variance"}
"""Names of rules that are names of tables and columns, of events of browsers and of samples too."""
NAMED_ELSEWHERE = {
    "types.py": "roles of stimuli, as manifests name them",
    "methods/contract.py": "for what a statement is asked",
    "study/checks.py": "for what a statement is asked",
    "study/presets.py": "what each preset switches on",
    "methods/bs1116/__init__.py": "what its standard asks for",
    "methods/mushra/__init__.py": "what its standard asks for",
    "stimuli/known_answers.py": "`trap`, a column of manifests for training",
    "stimuli/workshop/messages.py": "the file of our words for messages",
    "cli/media.py": "commands that make stimuli of these roles",
    "server/page_checks.py": "`attention`, the mark of a row that is not as it should be",
    "reporting/data_quality.py": "`repeat`, a word of a sentence",
}
"""Files that quote the name of a rule, and as what."""


def test_the_name_of_a_rule_is_quoted_in_its_own_module_only() -> None:
    quoted = re.compile(rf"""["']({"|".join(set(RULE_NAMES) - PLAIN_WORDS)})["']""")
    places = {
        str(path.relative_to(ROOT).as_posix())
        for path in SOURCES
        if not {EXAMPLES, ROOT / "importing"} & {*path.parents}
        for found in quoted.finditer(path.read_text("utf-8"))
        if RULE_NAMES[found[1]] != module_of(path)
    }
    homes = {path.relative_to(ROOT).as_posix() for path in (ROOT / "checks").glob("*.py")}
    assert places - homes == set(NAMED_ELSEWHERE)


def test_no_table_is_keyed_by_the_names_of_rules() -> None:
    """What is known about a rule is an attribute of it."""
    tables = []
    for path in SOURCES:
        if path.relative_to(ROOT).as_posix() in ("study/presets.py", "types.py") or ROOT / "importing" in path.parents:
            continue
        for node in nodes(path, ast.Dict, ast.Set, ast.List, ast.Tuple):
            parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
            names = {str(part.value) for part in parts if isinstance(part, ast.Constant)} & set(RULE_NAMES)
            if len(names) > 1 and names != {"trap", "repeat"}:
                tables.append(f"{path.relative_to(ROOT)}:{node.lineno}: {sorted(names)}")
    assert not tables


UNPORTABLE = {
    "a shell": r"shell\s*=\s*True|os\.system|os\.popen",
    "fork": r"os\.fork|\bpty\.|set_start_method\(.fork",
    "a POSIX signal": r"signal\.(SIGKILL|SIGHUP|SIGUSR|SIGCHLD|SIGALRM|alarm|setitimer)|os\.kill|add_signal_handler",
    "a POSIX module": r"^\s*(import|from)\s+(fcntl|pwd|grp|resource|termios|posix)\b",
    "a POSIX path": r"""["']/(tmp|dev|proc|etc|usr|var)/""",
    "a process group": r"start_new_session|preexec_fn|os\.setsid|os\.getuid|os\.geteuid",
}


GUARDED = {
    ("a POSIX module", "server/connections.py"): "raises the limit of descriptors, where a system has one",
    ("a POSIX path", "server/connections.py"): "lists its own sockets, where a system tells them",
    ("a POSIX path", "deployment/cloud_init.py"): "is written for a Linux machine that is to be",
    ("a POSIX path", "deployment/container.py"): "is written for a container, which runs Linux",
    ("a POSIX path", "testing/engines.py"): "is a fake engine, for tests on Linux",
    ("a POSIX signal", "testing/engines.py"): "is a fake engine, for tests on Linux",
    ("a process group", "testing/engines.py"): "is a fake engine, for tests on Linux",
    ("a POSIX module", "workflow/doctor.py"): "looks at the limit of descriptors, where a system has one",
}
"""What asks for the system first."""
ON_LINUX = "deployment/machine/"
"""What runs on the machine that is deployed to, which is a Linux machine."""


@pytest.mark.parametrize("what", UNPORTABLE)
def test_the_package_runs_on_every_system(what: str) -> None:
    pattern = re.compile(UNPORTABLE[what], re.MULTILINE)
    places = [path.relative_to(ROOT).as_posix() for path in SOURCES if pattern.search(path.read_text("utf-8"))]
    unguarded = [place for place in places if (what, place) not in GUARDED and not place.startswith(ON_LINUX)]
    assert not unguarded, f"{what} in {unguarded}"


def test_tables_for_people_are_written_in_one_place() -> None:
    """There a text that a spreadsheet would run gets an apostrophe, whoever wrote it."""
    writing = re.compile(r"csv\.(writer|DictWriter)|\.to_csv\(|\.to_excel\(|Workbook\(")
    places = {module_of(path) for path in SOURCES if writing.search(path.read_text("utf-8"))}
    assert places == {"beholder.files", "beholder.testing.methods"}, "the latter writes a manifest of its own names"


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
        "BeholderError", "Problem", "UserError", "analyse", "arena", "backup", "better", "board", "bundle", "chain",
        "check", "clean", "close", "compare", "decide", "demo", "deploy", "dimensions", "doctor", "export", "extend",
        "forget", "import_study", "launch", "metrics", "monitor", "new", "participants", "pay", "plan", "power",
        "preregister", "purge", "report", "rerun", "restore", "run", "runs", "schema", "serve", "simulate", "verify",
    ]  # fmt: skip
    assert dir(beholder) == sorted(beholder.__all__), "packages can be imported, and are not listed"
    for name in beholder.__all__:
        assert callable(getattr(beholder, name))


_FEW = 4
"""So many arguments are explained in a sentence."""


def test_help_has_many_arguments_in_groups_with_the_rare_ones_last() -> None:
    for name in filter(str.islower, beholder.__all__):
        function = getattr(beholder, name)
        asked = set(inspect.signature(function).parameters)
        groups = re.findall(r"^(\S.*):\n((?: {4}.+\n)+)", f"{inspect.getdoc(function)}\n", re.MULTILINE)
        heads = [line[4:20] for _, lines in groups for line in lines.splitlines() if line[4] != " "]
        explained = {word.strip(",") for head in heads for word in head.split()}
        if len(asked) > _FEW:
            assert groups[-1][0].startswith("Rarely"), name
            assert asked <= explained, name


def test_importing_beholder_loads_nothing_heavy() -> None:
    heavy = "numpy pandas scipy starlette granian altair pydantic yaml httpx PIL asyncpg rich"
    code = f"import beholder.cli, sys; print([m for m in '{heavy}'.split() if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_a_report_loads_no_part_of_scipy_that_few_tables_need() -> None:
    heavy = "scipy.stats scipy.optimize scipy.interpolate scipy.integrate"
    code = f"import beholder.reporting.folder, sys; print([m for m in '{heavy}'.split() if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_no_name_says_nothing() -> None:
    empty = {"utils", "util", "core", "misc", "common", "helpers", "helper", "manager"}
    named = {path.stem for path in [*SOURCES, *ROOT.rglob("*.js")]} | {path.name for path in ROOT.rglob("*/")}
    assert not named & empty


# What participants read is in files of words


def refusals(path: Path) -> Iterator[tuple[int, ast.expr, str]]:
    """Yield the texts with which a module refuses something to a participant, and how each is named."""
    for node in nodes(path, ast.Call):
        called, arguments = ast.unparse(node.func).rpartition(".")[2], node.args
        if called == "Refused" and arguments:
            yield node.lineno, arguments[0], "text"
        elif called == "because" and arguments:
            yield node.lineno, arguments[0], "word"
        elif called == "refuse" and path.is_relative_to(ROOT / "checks") and len(arguments) > 2:
            yield node.lineno, arguments[1], "word"


def test_no_sentence_for_participants_stands_in_python_code() -> None:
    """Refusals name a word, and files of words have its text in each language; the desk is for researchers."""
    ours = json.loads((ROOT / "web" / "words" / "en.json").read_text("utf-8"))["server"]
    files = [*(ROOT / "checks").glob("*/words/**/en.json"), *(ROOT / "methods").glob("*/words/en.json")]
    known = {*ours, *(word for file in files for word in json.loads(file.read_text("utf-8")) if isinstance(word, str))}
    found, wrong = 0, []
    for path in SOURCES:
        if path.is_relative_to(ROOT / "desk"):
            continue
        for line, text, named in refusals(path):
            found += 1
            is_sentence = any(" " in str(part) for part in literals(text))
            key = str(text.value) if isinstance(text, ast.Constant) else ""
            is_unknown = named == "word" and key != "" and not {key, f"refused.{key}"} & known
            if is_sentence or is_unknown:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {ast.unparse(text)}")
    assert found > 80
    assert not wrong


# Plurals, shares and lists are written in one place

FORMATTERS = {"percent", "many", "people", "some", "listed", "join_names", "up_to", "plural", "count"}
"""Names of functions that modules once wrote for themselves; with `str` as their result they belong to formats."""
A_WORD = re.compile(r"[a-z][a-z' ]*")


def is_plural_by_hand(node: ast.expr) -> bool:
    """Return whether a node is `"is" if n == 1 else "are"`, `"points" if n < 2 else "point"`, or `"s" * (n != 1)`."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mult) and isinstance(node.left, ast.Constant) and node.left.value == "s"
    if not isinstance(node, ast.IfExp) or not isinstance(node.test, ast.Compare):
        return False
    constants = [one.value for one in (node.body, node.orelse) if isinstance(one, ast.Constant)]
    words = [one for one in constants if isinstance(one, str) and A_WORD.fullmatch(one or "s")]
    if len(words) != 2:
        return False
    if isinstance(node.test.ops[0], ast.Eq):
        return ast.unparse(node.test.comparators[0]) == "1"
    first, second = (set(re.sub("(e?s)?( |$)", " ", one).split()) for one in words)
    same_word = first == second or {*first, *second} <= {"is", "are", "i", "was", "were", "wa", "has", "have", "ha"}
    return ast.unparse(node.test.comparators[0]) in ("1", "2") and same_word


def is_percent_by_hand(node: ast.JoinedStr) -> bool:
    """Return whether a text has a whole share in it that is multiplied by hundred there."""
    return any(
        isinstance(value, ast.FormattedValue)
        and ast.unparse(value.value).startswith("100 * ")
        and value.format_spec is not None
        and ast.unparse(value.format_spec) in ("f'.0f'", "f'g'", "f'.3g'")
        and isinstance(unit, ast.Constant)
        and str(unit.value).startswith(" %")
        for value, unit in pairwise(node.values)
    )


def test_plurals_shares_and_lists_come_from_formats() -> None:
    found = []
    for path in (path for path in SOURCES if path != ROOT / "formats.py"):
        expressions = nodes(path, ast.BinOp, ast.IfExp)
        found += [f"{path.relative_to(ROOT)}:{node.lineno}" for node in expressions if is_plural_by_hand(node)]
        texts = nodes(path, ast.JoinedStr)
        found += [f"{path.relative_to(ROOT)}:{node.lineno}" for node in texts if is_percent_by_hand(node)]
        found += [
            f"{path.relative_to(ROOT)}: {one.name}"
            for one in syntax_tree(path).body
            if isinstance(one, ast.FunctionDef) and one.name.lstrip("_") in FORMATTERS and one.returns is not None
            and ast.unparse(one.returns) == "str"
        ]  # fmt: skip
    assert not found, f"beholder.formats has plural, plain_count, count, percent, listed and more: {found}"
