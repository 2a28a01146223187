"""Serve a study: routes, flow, media, and the verb `serve`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Live:
    """What a running server tells its terminal: the links once, the counts whenever they change."""

    link: str
    preview_link: str
    counts: Mapping[str, int]


def serve(
    study: str | Path = "study.yaml",
    *,
    store: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str | None = None,
    workers: int = 1,
    preview: bool = False,
    tell: Callable[[Live], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Serve a study until interrupted. With `preview`, only for looking: nothing is kept.

    Several workers share one port and need PostgreSQL as the store. `progress` is told of stimuli that are made first.
    """
    from beholder.blocking import block_on
    from beholder.serve.watching import serve_until_stopped, serve_with_workers

    if workers > 1:
        serve_with_workers(
            study,
            store=store,
            host=host,
            port=port,
            public_url=public_url,
            workers=workers,
            tell=tell,
            progress=progress,
        )
    else:
        block_on(
            serve_until_stopped(
                study,
                store=store,
                host=host,
                port=port,
                public_url=public_url,
                preview=preview,
                tell=tell,
                progress=progress,
            )
        )
