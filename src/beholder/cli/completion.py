"""Shell completion: the script for a shell, and what completes studies, methods, conditions and examples."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from beholder.cli.command import StageCommand

_SHELLS = ("bash", "zsh", "fish")


class StudyPath(click.Path):
    """The path of a study file or its folder; completed by the studies that are near."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the study files in the folder that is being typed, and in the folders of that one."""
        folder = Path(incomplete).parent if not incomplete.endswith("/") else Path(incomplete)
        try:
            files = sorted([*folder.glob("*.yaml"), *folder.glob("*/study.yaml")])
        except OSError:
            files = []
        names = [str(file) for file in files if str(file).startswith(incomplete)]
        return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="file")]


class MethodName(click.types.StringParamType):
    """The name of a method; which ones there are is said where it is missing, wrong or asked for."""

    name = "method"

    @property
    def allowed(self) -> str:
        """The methods, for a message."""
        from beholder.formats import listed
        from beholder.methods import names

        return listed(names())

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the methods that begin so, each with what it shows."""
        return [
            CompletionItem(name, help=words) for name, words in method_lines().items() if name.startswith(incomplete)
        ]


class MethodHelp(StageCommand):
    """A command that asks for a method: its help lists them."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write every method with what it shows."""
        with formatter.section("Methods"):
            formatter.write_dl(list(method_lines().items()))


def method_lines() -> Mapping[str, str]:
    """Return every method with the first sentence of its README, which says what it shows."""
    from beholder.methods import method_folder, names

    lines = {}
    for name in names():
        readme = method_folder(name) / "README.md"
        text = readme.read_text("utf-8").split("\n\n") if readme.is_file() else []
        lines[name] = " ".join(text[1].split()).partition(". ")[0] if len(text) > 1 else ""
    return lines


def complete_condition(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the conditions of the study that was typed before: as it lists them, or its folders of stimuli."""
    from beholder.errors import UserError
    from beholder.study.yaml import ListNode, MapNode, Scalar, read_document

    names: list[str] = []
    try:
        document = read_document(ctx.params.get("study") or "study.yaml")
        _, listed = document.root.entries.get("conditions", (0, None))
        for one in listed.items if isinstance(listed, ListNode) else ():
            node = one.entries.get("name", (0, one))[1] if isinstance(one, MapNode) else one
            names += [node.text] if isinstance(node, Scalar) else []
        if not names:
            names = [one.name for one in (document.folder / (document.text("stimuli") or "stimuli")).iterdir()]
    # A half-written study completes nothing; whatever is wrong with it is said by the command.
    except (OSError, UserError):
        names = []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_example(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the examples that begin so."""
    from beholder.examples import examples

    return [CompletionItem(name, help=one.about) for name, one in examples().items() if name.startswith(incomplete)]


@click.command(cls=StageCommand, stage="help", has_json=False, has_quiet=False)
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print the script by which a shell completes commands.

    For bash add the line `eval "$(beholder completion bash)"` to ~/.bashrc; for zsh the same with zsh to ~/.zshrc; for
    fish write it to ~/.config/fish/completions/beholder.fish.
    """
    kind = get_completion_class(shell)
    assert kind is not None, shell
    root = click.get_current_context().find_root().command
    click.echo(kind(root, {}, "beholder", "_BEHOLDER_COMPLETE").source())
