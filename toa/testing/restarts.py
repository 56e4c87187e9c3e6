"""Restarts between the steps of workflows: whatever is in memory is given up after each step that commits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from toa.workflow import driving, sets


@contextmanager
def restarting(wanted: bool = True) -> Iterator[None]:
    """Have each run go on from its journal again after every commit, as if every worker were restarted between any two
    of them. What the function of a workflow keeps to itself beside its steps does not outlive them. With `wanted=False`
    nothing is restarted: for a test that compares both.

    ::

        def test_my_workflow(toa_clock):
            with restarting():
                ...
    """
    if not wanted:
        yield
        return
    # Alone as in sets, a run is taken from the database again for whatever it does after a commit.
    with mock.patch.object(driving, "COMMITS", 1), mock.patch.object(sets, "ROUNDS", 1):
        yield
