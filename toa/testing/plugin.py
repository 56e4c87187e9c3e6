"""The pytest plugin: fixtures for work on the clock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from toa.testing.clock import TestClock


@pytest.fixture
def toa_clock(request: pytest.FixtureRequest) -> Iterator[TestClock]:
    """A clock that the test sets and advances; what comes due on the way runs in time order.

    Works with `db` and with `transactional_db`; asks for `db` where the test asked for neither.
    """
    if "transactional_db" not in request.fixturenames:
        request.getfixturevalue("db")
    # Imported here: the plugin is loaded before Django is configured.
    from toa.testing.clock import standing_clock

    with standing_clock() as clock:
        yield clock
