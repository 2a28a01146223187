"""`serve`: the server of a study, which releases lists that the platform reports as abandoned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from beholder.server import ServerStatus


def serve(
    study: str | Path = "study.yaml",
    *,
    store: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str | None = None,
    proxies: Sequence[str] = (),
    workers: int = 1,
    preview: bool = False,
    tell: Callable[[ServerStatus], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Serve a study until interrupted. With `preview`, nothing is stored.

    `proxies` are addresses or networks whose X-Forwarded-For is believed and who may hold any number of connections.
    Several workers share one port and need PostgreSQL as the store. `progress` counts stimuli that are made first.
    If the study is on a platform and its token is set, the platform is asked for abandoned lists before a participant
    is refused.
    """
    from beholder.aio import block_on
    from beholder.recruiting.abandoned_lists import release_abandoned
    from beholder.server.process import serve_until_stopped, serve_with_workers

    if workers > 1:
        serve_with_workers(
            study,
            store=store,
            host=host,
            port=port,
            public_url=public_url,
            proxies=proxies,
            workers=workers,
            tell=tell,
            progress=progress,
            open_release=release_abandoned,
        )
    else:
        block_on(
            serve_until_stopped(
                study,
                store=store,
                host=host,
                port=port,
                public_url=public_url,
                proxies=proxies,
                preview=preview,
                tell=tell,
                progress=progress,
                open_release=release_abandoned,
            )
        )
