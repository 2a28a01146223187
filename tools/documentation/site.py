"""The site of the docs: the same Markdown as in the repository, with search, built by Zensical into build/site.

The pages stay where they are, so that links work on any host of code, too. They are copied with those that lie
elsewhere (methods, contributing, security, changes), and links follow. Navigation is read from docs/index.md.
"""

from __future__ import annotations

import argparse
import json
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
SETTINGS = Path(__file__).with_suffix(".toml")
ELSEWHERE = {
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changes.md",
    "README.md": "readme.md",
}
"""Pages at the top of the repository, and their names on the site."""
_FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_ROW = re.compile(r"^\|[^|]*\| \[[^\]]+\]\(([^)#]+)\)", re.MULTILINE)
"""A row that leads to a whole page; one that leads to a part of a page gives the page no place."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the site of the docs into build/site.")
    parser.add_argument("--check", action="store_true", help="Fail on a broken link, anchor or picture.")
    asked = parser.parse_args()
    missing = write_source(BUILD / "site-source")
    for line in missing:
        print(line, file=sys.stderr)
    settings = BUILD / "site.toml"
    settings.write_text(settings_text(), "utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--config-file", str(settings)]
    done = subprocess.run([*command, *(["--strict"] if asked.check else [])], cwd=BUILD, capture_output=True, text=True)
    if done.returncode or missing:
        print(plain(done.stdout + done.stderr).partition("Traceback")[0], file=sys.stderr)
        print("The site has broken links: see above.", file=sys.stderr)
        return 1
    print(f"built: {(BUILD / 'site' / 'index.html').relative_to(ROOT)}")
    return 0


def pages() -> dict[Path, str]:
    """Return every page of the docs with its path on the site."""
    found = {path: path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    found |= {ROOT / name: target for name, target in ELSEWHERE.items()}
    for path in (ROOT / "src/beholder/methods").glob("*/README.md"):
        found[path] = f"methods/{path.parent.name.replace('_', '-')}.md"
    return found


def write_source(folder: Path) -> list[str]:
    """Write what the generator reads, and return a line for each link that leads nowhere."""
    shutil.rmtree(folder, ignore_errors=True)
    places = pages()
    missing: list[str] = []
    for source, target in places.items():
        path = folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(with_links(source, target, places, missing), "utf-8")
    for source in (ROOT / "docs").rglob("*"):
        if source.is_file() and source.suffix in {".png", ".svg", ".jpg", ".ipynb", ".yml", ".yaml"}:
            copy = folder / source.relative_to(ROOT / "docs")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
    return missing


def with_links(source: Path, target: str, places: Mapping[Path, str], missing: list[str]) -> str:
    """Return the text of a page, its links led to where pages are on the site; code is left as it is.

    What is no page (a file of code) is named and not linked: the site does not hold it.
    """

    def follow(link: re.Match[str]) -> str:
        picture, words, address = link.groups()
        words = _LINK.sub(follow, words)
        if address.startswith(("https://", "http://", "mailto:", "#")):
            return f"{picture}[{words}]({address})"
        file, hash_sign, anchor = address.partition("#")
        there = (source.parent / file).resolve()
        if there in places:
            place = places[there]
        elif there.is_relative_to(ROOT / "docs") and there.exists():
            place = there.relative_to(ROOT / "docs").as_posix()
        elif there.exists():
            return words
        else:
            missing.append(f"{source.relative_to(ROOT)} links to {address}, which is not there")
            return words
        return f"{picture}[{words}]({posixpath.relpath(place, posixpath.dirname(target) or '.')}{hash_sign}{anchor})"

    text = source.read_text("utf-8")
    # `yaml fragment` says to tests what a block is; the generator takes one word.
    kept = [re.sub(r"\A(\W+\w+) .*", r"\1", fence.group()) for fence in _FENCE.finditer(text)]
    parts = _FENCE.sub("\0", text).split("\0")
    return "".join(_LINK.sub(follow, part) + fence for part, fence in zip(parts, [*kept, ""], strict=True))


def settings_text() -> str:
    """Return the settings of the generator: ours, the version, and the navigation."""
    from importlib.metadata import version

    text = SETTINGS.read_text("utf-8").replace("VERSION", version("beholder"))
    return text.replace('nav = "NAVIGATION"', f"nav = {toml_of(list(navigation()))}")


def navigation() -> Iterator[dict[str, object]]:
    """Yield the parts of the site in the order of docs/index.md, each with the pages that its table leads to.

    Methods and decisions are lists of their own below the page that leads to them.
    """
    titles = {place: title_of(path) for path, place in pages().items()}
    yield {"Home": "index.md"}
    listed: set[str] = set()
    index = ROOT / "docs" / "index.md"
    for part in re.split(r"^## ", index.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        rows = [(index.parent / address).resolve() for address in _ROW.findall(body)]
        places = [place for row in rows if (place := pages().get(row)) and place not in listed]
        listed.update(places)
        inside: list[dict[str, object]] = [{titles[place]: place} for place in places]
        if "methods.md" in places:
            inside.insert(places.index("methods.md") + 1, {"Each method": sorted_pages(titles, "methods/")})
        if "decisions/0001-house-and-contracts.md" in places:
            inside[-1] = {"Decisions": sorted_pages(titles, "decisions/")}
        if inside:
            yield {heading: inside}


def sorted_pages(titles: Mapping[str, str], begin: str) -> list[dict[str, str]]:
    """Return the pages of a folder by name."""
    return [{titles[place]: place} for place in sorted(titles) if place.startswith(begin)]


def title_of(path: Path) -> str:
    """Return the first heading of a page, without marks."""
    found = _HEADING.search(path.read_text("utf-8"))
    return re.sub(r"[`*]", "", found.group(1)) if found else path.stem


def toml_of(value: object) -> str:
    """Return lists, tables and texts as inline TOML."""
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_of, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml_of(one)}" for key, one in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def plain(text: str) -> str:
    """Return what the generator printed, without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


if __name__ == "__main__":
    sys.exit(main())
