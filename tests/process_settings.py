"""The settings of worker and beat processes that tests start: a clock that the test moves for all of them."""

from tests.settings import *  # noqa: F403
from tests.settings import TOA

TOA = {**TOA, "SHARED_CLOCK": True}
