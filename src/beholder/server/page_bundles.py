"""Modules of the front end that are sent together: those with which a page starts, and those that come next.

A browser asks for every module on its own, which takes seconds on a slow network and is most of the work of opening a
page anywhere. So what a page imports before it can start is one file, a bundle. Each module becomes a function that
returns its exports, in the order in which they need each other, and the page's own module stands at the end:

    export const modules = {};
    modules["element.js"] = (() => { ... return { element, fill }; })();
    const { element } = modules["element.js"];

What is imported later (`import("./card.js")`) comes in bundles of its own, the parts of the page, or by itself. All
modules outside take what they need from the bundles, so that each runs once, and so does whoever imports them under
their own address, where a file hands on what is in a bundle. Only the lines change that import and export, and those in
the forms that our modules use: names from a relative path, and functions, constants and classes. An error names its
line in a bundle; the line `modules["..."] =` above that one names the module.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

FOLDER = "bundle"
"""Where the bundles are, from the folder of the front end."""
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (default )?((?:async )?function\*? |const |class )(\w+)", re.MULTILINE)
_LATER_IMPORT = re.compile(r'\bimport\(([`"])(\.{1,2}/[^`"]*)\1\)')
_LEFT = re.compile(r"^(?:import|export|await)\b(?!\().*", re.MULTILINE)


@dataclass(frozen=True)
class PageModules:
    """What one page is made of: the module that runs it, and the parts that come later, each of several modules."""

    name: str
    """Of its bundle."""
    runs: str
    also: tuple[str, ...] = ()
    """Modules that are imported later, but known to be needed at once."""
    parts: Mapping[str, Sequence[str]] = field(default_factory=dict)


def bundle_modules(sources: Mapping[str, str], first: PageModules, *others: PageModules) -> dict[str, str]:
    """Return modules by their paths, the bundles among them, without those that run a page.

    Modules outside of bundles keep their line numbers. Those of the first page are what a module outside gets.
    """
    home, made = _bundle_page(sources, first)
    for other in others:
        made |= _bundle_alone(sources, other)
    running = {page.runs for page in (first, *others)}
    for path, text in sources.items():
        if path in home:
            made[path] = _handed_on(path, text, home[path])
        elif path not in running:
            made[path] = _rewired(path, text, home)
    return made


def needed_modules(sources: Mapping[str, str], entries: Iterable[str]) -> list[str]:
    """Return modules and all that they import, each after what it needs."""
    needed: dict[str, None] = {}

    def visit(path: str, above: tuple[str, ...]) -> None:
        if path in above:
            raise ValueError(f"modules import each other: {' -> '.join((*above, path))}")
        if path not in needed:
            for match in _IMPORT.finditer(sources[path]):
                visit(target_of(path, match[2]), (*above, path))
            needed[path] = None

    for entry in entries:
        visit(entry, ())
    return list(needed)


def target_of(path: str, relative: str) -> str:
    """Return the path to which a relative one leads from a module."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), relative))


# Bundles


def _bundle_page(sources: Mapping[str, str], page: PageModules) -> tuple[dict[str, str], dict[str, str]]:
    """Return the name of the bundle that each module is in, and the bundles of a page and its parts."""
    start = needed_modules(sources, (*page.also, page.runs))
    home = dict.fromkeys(start[:-1], page.name)
    parts: dict[str, list[str]] = {}
    shared: dict[str, list[str]] = {}
    for name, entries in page.parts.items():
        needed = needed_modules(sources, entries)
        parts[name] = [path for path in needed if path not in home]
        # A page that is loaded anew may come to this part first.
        shared[name] = [other for other in parts if any(home.get(path) == other for path in needed)]
        home |= dict.fromkeys(parts[name], name)
    elsewhere = {path: name for path, name in home.items() if name != page.name}
    head = [
        "export const modules = {};",
        f"const parts = {json.dumps(elsewhere)};",
        "export const later = async (path) => {",
        "  if (path in parts) await import(`./${parts[path]}.js`);",
        "  return modules[path] ?? import(`../${path}`);",
        "};",
    ]
    made = {_bundle(page.name): _joined(head, sources, start)}
    taken = f'import {{ later, modules }} from "./{page.name}.js";'
    for name, paths in parts.items():
        others = [f'import "./{other}.js";' for other in shared[name]]
        made[_bundle(name)] = _joined([taken, *others, "export { modules };"], sources, paths, runs=False)
    return home, made


def _bundle_alone(sources: Mapping[str, str], page: PageModules) -> dict[str, str]:
    """Return the bundle of a page that is all there is to it."""
    paths = needed_modules(sources, (*page.also, page.runs))
    for path in paths:
        for match in _LATER_IMPORT.finditer(sources[path]):
            # Such a module would take what it needs from the first page, and so run that here.
            if "$" not in match[2] and target_of(path, match[2]) not in paths:
                raise ValueError(f"{page.runs} cannot be a page of its own: {path} has {match[0]}")
    head = ["const modules = {};", "const later = async (path) => modules[path];"]
    return {_bundle(page.name): _joined(head, sources, paths)}


def _joined(head: Sequence[str], sources: Mapping[str, str], paths: Sequence[str], *, runs: bool = True) -> str:
    """Return the text of a bundle; the last of the modules runs the page, where one does."""
    inside = paths[:-1] if runs else paths
    sections = [_as_function(path, sources[path]) for path in inside]
    last = [_rebound(paths[-1], sources[paths[-1]]).strip()] if runs else []
    return "\n".join([*head, *sections, *last]) + "\n"


def _as_function(path: str, text: str) -> str:
    """Return a module as a function that is called at once."""
    body = _EXPORT.sub(r"\2\3", _rebound(path, text))
    return f'modules["{path}"] = (() => {{\n{body.strip()}\nreturn {{ {", ".join(_exports(text))} }};\n}})();'


def _rebound(path: str, text: str) -> str:
    """Return a module that takes from `modules` what it imports; the paths in it lead on from a bundle."""
    body = _IMPORT.sub(lambda match: _taken(match[1], target_of(path, match[2])), text)
    # Who waits at the end would let all parts wait: they import the page's own bundle.
    if left := _LEFT.search(_EXPORT.sub("", body)):
        raise ValueError(f"{path} cannot be in a bundle: {left[0]}")
    body = _LATER_IMPORT.sub(lambda match: f"later({match[1]}{target_of(path, match[2])}{match[1]})", body)
    return body.replace("import.meta.url", f'new URL("../{path}", import.meta.url)')


# Modules outside


def _rewired(path: str, text: str, home: Mapping[str, str]) -> str:
    """Return a module that takes from the bundles what is in them."""
    bundles: dict[str, None] = {}

    def take(match: re.Match[str]) -> str:
        target = target_of(path, match[2])
        if target not in home:
            return match[0]
        bundles[home[target]] = None
        return _taken(match[1], target)

    changed = _IMPORT.sub(take, text)
    if not bundles:
        return text
    first, *others = bundles
    ways = [f'import {{ modules }} from "{_way(path, first)}";', *(f'import "{_way(path, one)}";' for one in others)]
    return f"{' '.join(ways)} {changed}"


def _handed_on(path: str, text: str, bundle: str) -> str:
    """Return what stands at a module's own address: the exports of the one in a bundle."""
    names = [match[3] for match in _EXPORT.finditer(text) if not match[1]]
    lines = [f'import {{ modules }} from "{_way(path, bundle)}";']
    if names:
        lines.append(f'export const {{ {", ".join(names)} }} = modules["{path}"];')
    if len(names) < len(_exports(text)):
        lines.append(f'export default modules["{path}"].default;')
    return "\n".join(lines) + "\n"


def _exports(text: str) -> list[str]:
    return [f"default: {match[3]}" if match[1] else match[3] for match in _EXPORT.finditer(text)]


def _taken(names: str, path: str) -> str:
    return f'const {{{names.replace(" as ", ": ")}}} = modules["{path}"];'


def _bundle(name: str) -> str:
    return f"{FOLDER}/{name}.js"


def _way(path: str, bundle: str) -> str:
    """Return the relative path from a module to a bundle."""
    way = posixpath.relpath(_bundle(bundle), posixpath.dirname(path) or ".")
    return way if way.startswith(".") else f"./{way}"
