"""The pytest plugin: fixtures for work on the clock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from toa.testing.clock import TestClock


@pytest.fixture
def toa_clock(db: None) -> Iterator[TestClock]:
    """A clock that the test sets and advances; what comes due on the way runs in time order.

    It brings `db` with it; beside `transactional_db` that one counts. pytest-django makes those databases that
    collected tests name as fixtures, so a database asked for while a test runs would be the one of development.
    """
    # Imported here: the plugin is loaded before Django is configured.
    from toa.testing.clock import standing_clock

    with standing_clock() as clock:
        yield clock
