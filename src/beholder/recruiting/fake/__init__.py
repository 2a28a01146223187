"""A fake of Prolific: the same HTTP API over a wallet of play money, with simulated participants.

platform     `FakeProlific`: all state, the clock, and the handling of requests
state        what the platform stores: people, studies, submissions, groups, the wallet; the rules of a study
studies      drafts, publishing, places
submissions  places taken by participants, and what the researcher decides about them
account      workspace, balance, prices, bonuses, participant groups
filters      the filters, and whom they admit
http         requests, replies, routes, faults, and the server
openapi      checks requests and replies against Prolific's published document
rehearsal    simulated participants who arrive by themselves
demo         the demonstration of a whole study (`beholder demo --prolific`)

`python -m beholder.recruiting.fake` runs it as a server.
"""

from beholder.recruiting.fake.http import serve_fake
from beholder.recruiting.fake.platform import FakeProlific

__all__ = ["FakeProlific", "serve_fake"]
