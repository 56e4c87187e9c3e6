"""Testing work on the clock without waiting: a clock that tests set, and everything due run in time order.

The names are loaded when they are first used: pytest loads the plugin in here before Django is set up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toa.testing.clock import START, ClockMixin, TestClock

__all__ = ["START", "ClockMixin", "TestClock"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'toa.testing' has no attribute {name!r}")
    from toa.testing import clock

    return getattr(clock, name)
