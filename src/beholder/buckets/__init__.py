"""Media in a bucket: disguised copies of the stimuli, their upload, and signed addresses of them.

- `connection`: a folder of a bucket, or of this disk, with what can be asked of it.
- `disguises`: which copies a study needs, under which keys, and which of them a session gets.
- `upload`: comparing, uploading, verifying and removing copies.
- `signed_addresses`: addresses for browsers, the origin that they have, and whose pages may use them (CORS).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beholder.buckets.upload import MediaComparison
    from beholder.study.model import Study


def upload_media(
    study: str | Path | Study = "study.yaml",
    *,
    tidy: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> MediaComparison:
    """Bring the copies of the stimuli to the place that a study names under `media`, and return what is there.

    With `tidy`, copies of earlier stimuli are removed.
    """
    from beholder.buckets.upload import require_media, upload_copies
    from beholder.methods import find, load_study
    from beholder.planning.message_trials import load_stimuli

    loaded = load_study(study) if isinstance(study, str | Path) else study
    require_media(loaded)
    return upload_copies(loaded, load_stimuli(loaded, find(loaded.method)), progress, tidy=tidy)[1]


def remove_media(study: str | Path | Study = "study.yaml") -> int:
    """Remove all copies from the place that a study names under `media`; return how many there were."""
    from beholder.buckets.upload import remove_copies, require_media
    from beholder.methods import load_study

    loaded = load_study(study) if isinstance(study, str | Path) else study
    require_media(loaded)
    return remove_copies(loaded)
