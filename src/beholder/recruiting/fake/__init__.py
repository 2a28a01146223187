"""A Prolific that is not Prolific: the same API over a wallet of play money, with people who come by themselves."""

from beholder.recruit.fake.platform import FakeProlific
from beholder.recruit.fake.server import serving

__all__ = ["FakeProlific", "serving"]
