"""A Prolific that is not Prolific: the same API over a wallet of play money, with people who come by themselves."""

from beholder.recruiting.fake.http import serve_fake
from beholder.recruiting.fake.platform import FakeProlific

__all__ = ["FakeProlific", "serve_fake"]
