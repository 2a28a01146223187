"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

STUDY = click.argument("study", default="study.yaml", type=click.Path(path_type=Path))
STORE = click.option("--store", help="A PostgreSQL URL, or another folder; store/ beside study.yaml when left out.")
HOST = click.option("--host", default="127.0.0.1", show_default=True, help="0.0.0.0 to be reached from elsewhere.")
PORT = click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one."
)
PUBLIC = click.option("--public-url", help="The address under which participants reach this server.")
SEED = click.option("--seed", default=1, show_default=True, help="Of the simulated people.")
RATERS = click.option("--raters", default="honest", show_default=True, help="A mixture, as honest:0.9,careless:0.1.")
