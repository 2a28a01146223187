"""The context of the server: all that its functions need of one study."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from beholder.recent_entries import MOST_SESSIONS, RecentEntries
from beholder.server.limits import StoreRoom

if TYPE_CHECKING:  # a declaration only, which every module of the server imports
    from beholder.server.admission import Leases
    from beholder.server.batch_dealer import Dealer
    from beholder.server.bound_lists import BoundLists
    from beholder.server.crowd_results import CrowdResults
    from beholder.server.entrances import Entrance
    from beholder.server.further_sessions import FurtherSessions
    from beholder.server.moderation import Moderation
    from beholder.server.page_checks import PageChecks, Words
    from beholder.server.participants import BlockList
    from beholder.server.presence import Presence
    from beholder.server.preview import Preview
    from beholder.server.rendering import MediaAddresses, RenderedTexts
    from beholder.server.script import ServedStudy
    from beholder.server.trial_rules import TrialRules
    from beholder.server.visits import Platform
    from beholder.store.contract import Store
    from beholder.words import LanguageWords


_MOST_PREVIEWS = 200


@dataclass(frozen=True)
class Context:
    """A served study with its store, and the objects that hold state between two requests."""

    served: ServedStudy
    store: Store
    now: Callable[[], datetime]
    words: LanguageWords
    """Our texts for participants in the language of the study."""
    check_words: Words
    entrance: Entrance
    """How participants of the study's mode come in and go back."""
    blocked: BlockList
    moderation: Moderation
    bound: BoundLists
    further: FurtherSessions
    dealer: Dealer
    leases: Leases
    texts: RenderedTexts
    media: MediaAddresses
    page_checks: PageChecks
    trial_rules: TrialRules
    presence: Presence
    results: CrowdResults
    room: StoreRoom = field(default_factory=StoreRoom)
    """The room on the disk of the store."""
    platform: Platform | None = None
    """What can be asked of the platform that sends participants; None where there is none, or no token for it."""
    previews: MutableMapping[str, Preview] = field(default_factory=lambda: RecentEntries(_MOST_PREVIEWS))
    """The previews that were requested, by their session names."""
    event_sizes: MutableMapping[str, int] = field(default_factory=lambda: RecentEntries(MOST_SESSIONS))
    """How many characters of events each session has sent."""
    stages_heard: MutableMapping[str, tuple[int, int, str]] = field(
        default_factory=lambda: RecentEntries(MOST_SESSIONS)
    )
    """That a separate stage was heard, as it was last stored: its number, the place on the clock, and the trial."""
