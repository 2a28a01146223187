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
    backup: str | None = None,
    drain: float = 0.0,
    tell: Callable[[ServerStatus], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Serve a study until interrupted.

        beholder.serve("study.yaml", preview=True)

    If the study is on a platform and its token is set, the platform is asked for abandoned lists before a participant
    is refused.

    What most studies need:
        study           the study file
        preview         nothing is stored
        port, host      where the study is served on this machine
        public_url      the address that people elsewhere reach it by

    Rarely:
        proxies         addresses or networks whose X-Forwarded-For is believed, and who may hold any number of
                        connections
        workers         several processes share the port; they need PostgreSQL as the store
        store           where answers are kept, if not in store/ beside the study
        backup          where copies of them go, in place of `backup` in the study; "none" for nowhere
        drain           after SIGTERM, seconds for which /healthz says so while everybody is still answered
        tell            a function that gets the links and the live counts
        progress        a function that gets the number of stimuli that are made first, and of all
    """
    from beholder.aio import block_on
    from beholder.leaderboard.board_cycle import keeping_board
    from beholder.recruiting.abandoned_lists import ask_platform
    from beholder.server.process import serve_until_stopped
    from beholder.server.workers import serve_with_workers

    if workers > 1:
        block_on(
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
                open_platform=ask_platform,
                backup=backup,
                also=keeping_board(study),
                drain_s=drain,
            )
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
                open_platform=ask_platform,
                backup=backup,
                also=keeping_board(study),
                drain_s=drain,
            )
        )
