"""Restarts between the steps of workflows: whatever is in memory is given up after each step that commits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from toa.workflow import driving


@contextmanager
def restarting(wanted: bool = True) -> Iterator[None]:
    """Have each run go on from its journal again after every commit, as if every worker were restarted between any two
    steps. What the function of a workflow keeps to itself beside its steps does not outlive them.

    ::

        def test_my_workflow(toa_clock):
            with restarting():
                ...
    """
    with mock.patch.object(driving, "COMMITS", 1 if wanted else driving.COMMITS):
        yield
